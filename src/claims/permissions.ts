import type { Codec } from '../platform/database/statement.ts';

/** The scopes that a user can switch off on a consent page: see `EndpointRules.optionalScopes`. */
const OPTIONAL_SCOPES = [
  ...(['profile', 'email', 'details', 'phone', 'social', 'organization.read'] as const),
  ...(['groups', 'roles'] as const),
] as const;
export type OptionalScope = (typeof OPTIONAL_SCOPES)[number];

/** The scopes of the v2 endpoints. A client that is registered without scopes may request these, at either set of endpoints. */
export const IDENTITY_SCOPES: readonly string[] = [
  ...['openid', 'profile', 'offline_access'],
  ...['email', 'details', 'phone', 'social', 'organization.read'],
];

/** The scopes of what a person is in an app: decisions §12. They are for clients that are registered for them. */
export const MEMBER_SCOPES = ['groups', 'roles'] as const;
export type MemberScope = (typeof MEMBER_SCOPES)[number];

/** Every supported scope, in the order in which scopes are stored and sent. */
export const SCOPES: readonly string[] = [...IDENTITY_SCOPES, ...MEMBER_SCOPES];

/**
 * Whether a client may request a scope. `openid` needs no registration: it only names the user.
 * @param registered the scopes that the client is registered for; null is those of the identity
 */
export const isRegisteredScope = (scope: string, registered: readonly string[] | null): boolean =>
  scope === 'openid' || (registered ?? IDENTITY_SCOPES).includes(scope);

/** RFC 6749 §3.3: tokens of printable ASCII without `"` and `\`, one space between them. */
const GRAMMAR = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** The scopes of a `scope` parameter without repetitions, or undefined where it is malformed. */
export function parseScope(text: string): readonly string[] | undefined {
  return GRAMMAR.test(text) ? [...new Set(text.split(' '))] : undefined;
}

/**
 * A scope of an API as it is stored: the id of the registration by which one client may request it. The id is never used again, so what
 * was granted under it ends with that registration, whatever is registered later. Requests and tokens have the name instead: see
 * `rules/api-scopes.ts`.
 */
export type ApiScopeId = string & { readonly of?: 'API' };

/** No other scope begins with a digit. */
export const isApiScopeId = (scope: string): scope is ApiScopeId => /^\d+$/.test(scope);

/** Whether any of the stored scopes is one of an API; for the others nothing is read. */
export const hasApiScopes = (stored: string): boolean => /(^| )\d/.test(stored);

/** A scope that a person can switch off on a consent page. */
export type SwitchedScope = OptionalScope | ApiScopeId;

/** Scopes as they are stored: in one order, so that equal sets give equal strings. */
export function formatScopes(scopes: Iterable<string>): string {
  const set = new Set(scopes);
  return [...SCOPES.filter((scope) => set.has(scope)), ...[...set].filter(isApiScopeId).sort()].join(' ');
}

const NO_SCOPES: ReadonlySet<string> = new Set();

/** The inverse of {@link formatScopes}. */
export const storedScopes = (text: string): ReadonlySet<string> => (text === '' ? NO_SCOPES : new Set(text.split(' ')));

/**
 * Those of `MEMBER_SCOPES` whose claims are to be read: the granted ones, and those of claims that were granted one by one. Few apps have
 * any, and only for these is anything read.
 */
export function memberScopesOf(granted: ReadonlySet<string>, claims: readonly string[]): ReadonlySet<string> {
  const found = MEMBER_SCOPES.filter((scope) => granted.has(scope) || claims.includes(scope));
  return found.length === 0 ? NO_SCOPES : new Set(found);
}

/** {@link memberScopesOf}, for scopes and claims as they are stored. */
export const memberScopes = (granted: string, claims: RequestedClaims | null): ReadonlySet<string> =>
  memberScopesOf(storedScopes(granted), claims === null ? [] : [...claims.userinfo, ...claims.idToken]);

/** Stored scopes without the withdrawn ones. */
export const remainingScopes = (scopes: string, withdrawn: ReadonlySet<string>): string =>
  withdrawn.size === 0 ? scopes : formatScopes(storedScopes(scopes).difference(withdrawn));

export const isOptional = (scope: string): scope is OptionalScope =>
  (OPTIONAL_SCOPES as readonly string[]).includes(scope);

/** Whether a scope has a switch on some consent page. */
export const isSwitched = (scope: string): scope is SwitchedScope => isOptional(scope) || isApiScopeId(scope);

/** Single claims that a client requests beside its scopes: OpenID Connect Core 1.0 §5.5. */
export interface RequestedClaims {
  /** For UserInfo, except those that every token gives. */
  readonly userinfo: readonly string[];
  /** For the ID token, except those that every ID token has. */
  readonly idToken: readonly string[];
}

/** The optional scope that covers each claim, whose consent the claim needs; null for a claim that every token gives. */
export type ClaimScopes = ReadonlyMap<string, OptionalScope | null>;

const COVERED_CLAIMS = [
  ['email', 'email'],
  ['email_verified', 'email'],
  ['website', 'details'],
  ['birthdate', 'details'],
  ['phone_number', 'phone'],
  ['phone_number_verified', 'phone'],
] as const;
const PROFILE_CLAIMS = ['name', 'preferred_username', 'picture', 'locale', 'updated_at'] as const;

const claimScopes = (
  profile: OptionalScope | null,
  more: readonly (readonly [string, OptionalScope])[] = [],
): ClaimScopes =>
  new Map<string, OptionalScope | null>([
    ...PROFILE_CLAIMS.map((name) => [name, profile] as const),
    ['acr', null],
    ...COVERED_CLAIMS,
    ...more,
  ]);

/** Contract: the profile is always shared. */
export const V2_CLAIM_SCOPES = claimScopes(null);
/** OpenID Connect Core 1.0 §5.4: each claim has one scope. */
export const OIDC_CLAIM_SCOPES = claimScopes('profile', [
  ['groups', 'groups'],
  ['roles', 'roles'],
]);

/** The claims about the user that every ID token of the contract has. */
const IDENTITY_CLAIMS = new Set(['name', 'preferred_username', 'picture', 'email', 'email_verified']);

/**
 * The requested claims that change a response, for a client that is registered for these scopes.
 * @param allowed null is all
 */
export function effectiveClaims(
  names: { readonly userinfo: Iterable<string>; readonly idToken: Iterable<string> },
  { claimScopes, identityClaims }: { readonly claimScopes: ClaimScopes; readonly identityClaims: boolean },
  allowed: readonly string[] | null,
): RequestedClaims | null {
  const may = (name: string): boolean => {
    const scope = claimScopes.get(name);
    return scope === null || (scope !== undefined && isRegisteredScope(scope, allowed));
  };
  return orNull({
    userinfo: [...names.userinfo].filter((name) => may(name) && claimScopes.get(name) !== null),
    idToken: [...names.idToken].filter((name) => may(name) && !(identityClaims && IDENTITY_CLAIMS.has(name))),
  });
}

/** The optional scopes that cover these claims. */
export const scopesOfClaims = ({ userinfo, idToken }: RequestedClaims, scopes: ClaimScopes): readonly OptionalScope[] =>
  [...userinfo, ...idToken].flatMap((name) => scopes.get(name) ?? []);

/** The claims that the granted scopes cover. */
export function coveredClaims(
  claims: RequestedClaims | null,
  scopes: ClaimScopes,
  granted: ReadonlySet<string>,
): RequestedClaims | null {
  if (claims === null) return null;
  const covered = (name: string): boolean => {
    const scope = scopes.get(name) ?? null;
    return scope === null || granted.has(scope);
  };
  return orNull({ userinfo: claims.userinfo.filter(covered), idToken: claims.idToken.filter(covered) });
}

/** The claims whose scope was not withdrawn. */
export const remainingClaims = (
  claims: RequestedClaims | null,
  withdrawn: ReadonlySet<string>,
): RequestedClaims | null =>
  claims &&
  orNull({ userinfo: remainingNames(claims.userinfo, withdrawn), idToken: remainingNames(claims.idToken, withdrawn) });

/** The names of claims whose scope was not withdrawn. At the v2 endpoints `profile` never is. */
export const remainingNames = (names: readonly string[], withdrawn: ReadonlySet<string>): readonly string[] =>
  withdrawn.size === 0 ? names : names.filter((name) => !withdrawn.has(OIDC_CLAIM_SCOPES.get(name) ?? ''));

const orNull = (claims: RequestedClaims): RequestedClaims | null =>
  claims.userinfo.length + claims.idToken.length === 0 ? null : claims;

/** Claims as they are stored. */
const formatClaims = (claims: RequestedClaims | null): string | null =>
  claims === null ? null : JSON.stringify(claims);

/** The inverse of {@link formatClaims}. */
const storedClaims = (text: string | null): RequestedClaims | null =>
  text === null ? null : (JSON.parse(text) as RequestedClaims);

/** More than an app needs, and few enough for a token. */
export const MAX_RESOURCES = 5;
const MAX_LENGTH = 512;

/** RFC 3986 §4.3: an absolute URI; RFC 8707 §2: without a fragment. */
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:[\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/i;

/**
 * The `resource` parameters of a request, each once.
 * @returns undefined if one is malformed, or if there are too many
 */
export function parseResources(values: readonly string[]): readonly string[] | undefined {
  const resources = [...new Set(values)];
  const good = (text: string) => text.length <= MAX_LENGTH && ABSOLUTE.test(text);
  return resources.length <= MAX_RESOURCES && resources.every(good) ? resources : undefined;
}

/**
 * RFC 8707 §2.2: the resources of a new token, which a token request may narrow.
 * @param granted null if the authorization request named none
 * @returns undefined if the request names one that was not granted
 */
export function narrowedResources(
  granted: readonly string[] | null,
  asked: readonly string[],
): readonly string[] | null | undefined {
  if (asked.length === 0) return granted;
  return asked.every((resource) => granted?.includes(resource)) ? asked : undefined;
}

/** A list of resources as it is stored; null for none. */
export const encodeResources = (resources: readonly string[] | null): string | null =>
  resources === null || resources.length === 0 ? null : JSON.stringify(resources);
export const decodeResources = (text: string | null): readonly string[] | null =>
  text === null ? null : (JSON.parse(text) as string[]);

/** The name of a resource that was granted: behind it may be the mark of its registration (`clients/rules/resource-mark.ts`). */
export const nameOfResource = (marked: string): string => marked.split('#', 1)[0] ?? marked;

/** The names of resources that were granted; null for none. */
export const namesOfResources = (marked: readonly string[] | null): readonly string[] | null =>
  marked === null ? null : [...new Set(marked.map(nameOfResource))];

/** Resources in a column; null where there are none. */
export const storedResources: Codec<readonly string[] | null> = {
  decode: (stored) => decodeResources(stored as string | null),
  encode: encodeResources,
};

/** Single claims in a column; null where there are none. */
export const claimsCodec: Codec<RequestedClaims | null> = {
  decode: (stored) => storedClaims(stored as string | null),
  encode: formatClaims,
};

/** A set of scopes in a column. */
export const scopeSet: Codec<ReadonlySet<string>> = {
  decode: (stored) => storedScopes(String(stored)),
  encode: (scopes) => formatScopes(scopes),
};

/** A set of resources in a column; null for none. */
export const resourceSet: Codec<ReadonlySet<string>> = {
  decode: (stored) => new Set(decodeResources(stored === null ? null : String(stored))),
  encode: (resources) => encodeResources([...resources]),
};
