import type { FastifyBaseLogger } from 'fastify';
import { endHandedOut } from '../account-actions/accounts/handed-out.ts';
import { adminKeyStatus } from '../account-actions/makers/admin-keys.ts';
import type { AdminKey } from '../admin-keys/store.ts';
import * as store from '../admin-keys/store.ts';
import { record } from '../audit/audit.ts';
import { type Clock, iso, isoOrNull } from '../platform/clock.ts';
import { digest } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { Ids } from '../platform/ids/ids.ts';
import { logLine } from '../platform/log.ts';
import { SYSTEM_ORIGIN } from '../platform/validation/origin.ts';
import type { ConfiguredAdminKey } from './guard.ts';

interface AdminKeysContext {
  readonly database: Database;
  readonly clock: Clock;
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

/** Writes to the log which valid keys no role limits: those of an earlier version, and the one of the configuration. */
export async function reportKeysWithoutRole(
  { database, clock, adminKey }: AdminKeysContext & { readonly adminKey: ConfiguredAdminKey | undefined },
  log: FastifyBaseLogger,
): Promise<void> {
  const found = await database.read(() => store.adminKeysWithoutRole({ now: clock() }));
  const keys = [...found.map(({ id }) => id), ...(adminKey === undefined ? [] : ['TESSERA_ADMIN_KEY'])];
  const message = 'admin keys without a role have every right: replace them by tessera admin-key create --role';
  if (keys.length > 0) logLine(log, 'warn', message, { keys });
}

export const adminKeyView = (key: AdminKey, now: number) => ({
  id: key.id,
  name: key.name,
  role: key.role ?? 'owner',
  organizationId: key.organizationId,
  status: adminKeyStatus(key, now),
  createdAt: iso(key.createdAt),
  expiresAt: isoOrNull(key.expiresAt),
  lastUsedAt: isoOrNull(key.lastUsedAt),
  revokedAt: isoOrNull(key.revokedAt),
  madeBy: key.madeBy,
});
