import type { Kysely } from 'kysely';
import type { AuthenticationContext } from '../authenticators/rules/authentication-context.ts';
import type { Work } from '../platform/database/database.ts';
import type { BrowserSessionTable, Tables } from '../platform/database/schema.ts';
import { command, many, one } from '../platform/database/statement.ts';
import type { Device } from './rules/device.ts';

/** A browser's sign-in. The secret in its cookie is stored as a hash. */
export interface Session extends Device, AuthenticationContext {
  readonly hash: string;
  /** The public name of the session: `sid` in ID tokens. */
  readonly sid: string;
  readonly accountId: string;
  /** The account's generation at the sign-in, inherited by every code and token of this session. */
  readonly generation: string;
  readonly authTime: number;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
}

const COLUMNS = [
  'hash',
  'sid',
  'account_id',
  'generation',
  'auth_time',
  'last_seen_at',
  'expires_at',
  'browser',
  'system',
  'network',
  'amr',
  'acr',
] as const;

const toSession = (row: BrowserSessionTable): Session => ({
  hash: row.hash,
  sid: row.sid,
  accountId: row.account_id,
  generation: row.generation,
  authTime: row.auth_time,
  lastSeenAt: row.last_seen_at,
  expiresAt: row.expires_at,
  browser: row.browser,
  system: row.system,
  network: row.network,
  amr: JSON.parse(row.amr) as string[],
  acr: row.acr,
});

const selectSession = (db: Kysely<Tables>, p: { hash: string }) =>
  db.selectFrom('browser_session').select(COLUMNS).where('hash', '=', p.hash);

export const findSession = one((db, p: { hash: string }) => selectSession(db, p), toSession);

/** Reads a session under a shared lock: ending it waits for the end of this unit of work. */
export const lockSession = one((db, p: { hash: string }) => selectSession(db, p).forKeyShare(), toSession);

const insert = command((db, p: Omit<Session, 'amr'> & { amr: string }) =>
  db.insertInto('browser_session').values({
    hash: p.hash,
    sid: p.sid,
    account_id: p.accountId,
    generation: p.generation,
    auth_time: p.authTime,
    last_seen_at: p.lastSeenAt,
    expires_at: p.expiresAt,
    browser: p.browser,
    system: p.system,
    network: p.network,
    amr: p.amr,
    acr: p.acr,
  }),
);

export const insertSession = (session: Session): Work<void> => insert({ ...session, amr: JSON.stringify(session.amr) });

export const updateLastSeen = command((db, p: { hash: string; now: number }) =>
  db.updateTable('browser_session').set({ last_seen_at: p.now }).where('hash', '=', p.hash),
);

/** Removes a session, and returns the removed one. */
export const removeSession = one(
  (db, p: { hash: string }) =>
    db.deleteFrom('browser_session').where('hash', '=', p.hash).returning(['account_id', 'sid', 'generation']),
  (row) => ({ accountId: row.account_id, sid: row.sid, generation: row.generation }),
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

/** The live sessions of an account, the latest sign-in first. */
export const findLiveSessions = many(
  (db, p: LiveSessions) =>
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
      .offset(p.skip),
  toSession,
);

/** The apps that hold live tokens of an account, with the session in which they got them. */
export const findSessionApps = many(
  (db, p: { accountId: string; generation: string; now: number }) =>
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
      .where('c.status', '=', 'active')
      .orderBy('c.name'),
  (row) => ({ sid: row.sid, clientId: row.client_id, name: row.name }),
);
