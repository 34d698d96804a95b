import type { RepeatableParameters } from '../platform/http/parameters.ts';

/** What an operator typed to look for. No name has control characters, and PostgreSQL refuses some of them in a parameter. */
export const typedIn = (query: RepeatableParameters, name: string, longest: number): string =>
  (query.get(name) ?? '')
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, longest);
