import { digest, knownSecretOf } from '../platform/crypto/secrets.ts';
import type { Work } from '../platform/database/database.ts';
import { command, many, one } from '../platform/database/statement.ts';

/** An account remembers this many browsers: those of its latest sign-ins. */
const MAX_KNOWN_BROWSERS = 64;

/** By what a browser is known: its identity, and the secrets that its last sign-in to each account gave it. All are digests. */
export interface BrowserMark {
  readonly hash: string;
  readonly knownHashes: readonly string[];
}

interface StoredBrowser {
  readonly accountId: string;
  readonly browserHash: string;
  readonly secretHash: string;
  readonly now: number;
}

const upsert = command((db, p: StoredBrowser) =>
  db
    .insertInto('known_browser')
    .values({ account_id: p.accountId, browser_hash: p.browserHash, secret_hash: p.secretHash, last_seen_at: p.now })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'browser_hash']).doUpdateSet((eb) => ({
        secret_hash: eb.ref('excluded.secret_hash'),
        last_seen_at: eb.ref('excluded.last_seen_at'),
      })),
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
    .select('secret_hash')
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

/**
 * Records a sign-in to an account in this browser, which that account knows by a new secret. The other accounts know it as before: the
 * browser may be a copy, in which a stranger signs in to an account of their own. The caller holds the account's lock.
 * @param sessionSecret of the session that began, from which the secret by which the browser is known follows
 */
export function* rememberBrowser(
  accountId: string,
  { hash: browserHash }: BrowserMark,
  sessionSecret: string,
  now: number,
): Work<void> {
  const secretHash = digest(knownSecretOf(sessionSecret));
  yield* upsert({ accountId, browserHash, secretHash, now });
  yield* removeOldest({ accountId, kept: MAX_KNOWN_BROWSERS });
}

/** Whether a browser signed in to an account before. A copy of its cookies is it no longer once it has signed in to that account again. */
export function* isKnownBrowser(accountId: string, { hash: browserHash, knownHashes }: BrowserMark): Work<boolean> {
  const found = yield* find({ accountId, browserHash });
  return found !== undefined && (found.secret_hash === null || knownHashes.includes(found.secret_hash));
}
