import { digest } from '../platform/crypto/secrets.ts';

/** The version of what a form shows and writes, by its content: two changes within a millisecond have two, and what it does not show has none. */
export const versionOfShown = (...shown: readonly unknown[]): string => digest(JSON.stringify(shown));
