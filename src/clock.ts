/** Tells the time in milliseconds since the Unix epoch. Injected everywhere, so that a test can move it. */
export type Clock = () => number;

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** NumericDate of RFC 7519 §2: whole seconds since the Unix epoch. */
export const numericDate = (instant: number): number => Math.floor(instant / SECOND);
