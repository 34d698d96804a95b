import type { Work } from '../database/database.ts';
import { first, run, statement } from '../database/statement.ts';

/** A browser's sign-in. The secret in its cookie is kept as a hash. */
export interface Session {
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

const byHash = statement((db, p: { hash: string }) =>
  db.selectFrom('browser_session').selectAll().where('hash', '=', p.hash),
);
const insert = statement((db, p: Session) =>
  db.insertInto('browser_session').values({
    hash: p.hash,
    sid: p.sid,
    account_id: p.accountId,
    generation: p.generation,
    auth_time: p.authTime,
    last_seen_at: p.lastSeenAt,
    expires_at: p.expiresAt,
  }),
);
const touch = statement((db, p: { hash: string; now: number }) =>
  db.updateTable('browser_session').set({ last_seen_at: p.now }).where('hash', '=', p.hash),
);
const remove = statement((db, p: { hash: string }) =>
  db.deleteFrom('browser_session').where('hash', '=', p.hash).returning(['account_id', 'sid', 'generation']),
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

export function* findSession(hash: string): Work<Session | undefined> {
  const row = yield* first(byHash, { hash });
  return (
    row && {
      hash: row.hash,
      sid: row.sid,
      accountId: row.account_id,
      generation: row.generation,
      authTime: row.auth_time,
      lastSeenAt: row.last_seen_at,
      expiresAt: row.expires_at,
    }
  );
}

export function* insertSession(session: Session): Work<void> {
  yield* run(insert, session);
}

export function* touchSession(hash: string, now: number): Work<void> {
  yield* run(touch, { hash, now });
}

export function* removeSession(hash: string): Work<Pick<Session, 'accountId' | 'sid' | 'generation'> | undefined> {
  const row = yield* first(remove, { hash });
  return row && { accountId: row.account_id, sid: row.sid, generation: row.generation };
}

/** Notes that somebody signed in to an account in this browser. */
export function* rememberBrowser(accountId: string, browserHash: string, now: number): Work<void> {
  yield* run(remember, { accountId, browserHash, now });
}

export function* isKnownBrowser(accountId: string, browserHash: string): Work<boolean> {
  return (yield* first(known, { accountId, browserHash })) !== undefined;
}
