import { isOptional, type OptionalScope } from './scopes.ts';

/** Single claims that a client asks for beside its scopes: OpenID Connect Core 1.0 §5.5. */
export interface RequestedClaims {
  /** For the standard UserInfo, those that no base scope gives. */
  readonly userinfo: readonly string[];
  /** For the ID token, those that not every one has. */
  readonly idToken: readonly string[];
}

/** The optional scope that covers a claim: whoever asks for one needs the same consent. Null is what is always shared. */
const SCOPE_OF: ReadonlyMap<string, OptionalScope | null> = new Map<string, OptionalScope | null>([
  ['locale', null],
  ['updated_at', null],
  ['acr', null],
  ['email', 'email'],
  ['email_verified', 'email'],
  ['website', 'details'],
  ['birthdate', 'details'],
  ['phone_number', 'phone'],
  ['phone_number_verified', 'phone'],
]);

/** What is in every ID token already. */
const IN_ID_TOKEN = new Set(['email', 'email_verified']);

/** The claims out of these names that make a difference, for a client with these scopes (null is all). */
export function askedClaims(
  names: { readonly userinfo: Iterable<string>; readonly idToken: Iterable<string> },
  allowed: readonly string[] | null,
): RequestedClaims | null {
  const may = (name: string): boolean => {
    const scope = SCOPE_OF.get(name);
    return scope === null || (scope !== undefined && (allowed === null || allowed.includes(scope)));
  };
  return orNull({
    userinfo: [...names.userinfo].filter((name) => may(name) && SCOPE_OF.get(name) !== null),
    idToken: [...names.idToken].filter((name) => may(name) && !IN_ID_TOKEN.has(name)),
  });
}

/** The optional scopes that cover these claims. */
export const claimScopes = ({ userinfo, idToken }: RequestedClaims): readonly OptionalScope[] =>
  [...userinfo, ...idToken].flatMap((name) => SCOPE_OF.get(name) ?? []);

/** Those of the claims that the scopes cover. */
export function coveredClaims(claims: RequestedClaims | null, scopes: ReadonlySet<string>): RequestedClaims | null {
  if (claims === null) return null;
  const covered = (name: string): boolean => {
    const scope = SCOPE_OF.get(name) ?? 'openid';
    return !isOptional(scope) || scopes.has(scope);
  };
  return orNull({ userinfo: claims.userinfo.filter(covered), idToken: claims.idToken.filter(covered) });
}

/** Those of the claims whose scope was not withdrawn. */
export const remainingClaims = (
  claims: RequestedClaims | null,
  withdrawn: ReadonlySet<string>,
): RequestedClaims | null =>
  claims &&
  orNull({ userinfo: remainingNames(claims.userinfo, withdrawn), idToken: remainingNames(claims.idToken, withdrawn) });

/** Those of the names of claims whose scope was not withdrawn. */
export const remainingNames = (names: readonly string[], withdrawn: ReadonlySet<string>): readonly string[] =>
  withdrawn.size === 0 ? names : names.filter((name) => !withdrawn.has(SCOPE_OF.get(name) ?? ''));

const orNull = (claims: RequestedClaims): RequestedClaims | null =>
  claims.userinfo.length + claims.idToken.length === 0 ? null : claims;

/** Claims as they are stored. */
export const formatClaims = (claims: RequestedClaims | null): string | null =>
  claims === null ? null : JSON.stringify(claims);

/** The inverse of {@link formatClaims}. */
export const storedClaims = (text: string | null): RequestedClaims | null =>
  text === null ? null : (JSON.parse(text) as RequestedClaims);
