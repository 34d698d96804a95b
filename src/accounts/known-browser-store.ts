import type { Work } from '../platform/database/database.ts';
import { command, many, one } from '../platform/database/statement.ts';

/** An account remembers this many browsers: those of its latest sign-ins. */
const MAX_KNOWN_BROWSERS = 64;

const upsert = command((db, p: { accountId: string; browserHash: string; now: number }) =>
  db
    .insertInto('known_browser')
    .values({ account_id: p.accountId, browser_hash: p.browserHash, last_seen_at: p.now })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'browser_hash'])
        .doUpdateSet((eb) => ({ last_seen_at: eb.ref('excluded.last_seen_at') })),
    ),
);

const removeOldest = command((db, p: { accountId: string; kept: number }) =>
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

const find = one((db, p: { accountId: string; browserHash: string }) =>
  db
    .selectFrom('known_browser')
    .select('last_seen_at')
    .where('account_id', '=', p.accountId)
    .where('browser_hash', '=', p.browserHash),
);

const findAny = one((db, p: { accountId: string }) =>
  db.selectFrom('known_browser').select('browser_hash').where('account_id', '=', p.accountId).limit(1),
);

const list = many(
  (db, p: { accountId: string }) =>
    db.selectFrom('known_browser').select('browser_hash').where('account_id', '=', p.accountId),
  (row) => row.browser_hash,
);

/** The browsers that signed in to an account before, except one. */
export function* otherKnownBrowsers(accountId: string, browserHash: string | null): Work<readonly string[]> {
  return (yield* list({ accountId })).filter((hash) => hash !== browserHash);
}

/** Forgets the browsers of an account: each is a new device again. */
export const forgetBrowsers = command((db, p: { accountId: string }) =>
  db.deleteFrom('known_browser').where('account_id', '=', p.accountId),
);

/** {@link forgetBrowsers} for the accounts after one id through another. */
export const forgetBrowsersOfRange = command((db, p: { after: string; through: string }) =>
  db.deleteFrom('known_browser').where('account_id', '>', p.after).where('account_id', '<=', p.through),
);

/** Whether any browser signed in to an account before. */
export function* hasKnownBrowsers(accountId: string): Work<boolean> {
  return (yield* findAny({ accountId })) !== undefined;
}

/** Records a sign-in to an account in this browser. The caller holds the account's lock. */
export function* rememberBrowser(accountId: string, browserHash: string, now: number): Work<void> {
  yield* upsert({ accountId, browserHash, now });
  yield* removeOldest({ accountId, kept: MAX_KNOWN_BROWSERS });
}

/** Whether a browser signed in to an account before. */
export function* isKnownBrowser(accountId: string, browserHash: string): Work<boolean> {
  return (yield* find({ accountId, browserHash })) !== undefined;
}
