import { changes, command, many, one } from '../platform/database/statement.ts';
import type { TrustedBrowserTable } from './tables.ts';

/** A browser in which the second factor is not asked for. */
export interface TrustedBrowser {
  /** The secret in its cookie is stored as a hash. */
  readonly hash: string;
  readonly accountId: string;
  /** The account's generation when it was trusted: the trust ends with it. */
  readonly generation: string;
  readonly browser: string | null;
  readonly system: string | null;
  readonly network: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

const COLUMNS = [
  'hash',
  'account_id',
  'generation',
  'browser',
  'system',
  'network',
  'created_at',
  'expires_at',
] as const satisfies (keyof TrustedBrowserTable)[];

const toTrustedBrowser = ({ account_id, created_at, expires_at, ...row }: TrustedBrowserTable): TrustedBrowser => ({
  ...row,
  accountId: account_id,
  createdAt: created_at,
  expiresAt: expires_at,
});

export const insertTrustedBrowser = command((db, p: TrustedBrowser) =>
  db.insertInto('trusted_browser').values({
    hash: p.hash,
    account_id: p.accountId,
    generation: p.generation,
    browser: p.browser,
    system: p.system,
    network: p.network,
    created_at: p.createdAt,
    expires_at: p.expiresAt,
  }),
);

/** A browser that is trusted for an account now. */
export const findTrustedBrowser = one(
  (db, p: { hash: string; accountId: string; generation: string; now: number }) =>
    db
      .selectFrom('trusted_browser')
      .select(COLUMNS)
      .where('hash', '=', p.hash)
      .where('account_id', '=', p.accountId)
      .where('generation', '=', p.generation)
      .where('expires_at', '>', p.now),
  toTrustedBrowser,
);

/** The browsers that are trusted for an account now, the latest first. */
export const listTrustedBrowsers = many(
  (db, p: { accountId: string; generation: string; now: number }) =>
    db
      .selectFrom('trusted_browser')
      .select(COLUMNS)
      .where('account_id', '=', p.accountId)
      .where('generation', '=', p.generation)
      .where('expires_at', '>', p.now)
      .orderBy('created_at', 'desc'),
  toTrustedBrowser,
);

export const removeTrustedBrowser = changes((db, p: { accountId: string; hash: string }) =>
  db.deleteFrom('trusted_browser').where('account_id', '=', p.accountId).where('hash', '=', p.hash).returning('hash'),
);

/** Removes all but the `kept` latest ones of an account. */
export const removeOldestTrustedBrowsers = command((db, p: { accountId: string; kept: number }) =>
  db
    .deleteFrom('trusted_browser')
    .where(
      'hash',
      'in',
      db
        .selectFrom('trusted_browser')
        .select('hash')
        .where('account_id', '=', p.accountId)
        .orderBy('created_at', 'desc')
        .limit(Number.MAX_SAFE_INTEGER)
        .offset(p.kept),
    ),
);
