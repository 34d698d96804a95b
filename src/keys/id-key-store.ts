import type { Work } from '../platform/database/database.ts';
import { all, first, run, statement } from '../platform/database/statement.ts';
import type { AsymmetricAlg } from './algorithms.ts';
import type { Scheduled } from './rules/schedule.ts';

/** A key pair as it is stored. */
export interface StoredKeyPair extends Scheduled {
  readonly alg: AsymmetricAlg;
  readonly sealed: string;
  readonly publicJwk: string;
}

const pairs = statement((db, _p: object) =>
  db
    .selectFrom('id_token_key')
    .select(['kid', 'alg', 'sealed', 'public_jwk', 'created_at', 'signs_from'])
    .orderBy('signs_from', 'desc')
    .orderBy('kid'),
);
const insert = statement((db, p: StoredKeyPair) =>
  db.insertInto('id_token_key').values({
    kid: p.kid,
    alg: p.alg,
    sealed: p.sealed,
    public_jwk: p.publicJwk,
    created_at: p.createdAt,
    signs_from: p.signsFrom,
  }),
);
const remove = statement((db, p: { kid: string }) => db.deleteFrom('id_token_key').where('kid', '=', p.kid));
const removeAll = statement((db, _p: object) => db.deleteFrom('id_token_key'));
const start = statement((db, p: { kid: string; at: number }) =>
  db.updateTable('id_token_key').set({ signs_from: p.at }).where('kid', '=', p.kid),
);
const replaceSealed = statement((db, p: { kid: string; before: string; sealed: string }) =>
  db
    .updateTable('id_token_key')
    .set({ sealed: p.sealed })
    .where('kid', '=', p.kid)
    .where('sealed', '=', p.before)
    .returning('kid'),
);

/** All key pairs, newest first. */
export function* readKeyPairs(): Work<StoredKeyPair[]> {
  return (yield* all(pairs, {})).map((row) => ({
    kid: row.kid,
    alg: row.alg as AsymmetricAlg,
    sealed: row.sealed,
    publicJwk: row.public_jwk,
    createdAt: row.created_at,
    signsFrom: row.signs_from,
  }));
}

export function* insertKeyPair(pair: StoredKeyPair): Work<void> {
  yield* run(insert, pair);
}

export function* deleteKeyPair(kid: string): Work<void> {
  yield* run(remove, { kid });
}

/** Lets a key that is published already sign from this moment on. */
export function* startKeyPair(kid: string, at: number): Work<void> {
  yield* run(start, { kid, at });
}

/** Answers false where another process did so before. */
export function* resealKeyPair(kid: string, before: string, sealed: string): Work<boolean> {
  return (yield* first(replaceSealed, { kid, before, sealed })) !== undefined;
}

/** Removes every key pair. The next one of an algorithm is made when it is needed, and signs at once. */
export function* deleteKeyPairs(): Work<void> {
  yield* run(removeAll, {});
}
