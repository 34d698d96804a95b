import type { Kysely } from 'kysely';
import type { AuthenticationContext } from '../authenticators/rules/authentication-context.ts';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import { all, first, type RowOf, run, statement } from '../platform/database/statement.ts';
import type { Device } from './rules/device.ts';

/** A browser's sign-in. The secret in its cookie is kept as a hash. */
export interface Session extends Device, AuthenticationContext {
  readonly hash: string;
  /** Public name of the session, for `sid` in ID tokens. */
  readonly sid: string;
  readonly accountId: string;
  /** The account's generation at the sign-in, inherited by all that comes of this session. */
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

const selectSession = (db: Kysely<Tables>, p: { hash: string }) =>
  db.selectFrom('browser_session').select(COLUMNS).where('hash', '=', p.hash);

const byHash = statement((db, p: { hash: string }) => selectSession(db, p));
const byHashKept = statement((db, p: { hash: string }) => selectSession(db, p).forKeyShare());
const insert = statement((db, p: Omit<Session, 'amr'> & { amr: string }) =>
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
const touch = statement((db, p: { hash: string; now: number }) =>
  db.updateTable('browser_session').set({ last_seen_at: p.now }).where('hash', '=', p.hash),
);
const remove = statement((db, p: { hash: string }) =>
  db.deleteFrom('browser_session').where('hash', '=', p.hash).returning(['account_id', 'sid', 'generation']),
);
const live = statement((db, p: LiveSessions & { skip: number; limit: number }) =>
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
);
/** Which apps got tokens in which session; those whose end is on record are left out. */
const apps = statement((db, p: { accountId: string; generation: string; now: number }) =>
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
);
const removeOne = statement((db, p: { accountId: string; sid: string }) =>
  db.deleteFrom('browser_session').where('account_id', '=', p.accountId).where('sid', '=', p.sid).returning(COLUMNS),
);
const removeOthers = statement((db, p: { accountId: string; sid: string }) =>
  db.deleteFrom('browser_session').where('account_id', '=', p.accountId).where('sid', '<>', p.sid).returning(COLUMNS),
);
/** All of a person but those used last; those of an earlier generation, which are dead, go first. */
const removeOldest = statement((db, p: { accountId: string; generation: string; kept: number }) =>
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
);
const forgetOldest = statement((db, p: { accountId: string; kept: number }) =>
  db
    .deleteFrom('known_browser')
    .where('account_id', '=', p.accountId)
    .where(
      'browser_hash',
      'in',
      db
        .selectFrom('known_browser')
        .select('browser_hash')
        .where('account_id', '=', p.accountId)
        .orderBy('last_seen_at', 'desc')
        .limit(Number.MAX_SAFE_INTEGER)
        .offset(p.kept),
    ),
);
const remember = statement((db, p: { accountId: string; browserHash: string; now: number }) =>
  db
    .insertInto('known_browser')
    .values({ account_id: p.accountId, browser_hash: p.browserHash, last_seen_at: p.now })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'browser_hash'])
        .doUpdateSet((eb) => ({ last_seen_at: eb.ref('excluded.last_seen_at') })),
    ),
);
const known = statement((db, p: { accountId: string; browserHash: string }) =>
  db
    .selectFrom('known_browser')
    .select('last_seen_at')
    .where('account_id', '=', p.accountId)
    .where('browser_hash', '=', p.browserHash),
);

const toSession = (row: RowOf<typeof byHash>): Session => ({
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

export function* findSession(hash: string): Work<Session | undefined> {
  const row = yield* first(byHash, { hash });
  return row && toSession(row);
}

/** Reads a session that stays until the end of this unit of work: whoever ends it waits for that. */
export function* keepSession(hash: string): Work<Session | undefined> {
  const row = yield* first(byHashKept, { hash });
  return row && toSession(row);
}

export function* insertSession(session: Session): Work<void> {
  yield* run(insert, { ...session, amr: JSON.stringify(session.amr) });
}

export function* touchSession(hash: string, now: number): Work<void> {
  yield* run(touch, { hash, now });
}

export function* removeSession(hash: string): Work<Pick<Session, 'accountId' | 'sid' | 'generation'> | undefined> {
  const row = yield* first(remove, { hash });
  return row && { accountId: row.account_id, sid: row.sid, generation: row.generation };
}

/** Which sessions of a person are meant: one, or all but one. */
export type Which = { readonly sid: string } | { readonly except: string };

/** Ends sessions, and answers what they were. */
export function* removeSessions(accountId: string, which: Which): Work<Session[]> {
  const rows =
    'sid' in which
      ? yield* all(removeOne, { accountId, sid: which.sid })
      : yield* all(removeOthers, { accountId, sid: which.except });
  return rows.map(toSession);
}

/** Ends all sessions of a person but as many as are kept: live ones before dead ones, those used last before others. */
export function* removeOldestSessions(accountId: string, generation: string, kept: number): Work<Session[]> {
  return (yield* all(removeOldest, { accountId, generation, kept })).map(toSession);
}

export interface LiveSessions {
  readonly accountId: string;
  /** The account's present one: of another, a session is dead. */
  readonly generation: string;
  readonly now: number;
  /** Sessions that were not used since are dead, too. */
  readonly idleSince: number;
  /** The name of one that is left out; empty for none. */
  readonly except: string;
}

/** The sessions of a person, the latest sign-in first. */
export function* listSessions(whose: LiveSessions, part: { skip: number; limit: number }): Work<Session[]> {
  return (yield* all(live, { ...whose, ...part })).map(toSession);
}

export interface SessionApp {
  readonly clientId: string;
  readonly name: string;
}

/** The apps that hold tokens of a person, for each session in which they got them. */
export function* listSessionApps(whose: LiveSessions): Work<ReadonlyMap<string, readonly SessionApp[]>> {
  const found = new Map<string, SessionApp[]>();
  for (const { sid, client_id: clientId, name } of yield* all(apps, whose)) {
    found.set(sid, [...(found.get(sid) ?? []), { clientId, name }]);
  }
  return found;
}

/** An account remembers so many browsers: the ones of the latest sign-ins. */
const MOST_KNOWN_BROWSERS = 64;

/** Notes a sign-in to an account in this browser. The caller holds the account's lock. */
export function* rememberBrowser(accountId: string, browserHash: string, now: number): Work<void> {
  yield* run(remember, { accountId, browserHash, now });
  yield* run(forgetOldest, { accountId, kept: MOST_KNOWN_BROWSERS });
}

export function* isKnownBrowser(accountId: string, browserHash: string): Work<boolean> {
  return (yield* first(known, { accountId, browserHash })) !== undefined;
}
