import { SECOND } from '../../../platform/clock.ts';

/** RFC 8628 §3.2: how many seconds a device waits between two requests. */
export const POLL_INTERVAL = 5;
/** §3.5: how many seconds more it waits after each request that came too soon, and at most. */
const SLOWER_BY = 5;
const LONGEST_INTERVAL = 60;
/** Two requests of a device that keeps the interval may arrive a little closer together. In milliseconds. */
const TOLERANCE = SECOND;

export interface Poll {
  readonly tooSoon: boolean;
  /** From now on, in seconds. */
  readonly interval: number;
}

/** What a request of a device means that has not been answered yet. */
export function judgePoll(
  { polledAt, interval }: { readonly polledAt: number | null; readonly interval: number },
  now: number,
): Poll {
  const tooSoon = polledAt !== null && now - polledAt < interval * SECOND - TOLERANCE;
  return { tooSoon, interval: tooSoon ? Math.min(interval + SLOWER_BY, LONGEST_INTERVAL) : interval };
}
