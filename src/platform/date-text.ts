const BRITISH = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });

/** The date of an instant in UTC, as on `1 March 2026`. */
export const dateText = (instant: number): string => BRITISH.format(instant);
