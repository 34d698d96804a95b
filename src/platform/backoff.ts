import { MINUTE, SECOND } from './clock.ts';

/** When failed attempts are repeated. */
export interface RetrySchedule {
  /** The delay after the first attempt, in milliseconds. */
  readonly first: number;
  /** Each delay is the one before times this, up to `longest`. */
  readonly factor: number;
  readonly longest: number;
  /** How many attempts there are. */
  readonly attempts: number;
}

/** Notices to apps: eight attempts take most of a day. */
export const NOTICE_RETRIES: RetrySchedule = { first: 15 * SECOND, factor: 4, longest: Infinity, attempts: 8 };

/** Mail: a server that was away for an hour still gets a link that lives that long; all attempts take most of a day. */
export const MAIL_RETRIES: RetrySchedule = { first: 15 * SECOND, factor: 2, longest: 30 * MINUTE, attempts: 52 };

/** Messages that were asked for and could not be made: the person waits for theirs a few minutes at most. */
export const REQUEST_RETRIES: RetrySchedule = { first: 15 * SECOND, factor: 2, longest: 5 * MINUTE, attempts: 6 };

/**
 * The delay after a failed attempt, in milliseconds; undefined after the last one. Up to a fifth of it is jitter, so that what failed
 * together is not all attempted together again.
 * @param attempts how many there were
 * @param random from 0 to 1
 */
export function retryDelay(schedule: RetrySchedule, attempts: number, random: number): number | undefined {
  if (attempts >= schedule.attempts) return undefined;
  const delay = Math.min(schedule.first * schedule.factor ** (attempts - 1), schedule.longest);
  return Math.round(delay * (1 - random / 5));
}
