import { record } from '../audit/audit.ts';
import { type Clock, iso, isoOrNull } from '../platform/clock.ts';
import { digest, randomSecret } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { Ids } from '../platform/ids/ids.ts';
import { notFound } from '../platform/oauth-error.ts';
import type { Origin } from '../platform/validation/origin.ts';
import * as Type from '../platform/validation/type.ts';
import type { AdminKey } from './key-store.ts';
import * as store from './key-store.ts';

export const CreateAdminKeyRequest = Type.Object(
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
export type CreateAdminKeyRequest = Type.Static<typeof CreateAdminKeyRequest>;

interface AdminKeysContext {
  readonly database: Database;
  readonly clock: Clock;
}

/** Creates a key. @returns its record, and the key itself, which cannot be read again */
export async function createAdminKey(
  { database, clock, ids }: AdminKeysContext & { readonly ids: Ids },
  { name }: CreateAdminKeyRequest,
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

/**
 * Revokes a key. Once this has returned, no request with the key changes anything.
 * @throws {OAuthError} `not_found`
 */
export async function revokeAdminKey({ database, clock }: AdminKeysContext, id: string, origin: Origin): Promise<void> {
  const now = clock();
  const wasLive = await database.commit(function* revoke(): Work<boolean> {
    if (!(yield* store.markAdminKeyRevoked({ id, now }))) return false;
    yield* record({ at: now, type: 'admin_key.revoked', origin, details: { adminKeyId: id } });
    return true;
  });
  // After the commit: otherwise a stream of requests with this very key could delay its revocation forever.
  await database.commit(() => store.waitForAdminKeyLocks({ id }));
  // After the wait: a second caller may rely on this answer as well.
  if (!wasLive) throw notFound(`There is no live admin key with the id ${id}. List them with: tessera admin-key list`);
}

export const adminKeyView = (key: AdminKey) => ({
  id: key.id,
  name: key.name,
  status: key.revokedAt === null ? 'active' : 'revoked',
  createdAt: iso(key.createdAt),
  revokedAt: isoOrNull(key.revokedAt),
});
