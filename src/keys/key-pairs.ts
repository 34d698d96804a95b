import { record } from '../audit/audit.ts';
import { iso } from '../platform/clock.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { type Origin, SYSTEM_ORIGIN } from '../platform/validation/origin.ts';
import { ASYMMETRIC_ALGS, type AsymmetricAlg } from './algorithms.ts';
import { newKeyPair } from './id-tokens.ts';
import {
  dueAlgorithms,
  isDeletable,
  isOffered,
  type KeyStatus,
  keyStatus,
  PUBLISHED_BEFORE,
  signerAt,
  supersededAt,
} from './rules/schedule.ts';
import { keyPairContext, seal, sealingKey } from './seal.ts';
import {
  deleteKeyPair,
  insertKeyPair,
  lockKeySet,
  type ReadAlgorithmsInUse,
  readAlgorithmUse,
  readKeyPairs,
  type StoredKeyPair,
  setVersion,
  startKeyPair,
} from './store.ts';

/** A key pair as operators see it. */
export type KeyPairView = Pick<StoredKeyPair, 'kid' | 'alg' | 'createdAt' | 'signsFrom'>;

/** A key pair that is sealed but not scheduled yet. It is created before the unit of work, which cannot wait for it. */
type UnscheduledKeyPair = Omit<StoredKeyPair, 'createdAt' | 'signsFrom'>;

async function createKeyPair(root: Buffer, alg: AsymmetricAlg): Promise<UnscheduledKeyPair> {
  const { kid, privateKey, publicJwk } = await newKeyPair(alg);
  const sealed = seal(sealingKey(root), Buffer.from(privateKey, 'utf8'), keyPairContext(alg, kid));
  return { kid, alg, sealed, publicJwk: JSON.stringify(publicJwk) };
}

/** Adds a key pair and records it. The caller holds the lock of the key set. */
function* addKeyPair(pair: StoredKeyPair, origin: Origin, at: number): Work<void> {
  yield* insertKeyPair(pair);
  yield* setVersion({ version: randomIdentifier() });
  const details = { kid: pair.kid, alg: pair.alg, signsFrom: iso(pair.signsFrom) };
  yield* record({ at, type: 'keys.rotated', origin, details });
}

/** Creates the first key pair of an algorithm. It signs at once, since no client can have cached another. */
export async function createFirstKeyPair(
  database: Database,
  root: Buffer,
  alg: AsymmetricAlg,
  now: number,
): Promise<void> {
  const isThere = (pairs: readonly StoredKeyPair[]) => pairs.some((pair) => pair.alg === alg);
  if (isThere(await database.read(() => readKeyPairs({})))) return;
  const created = await createKeyPair(root, alg);
  await database.commit(function* create(): Work<void> {
    yield* lockKeySet({});
    // Another process may have been first.
    if (isThere(yield* readKeyPairs({}))) return;
    yield* addKeyPair({ ...created, createdAt: now, signsFrom: now }, SYSTEM_ORIGIN, now);
  });
}

/**
 * Publishes another key pair of each algorithm. It signs from an hour later on, when every cached JWKS has it. If one is
 * published and does not sign yet, that one is kept.
 * @param algs undefined is every algorithm that has a key pair
 * @returns the key pairs that sign next
 */
export async function rotateKeyPairs(
  database: Database,
  root: Buffer,
  { algs, origin, now }: { algs: readonly AsymmetricAlg[] | undefined; origin: Origin; now: number },
): Promise<readonly KeyPairView[]> {
  const before = await database.read(() => readKeyPairs({}));
  const wanted = algs ?? ASYMMETRIC_ALGS.filter((alg) => before.some((pair) => pair.alg === alg));
  const created = await Promise.all(wanted.map((alg) => createKeyPair(root, alg)));
  return database.commit(function* rotate(): Work<readonly KeyPairView[]> {
    yield* lockKeySet({});
    return yield* publishNext(created, origin, now);
  });
}

function* publishNext(
  created: readonly UnscheduledKeyPair[],
  origin: Origin,
  now: number,
): Work<readonly KeyPairView[]> {
  const pairs = yield* readKeyPairs({});
  const next: KeyPairView[] = [];
  for (const pair of created) {
    const ofAlg = pairs.filter(({ alg }) => alg === pair.alg);
    const published = ofAlg.find(({ signsFrom }) => now < signsFrom);
    const signsFrom = ofAlg.length === 0 ? now : now + PUBLISHED_BEFORE;
    const successor = published ?? { ...pair, createdAt: now, signsFrom };
    if (published === undefined) yield* addKeyPair(successor, origin, now);
    const { kid, alg, createdAt } = successor;
    next.push({ kid, alg, createdAt, signsFrom: successor.signsFrom });
  }
  return next;
}

/**
 * Removes a key pair from the key set, so that what it signed fails verification with a fresh JWKS. If it was the one that
 * signs, the next one signs at once. Returns false where there is no such key pair.
 */
export async function dropKeyPair(
  database: Database,
  root: Buffer,
  kid: string,
  origin: Origin,
  now: number,
): Promise<boolean> {
  const found = (await database.read(() => readKeyPairs({}))).find((pair) => pair.kid === kid);
  if (found === undefined) return false;
  const replacement = await createKeyPair(root, found.alg);
  return database.commit(function* drop(): Work<boolean> {
    yield* lockKeySet({});
    const ofAlg = (yield* readKeyPairs({})).filter(({ alg }) => alg === found.alg);
    if (!ofAlg.some((pair) => pair.kid === kid)) return false;
    yield* deleteKeyPair({ kid });
    // An expired one would be taken for the last signer otherwise, and be published again.
    for (const pair of ofAlg) if (keyStatus(pair, ofAlg, now) === 'expired') yield* deleteKeyPair({ kid: pair.kid });
    let followedBy: string | null = null;
    if (signerAt(found.alg, ofAlg, now)?.kid === kid) {
      const published = ofAlg.find((pair) => pair.kid !== kid && now < pair.signsFrom);
      followedBy = published?.kid ?? replacement.kid;
      if (published !== undefined) yield* startKeyPair({ kid: published.kid, at: now });
      else yield* insertKeyPair({ ...replacement, createdAt: now, signsFrom: now });
    }
    yield* setVersion({ version: randomIdentifier() });
    yield* record({ at: now, type: 'keys.dropped', origin, details: { kid, alg: found.alg, followedBy } });
    return true;
  });
}

/**
 * Rotates key pairs that are `period` old, and deletes those whose ID tokens need not be recognized any more.
 * @param period milliseconds; null where nothing rotates by itself
 */
export async function maintainKeyPairs(
  database: Database,
  root: Buffer,
  now: number,
  period: number | null,
): Promise<void> {
  const before = await database.read(() => readKeyPairs({}));
  const isDue = (pairs: readonly StoredKeyPair[], alg: AsymmetricAlg): boolean =>
    period !== null && dueAlgorithms(pairs, now, period).includes(alg);
  const due = ASYMMETRIC_ALGS.filter((alg) => isDue(before, alg));
  const deletable = (pairs: readonly StoredKeyPair[]) => pairs.filter((pair) => isDeletable(pair, pairs, now));
  if (due.length === 0 && deletable(before).length === 0) return;
  const created = await Promise.all(due.map((alg) => createKeyPair(root, alg)));
  await database.commit(function* maintain(): Work<void> {
    // Checked again under the lock, since another process may have rotated meanwhile.
    yield* lockKeySet({});
    const pairs = yield* readKeyPairs({});
    for (const { kid } of deletable(pairs)) yield* deleteKeyPair({ kid });
    const stillDue = created.filter(({ alg }) => isDue(pairs, alg));
    yield* publishNext(stillDue, SYSTEM_ORIGIN, now);
  });
}

/** The stored key pairs, newest first. `unused`: left out of the JWKS, because no client is registered for the algorithm. */
export async function listKeyPairs(database: Database, readInUse: ReadAlgorithmsInUse, now: number) {
  const { pairs, use } = await database.read(function* list() {
    return { use: yield* readAlgorithmUse(readInUse), pairs: yield* readKeyPairs({}) };
  });
  const statusOf = (pair: StoredKeyPair): KeyStatus | 'unused' => {
    const status = keyStatus(pair, pairs, now);
    return status === 'expired' || isOffered(pair.alg, use, now) ? status : 'unused';
  };
  return pairs.map((pair) => ({
    kid: pair.kid,
    alg: pair.alg,
    status: statusOf(pair),
    createdAt: pair.createdAt,
    signsFrom: pair.signsFrom,
    retiredAt: supersededAt(pair, pairs) ?? null,
  }));
}
