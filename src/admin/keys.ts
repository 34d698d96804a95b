import type { Clock } from '../clock.ts';
import type { Database, Work } from '../database/database.ts';
import { all, first, run, statement } from '../database/statement.ts';
import { type Origin, record } from '../events/audit.ts';
import type { Ids } from '../identifiers/ids.ts';
import { notFound } from '../oauth-error.ts';
import { digest, randomSecret } from '../secrets.ts';

/** A key for the admin API; the key itself is not kept. */
export interface AdminKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

const insert = statement((db, p: { id: string; name: string; hash: string; now: number }) =>
  db.insertInto('admin_key').values({ id: p.id, name: p.name, hash: p.hash, created_at: p.now, revoked_at: null }),
);
const byHash = statement((db, p: { hash: string }) =>
  db.selectFrom('admin_key').select('id').where('hash', '=', p.hash).where('revoked_at', 'is', null),
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

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Makes a key, and gives the one chance to see it. */
export async function createAdminKey(
  { database, clock, ids }: Parts,
  name: string,
  origin: Origin,
): Promise<{ id: string; name: string; adminKey: string; createdAt: number }> {
  const id = await ids.next();
  const adminKey = `tak_${randomSecret()}`;
  const now = clock();
  await database.commit(function* create(): Work<void> {
    yield* run(insert, { id, name, hash: digest(adminKey), now });
    yield* record({ at: now, type: 'admin_key.created', origin, details: { adminKeyId: id, name } });
  });
  return { id, name, adminKey, createdAt: now };
}

export async function listAdminKeys({ database }: Pick<Parts, 'database'>): Promise<AdminKey[]> {
  const rows = await database.read(() => all(list, {}));
  return rows.map((row) => ({ id: row.id, name: row.name, createdAt: row.created_at, revokedAt: row.revoked_at }));
}

/** Ends a key at once. @throws {OAuthError} `not_found` */
export async function revokeAdminKey(
  { database, clock }: Pick<Parts, 'database' | 'clock'>,
  id: string,
  origin: Origin,
): Promise<void> {
  const now = clock();
  await database.commit(function* end(): Work<void> {
    if ((yield* first(revoke, { id, now })) === undefined)
      throw notFound(`There is no live admin key with the id ${id}.`);
    yield* record({ at: now, type: 'admin_key.revoked', origin, details: { adminKeyId: id } });
  });
}

/** The id of the live admin key with this secret. */
export async function findAdminKey({ database }: Pick<Parts, 'database'>, key: string): Promise<string | undefined> {
  return (await database.read(() => first(byHash, { hash: digest(key) })))?.id;
}

export const adminKeyView = (key: AdminKey) => ({
  id: key.id,
  name: key.name,
  status: key.revokedAt === null ? 'active' : 'revoked',
  createdAt: new Date(key.createdAt).toISOString(),
  revokedAt: key.revokedAt === null ? null : new Date(key.revokedAt).toISOString(),
});
