import type { Insertable } from 'kysely';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { forUpdate } from '../platform/database/row-locks.ts';
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
import type { AsymmetricAlg } from './algorithms.ts';
import type { AlgorithmUse } from './rules/schedule.ts';
import type { IdTokenKeyTable } from './tables.ts';

const SIGNING_KEY = {
  kid: storedField('kid', plain<string>()),
  sealed: storedField('sealed', plain<string>()),
  createdAt: storedField('created_at', plain<number>()),
  /** Null for the one that signs. */
  retiredAt: storedField('retired_at', plain<number | null>()),
} as const;

/** A key of access and refresh tokens as it is stored. */
export type StoredSigningKey = Values<typeof SIGNING_KEY>;

/** A new key of access and refresh tokens, sealed. */
export type SealedKey = Pick<StoredSigningKey, 'kid' | 'sealed'>;

const KEY_PAIR = {
  kid: storedField('kid', plain<string>()),
  alg: storedField('alg', plain<AsymmetricAlg>()),
  sealed: storedField('sealed', plain<string>()),
  publicJwk: storedField('public_jwk', plain<string>()),
  createdAt: storedField('created_at', plain<number>()),
  signsFrom: storedField('signs_from', plain<number>()),
} as const;

/** A key pair of ID tokens as it is stored. */
export type StoredKeyPair = Values<typeof KEY_PAIR>;

/** The version of the key set; undefined where a database has no keys yet. */
export const readVersion = one(
  (db, _p: object) => db.selectFrom('key_set').select('version').where('id', '=', 1),
  ({ version }) => version,
);

/** No other unit of work changes the key set until this one is done. */
export const lockKeySet = one((db, _p: object) =>
  db.selectFrom('key_set').select('version').where('id', '=', 1).$call(forUpdate),
);

const insertKeySet = changes((db, p: { version: string }) =>
  db
    .insertInto('key_set')
    .values({ id: 1, version: p.version })
    .onConflict((conflict) => conflict.doNothing())
    .returning('version'),
);

/** Makes every process read the key set again before its next answer. The caller holds the lock of the set. */
export const setVersion = command((db, p: { version: string }) =>
  db.updateTable('key_set').set({ version: p.version }).where('id', '=', 1),
);

/** The keys of access and refresh tokens, newest first. */
export const readSigningKeys = many(
  (db, _p: object) => db.selectFrom('signing_key').select(columnsOf(SIGNING_KEY)).orderBy('created_at', 'desc'),
  decoder(SIGNING_KEY),
);

const insertSigningKey = command((db, p: SealedKey & { now: number }) =>
  db.insertInto('signing_key').values({ kid: p.kid, sealed: p.sealed, created_at: p.now, retired_at: null }),
);

const retireSigningKey = command((db, p: { now: number }) =>
  db.updateTable('signing_key').set({ retired_at: p.now }).where('retired_at', 'is', null),
);

const deleteSigningKey = one((db, p: { kid: string }) =>
  db.deleteFrom('signing_key').where('kid', '=', p.kid).returning(['kid', 'retired_at']),
);

/** Deletes the keys that were retired before this instant, and so verify no token any more. */
export const deleteRetiredKeys = command((db, p: { before: number }) =>
  db.deleteFrom('signing_key').where('retired_at', '<=', p.before),
);

const deleteSigningKeys = command((db, _p: object) => db.deleteFrom('signing_key'));

/** Replaces the sealed text of a key; false where another process did so first. */
export const resealSigningKey = changes((db, p: { kid: string; before: string; sealed: string }) =>
  db
    .updateTable('signing_key')
    .set({ sealed: p.sealed })
    .where('kid', '=', p.kid)
    .where('sealed', '=', p.before)
    .returning('kid'),
);

/** Creates the key set with its first key; false where another process did so first. */
export function* createKeySet(key: SealedKey, version: string, now: number): Work<boolean> {
  if (!(yield* insertKeySet({ version }))) return false;
  yield* insertSigningKey({ ...key, now });
  return true;
}

/** Makes a new key the one that signs, and gives the set a new version. */
export function* addSigningKey(key: SealedKey, version: string, now: number): Work<void> {
  yield* lockKeySet({});
  yield* retireSigningKey({ now });
  yield* insertSigningKey({ ...key, now });
  yield* setVersion({ version });
}

/**
 * Deletes a key; if it was the one that signs, `replacement` takes its place.
 * @returns the kid of the replacement, or null where none was needed; undefined where there is no such key
 */
export function* removeSigningKey(
  kid: string,
  replacement: SealedKey,
  version: string,
  now: number,
): Work<{ readonly followedBy: string | null } | undefined> {
  yield* lockKeySet({});
  const removed = yield* deleteSigningKey({ kid });
  if (removed === undefined) return undefined;
  const didSign = removed.retired_at === null;
  if (didSign) yield* insertSigningKey({ ...replacement, now });
  yield* setVersion({ version });
  return { followedBy: didSign ? replacement.kid : null };
}

/** Replaces all keys of access and refresh tokens by one new key. */
export function* replaceSigningKeys(key: SealedKey, version: string, now: number): Work<void> {
  yield* lockKeySet({});
  yield* deleteSigningKeys({});
  yield* insertSigningKey({ ...key, now });
  yield* setVersion({ version });
}

/** All key pairs of ID tokens, newest first. */
export const readKeyPairs = many(
  (db, _p: object) =>
    db.selectFrom('id_token_key').select(columnsOf(KEY_PAIR)).orderBy('signs_from', 'desc').orderBy('kid'),
  decoder(KEY_PAIR),
);

/** When a client last gave up each algorithm. */
const readGivenUp = many(
  (db, _p: object) =>
    db
      .selectFrom('id_token_key')
      .select((eb) => ['alg', eb.fn.max('given_up_at').as('at')])
      .where('given_up_at', 'is not', null)
      .groupBy('alg'),
  ({ alg, at }): readonly [alg: string, at: number] => [alg, Number(at)],
);

/** Reads the algorithms that a client is registered for, of those that are published only then. The clients’ domain has it. */
export type ReadAlgorithmsInUse = () => Work<ReadonlySet<AsymmetricAlg>>;

/** Reads who uses the algorithms. */
export function* readAlgorithmUse(readInUse: ReadAlgorithmsInUse): Work<AlgorithmUse> {
  // In this order: if an algorithm is given up between the two statements, it still counts as in use.
  const inUse = yield* readInUse();
  return { inUse, givenUpAt: new Map(yield* readGivenUp({})) };
}

/**
 * Part of the unit of work in which a client gives up an algorithm: its keys stay published as long as tokens that they signed for that
 * client are valid, also where no other client uses them.
 */
export const giveUpAlgorithm = command((db, p: { alg: AsymmetricAlg; now: number }) =>
  db.updateTable('id_token_key').set({ given_up_at: p.now }).where('alg', '=', p.alg),
);

const insert = command((db, p: Omit<Insertable<IdTokenKeyTable>, 'given_up_at'>) =>
  db.insertInto('id_token_key').values({ ...pick(p, columnsOf(KEY_PAIR)), given_up_at: null }),
);

export const insertKeyPair = (pair: StoredKeyPair): Work<void> => insert(encode(KEY_PAIR, pair));

export const deleteKeyPair = command((db, p: { kid: string }) =>
  db.deleteFrom('id_token_key').where('kid', '=', p.kid),
);

/** Deletes every key pair. The next one of an algorithm is created when it is needed, and signs at once. */
export const deleteKeyPairs = command((db, _p: object) => db.deleteFrom('id_token_key'));

/** Lets a key that is published already sign from this moment on. */
export const startKeyPair = command((db, p: { kid: string; at: number }) =>
  db.updateTable('id_token_key').set({ signs_from: p.at }).where('kid', '=', p.kid),
);

/** Replaces the sealed text of a key pair; false where another process did so first. */
export const resealKeyPair = changes((db, p: { kid: string; before: string; sealed: string }) =>
  db
    .updateTable('id_token_key')
    .set({ sealed: p.sealed })
    .where('kid', '=', p.kid)
    .where('sealed', '=', p.before)
    .returning('kid'),
);

/** The key that encrypts what is stored for people. There is one. */
export const readDataKey = one((db, _p: object) => db.selectFrom('data_key').select('sealed').where('id', '=', 1));

/** Stores the first data key; false where another process did so first. */
export const insertDataKey = changes((db, p: { sealed: string; now: number }) =>
  db
    .insertInto('data_key')
    .values({ id: 1, sealed: p.sealed, created_at: p.now })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);

/** Replaces the sealed text of the data key; false where another process did so first. */
export const resealDataKey = changes((db, p: { before: string; sealed: string }) =>
  db
    .updateTable('data_key')
    .set({ sealed: p.sealed })
    .where('id', '=', 1)
    .where('sealed', '=', p.before)
    .returning('id'),
);
