/** A process that has served so long, in milliseconds, is no sign that the next one would end as soon. */
const LONG_ENOUGH = 60_000;
const FIRST_DELAY = 1000;
const LONGEST_DELAY = 30_000;

/**
 * How often in a row a process ended soon, counting this time.
 * @param served for how long it has served, in milliseconds
 */
export const endsInARow = (before: number, served: number): number => (served >= LONG_ENOUGH ? 1 : before + 1);

/** How long to wait before a process is replaced, in milliseconds: the first time not at all, then twice as long each time. */
export const restartDelay = (ends: number): number =>
  ends <= 1 ? 0 : Math.min(FIRST_DELAY * 2 ** (ends - 2), LONGEST_DELAY);
