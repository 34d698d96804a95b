import { SECOND } from '../../../platform/clock.ts';

/** How often an app is told, at the most. */
export const MOST_ATTEMPTS = 8;

const FIRST_PAUSE = 15 * SECOND;
const FACTOR = 4;

/**
 * How long to wait after an attempt that failed, in milliseconds; undefined where that was the last one. Each pause is four
 * times the one before, so that eight attempts take most of a day, and up to a fifth shorter, so that what failed together
 * does not come back together.
 * @param attempts how many there were
 * @param random from 0 to 1
 */
export function pauseAfter(attempts: number, random: number): number | undefined {
  if (attempts >= MOST_ATTEMPTS) return undefined;
  return Math.round(FIRST_PAUSE * FACTOR ** (attempts - 1) * (1 - random / 5));
}
