import type { Work } from '../platform/database/database.ts';
import { forKeyShare, forUpdate } from '../platform/database/row-locks.ts';
import { changes, command, many, one } from '../platform/database/statement.ts';

/** A key for the admin API. Only the hash of the key itself is stored. */
export interface AdminKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

export const insertAdminKey = command((db, p: { id: string; name: string; hash: string; now: number }) =>
  db.insertInto('admin_key').values({ id: p.id, name: p.name, hash: p.hash, created_at: p.now, revoked_at: null }),
);

/** Finds the key with this hash, unless it was revoked. */
export const findLiveAdminKey = one((db, p: { hash: string }) =>
  db.selectFrom('admin_key').select('id').where('hash', '=', p.hash).where('revoked_at', 'is', null),
);

const lockIfLive = command((db, p: { hash: string }) =>
  db.selectFrom('admin_key').select('id').where('hash', '=', p.hash).where('revoked_at', 'is', null).$call(forKeyShare),
);

/** {@link findLiveAdminKey} for a unit of work that writes; {@link waitForAdminKeyLocks} waits until that unit has ended. */
export function* lockLiveAdminKey(key: { hash: string }): Work<{ readonly id: string } | undefined> {
  yield* lockIfLive(key);
  // A revocation does not conflict with this lock, and may have committed after the row was read and before it was locked. The
  // second read sees such a revocation; a later one waits for the lock.
  return yield* findLiveAdminKey(key);
}

const findLiveById = one((db, p: { id: string }) =>
  db.selectFrom('admin_key').select('id').where('id', '=', p.id).where('revoked_at', 'is', null),
);

const findConfiguredById = one((db, p: { id: string }) =>
  db.selectFrom('configured_admin_key').select('key_id').where('id', '=', 1).where('key_id', '=', p.id),
);

const holdById = command((db, p: { id: string }) =>
  db.selectFrom('admin_key').select('id').where('id', '=', p.id).$call(forKeyShare),
);

const holdConfigured = command((db, _p: object) =>
  db.selectFrom('configured_admin_key').select('id').where('id', '=', 1).$call(forKeyShare),
);

/** Whether an admin key is valid: it was not revoked, or is the one of the configuration. */
export function* isAdminKeyLive(id: string): Work<boolean> {
  return (yield* findLiveById({ id })) !== undefined || (yield* findConfiguredById({ id })) !== undefined;
}

/** {@link isAdminKeyLive} for a unit of work that writes: a revocation returns after this unit has ended. */
export function* holdAdminKey(id: string): Work<boolean> {
  yield* holdById({ id });
  yield* holdConfigured({});
  // As in lockLiveAdminKey: read after the lock.
  return yield* isAdminKeyLive(id);
}

/** The key of the configuration that the newest start had. */
export const findConfiguredAdminKey = one(
  (db, _p: object) => db.selectFrom('configured_admin_key').select(['key_id', 'hash']).where('id', '=', 1),
  (row) => ({ id: row.key_id, hash: row.hash }),
);

/** {@link findConfiguredAdminKey}, locked until the unit of work ends. */
export const lockConfiguredAdminKey = one(
  (db, _p: object) =>
    db.selectFrom('configured_admin_key').select(['key_id', 'hash']).where('id', '=', 1).$call(forUpdate),
  (row) => ({ id: row.key_id, hash: row.hash }),
);

export const setConfiguredAdminKey = command((db, p: { keyId: string | null; hash: string | null }) =>
  db.updateTable('configured_admin_key').set({ key_id: p.keyId, hash: p.hash }).where('id', '=', 1),
);

/** Waits until no unit of work has the key locked. */
export const waitForAdminKeyLocks = command((db, p: { id: string }) =>
  db.selectFrom('admin_key').select('id').where('id', '=', p.id).$call(forUpdate),
);

/** The same for all keys. */
export const waitForAllAdminKeyLocks = command((db, _p: object) =>
  db.selectFrom('admin_key').select('id').orderBy('id').$call(forUpdate),
);

export const listAdminKeys = many(
  (db, _p: object) => db.selectFrom('admin_key').select(['id', 'name', 'created_at', 'revoked_at']).orderBy('id'),
  (row): AdminKey => ({ id: row.id, name: row.name, createdAt: row.created_at, revokedAt: row.revoked_at }),
);

/** Marks a key as revoked; false where no valid key has this id. */
export const markAdminKeyRevoked = changes((db, p: { id: string; now: number }) =>
  db
    .updateTable('admin_key')
    .set({ revoked_at: p.now })
    .where('id', '=', p.id)
    .where('revoked_at', 'is', null)
    .returning('id'),
);

/** Marks every valid key as revoked. The unit of work gives their ids. */
export const markAllAdminKeysRevoked = many((db, p: { now: number }) =>
  db.updateTable('admin_key').set({ revoked_at: p.now }).where('revoked_at', 'is', null).returning('id'),
);
