import type { Work } from '../platform/database/database.ts';
import { all, first, run, statement } from '../platform/database/statement.ts';

/** A key for the admin API; the key itself is not kept. */
export interface AdminKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

interface NewKey {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly now: number;
}

const insert = statement((db, p: NewKey) =>
  db.insertInto('admin_key').values({ id: p.id, name: p.name, hash: p.hash, created_at: p.now, revoked_at: null }),
);
const liveByHash = statement((db, p: { hash: string }) =>
  db.selectFrom('admin_key').select('id').where('hash', '=', p.hash).where('revoked_at', 'is', null),
);
const liveByHashHeld = statement((db, p: { hash: string }) =>
  db.selectFrom('admin_key').select('id').where('hash', '=', p.hash).where('revoked_at', 'is', null).forKeyShare(),
);
const byIdAlone = statement((db, p: { id: string }) =>
  db.selectFrom('admin_key').select('id').where('id', '=', p.id).forUpdate(),
);
const list = statement((db, _p: object) =>
  db.selectFrom('admin_key').select(['id', 'name', 'created_at', 'revoked_at']).orderBy('id'),
);
const revoke = statement((db, p: { id: string; now: number }) =>
  db
    .updateTable('admin_key')
    .set({ revoked_at: p.now })
    .where('id', '=', p.id)
    .where('revoked_at', 'is', null)
    .returning('id'),
);

const revokeAll = statement((db, p: { now: number }) =>
  db.updateTable('admin_key').set({ revoked_at: p.now }).where('revoked_at', 'is', null).returning('id'),
);

export function* insertAdminKey(key: NewKey): Work<void> {
  yield* run(insert, key);
}

/** The id of the live key with this hash. */
export function* findLiveAdminKey(hash: string): Work<string | undefined> {
  return (yield* first(liveByHash, { hash }))?.id;
}

/**
 * {@link findLiveAdminKey} for a unit of work that writes. {@link awaitHolders} waits for the end of every unit that found the
 * key live here.
 */
export function* holdLiveAdminKey(hash: string): Work<string | undefined> {
  yield* run(liveByHashHeld, { hash });
  // This lock does not wait for a revocation, and may have been taken on the row as it was before one. The second read is no
  // older than the lock: either it sees the revocation, or the revocation comes later and then waits for the lock.
  return yield* findLiveAdminKey(hash);
}

/** Waits until no unit of work holds the key. */
export function* awaitHolders(id: string): Work<void> {
  yield* run(byIdAlone, { id });
}

export function* listAdminKeys(): Work<AdminKey[]> {
  const rows = yield* all(list, {});
  return rows.map((row) => ({ id: row.id, name: row.name, createdAt: row.created_at, revokedAt: row.revoked_at }));
}

/** Ends a key; answers false where there is no live one with this id. */
export function* revokeAdminKeyRow(id: string, now: number): Work<boolean> {
  return (yield* first(revoke, { id, now })) !== undefined;
}

/** Ends every key; answers how many were live. */
export function* revokeAllAdminKeys(now: number): Work<number> {
  return (yield* all(revokeAll, { now })).length;
}
