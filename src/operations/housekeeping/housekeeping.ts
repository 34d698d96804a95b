import { trimEvents } from '../../audit/trim-store.ts';
import { claim } from '../../limits/limits.ts';
import { type Clock, DAY, databaseTime, MINUTE, NODE_CLOCK_TOLERANCE, SECOND } from '../../platform/clock.ts';
import { constant } from '../../platform/database/columns.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { many } from '../../platform/database/statement.ts';
import { trimSteps } from '../../traces/trace-store.ts';

const BATCH = 500;

/** While a token of a family could still live, a rotated refresh token must be recognized as such. */
const FAMILY_RETENTION = 8 * DAY;
const BROWSER_RETENTION = 400 * DAY;
/** For how long operators see that an invitation was used or has expired. */
const INVITATION_RETENTION = 30 * DAY;
/** Within this time, one of all nodes sweeps. */
const TURN = MINUTE - SECOND;

/** The rows to remove: those that ended at `before` or earlier, at most `limit` of them. */
interface Expired {
  readonly before: number;
  readonly limit: number;
}

const removeInteractions = many((db, p: Expired) =>
  db
    .deleteFrom('interaction')
    .where('hash', 'in', db.selectFrom('interaction').select('hash').where('expires_at', '<=', p.before).limit(p.limit))
    .returning('hash'),
);

const removeSessions = many((db, p: Expired) =>
  db
    .deleteFrom('browser_session')
    .where(
      'hash',
      'in',
      db.selectFrom('browser_session').select('hash').where('expires_at', '<=', p.before).limit(p.limit),
    )
    .returning('hash'),
);

const removeRateCounts = many((db, p: Expired) =>
  db
    .deleteFrom('rate_count')
    .where(
      'bucket',
      'in',
      db.selectFrom('rate_count').select('bucket').where('window_ends_at', '<=', p.before).limit(p.limit),
    )
    .returning('bucket'),
);

/** Used assertions. A node whose clock is behind would accept one again until it has expired there, too (RFC 7523 §3, `jti`). */
const removeAssertions = many((db, p: Expired) =>
  db
    .deleteFrom('client_assertion')
    .where(
      'hash',
      'in',
      db.selectFrom('client_assertion').select('hash').where('expires_at', '<=', p.before).limit(p.limit),
    )
    .returning('hash'),
);

/** Codes that were never redeemed; a redeemed one is needed to detect a replay, and is removed with its family. */
const removeCodes = many((db, p: Expired) =>
  db
    .deleteFrom('authorization_code')
    .where(
      'hash',
      'in',
      db
        .selectFrom('authorization_code')
        .select('hash')
        .where('expires_at', '<=', p.before)
        .where('redeemed_at', 'is', null)
        .limit(p.limit),
    )
    .returning('hash'),
);

const removeFamilies = many((db, p: Expired) =>
  db
    .deleteFrom('token_family')
    .where('id', 'in', db.selectFrom('token_family').select('id').where('ends_at', '<=', p.before).limit(p.limit))
    .returning('id'),
);

/** A token that has expired says so itself (`exp`). */
const removeClientTokens = many((db, p: Expired) =>
  db
    .deleteFrom('client_token')
    .where('jti', 'in', db.selectFrom('client_token').select('jti').where('ends_at', '<=', p.before).limit(p.limit))
    .returning('jti'),
);

/** Revoked grants whose families have been removed: no token that could still live refers to them. */
const removeGrants = many((db, p: Expired) =>
  db
    .deleteFrom('consent_grant')
    .where(
      'id',
      'in',
      db
        .selectFrom('consent_grant')
        .select('id')
        .where('revoked_at', '<=', p.before)
        // As in the condition of the index of revoked grants.
        .where('revoked_at', '>', constant(0))
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(selectFrom('token_family').select('id').whereRef('token_family.grant_id', '=', 'consent_grant.id')),
          ),
        )
        .limit(p.limit),
    )
    .returning('id'),
);

/** Revocations that are older than any consent form that could still be submitted. */
const removeConsentRevocations = many((db, p: Expired) =>
  db
    .deleteFrom('consent_revocation')
    .where((eb) =>
      eb(
        eb.refTuple('account_id', 'client_id'),
        'in',
        db
          .selectFrom('consent_revocation')
          .select(['account_id', 'client_id'])
          .where('revoked_at', '<=', p.before)
          .limit(p.limit)
          .$asTuple('account_id', 'client_id'),
      ),
    )
    .returning('name'),
);

/** The clients of visits to the playground; the visit and everything issued to the client are removed with it. */
const removeVisits = many((db, p: Expired) =>
  db
    .deleteFrom('client')
    .where(
      'id',
      'in',
      db.selectFrom('playground_visit').select('client_id').where('expires_at', '<=', p.before).limit(p.limit),
    )
    .returning('id'),
);

const removeKnownBrowsers = many((db, p: Expired) =>
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
          .limit(p.limit)
          .$asTuple('account_id', 'browser_hash'),
      ),
    )
    .returning('browser_hash'),
);

/** What waits for a person and has run out: sign-ins, links and codes, browsers that are no longer trusted, and addresses. */
const removeFrom = (table: 'pending_sign_in' | 'challenge' | 'trusted_browser' | 'address_change' | 'invitation') =>
  many((db, p: Expired) =>
    db
      .deleteFrom(table)
      .where('hash', 'in', db.selectFrom(table).select('hash').where('expires_at', '<=', p.before).limit(p.limit))
      .returning('hash'),
  );

const removePendingSignIns = removeFrom('pending_sign_in');
const removeChallenges = removeFrom('challenge');
const removeTrustedBrowsers = removeFrom('trusted_browser');
const removeAddressChanges = removeFrom('address_change');
/** Used ones as well: the audit trail keeps who accepted. */
const removeInvitations = removeFrom('invitation');

/** Requests that no node has answered, such as while mail was switched off. */
const removeMailRequests = many((db, p: Expired) =>
  db
    .deleteFrom('mail_request')
    .where('id', 'in', db.selectFrom('mail_request').select('id').where('created_at', '<=', p.before).limit(p.limit))
    .returning('id'),
);

const removeUsernameReservations = many((db, p: Expired) =>
  db
    .deleteFrom('username_reservation')
    .where(
      'username',
      'in',
      db.selectFrom('username_reservation').select('username').where('held_until', '<=', p.before).limit(p.limit),
    )
    .returning('username'),
);

/**
 * Removes the rows that no longer matter, in small batches, so that requests are handled in between. Then it empties the journal of the
 * database, which would keep what was deleted or changed since the last sweep.
 * @param keepEvents for how long audit events are kept, in milliseconds; null keeps them forever
 * @param keepTraces for how long the steps of traces are kept, in milliseconds; null leaves them alone
 * @returns how many rows were removed
 */
export async function sweep(
  database: Database,
  now: number,
  keepEvents: number | null = null,
  keepTraces: number | null = null,
): Promise<number> {
  const removals = [
    [removeInteractions, now],
    [removeSessions, now],
    [removeRateCounts, now],
    [removeAssertions, now - NODE_CLOCK_TOLERANCE],
    [removeCodes, now - DAY],
    [removeConsentRevocations, now - DAY],
    [removeFamilies, now - FAMILY_RETENTION],
    [removeGrants, now - FAMILY_RETENTION],
    [removeClientTokens, now],
    [removeVisits, now],
    [removeKnownBrowsers, now - BROWSER_RETENTION],
    [removePendingSignIns, now],
    [removeChallenges, now],
    [removeTrustedBrowsers, now],
    [removeUsernameReservations, now],
    [removeAddressChanges, now],
    [removeInvitations, now - INVITATION_RETENTION],
    [removeMailRequests, now - DAY],
  ] as const;
  let removed = keepEvents === null ? 0 : await trimEvents(database, now - keepEvents, now);
  if (keepTraces !== null) {
    const before = now - keepTraces;
    for (let batch = BATCH; batch === BATCH; removed += batch) {
      batch = await database.commit(() => trimSteps({ before, limit: BATCH }));
    }
  }
  for (const [remove, before] of removals) {
    for (let batch = BATCH; batch === BATCH; removed += batch) {
      batch = (await database.commit((): Work<readonly unknown[]> => remove({ before, limit: BATCH }))).length;
    }
  }
  await database.emptyJournal();
  return removed;
}

/** Sweeps, unless another node of this database has just done so. */
export async function sweepInTurn(
  database: Database,
  now: number,
  keepEvents: number | null = null,
  keepTraces: number | null = null,
): Promise<number> {
  const claimed = await database.commit(() => claim('housekeeping', TURN, now));
  return claimed ? sweep(database, now, keepEvents, keepTraces) : 0;
}

export interface Housekeeping {
  readonly database: Database;
  readonly clock: Clock;
  /** How often it runs, in milliseconds. */
  readonly interval: number;
  /** See {@link sweep}. */
  readonly keepEvents?: number | null;
  readonly keepTraces?: number | null;
  /** Other periodic work, done after each sweep. */
  readonly afterSweep?: (now: number) => Promise<unknown>;
  /** Called with an error that kept it from its work, such as a clock that is out of sync. */
  readonly failed: (error: unknown) => void;
}

/**
 * Sweeps periodically until stopped.
 * @returns stops it, and waits for a sweep that is running
 */
export function startHousekeeping({
  database,
  clock,
  interval,
  keepEvents,
  keepTraces,
  afterSweep,
  failed,
}: Housekeeping) {
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    // The time that all nodes share: a node with a wrong clock would delete what has not expired.
    const now = await databaseTime(database, clock);
    await sweepInTurn(database, now, keepEvents, keepTraces);
    await afterSweep?.(now);
  }

  const timer = setInterval(() => {
    running ??= run()
      .catch(failed)
      .finally(() => {
        running = undefined;
      });
  }, interval);
  timer.unref();
  return async function stop(): Promise<void> {
    clearInterval(timer);
    await running;
  };
}
