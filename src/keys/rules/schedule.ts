import { DAY, HOUR, MINUTE } from '../../platform/clock.ts';

/** A key pair with the moment from which it signs. */
export interface Scheduled {
  readonly kid: string;
  readonly alg: string;
  readonly createdAt: number;
  readonly signsFrom: number;
}

/** How long the JWKS may be cached. */
export const JWKS_MAX_AGE = 5 * MINUTE;

/** How long a key is published before it signs: every cached copy that could lack it has gone by then. */
export const PUBLISHED_BEFORE = HOUR;

/** How long a key is published after its last signature: longer than an ID token lives (1800 s), with room for skew. */
const PUBLISHED_AFTER = HOUR;

/** How long a key is kept after that, to know its ID tokens when they come back as hints: as long as a session lasts. */
const REMEMBERED_AFTER = 30 * DAY;

export type KeyStatus = 'published' | 'signs' | 'verifies' | 'expired';

/**
 * When another key of the algorithm takes over, or took over; undefined where none does. Nothing of it is stored: a key that
 * is dropped leaves its place to those that remain.
 */
export function supersededAt<K extends Scheduled>(key: K, keys: readonly K[]): number | undefined {
  const later = keys.filter(({ alg, signsFrom }) => alg === key.alg && signsFrom > key.signsFrom);
  return later.length === 0 ? undefined : Math.min(...later.map(({ signsFrom }) => signsFrom));
}

/** Where a key stands among those of its algorithm. @param now milliseconds since the epoch */
export function keyStatus<K extends Scheduled>(key: K, keys: readonly K[], now: number): KeyStatus {
  if (now < key.signsFrom) return 'published';
  const end = supersededAt(key, keys);
  if (end === undefined || now < end) return 'signs';
  return now < end + PUBLISHED_AFTER ? 'verifies' : 'expired';
}

/** Whether a key is of no more use: neither is it published, nor could an ID token of a session that lasts come from it. */
export function isForgotten<K extends Scheduled>(key: K, keys: readonly K[], now: number): boolean {
  const end = supersededAt(key, keys);
  return end !== undefined && end + PUBLISHED_AFTER + REMEMBERED_AFTER <= now;
}

/**
 * The key of an algorithm that signs at this moment; undefined where the algorithm has none. The first one of all signs also
 * where this process's clock is behind that of the process which made it.
 */
export function signerAt<K extends Scheduled>(alg: string, keys: readonly K[], now: number): K | undefined {
  const own = keys.filter((key) => key.alg === alg).sort((a, b) => b.signsFrom - a.signsFrom);
  return own.find(({ signsFrom }) => signsFrom <= now) ?? own.at(-1);
}

/** The keys that the JWKS shows at this moment. */
export const publishedAt = <K extends Scheduled>(keys: readonly K[], now: number): readonly K[] =>
  keys.filter((key) => keyStatus(key, keys, now) !== 'expired');

/** The algorithms whose newest key is as old as a key may become. */
export function dueAlgorithms<K extends Scheduled>(keys: readonly K[], now: number, period: number): readonly string[] {
  const newest = new Map<string, number>();
  for (const { alg, createdAt } of keys) newest.set(alg, Math.max(newest.get(alg) ?? createdAt, createdAt));
  return [...newest].filter(([, createdAt]) => createdAt + period <= now).map(([alg]) => alg);
}
