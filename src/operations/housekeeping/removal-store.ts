import { oldestDueAt, type Trail, trimEvents } from '../../audit/trim-store.ts';
import type { TableParts } from '../../platform/database/database.ts';
import { many, one } from '../../platform/database/statement.ts';
import { oldestStepAt, trimSteps } from '../../traces/trace-store.ts';
import { deletedGroups, endedAssignments } from './access-removal.ts';
import { unusedOpenings } from './account-opening-store.ts';
import {
  expiredClientTokens,
  expiredCodes,
  idleSessions,
  oldFamilies,
  oldRevokedGrants,
} from './credential-removal-store.ts';
import { unusedRights } from './given-right-store.ts';
import { abandonedApps, unusedApps } from './registration-removal.ts';
import { type Ended, type Removal, removal, trimmed } from './removal.ts';
import { KEPT } from './rules/retention.ts';

type ExpiringTable =
  | 'interaction'
  | 'device_authorization'
  | 'browser_session'
  | 'client_assertion'
  | 'pending_sign_in'
  | 'challenge'
  | 'trusted_browser'
  | 'address_change'
  | 'replaced_value'
  | 'upstream_session'
  | 'invitation'
  | 'idempotent_request';

/** Rows of tables that are alike: each has a hash and an end. */
const expired = (table: ExpiringTable, kept = 0): Removal =>
  removal(
    table,
    kept,
    many((db, p: Ended) =>
      db
        .deleteFrom(table)
        .where(
          'hash',
          'in',
          db.selectFrom(table).select('hash').where('expires_at', '<=', p.before).orderBy('expires_at').limit(p.limit),
        )
        .returning('hash'),
    ),
    one(
      (db, p: { before: number }) =>
        db
          .selectFrom(table)
          .select('expires_at as at')
          .where('expires_at', '<=', p.before)
          .orderBy('expires_at')
          .limit(1),
      ({ at }) => at,
    ),
  );

const rateCounts = removal(
  'rate_count',
  0,
  many((db, p: Ended) =>
    db
      .deleteFrom('rate_count')
      .where(
        'bucket',
        'in',
        db
          .selectFrom('rate_count')
          .select('bucket')
          .where('window_ends_at', '<=', p.before)
          .orderBy('window_ends_at')
          .limit(p.limit),
      )
      // Used meanwhile, it has a new window.
      .where('window_ends_at', '<=', p.before)
      .returning('bucket'),
  ),
  one(
    (db, p: { before: number }) =>
      db
        .selectFrom('rate_count')
        .select('window_ends_at as at')
        .where('window_ends_at', '<=', p.before)
        .orderBy('window_ends_at')
        .limit(1),
    ({ at }) => at,
  ),
);

const rightChanges = removal(
  'right_change',
  KEPT.rightChange,
  many((db, p: Ended) =>
    db
      .deleteFrom('right_change')
      .where(
        'id',
        'in',
        db.selectFrom('right_change').select('id').where('acted_at', '<=', p.before).orderBy('acted_at').limit(p.limit),
      )
      .returning('id'),
  ),
  one(
    (db, p: { before: number }) =>
      db
        .selectFrom('right_change')
        .select('acted_at as at')
        .where('acted_at', '<=', p.before)
        .orderBy('acted_at')
        .limit(1),
    ({ at }) => at,
  ),
);

const statusChanges = removal(
  'status_change',
  KEPT.statusChange,
  many((db, p: Ended) =>
    db
      .deleteFrom('status_change')
      .where(
        'id',
        'in',
        db
          .selectFrom('status_change')
          .select('id')
          .where('acted_at', '<=', p.before)
          .orderBy('acted_at')
          .limit(p.limit),
      )
      .returning('id'),
  ),
  one(
    (db, p: { before: number }) =>
      db
        .selectFrom('status_change')
        .select('acted_at as at')
        .where('acted_at', '<=', p.before)
        .orderBy('acted_at')
        .limit(1),
    ({ at }) => at,
  ),
);

/** The clients of visits to the playground; the visit and everything issued to the client are removed with it. */
const playgroundClients = removal(
  'client',
  0,
  many((db, p: Ended) =>
    db
      .deleteFrom('client')
      .where(
        'id',
        'in',
        db
          .selectFrom('playground_visit')
          .select('client_id')
          .where('expires_at', '<=', p.before)
          .orderBy('expires_at')
          .limit(p.limit),
      )
      .returning('id'),
  ),
  one(
    (db, p: { before: number }) =>
      db
        .selectFrom('playground_visit')
        .select('expires_at as at')
        .where('expires_at', '<=', p.before)
        .orderBy('expires_at')
        .limit(1),
    ({ at }) => at,
  ),
);

const knownBrowsers = removal(
  'known_browser',
  KEPT.knownBrowser,
  many((db, p: Ended) =>
    db
      .deleteFrom('known_browser')
      .where((eb) =>
        eb(
          eb.refTuple('account_id', 'browser_hash'),
          'in',
          db
            .selectFrom('known_browser')
            .select(['account_id', 'browser_hash'])
            .where('last_seen_at', '<=', p.before)
            .orderBy('last_seen_at')
            .limit(p.limit)
            .$asTuple('account_id', 'browser_hash'),
        ),
      )
      .returning('browser_hash'),
  ),
  one(
    (db, p: { before: number }) =>
      db
        .selectFrom('known_browser')
        .select('last_seen_at as at')
        .where('last_seen_at', '<=', p.before)
        .orderBy('last_seen_at')
        .limit(1),
    ({ at }) => at,
  ),
);

const mailRequests = removal(
  'mail_request',
  KEPT.mailRequest,
  many((db, p: Ended) =>
    db
      .deleteFrom('mail_request')
      .where(
        'id',
        'in',
        db
          .selectFrom('mail_request')
          .select('id')
          .where('created_at', '<=', p.before)
          .orderBy('created_at')
          .limit(p.limit),
      )
      .returning('id'),
  ),
  one(
    (db, p: { before: number }) =>
      db
        .selectFrom('mail_request')
        .select('created_at as at')
        .where('created_at', '<=', p.before)
        .orderBy('created_at')
        .limit(1),
    ({ at }) => at,
  ),
);

const usernameReservations = removal(
  'username_reservation',
  0,
  many((db, p: Ended) =>
    db
      .deleteFrom('username_reservation')
      .where(
        'username',
        'in',
        db
          .selectFrom('username_reservation')
          .select('username')
          .where('held_until', '<=', p.before)
          .orderBy('held_until')
          .limit(p.limit),
      )
      .returning('username'),
  ),
  one(
    (db, p: { before: number }) =>
      db
        .selectFrom('username_reservation')
        .select('held_until as at')
        .where('held_until', '<=', p.before)
        .orderBy('held_until')
        .limit(1),
    ({ at }) => at,
  ),
);

/** Sessions come before token families, which wait for their end; families before the grants that they belong to. */
const REMOVALS: readonly Removal[] = [
  endedAssignments,
  deletedGroups,
  expired('interaction'),
  expired('device_authorization', KEPT.deviceCode),
  expired('browser_session'),
  idleSessions,
  rateCounts,
  expired('client_assertion', KEPT.assertion),
  expired('idempotent_request'),
  expiredCodes,
  oldFamilies,
  oldRevokedGrants,
  expiredClientTokens,
  playgroundClients,
  abandonedApps,
  unusedApps,
  knownBrowsers,
  expired('pending_sign_in'),
  expired('challenge'),
  expired('trusted_browser'),
  expired('upstream_session'),
  usernameReservations,
  expired('address_change'),
  expired('replaced_value'),
  // Used ones as well: the audit trail keeps who accepted.
  expired('invitation', KEPT.invitation),
  mailRequests,
  unusedRights,
  unusedOpenings,
  rightChanges,
  statusChanges,
];

/** For how long what the operator decides about is kept, in milliseconds. */
export interface RetentionSettings {
  /** Audit events; null keeps them forever. */
  readonly events: number | null;
  /** The steps of traces; null leaves them alone. */
  readonly steps: number | null;
}

const trail = (kept: Trail): Removal =>
  trimmed(
    'audit_event',
    kept.kept,
    (order) => trimEvents(kept, order),
    () => oldestDueAt(kept),
  );

/** All kinds of rows that are removed in time, in the order in which that is done. */
export const removals = ({ events, steps }: RetentionSettings, parts?: TableParts): readonly Removal[] => [
  ...(events === null ? [] : [trail({ kept: events, parts })]),
  ...(steps === null ? [] : [trimmed('trace_step', steps, trimSteps, oldestStepAt)]),
  ...REMOVALS,
];
