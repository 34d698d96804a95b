import { DAY, HOUR, MINUTE } from '../../platform/clock.ts';
import { type AsymmetricAlg, OPTIONAL_ALGS } from '../algorithms.ts';

/** A key pair with the time from which it signs, in milliseconds since the epoch. */
export interface Scheduled {
  readonly kid: string;
  readonly alg: string;
  readonly createdAt: number;
  readonly signsFrom: number;
}

/** How long the JWKS may be cached. */
export const JWKS_MAX_AGE = 5 * MINUTE;

/** How long a key is published before it signs: every cached JWKS without it has expired by then. */
export const PUBLISHED_BEFORE = HOUR;

/** How long a key is published after its last signature: longer than an ID token is valid (1800 s), with room for clock skew. */
const PUBLISHED_AFTER = HOUR;

/**
 * How long the keys of an algorithm stay published after a client gave it up: as long as an ID token is valid (1800 s) and the JWKS may
 * be cached.
 */
const PUBLISHED_AFTER_USE = 30 * MINUTE + JWKS_MAX_AGE;

/** How long a key verifies ID tokens as hints after that: as long as a session lasts. */
const KEPT_AFTER = 30 * DAY;

export type KeyStatus = 'published' | 'signs' | 'verifies' | 'expired';

/**
 * When the next key of the algorithm signs in place of this one; undefined if there is none. This is computed and not stored, so
 * that dropping a key extends the one before it.
 */
export function supersededAt<K extends Scheduled>(key: K, keys: readonly K[]): number | undefined {
  const later = keys.filter(({ alg, signsFrom }) => alg === key.alg && signsFrom > key.signsFrom);
  return later.length === 0 ? undefined : Math.min(...later.map(({ signsFrom }) => signsFrom));
}

/** The state of a key among all keys. @param now milliseconds since the epoch */
export function keyStatus<K extends Scheduled>(key: K, keys: readonly K[], now: number): KeyStatus {
  if (now < key.signsFrom) return 'published';
  const end = supersededAt(key, keys);
  if (end === undefined || now < end) return 'signs';
  return now < end + PUBLISHED_AFTER ? 'verifies' : 'expired';
}

/** Whether a key can be deleted: it is not published, and every session whose ID tokens it signed has ended. */
export function isDeletable<K extends Scheduled>(key: K, keys: readonly K[], now: number): boolean {
  const end = supersededAt(key, keys);
  return end !== undefined && end + PUBLISHED_AFTER + KEPT_AFTER <= now;
}

/**
 * The key that signs with an algorithm at this moment; undefined if it has none. The first one signs even if the clock of this
 * process is behind that of the process that created it.
 */
export function signerAt<K extends Scheduled>(alg: string, keys: readonly K[], now: number): K | undefined {
  const own = keys.filter((key) => key.alg === alg).sort((a, b) => b.signsFrom - a.signsFrom);
  return own.find(({ signsFrom }) => signsFrom <= now) ?? own.at(-1);
}

/** The keys that the JWKS shows at this moment. */
export const publishedAt = <K extends Scheduled>(keys: readonly K[], now: number): readonly K[] =>
  keys.filter((key) => keyStatus(key, keys, now) !== 'expired');

/** Who uses the algorithms, as far as that decides on their publication. */
export interface AlgorithmUse {
  /** Those of the optional ones that a client is registered for. */
  readonly inUse: ReadonlySet<string>;
  /** When a client last gave up an algorithm, in milliseconds since the epoch. */
  readonly givenUpAt: ReadonlyMap<string, number>;
}

/** Whether the JWKS shows the keys of an algorithm. */
export function isOffered(alg: AsymmetricAlg, { inUse, givenUpAt }: AlgorithmUse, now: number): boolean {
  const last = givenUpAt.get(alg);
  return !OPTIONAL_ALGS.includes(alg) || inUse.has(alg) || (last !== undefined && now < last + PUBLISHED_AFTER_USE);
}

/** The algorithms whose newest key has reached the age at which it is rotated. @param period milliseconds */
export function dueAlgorithms<K extends Scheduled>(keys: readonly K[], now: number, period: number): readonly string[] {
  const newest = new Map<string, number>();
  for (const { alg, createdAt } of keys) newest.set(alg, Math.max(newest.get(alg) ?? createdAt, createdAt));
  return [...newest].filter(([, createdAt]) => createdAt + period <= now).map(([alg]) => alg);
}
