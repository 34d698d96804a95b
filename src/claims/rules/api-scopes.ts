import { type ApiScopeId, formatScopes, hasApiScopes, isApiScopeId, SCOPES, storedScopes } from '../permissions.ts';

/** A scope of an API that a client may request: decisions §12. */
export interface ApiScope {
  /** By which it is stored: see `ApiScopeId`. */
  readonly id: ApiScopeId;
  /** By which it is requested and sent. */
  readonly name: string;
  readonly apiId: string;
  /** The resource identifier of the API (RFC 8707). */
  readonly resource: string;
}

/** How many scopes of APIs one request may have: an access token with all their names must stay within its limit. */
export const MOST_API_SCOPES = 50;

/** What a request for scopes of APIs comes to. */
export interface ResolvedScopes {
  readonly found: readonly ApiScope[];
  /** The names that are left out, because the client may not request them, or not for these resources. */
  readonly leftOut: readonly string[];
}

/**
 * The scopes of APIs that a request names. With resources, a name is that of their APIs; without, of the only API of which the client is
 * registered for that name.
 * @param registered what the client is registered for
 */
export function resolveApiScopes(
  names: readonly string[],
  resources: readonly string[],
  registered: readonly ApiScope[],
): ResolvedScopes {
  const found: ApiScope[] = [];
  const leftOut: string[] = [];
  for (const name of names) {
    const named = registered.filter((scope) => scope.name === name);
    const meant = resources.length > 0 ? named.filter(({ resource }) => resources.includes(resource)) : named;
    if (meant.length === 0 || (resources.length === 0 && meant.length > 1)) leftOut.push(name);
    else found.push(...meant);
  }
  return { found, leftOut };
}

/** Stored scopes without those of APIs that the client may no longer request. */
export function withoutEnded(stored: string, registered: readonly ApiScope[]): string {
  if (!hasApiScopes(stored)) return stored;
  const ids = new Set<string>(registered.map(({ id }) => id));
  return formatScopes([...storedScopes(stored)].filter((scope) => !isApiScopeId(scope) || ids.has(scope)));
}

/**
 * Stored scopes as they are sent, by their names: those of the APIs that a token is for, and all others.
 * @param resources null for a token that is for no API
 */
export function sentScope(
  stored: string,
  registered: readonly ApiScope[],
  resources: readonly string[] | null,
): string {
  if (!hasApiScopes(stored)) return stored;
  const scopes = storedScopes(stored);
  const ofApis = registered.filter(({ id, resource }) => scopes.has(id) && resources?.includes(resource));
  return joinNames(
    [...scopes].filter((scope) => !isApiScopeId(scope)),
    ofApis,
  );
}

/** Scopes for people who read logs and traces: by their names, whatever tokens they are for. */
export const namedScopes = (scopes: Iterable<string>, registered: readonly ApiScope[]): readonly string[] => {
  const names = new Map<string, string>(registered.map(({ id, name }) => [id, name]));
  return [...new Set([...scopes].map((scope) => names.get(scope) ?? scope))];
};

const joinNames = (others: readonly string[], ofApis: readonly ApiScope[]): string =>
  [...new Set([...others, ...ofApis.map(({ name }) => name).sort()])].join(' ');

/** What of a token is still granted. */
export interface LiveScopes {
  /** Those about the person. */
  readonly ofPerson: readonly string[];
  readonly ofApis: readonly ApiScope[];
}

/**
 * The scopes of an access token that are still granted.
 * @param sent the names in the token
 * @param granted the scopes of its family that the person has not withdrawn, as they are stored
 * @param withdrawn those that the person has withdrawn
 */
export function liveScopes(
  token: { readonly sent: string; readonly audience: readonly string[] },
  { granted, withdrawn }: { readonly granted: string; readonly withdrawn: ReadonlySet<string> },
  registered: readonly ApiScope[],
): LiveScopes {
  const names = storedScopes(token.sent);
  const ids = storedScopes(granted);
  return {
    ofPerson: SCOPES.filter((scope) => names.has(scope) && !withdrawn.has(scope)),
    ofApis: registered.filter(
      ({ id, name, resource }) => ids.has(id) && names.has(name) && token.audience.includes(resource),
    ),
  };
}

/** Live scopes as one text. */
export const liveScope = ({ ofPerson, ofApis }: LiveScopes): string => joinNames(ofPerson, ofApis);
