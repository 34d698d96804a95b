import { record } from '../audit/audit.ts';
import { iso } from '../platform/clock.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import type { Origin } from '../platform/http/origin.ts';
import { ASYMMETRIC_ALGS, type AsymmetricAlg } from './algorithms.ts';
import { deleteKeyPair, insertKeyPair, readKeyPairs, type StoredKeyPair, startKeyPair } from './id-key-store.ts';
import { newKeyPair } from './key-pair.ts';
import { dueAlgorithms, isForgotten, keyStatus, PUBLISHED_BEFORE, signerAt, supersededAt } from './rules/schedule.ts';
import { keyPairContext, seal, sealingKey } from './seal.ts';
import { lockSet, renewVersion } from './store.ts';

/** Nobody asked: the service did it by itself. */
export const SYSTEM: Origin = { actor: { type: 'system', id: null }, address: null, requestId: null };

/** A key pair as operators see it. */
export type KeyPairView = Pick<StoredKeyPair, 'kid' | 'alg' | 'createdAt' | 'signsFrom'>;

/** A key pair that a unit of work may put in place, made and sealed beforehand: the unit itself cannot wait. */
type Spare = Omit<StoredKeyPair, 'createdAt' | 'signsFrom'>;

async function spare(root: Buffer, alg: AsymmetricAlg): Promise<Spare> {
  const { kid, privateKey, publicJwk } = await newKeyPair(alg);
  const sealed = seal(sealingKey(root), Buffer.from(privateKey, 'utf8'), keyPairContext(alg, kid));
  return { kid, alg, sealed, publicJwk: JSON.stringify(publicJwk) };
}

/** Adds a key and tells of it. The caller holds the lock of the key set. */
function* add(key: StoredKeyPair, origin: Origin, at: number): Work<void> {
  yield* insertKeyPair(key);
  yield* renewVersion(randomIdentifier());
  const details = { kid: key.kid, alg: key.alg, signsFrom: iso(key.signsFrom) };
  yield* record({ at, type: 'keys.rotated', origin, details });
}

/** Makes the first key of every algorithm that has none; it signs at once, for nothing could have verified before. */
export async function makeFirstPairs(database: Database, root: Buffer, now: number): Promise<void> {
  const before = await database.read(readKeyPairs);
  const missing = ASYMMETRIC_ALGS.filter((alg) => before.every((key) => key.alg !== alg));
  const spares = await Promise.all(missing.map((alg) => spare(root, alg)));
  await database.commit(function* make(): Work<void> {
    yield* lockSet();
    const keys = yield* readKeyPairs();
    for (const made of spares) {
      if (keys.some(({ alg }) => alg === made.alg)) continue;
      yield* add({ ...made, createdAt: now, signsFrom: now }, SYSTEM, now);
    }
  });
}

/**
 * Publishes another key of each algorithm, which takes over in an hour: by then every cached key set shows it. Where one
 * waits already, that one is the next.
 * @param algs undefined is every algorithm that has keys
 */
export async function rotatePairs(
  database: Database,
  root: Buffer,
  { algs, origin, now }: { algs: readonly AsymmetricAlg[] | undefined; origin: Origin; now: number },
): Promise<readonly KeyPairView[]> {
  const before = await database.read(readKeyPairs);
  const wanted = algs ?? ASYMMETRIC_ALGS.filter((alg) => before.some((key) => key.alg === alg));
  const spares = await Promise.all(wanted.map((alg) => spare(root, alg)));
  return database.commit(function* rotate(): Work<readonly KeyPairView[]> {
    yield* lockSet();
    return yield* follow(spares, origin, now);
  });
}

function* follow(spares: readonly Spare[], origin: Origin, now: number): Work<readonly KeyPairView[]> {
  const keys = yield* readKeyPairs();
  const next: KeyPairView[] = [];
  for (const made of spares) {
    const own = keys.filter(({ alg }) => alg === made.alg);
    const waiting = own.find(({ signsFrom }) => now < signsFrom);
    const key = waiting ?? { ...made, createdAt: now, signsFrom: own.length === 0 ? now : now + PUBLISHED_BEFORE };
    if (waiting === undefined) yield* add(key, origin, now);
    next.push({ kid: key.kid, alg: key.alg, createdAt: key.createdAt, signsFrom: key.signsFrom });
  }
  return next;
}

/**
 * Takes a key out of the key set at once: what it signed is verified by nobody who reads the set again. Where it was the one
 * that signs, the next one signs at once. Answers whether there was such a key.
 */
export async function dropPair(
  database: Database,
  root: Buffer,
  kid: string,
  origin: Origin,
  now: number,
): Promise<boolean> {
  const found = (await database.read(readKeyPairs)).find((key) => key.kid === kid);
  if (found === undefined) return false;
  const replacement = await spare(root, found.alg);
  return database.commit(function* drop(): Work<boolean> {
    yield* lockSet();
    const own = (yield* readKeyPairs()).filter(({ alg }) => alg === found.alg);
    if (!own.some((key) => key.kid === kid)) return false;
    yield* deleteKeyPair(kid);
    // Without the dropped one between, an expired one would count as the last, and be published again.
    for (const key of own) if (keyStatus(key, own, now) === 'expired') yield* deleteKeyPair(key.kid);
    let followedBy: string | null = null;
    if (signerAt(found.alg, own, now)?.kid === kid) {
      const waiting = own.find((key) => key.kid !== kid && now < key.signsFrom);
      followedBy = waiting?.kid ?? replacement.kid;
      if (waiting !== undefined) yield* startKeyPair(waiting.kid, now);
      else yield* insertKeyPair({ ...replacement, createdAt: now, signsFrom: now });
    }
    yield* renewVersion(randomIdentifier());
    yield* record({ at: now, type: 'keys.dropped', origin, details: { kid, alg: found.alg, followedBy } });
    return true;
  });
}

/** Removes the keys that are published no more, and lets another follow each that is `period` old. */
export async function tendPairs(database: Database, root: Buffer, now: number, period: number | null): Promise<void> {
  const before = await database.read(readKeyPairs);
  const isDue = (keys: readonly StoredKeyPair[], alg: AsymmetricAlg): boolean =>
    period !== null && dueAlgorithms(keys, now, period).includes(alg);
  const due = ASYMMETRIC_ALGS.filter((alg) => isDue(before, alg));
  const forgotten = (keys: readonly StoredKeyPair[]) => keys.filter((key) => isForgotten(key, keys, now));
  if (due.length === 0 && forgotten(before).length === 0) return;
  const spares = await Promise.all(due.map((alg) => spare(root, alg)));
  await database.commit(function* tend(): Work<void> {
    // Another process may have been faster: what is due is asked again where nobody can change it.
    yield* lockSet();
    const keys = yield* readKeyPairs();
    for (const { kid } of forgotten(keys)) yield* deleteKeyPair(kid);
    yield* follow(
      spares.filter(({ alg }) => isDue(keys, alg)),
      SYSTEM,
      now,
    );
  });
}

/** The key pairs on record, newest first. */
export async function listPairs(database: Database, now: number) {
  const keys = await database.read(readKeyPairs);
  return keys.map((key) => ({
    kid: key.kid,
    alg: key.alg,
    status: keyStatus(key, keys, now),
    createdAt: key.createdAt,
    signsFrom: key.signsFrom,
    retiredAt: supersededAt(key, keys) ?? null,
  }));
}
