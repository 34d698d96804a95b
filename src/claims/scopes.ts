/** Scopes that a person can switch off on the consent page, in the order in which the page shows them. */
export const OPTIONAL_SCOPES = ['email', 'details', 'phone', 'social', 'organization.read'] as const;
export type OptionalScope = (typeof OPTIONAL_SCOPES)[number];

/** Scopes that are granted with every consent: they cover what is always shared, or change nothing. */
export const BASE_SCOPES = ['openid', 'profile', 'offline_access'] as const;

/** Every scope of the service. */
export const SCOPES: readonly string[] = [...BASE_SCOPES, ...OPTIONAL_SCOPES];

/** RFC 6749 §3.3: tokens of printable ASCII without `"` and `\`, one space between them. */
const GRAMMAR = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** The scopes of a `scope` parameter without repetitions, or undefined where it is malformed. */
export function parseScope(text: string): readonly string[] | undefined {
  return GRAMMAR.test(text) ? [...new Set(text.split(' '))] : undefined;
}

/** Scopes as they are stored and sent: in the service's own order, so that equal sets are equal texts. */
export function formatScopes(scopes: Iterable<string>): string {
  const set = new Set(scopes);
  return SCOPES.filter((scope) => set.has(scope)).join(' ');
}

const NO_SCOPES: ReadonlySet<string> = new Set();

/** The inverse of {@link formatScopes}. */
export const storedScopes = (text: string): ReadonlySet<string> => (text === '' ? NO_SCOPES : new Set(text.split(' ')));

/** What is left of scopes, as they are stored, after some were withdrawn. */
export const remainingScopes = (scopes: string, withdrawn: ReadonlySet<string>): string =>
  withdrawn.size === 0 ? scopes : formatScopes(storedScopes(scopes).difference(withdrawn));

export const isOptional = (scope: string): scope is OptionalScope =>
  (OPTIONAL_SCOPES as readonly string[]).includes(scope);
