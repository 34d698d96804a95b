import type { AdminKey } from '../admin-keys/store.ts';
import * as store from '../admin-keys/store.ts';
import { record } from '../audit/audit.ts';
import { type Clock, iso, isoOrNull } from '../platform/clock.ts';
import { digest, randomSecret } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { notFound } from '../platform/failure.ts';
import type { Ids } from '../platform/ids/ids.ts';
import { type Origin, SYSTEM_ORIGIN } from '../platform/validation/origin.ts';
import * as Type from '../platform/validation/type.ts';
import type { ConfiguredAdminKey } from './guard.ts';
import { type EndedWithKey, endHandedOut, sumEnded } from './handed-out.ts';

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
 * Revokes a key, and with it what the key handed out and nobody used. Once this has returned, no request with the key changes anything.
 * @param takeOver makes invitations the command line's own instead of ending them
 * @throws {OAuthError} `not_found`
 */
export async function revokeAdminKey(
  { database, clock }: AdminKeysContext,
  id: string,
  origin: Origin,
  { takeOver = false }: { readonly takeOver?: boolean } = {},
): Promise<EndedWithKey> {
  const now = clock();
  const first = await database.commit(function* revoke(): Work<EndedWithKey | undefined> {
    if (!(yield* store.markAdminKeyRevoked({ id, now }))) return undefined;
    const ended = yield* endHandedOut(id, takeOver, now);
    yield* record({ at: now, type: 'admin_key.revoked', origin, details: { adminKeyId: id, ...ended } });
    return ended;
  });
  // After the commit: otherwise a stream of requests with this very key could delay its revocation forever.
  await database.commit(() => store.waitForAdminKeyLocks({ id }));
  // After the wait: a second caller may rely on this answer as well.
  if (first === undefined) {
    throw notFound(`There is no live admin key with the id ${id}. List them with: tessera admin-key list`);
  }
  // Requests that were under way have ended, and may have handed out more, which does not work either.
  const later = await database.commit(() => endHandedOut(id, takeOver, now));
  return sumEnded(first, later);
}

/**
 * Makes the key of the configuration known to the database, at each start. With another key, or none, what the one before handed out and
 * nobody used ends.
 */
export async function registerConfiguredAdminKey(
  { database, clock, ids }: AdminKeysContext & { readonly ids: Ids },
  key: string | undefined,
): Promise<ConfiguredAdminKey | undefined> {
  const hash = key === undefined ? null : digest(key);
  const known = await database.read(() => store.findConfiguredAdminKey({}));
  // Most starts write nothing.
  if (known?.hash === hash) return key === undefined || known.id === null ? undefined : { key, id: known.id };
  const newId = hash === null ? null : await ids.next();
  const id = await database.commit(() => replaceConfiguredKey({ keyId: newId, hash }, clock()));
  return key === undefined || id === null ? undefined : { key, id };
}

function* replaceConfiguredKey(next: { keyId: string | null; hash: string | null }, now: number): Work<string | null> {
  const current = yield* store.lockConfiguredAdminKey({});
  // Another process that starts may have done it.
  if (current?.hash === next.hash) return current.id;
  yield* store.setConfiguredAdminKey(next);
  if (current === undefined || current.id === null) return next.keyId;
  const ended = yield* endHandedOut(current.id, false, now);
  const details = { adminKeyId: current.id, configured: true, ...ended };
  yield* record({ at: now, type: 'admin_key.revoked', origin: SYSTEM_ORIGIN, details });
  return next.keyId;
}

export const adminKeyView = (key: AdminKey) => ({
  id: key.id,
  name: key.name,
  status: key.revokedAt === null ? 'active' : 'revoked',
  createdAt: iso(key.createdAt),
  revokedAt: isoOrNull(key.revokedAt),
});
