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

/** NumericDate of RFC 7519 §2: whole seconds since the Unix epoch. */
export const numericDate = (instant: number): number => Math.floor(instant / SECOND);

/** An instant as the API writes it: ISO 8601, in UTC. */
export const iso = (instant: number): string => new Date(instant).toISOString();

/** The same for what may not have happened. */
export const isoOrNull = (instant: number | null): string | null => (instant === null ? null : iso(instant));
