/** Tells the time in milliseconds since the Unix epoch. Injected everywhere, so that a test can move it. */
export type Clock = () => number;

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/**
 * How far the clocks of two nodes may lie apart before what one removes could still be needed by the other. `tessera doctor`
 * reports a tenth of that as a problem.
 */
export const NODE_CLOCK_TOLERANCE = 5 * MINUTE;

/** What this service dated may lie so far in a node's future: the clocks of nodes differ a little (RFC 7519 §4.1.4). */
export const CLOCK_SKEW = MINUTE;

/** A clock is wrong, and what would be decided by it may be wrong as well: a moment's outage, never a verdict. */
export class WrongClock extends Error {}

/** What this service dated lies in the future. */
export class ClockBehind extends WrongClock {
  override readonly name = 'ClockBehind';
  constructor(by: number) {
    super(
      `The clock of this node went back, or another node's is ahead: it met something dated ${Math.round(by / SECOND)} s from ` +
        'now. Let all machines keep their time with NTP.',
    );
  }
}

/**
 * Proves that an instant which this service wrote down has come.
 * @throws {ClockBehind} so that a credential is neither accepted nor refused for good by a clock that is wrong
 */
export function requirePast(instant: number, now: number): void {
  if (instant > now + CLOCK_SKEW) throw new ClockBehind(instant - now);
}

/** NumericDate of RFC 7519 §2: whole seconds since the Unix epoch. */
export const numericDate = (instant: number): number => Math.floor(instant / SECOND);

/** An instant as the API writes it: ISO 8601, in UTC. */
export const iso = (instant: number): string => new Date(instant).toISOString();

/** The same for what may not have happened. */
export const isoOrNull = (instant: number | null): string | null => (instant === null ? null : iso(instant));
