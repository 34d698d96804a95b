import { randomBytes } from 'node:crypto';
import { record } from '../audit/audit.ts';
import { DAY } from '../platform/clock.ts';
import { randomIdentifier, randomName } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { type Origin, SYSTEM_ORIGIN } from '../platform/validation/origin.ts';
import { seal, sealingKey, signingKeyContext } from './seal.ts';
import {
  addSigningKey,
  deleteRetiredKeys,
  lockKeySet,
  readSigningKeys,
  removeSigningKey,
  type SealedKey,
  type StoredSigningKey,
} from './store.ts';

/** How long a retired key still verifies: longer than any token that it signed can live. */
const RETIREMENT = 8 * DAY;

/** Whether no token that a key signed can be alive any more. */
export const isRetired = ({ retiredAt }: StoredSigningKey, now: number): boolean =>
  retiredAt !== null && retiredAt + RETIREMENT <= now;

/** A new key of access and refresh tokens, sealed. @param root the secret whose key seals it */
export function newSigningKey(root: Buffer): SealedKey {
  const kid = randomName();
  return { kid, sealed: seal(sealingKey(root), randomBytes(32), signingKeyContext(kid)) };
}

/** Signs with a new key from now on; the old ones verify until their last token has expired. Returns the new `kid`. */
export async function rotateSigningKey(database: Database, root: Buffer, origin: Origin, now: number): Promise<string> {
  const key = newSigningKey(root);
  await database.commit(function* rotate(): Work<void> {
    yield* addSigningKey(key, randomIdentifier(), now);
    yield* record({ at: now, type: 'keys.rotated', origin, details: { kid: key.kid } });
  });
  return key.kid;
}

/**
 * Rotates a key that is `period` old, and deletes those that verify no token any more. Any process may do it first.
 * @param period milliseconds; null where nothing rotates by itself
 */
export async function maintainSigningKeys(
  database: Database,
  root: Buffer,
  now: number,
  period: number | null,
): Promise<void> {
  const isDue = (keys: readonly StoredSigningKey[]): boolean =>
    period !== null && keys.some((key) => key.retiredAt === null && key.createdAt + period <= now);
  if (isDue(await database.read(() => readSigningKeys({})))) {
    const key = newSigningKey(root);
    await database.commit(function* rotate(): Work<void> {
      // Checked again under the lock, since another process may have rotated meanwhile.
      yield* lockKeySet({});
      if (!isDue(yield* readSigningKeys({}))) return;
      yield* addSigningKey(key, randomIdentifier(), now);
      yield* record({ at: now, type: 'keys.rotated', origin: SYSTEM_ORIGIN, details: { kid: key.kid } });
    });
  }
  await database.commit(() => deleteRetiredKeys({ before: now - RETIREMENT }));
}

/** Deletes a key, which ends every token that it signed. The one that signs is replaced by a new one. */
export async function dropSigningKey(
  database: Database,
  root: Buffer,
  kid: string,
  origin: Origin,
  now: number,
): Promise<boolean> {
  const replacement = newSigningKey(root);
  return database.commit(function* drop(): Work<boolean> {
    const dropped = yield* removeSigningKey(kid, replacement, randomIdentifier(), now);
    if (dropped === undefined) return false;
    yield* record({ at: now, type: 'keys.dropped', origin, details: { kid, ...dropped } });
    return true;
  });
}

/** The stored keys, newest first, without their key material. */
export async function listSigningKeys(database: Database) {
  const keys = await database.read(() => readSigningKeys({}));
  return keys.map(({ kid, createdAt, retiredAt }) => ({ kid, createdAt, retiredAt }));
}
