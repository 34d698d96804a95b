import type { Problems } from '../pages/components.ts';
import { digest } from '../platform/crypto/secrets.ts';
import { Failure } from '../platform/failure.ts';

/** The version of what a form shows and writes, by its content: two changes within a millisecond have two, and what it does not show has none. */
export const versionOfShown = (...shown: readonly unknown[]): string => digest(JSON.stringify(shown));

/** What a form is about was changed since its page was opened. */
export class StalePage extends Failure {
  constructor(what: string) {
    super('conflict', `The ${what} was changed since the page was opened.`, { reason: 'stale page' });
  }
}

/**
 * The version that the operator has seen, for the form that is shown: after one that was too late, that which is shown above it.
 * @param current of what is stored
 */
export const seenVersion = (
  current: string,
  given: { get(name: string): string | undefined },
  { general }: Problems,
): string => (general.length > 0 ? current : (given.get('seen') ?? current));
