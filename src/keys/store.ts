import type { Work } from '../platform/database/database.ts';
import { all, first, run, statement } from '../platform/database/statement.ts';

export interface SealedKey {
  readonly kid: string;
  readonly sealed: string;
}

const keySet = statement((db, _p: object) => db.selectFrom('key_set').select('version').where('id', '=', 1));
const lockKeySet = statement((db, _p: object) =>
  db.selectFrom('key_set').select('version').where('id', '=', 1).forUpdate(),
);
const signingKeys = statement((db, _p: object) =>
  db.selectFrom('signing_key').select(['kid', 'sealed', 'created_at', 'retired_at']).orderBy('created_at', 'desc'),
);
const insertKeySet = statement((db, p: { version: string }) =>
  db
    .insertInto('key_set')
    .values({ id: 1, version: p.version })
    .onConflict((conflict) => conflict.doNothing())
    .returning('version'),
);
const setVersion = statement((db, p: { version: string }) =>
  db.updateTable('key_set').set({ version: p.version }).where('id', '=', 1),
);
const insertKey = statement((db, p: { kid: string; sealed: string; now: number }) =>
  db.insertInto('signing_key').values({ kid: p.kid, sealed: p.sealed, created_at: p.now, retired_at: null }),
);
const retireCurrent = statement((db, p: { now: number }) =>
  db.updateTable('signing_key').set({ retired_at: p.now }).where('retired_at', 'is', null),
);
const deleteKey = statement((db, p: { kid: string }) =>
  db.deleteFrom('signing_key').where('kid', '=', p.kid).returning(['kid', 'retired_at']),
);
const deleteRetired = statement((db, p: { before: number }) =>
  db.deleteFrom('signing_key').where('retired_at', '<=', p.before),
);
const deleteAll = statement((db, _p: object) => db.deleteFrom('signing_key'));
const resealKey = statement((db, p: { kid: string; before: string; sealed: string }) =>
  db
    .updateTable('signing_key')
    .set({ sealed: p.sealed })
    .where('kid', '=', p.kid)
    .where('sealed', '=', p.before)
    .returning('kid'),
);

export function* readKeySet() {
  const set = yield* first(keySet, {});
  const rows = yield* all(signingKeys, {});
  return { version: set?.version, rows };
}

export function* readVersion(): Work<string | undefined> {
  return (yield* first(keySet, {}))?.version;
}

/** Nobody else changes the set until this unit of work is done. */
export function* lockSet(): Work<void> {
  yield* first(lockKeySet, {});
}

/** Lets every process read the set again before its next answer. The caller holds the set's lock. */
export function* renewVersion(version: string): Work<void> {
  yield* run(setVersion, { version });
}

/** Makes the set and its first key; answers false where another process did. */
export function* createKeySet(key: SealedKey, version: string, now: number): Work<boolean> {
  if ((yield* first(insertKeySet, { version })) === undefined) return false;
  yield* run(insertKey, { ...key, now });
  return true;
}

/** A new current key and a new version of the set. */
export function* addKey(key: SealedKey, version: string, now: number): Work<void> {
  yield* first(lockKeySet, {});
  yield* run(retireCurrent, { now });
  yield* run(insertKey, { ...key, now });
  yield* run(setVersion, { version });
}

/**
 * Deletes a key; where it was the current one, `replacement` takes its place.
 * @returns the kid of what took its place, if anything did; false where there was no such key
 */
export function* removeKey(
  kid: string,
  replacement: SealedKey,
  version: string,
  now: number,
): Work<{ readonly followedBy: string | null } | false> {
  yield* first(lockKeySet, {});
  const removed = yield* first(deleteKey, { kid });
  if (removed === undefined) return false;
  const wasCurrent = removed.retired_at === null;
  if (wasCurrent) yield* run(insertKey, { ...replacement, now });
  yield* run(setVersion, { version });
  return { followedBy: wasCurrent ? replacement.kid : null };
}

/** Deletes the keys that verify no more: retired before this instant. */
export function* removeRetired(before: number): Work<void> {
  yield* run(deleteRetired, { before });
}

/** Answers false where another process did so before. */
export function* reseal(kid: string, before: string, sealed: string): Work<boolean> {
  return (yield* first(resealKey, { kid, before, sealed })) !== undefined;
}

/** One new key in place of all that there are. */
export function* replaceKeys(key: SealedKey, version: string, now: number): Work<void> {
  yield* first(lockKeySet, {});
  yield* run(deleteAll, {});
  yield* run(insertKey, { ...key, now });
  yield* run(setVersion, { version });
}
