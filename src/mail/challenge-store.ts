import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import {
  changes,
  columnsOf,
  command,
  decoder,
  encode,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import type { ChallengePurpose } from './challenges.ts';
import type { ChallengeTable } from './tables.ts';

const CHALLENGE = {
  /** The secret of the link is stored as a hash. */
  hash: storedField('hash', plain<string>()),
  purpose: storedField('purpose', plain<ChallengePurpose>()),
  /** Null where there is no account yet. */
  accountId: storedField('account_id', plain<string | null>()),
  /** The account's generation when it was created. */
  generation: storedField('generation', plain<string | null>()),
  /** The address that it was sent to, in lower case. */
  address: storedField('address', plain<string>()),
  /** The browser that asked for it; null where an operator did. */
  browserHash: storedField('browser_hash', plain<string | null>()),
  codeHash: storedField('code_hash', plain<string | null>()),
  sealed: storedField('sealed', plain<string | null>()),
  /** The admin key that handed it out; null for the command line, and for what people ask for themselves. */
  adminKeyId: storedField('admin_key_id', plain<string | null>()),
  createdAt: storedField('created_at', plain<number>()),
  expiresAt: storedField('expires_at', plain<number>()),
  usedAt: storedField('used_at', plain<number | null>()),
} as const;

export type StoredChallenge = Values<typeof CHALLENGE>;

const COLUMNS = columnsOf(CHALLENGE);
const toChallenge: (row: object) => StoredChallenge = decoder(CHALLENGE);

const insert = command((db, p: ChallengeTable) => db.insertInto('challenge').values(pick(p, COLUMNS)));

export const insertChallenge = (challenge: StoredChallenge): Work<void> => insert(encode(CHALLENGE, challenge));

export const findChallengeByHash = one(
  (db, p: { hash: string }) => db.selectFrom('challenge').select(COLUMNS).where('hash', '=', p.hash),
  toChallenge,
);

/** The challenges of a purpose that one browser asked for, newest first. */
export const findChallengesOfBrowser = many(
  (db, p: { browserHash: string; purpose: string }) =>
    db
      .selectFrom('challenge')
      .select(COLUMNS)
      .where('browser_hash', '=', p.browserHash)
      .where('purpose', '=', p.purpose)
      .orderBy('created_at', 'desc')
      .limit(1),
  toChallenge,
);

/** Uses a challenge up; false where it was used before. */
export const spendChallenge = changes((db, p: { hash: string; now: number }) =>
  db
    .updateTable('challenge')
    .set({ used_at: p.now, code_hash: null, sealed: null })
    .where('hash', '=', p.hash)
    .where('used_at', 'is', null)
    .returning('hash'),
);

/** Removes the challenges of an account and a purpose. */
export const removeChallengesOfAccount = command((db, p: { accountId: string; purpose: string }) =>
  db.deleteFrom('challenge').where('account_id', '=', p.accountId).where('purpose', '=', p.purpose),
);

/** The challenges of an account and a purpose, of any generation. */
export const listChallengesOfAccount = many(
  (db, p: { accountId: string; purpose: string }) =>
    db.selectFrom('challenge').select(COLUMNS).where('account_id', '=', p.accountId).where('purpose', '=', p.purpose),
  toChallenge,
);

export const removeChallenge = command((db, p: { hash: string }) =>
  db.deleteFrom('challenge').where('hash', '=', p.hash),
);

/** Ends what an admin key handed out and nobody used. @returns when each would have expired */
export const endChallengesOfAdminKey = many(
  (db, p: { adminKeyId: string }) =>
    db
      .deleteFrom('challenge')
      .where('admin_key_id', '=', p.adminKeyId)
      .where('used_at', 'is', null)
      .returning('expires_at'),
  (row) => row.expires_at,
);

/** Removes every challenge of an account. */
export const removeAllChallenges = command((db, p: { accountId: string }) =>
  db.deleteFrom('challenge').where('account_id', '=', p.accountId),
);

/** Removes the challenges of an account of every other purpose. */
export const removeOtherChallenges = command((db, p: { accountId: string; purpose: string }) =>
  db.deleteFrom('challenge').where('account_id', '=', p.accountId).where('purpose', '<>', p.purpose),
);

/** Lets the challenges of an account and a purpose go on in another generation. */
export const moveChallenges = command(
  (db, p: { accountId: string; purpose: string; generation: string; next: string }) =>
    db
      .updateTable('challenge')
      .set({ generation: p.next })
      .where('account_id', '=', p.accountId)
      .where('purpose', '=', p.purpose)
      .where('generation', '=', p.generation),
);

/** Removes the challenges of an account and a purpose that ended with an earlier generation. */
export const removeEarlierChallenges = command((db, p: { accountId: string; purpose: string; generation: string }) =>
  db
    .deleteFrom('challenge')
    .where('account_id', '=', p.accountId)
    .where('purpose', '=', p.purpose)
    .where('generation', '<>', p.generation),
);

/** The oldest challenge of an account and a purpose that is not used and has not expired, of any generation. */
export const findOldestOpen = one(
  (db, p: { accountId: string; purpose: string; now: number }) =>
    db
      .selectFrom('challenge')
      .select(COLUMNS)
      .where('account_id', '=', p.accountId)
      .where('purpose', '=', p.purpose)
      .where('used_at', 'is', null)
      .where('expires_at', '>', p.now)
      .orderBy('created_at')
      .limit(1),
  toChallenge,
);

/** When the newest challenge of an account and a purpose was made, whatever happened to it since. */
export const findNewest = one(
  (db, p: { accountId: string; purpose: string }) =>
    db
      .selectFrom('challenge')
      .select('created_at')
      .where('account_id', '=', p.accountId)
      .where('purpose', '=', p.purpose)
      .orderBy('created_at', 'desc')
      .limit(1),
  (row) => row.created_at,
);

/** Removes the challenges of a purpose that one browser asked for, where there is no account. */
export const removeChallengesOfBrowser = command((db, p: { browserHash: string; purpose: string }) =>
  db
    .deleteFrom('challenge')
    .where('browser_hash', '=', p.browserHash)
    .where('purpose', '=', p.purpose)
    .where('account_id', 'is', null),
);

/** Removes the challenges of people who have no account yet. */
export const removeChallengesWithoutAccount = command((db, _p: object) =>
  db.deleteFrom('challenge').where('account_id', 'is', null),
);
