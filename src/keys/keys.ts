import { randomBytes } from 'node:crypto';
import { type Clock, DAY } from '../clock.ts';
import type { Database, Work } from '../database/database.ts';
import { type Origin, record } from '../events/audit.ts';
import { deriveKey, randomIdentifier } from '../secrets.ts';
import { type KeyMaterial, type KeyRing, keyRing } from './ring.ts';
import { seal, unseal } from './seal.ts';
import * as store from './store.ts';

/** The keys of this process, kept as fresh as the requests need them. */
export interface Keys {
  ring(): KeyRing;
  /** Reads the key set again where its version is not this one. */
  refresh(version: string): Promise<KeyRing>;
  /** Reads the key set again where the database holds another version than this process. */
  recheck(): Promise<KeyRing>;
}

/** How long a retired key still verifies: longer than any token that it signed can live. */
const RETIREMENT = 8 * DAY;

const context = (kid: string): string => `signing key ${kid}`;
const sealingKey = (root: Buffer): Buffer => deriveKey(root, 'sealing');

/** The root secret does not open what the database holds. */
export class WrongSecret extends Error {
  override readonly name = 'WrongSecret';
}

/**
 * Loads the key set, makes its first key where there is none, and seals anew what a previous root sealed.
 * @throws {WrongSecret} when neither root opens a stored key
 */
export async function openKeys(
  database: Database,
  roots: { readonly current: Buffer; readonly previous: Buffer | undefined },
  clock: Clock,
): Promise<Keys> {
  const sealing = sealingKey(roots.current);
  const previous = roots.previous === undefined ? undefined : sealingKey(roots.previous);

  async function load(): Promise<KeyRing | undefined> {
    const { version, rows } = await database.read(store.readKeySet);
    if (version === undefined) return undefined;
    const materials: KeyMaterial[] = [];
    for (const row of rows) {
      if (row.retired_at !== null && row.retired_at + RETIREMENT <= clock()) continue;
      const opened = unseal(sealing, row.sealed, context(row.kid));
      const material = opened ?? (previous && unseal(previous, row.sealed, context(row.kid)));
      if (material === undefined) {
        throw new WrongSecret(
          'The secret does not fit this database: it does not open the signing keys. ' +
            'Give the secret that the database was made with, or, while changing it, the old one in TESSERA_SECRET_PREVIOUS.',
        );
      }
      if (opened === undefined) {
        const sealed = seal(sealing, material, context(row.kid));
        await database.commit(() => store.reseal(row.kid, row.sealed, sealed));
      }
      materials.push({ kid: row.kid, material, retiredAt: row.retired_at });
    }
    return keyRing(version, materials);
  }

  let ring = await load();
  if (ring === undefined) {
    const first = newKey(roots.current);
    await database.commit(() => store.createKeySet(first, randomIdentifier(), clock()));
    ring = await load();
  }
  if (ring === undefined) throw new Error('the key set could not be made');
  let held: KeyRing = ring;

  async function reload(): Promise<KeyRing> {
    held = (await load()) ?? held;
    return held;
  }

  return {
    ring: () => held,
    refresh: async (version) => (version === held.version ? held : reload()),
    async recheck() {
      const version = await database.read(store.readVersion);
      return version === held.version ? held : reload();
    },
  };
}

function newKey(root: Buffer): store.SealedKey {
  const kid = randomIdentifier();
  return { kid, sealed: seal(sealingKey(root), randomBytes(32), context(kid)) };
}

/** Lets a new key sign from now on; the old ones verify until their last token has expired. Answers the new `kid`. */
export async function rotateKeys(database: Database, root: Buffer, origin: Origin, now: number): Promise<string> {
  const key = newKey(root);
  await database.commit(function* rotate(): Work<void> {
    yield* store.addKey(key, randomIdentifier(), now);
    yield* record({ at: now, type: 'keys.rotated', origin, details: { kid: key.kid } });
  });
  return key.kid;
}

/** Removes a key at once, and with it every token that it signed. A current key is followed by a new one. */
export async function dropKey(
  database: Database,
  root: Buffer,
  kid: string,
  origin: Origin,
  now: number,
): Promise<boolean> {
  const replacement = newKey(root);
  return database.commit(function* drop(): Work<boolean> {
    const dropped = yield* store.removeKey(kid, replacement, randomIdentifier(), now);
    if (dropped) yield* record({ at: now, type: 'keys.dropped', origin, details: { kid } });
    return dropped;
  });
}

/** The keys on record, newest first, without their material. */
export async function listKeys(database: Database) {
  const { rows } = await database.read(store.readKeySet);
  return rows.map((row) => ({ kid: row.kid, createdAt: row.created_at, retiredAt: row.retired_at }));
}
