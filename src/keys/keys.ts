import { randomBytes } from 'node:crypto';
import { record } from '../audit/audit.ts';
import { type Clock, DAY } from '../platform/clock.ts';
import { randomIdentifier, randomName } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/http/origin.ts';
import { ASYMMETRIC_ALGS, type AsymmetricAlg, type IdTokenAlg, isAsymmetric } from './algorithms.ts';
import { deleteKeyPairs, readKeyPairs, resealKeyPair } from './id-key-store.ts';
import { makeFirstPairs, SYSTEM, tendPairs } from './id-keys.ts';
import { signWith } from './key-pair.ts';
import { type IdTokenKey, type KeyMaterial, type KeyRing, keyRing } from './ring.ts';
import { isForgotten } from './rules/schedule.ts';
import { signingKeyContext as context, keyPairContext, seal, sealingKey, unseal } from './seal.ts';
import * as store from './store.ts';

/** The keys of this process, kept as fresh as the requests need them. */
export interface Keys {
  ring(): KeyRing;
  /** Reads the key set again where its version is not this one. */
  refresh(version: string): Promise<KeyRing>;
  /** Reads the key set again where the database holds another version than this process. */
  recheck(): Promise<KeyRing>;
  /** A ring that can sign ID tokens with this algorithm, whose first key is made here where there is none. */
  ready(alg: IdTokenAlg): Promise<KeyRing>;
  /** What the JWKS shows: a key at least of each algorithm that is offered, as the database has them now. */
  published(): Promise<readonly IdTokenKey[]>;
}

/** How long a retired key still verifies: longer than any token that it signed can live. */
const RETIREMENT = 8 * DAY;

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

  /** Opens what is sealed; what the previous root sealed is sealed anew, by `reseal`. */
  async function open(
    sealed: string,
    place: string,
    kid: string,
    reseal: (anew: string) => Work<boolean>,
  ): Promise<Buffer> {
    const opened = unseal(sealing, sealed, place);
    if (opened !== undefined) return opened;
    const content = previous && unseal(previous, sealed, place);
    if (content === undefined) {
      throw new WrongSecret(
        'The secret does not fit this database: it does not open the signing keys. ' +
          'Give the secret that the database was made with, or, while changing it, the old one in TESSERA_SECRET_PREVIOUS.',
      );
    }
    const anew = seal(sealing, content, place);
    await database.commit(function* renew(): Work<void> {
      if (!(yield* reseal(anew))) return;
      yield* record({ at: clock(), type: 'keys.resealed', origin: SYSTEM, details: { kid } });
    });
    return content;
  }

  async function load(): Promise<KeyRing | undefined> {
    const { version, rows, stored } = await database.read(function* read() {
      return { ...(yield* store.readKeySet()), stored: yield* readKeyPairs() };
    });
    if (version === undefined) return undefined;
    const now = clock();
    const materials: KeyMaterial[] = [];
    for (const { kid, sealed, retired_at: retiredAt } of rows) {
      if (retiredAt !== null && retiredAt + RETIREMENT <= now) continue;
      const material = await open(sealed, context(kid), kid, (anew) => store.reseal(kid, sealed, anew));
      materials.push({ kid, material, retiredAt });
    }
    const pairs: IdTokenKey[] = [];
    for (const pair of stored) {
      if (isForgotten(pair, stored, now)) continue;
      const { kid, alg, sealed, publicJwk } = pair;
      const reseal = (anew: string) => resealKeyPair(kid, sealed, anew);
      const privateKey = (await open(sealed, keyPairContext(alg, kid), kid, reseal)).toString('utf8');
      pairs.push({ ...pair, publicJwk: JSON.parse(publicJwk), sign: signWith(alg, kid, privateKey) });
    }
    return keyRing(version, materials, pairs);
  }

  let ring = await load();
  if (ring === undefined) {
    const first = newKey(roots.current);
    await database.commit(function* create(): Work<void> {
      const now = clock();
      if (!(yield* store.createKeySet(first, randomIdentifier(), now))) return;
      yield* record({ at: now, type: 'keys.created', origin: SYSTEM, details: { kid: first.kid } });
    });
    ring = await load();
  }
  if (ring === undefined) throw new Error('the key set could not be made');
  let held: KeyRing = ring;

  async function reload(): Promise<KeyRing> {
    held = (await load()) ?? held;
    return held;
  }

  async function recheck(): Promise<KeyRing> {
    const version = await database.read(store.readVersion);
    return version === held.version ? held : reload();
  }

  /** One at a time: whoever comes meanwhile gets the keys that are being made. */
  let making: Promise<unknown> | undefined;
  async function make(): Promise<KeyRing> {
    making ??= makeFirstPairs(database, roots.current, clock()).finally(() => {
      making = undefined;
    });
    await making;
    return reload();
  }
  const canSign = (ring: KeyRing, alg: AsymmetricAlg): boolean => ring.signer(alg, clock()) !== undefined;

  return {
    ring: () => held,
    refresh: async (version) => (version === held.version ? held : reload()),
    recheck,
    ready: async (alg) => (isAsymmetric(alg) && !canSign(held, alg) ? make() : held),
    async published() {
      let ring = await recheck();
      if (!ASYMMETRIC_ALGS.every((alg) => canSign(ring, alg))) ring = await make();
      return ring.published(clock());
    },
  };
}

function newKey(root: Buffer): store.SealedKey {
  const kid = randomName();
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

/**
 * What keys need from time to time, by whichever process comes first: another key follows one that is `period` old, and keys
 * that neither sign nor verify any more are removed. Correctness never depends on it.
 * @param period milliseconds; null where nothing rotates by itself
 */
export async function tendKeys(database: Database, root: Buffer, now: number, period: number | null): Promise<void> {
  const isDue = ({ rows }: { rows: readonly { created_at: number; retired_at: number | null }[] }): boolean =>
    period !== null && rows.some((row) => row.retired_at === null && row.created_at + period <= now);
  if (isDue(await database.read(store.readKeySet))) {
    const key = newKey(root);
    await database.commit(function* rotate(): Work<void> {
      // Another process may have been faster: it is asked again where nobody can change it.
      yield* store.lockSet();
      if (!isDue(yield* store.readKeySet())) return;
      yield* store.addKey(key, randomIdentifier(), now);
      yield* record({ at: now, type: 'keys.rotated', origin: SYSTEM, details: { kid: key.kid } });
    });
  }
  await database.commit(() => store.removeRetired(now - RETIREMENT));
  await tendPairs(database, root, now, period);
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
    if (dropped === false) return false;
    yield* record({ at: now, type: 'keys.dropped', origin, details: { kid, ...dropped } });
    return true;
  });
}

/**
 * Part of a unit of work: one new key in place of all keys, those of ID tokens too. No token of before verifies anywhere.
 * @param root the secret that opens what it seals
 */
export function* replaceAllKeys(root: Buffer, now: number): Work<string> {
  const key = newKey(root);
  yield* store.replaceKeys(key, randomIdentifier(), now);
  yield* deleteKeyPairs();
  return key.kid;
}

/** The keys on record, newest first, without their material. */
export async function listKeys(database: Database) {
  const { rows } = await database.read(store.readKeySet);
  return rows.map((row) => ({ kid: row.kid, createdAt: row.created_at, retiredAt: row.retired_at }));
}
