import { record } from '../audit/audit.ts';
import { type Clock, iso, isoOrNull } from '../platform/clock.ts';
import { digest, randomSecret } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/http/origin.ts';
import type { Ids } from '../platform/ids/ids.ts';
import { notFound } from '../platform/oauth-error.ts';
import * as Type from '../platform/validation/type.ts';
import type { AdminKey } from './key-store.ts';
import * as store from './key-store.ts';

export const NewAdminKey = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 64,
      format: 'single-line',
      description: '1 to 64 characters on one line, at least one of them visible, without spaces around them',
    }),
  },
  { additionalProperties: false, description: 'an object' },
);
export type NewAdminKey = Type.Static<typeof NewAdminKey>;

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Makes a key, and gives the one chance to see it. */
export async function createAdminKey(
  { database, clock, ids }: Parts,
  { name }: NewAdminKey,
  origin: Origin,
): Promise<{ key: AdminKey; adminKey: string }> {
  const id = await ids.next();
  const adminKey = `tak_${randomSecret()}`;
  const now = clock();
  await database.commit(function* create(): Work<void> {
    yield* store.insertAdminKey({ id, name, hash: digest(adminKey), now });
    yield* record({ at: now, type: 'admin_key.created', origin, details: { adminKeyId: id, name } });
  });
  return { key: { id, name, createdAt: now, revokedAt: null }, adminKey };
}

export const allAdminKeys = ({ database }: Pick<Parts, 'database'>): Promise<AdminKey[]> =>
  database.read(store.listAdminKeys);

/**
 * Ends a key at once: when this returns, nothing that was asked with it changes anything any more.
 * @throws {OAuthError} `not_found`
 */
export async function revokeAdminKey(
  { database, clock }: Pick<Parts, 'database' | 'clock'>,
  id: string,
  origin: Origin,
): Promise<void> {
  const now = clock();
  const ended = await database.commit(function* end(): Work<boolean> {
    if (!(yield* store.revokeAdminKeyRow(id, now))) return false;
    yield* record({ at: now, type: 'admin_key.revoked', origin, details: { adminKeyId: id } });
    return true;
  });
  // In a second unit: a revocation that waited for the units under way before it commits could be kept waiting for ever, by
  // sending more of them with the very key that is to end.
  await database.commit(() => store.awaitHolders(id));
  // Said only now: whoever revokes a second time may rely on the answer as well.
  if (!ended) throw notFound(`There is no live admin key with the id ${id}. List them with: tessera admin-key list`);
}

export const adminKeyView = (key: AdminKey) => ({
  id: key.id,
  name: key.name,
  status: key.revokedAt === null ? 'active' : 'revoked',
  createdAt: iso(key.createdAt),
  revokedAt: isoOrNull(key.revokedAt),
});
