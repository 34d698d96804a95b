import { SECOND } from '../../../platform/clock.ts';

/** How many times a notice is attempted. */
export const MAX_ATTEMPTS = 8;

const FIRST_DELAY = 15 * SECOND;
const FACTOR = 4;

/**
 * The delay after a failed attempt, in milliseconds; undefined after the last one. Each delay is four times the one before, so
 * that eight attempts take most of a day, minus up to a fifth of jitter, so that notices that failed together are not all
 * attempted together again.
 * @param attempts how many there were
 * @param random from 0 to 1
 */
export function retryDelay(attempts: number, random: number): number | undefined {
  if (attempts >= MAX_ATTEMPTS) return undefined;
  return Math.round(FIRST_DELAY * FACTOR ** (attempts - 1) * (1 - random / 5));
}
