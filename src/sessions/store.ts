import type { Kysely } from 'kysely';
import { JOINED_ACCOUNT_COLUMNS, JOINED_ACCOUNT_FIELDS } from '../accounts/store.ts';
import {
  ACR_MFA,
  ACR_PHISHING_RESISTANT,
  type AuthenticationContext,
  type Method,
} from '../authenticators/rules/authentication-context.ts';
import { requiringOrganizations } from '../organizations/store.ts';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { forKeyShare } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  columnsOf,
  command,
  decoder,
  encode,
  joint,
  json,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import type { Device } from '../platform/validation/origin.ts';
import type { BrowserSessionTable } from './tables.ts';

const SESSION = {
  /** The secret in the browser's cookie is stored as a hash. */
  hash: storedField('hash', plain<string>()),
  /** The public name of the session: `sid` in ID tokens. */
  sid: storedField('sid', plain<string>()),
  accountId: storedField('account_id', plain<string>()),
  /** The account's generation at the sign-in, inherited by every code and token of this session. */
  generation: storedField('generation', plain<string>()),
  authTime: storedField('auth_time', plain<number>()),
  lastSeenAt: storedField('last_seen_at', plain<number>()),
  expiresAt: storedField('expires_at', plain<number>()),
  browser: storedField('browser', plain<Device['browser']>()),
  system: storedField('system', plain<Device['system']>()),
  network: storedField('network', plain<Device['network']>()),
  amr: storedField('amr', json<AuthenticationContext['amr']>()),
  acr: storedField('acr', plain<AuthenticationContext['acr']>()),
  /** When the person last proved who they are, by the strongest factor that was asked for, */
  provedAt: storedField('proved_at', plain<number>()),
  /** and by which. */
  provedBy: storedField('proved_by', plain<Method>()),
  /**
   * When the factor of that proof was set up, by the time of the account; null for a code by mail, and in a session that an earlier version
   * made.
   */
  provedFactorSince: storedField('proved_factor_since', plain<number | null>()),
  /** The account's last change when the proof was made: the proof is younger than it. Null as above. */
  provedAfter: storedField('proved_after', plain<number | null>()),
} as const;

/** A browser's sign-in. */
export type Session = Values<typeof SESSION>;

const COLUMNS = columnsOf(SESSION);
const toSession: (row: object) => Session = decoder(SESSION);

/** A session with its account, and the organization that requires a second factor of that, if there is one. */
const toAccountSession = decoder({
  session: SESSION,
  account: JOINED_ACCOUNT_FIELDS,
  requiredBy: storedField('required_by_id', plain<string | null>()),
});

const selectSession = (db: Kysely<Tables>, p: { hash: string }) =>
  db
    .selectFrom('browser_session as s')
    .innerJoin('account as a', 'a.id', 's.account_id')
    .select(COLUMNS.map((column) => `s.${column}` as const))
    .select(JOINED_ACCOUNT_COLUMNS)
    .select((eb) => requiringOrganizations(db).where('m.account_id', '=', eb.ref('s.account_id')).as('required_by_id'))
    .where('s.hash', '=', p.hash);

export const findSession = one((db, p: { hash: string }) => selectSession(db, p), toAccountSession);

/**
 * Reads a session under a shared lock: ending it waits for the end of this unit of work. Only the session itself is locked. What ends the
 * access of an account also ends its sessions or changes its generation, so that a code of a session that was valid before is refused.
 */
export const lockSession = one(
  joint({}, (db, p: { hash: string }) => selectSession(db, p).$call((query) => forKeyShare(query, 's'))),
  toAccountSession,
);

const insert = command((db, p: { [C in keyof BrowserSessionTable]: never }) =>
  db.insertInto('browser_session').values(pick(p, COLUMNS)),
);

export const insertSession = (session: Session): Work<void> => insert(encode(SESSION, session));

export const updateLastSeen = command(
  joint({ row: ['hash'] }, (db, p: { hash: string; now: number }) =>
    db.updateTable('browser_session').set({ last_seen_at: p.now }).where('hash', '=', p.hash),
  ),
);

/** Removes a session, and returns the removed one. */
export const removeSession = one(
  (db, p: { hash: string }) => db.deleteFrom('browser_session').where('hash', '=', p.hash).returning(COLUMNS),
  toSession,
);

const removeOne = many(
  (db, p: { accountId: string; sid: string }) =>
    db.deleteFrom('browser_session').where('account_id', '=', p.accountId).where('sid', '=', p.sid).returning(COLUMNS),
  toSession,
);

const removeOthers = many(
  (db, p: { accountId: string; sid: string }) =>
    db.deleteFrom('browser_session').where('account_id', '=', p.accountId).where('sid', '<>', p.sid).returning(COLUMNS),
  toSession,
);

/** Sessions of an account: one, or all but one. */
export type SessionSelector = { readonly sid: string } | { readonly except: string };

/** Removes sessions, and returns the removed ones. */
export const removeSessions = (accountId: string, which: SessionSelector): Work<readonly Session[]> =>
  'sid' in which ? removeOne({ accountId, sid: which.sid }) : removeOthers({ accountId, sid: which.except });

/** The sessions of an account, those that have expired or are of an earlier generation included. */
export const listAccountSessions = many(
  (db, p: { accountId: string }) =>
    db.selectFrom('browser_session').select(COLUMNS).where('account_id', '=', p.accountId),
  toSession,
);

/** The hash of a session by its public name, which stays when the person proves again who they are. */
export const hashOfSession = one(
  (db, p: { accountId: string; sid: string }) =>
    db.selectFrom('browser_session').select('hash').where('sid', '=', p.sid).where('account_id', '=', p.accountId),
  ({ hash }) => hash,
);

const STRONG = [ACR_MFA, ACR_PHISHING_RESISTANT];

/** A session of an account without a second factor, if there is one. */
export const findWeakerSession = one(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('browser_session')
      .select('hash')
      .where('account_id', '=', p.accountId)
      .where((eb) => eb.or([eb('acr', 'is', null), eb('acr', 'not in', STRONG)]))
      .limit(1),
  ({ hash }) => hash,
);

/** Removes the sessions of an account without a second factor, and returns them. */
export const removeWeakerSessions = many(
  (db, p: { accountId: string }) =>
    db
      .deleteFrom('browser_session')
      .where('account_id', '=', p.accountId)
      .where((eb) => eb.or([eb('acr', 'is', null), eb('acr', 'not in', STRONG)]))
      .returning(COLUMNS),
  toSession,
);

/** Removes all sessions of an account but the `kept` last used; those of an earlier generation, which are invalid, go first. */
export const removeOldestSessions = many(
  (db, p: { accountId: string; generation: string; kept: number }) =>
    db
      .deleteFrom('browser_session')
      .where(
        'hash',
        'in',
        db
          .selectFrom('browser_session')
          .select('hash')
          .where('account_id', '=', p.accountId)
          .orderBy((eb) => eb.case().when('generation', '=', p.generation).then(0).else(1).end())
          .orderBy('last_seen_at', 'desc')
          .orderBy('auth_time', 'desc')
          .limit(Number.MAX_SAFE_INTEGER)
          .offset(p.kept),
      )
      .returning(COLUMNS),
  toSession,
);

interface LiveSessions {
  readonly accountId: string;
  /** The account's current one: sessions of others are invalid. */
  readonly generation: string;
  readonly now: number;
  /** Sessions that were last used before this have expired. */
  readonly idleSince: number;
  /** The name of one to leave out; empty for none. */
  readonly except: string;
  readonly skip: number;
  readonly limit: number;
}

const liveSessions = (db: Kysely<Tables>, p: LiveSessions) =>
  db
    .selectFrom('browser_session')
    .select(COLUMNS)
    .where('account_id', '=', p.accountId)
    .where('generation', '=', p.generation)
    .where('expires_at', '>', p.now)
    .where('last_seen_at', '>', p.idleSince)
    .where('sid', '<>', p.except)
    .orderBy('auth_time', 'desc')
    .orderBy('sid')
    .limit(p.limit)
    .offset(p.skip);

/** The apps that hold live tokens of an account, with the session in which they got them. */
const appsOfSessions = (db: Kysely<Tables>, p: LiveSessions) =>
  db
    .selectFrom('token_family as f')
    .innerJoin('consent_grant as g', 'g.id', 'f.grant_id')
    .innerJoin('client as c', (join) =>
      join.onRef('c.id', '=', 'f.client_id').onRef('c.generation', '=', 'f.client_generation'),
    )
    .select(['f.sid', 'f.client_id', 'c.name'])
    .distinct()
    .where('g.account_id', '=', p.accountId)
    .where('f.account_generation', '=', p.generation)
    .where('f.dead_at', 'is', null)
    .where('f.ends_at', '>', p.now)
    .where('g.revoked_at', 'is', null)
    .where('c.status', '<>', 'disabled');

/** The live sessions of an account, the latest sign-in first, each as often as there are apps that got tokens in it, or once. */
export const findSessionsWithApps = many(
  (db, p: LiveSessions) =>
    db
      .selectFrom(liveSessions(db, p).as('live'))
      .leftJoin(appsOfSessions(db, p).as('app'), 'app.sid', 'live.sid')
      .select(COLUMNS.map((column) => `live.${column}` as const))
      .select(['app.client_id as app_client_id', 'app.name as app_name'])
      .orderBy('live.auth_time', 'desc')
      .orderBy('live.sid')
      .orderBy('app.name'),
  (row) => ({
    session: toSession(row),
    app:
      row.app_client_id === null || row.app_name === null
        ? undefined
        : { clientId: row.app_client_id, name: row.app_name },
  }),
);
