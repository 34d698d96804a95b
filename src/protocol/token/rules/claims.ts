import { hash } from 'node:crypto';
import type { Profile } from '../../../accounts/fields.ts';
import type { AuthenticationContext } from '../../../authenticators/rules/authentication-context.ts';
import { ENDPOINT_RULES, type EndpointRules } from '../../../claims/endpoint-set.ts';
import type { RequestedClaims } from '../../../claims/permissions.ts';
import { forIdToken, type MemberClaims } from '../../../claims/rules/member-claims.ts';
import {
  type ClaimedPerson,
  type MemberClaimNames,
  singleClaims,
  standardClaims,
} from '../../../claims/rules/userinfo.ts';
import { COMMAND_LINE_ID, COMMAND_LINE_LIFETIME } from '../../../clients/rules/command-line.ts';
import { isUrlForm } from '../../../clients/rules/metadata-document.ts';
import { HASH_OF, type IdTokenAlg } from '../../../keys/algorithms.ts';
import type { TokenKind } from '../../../keys/tokens.ts';
import { CLOCK_SKEW, numericDate, requirePast, SECOND } from '../../../platform/clock.ts';
import { isSnowflake } from '../../../platform/ids/ids.ts';

/** Lifetime of access and ID tokens, in seconds. */
export const ACCESS_LIFETIME = 1800;
/** Lifetime of a refresh token, in seconds. */
const REFRESH_LIFETIME = 7 * 24 * 60 * 60;
/** A family of tokens ends this long after its authorization, in seconds. */
export const FAMILY_LIFETIME = 90 * 24 * 60 * 60;

/** The audience of an access token for UserInfo. It differs from that of refresh tokens, so that neither passes for the other. */
export const accessAudience = (issuer: string): string => `${issuer}/oidc/userinfo`;

/** The audiences that the endpoints of this service accept: refresh tokens are for the token endpoint of their set of endpoints. */
export const ownAudiences = (issuer: string, kind: TokenKind): readonly string[] =>
  kind === 'access' ? [accessAudience(issuer)] : TOKEN_PATHS.map((path) => issuer + path);

const TOKEN_PATHS = Object.values(ENDPOINT_RULES).map(({ tokenPath }) => tokenPath);

type Claims = Readonly<Record<string, unknown>>;

/** RFC 7519 §4.1.3: one audience is a string, several are an array. */
export const audienceClaim = (resources: readonly string[]): string | readonly string[] | undefined =>
  resources.length > 1 ? resources : resources[0];

/** The inverse of {@link audienceClaim}; undefined for any other form, which no token of this service has. */
function audiencesOf(aud: unknown): readonly string[] | undefined {
  if (typeof aud === 'string') return [aud];
  const isList = Array.isArray(aud) && aud.length > 1 && aud.every((item) => typeof item === 'string');
  return isList ? aud : undefined;
}

/** The user, client and authorization that tokens are issued for. */
export interface Subject extends AuthenticationContext {
  readonly issuer: string;
  readonly accountId: string;
  readonly clientId: string;
  /** The URL that is the `client_id` of the client on the wire; null for a client with a number. */
  readonly metadataUrl: string | null;
  readonly familyId: string;
  readonly profile: Profile;
  readonly updatedAt: number;
  /** The URL of the user's picture. */
  readonly picture: string;
  readonly sid: string;
  readonly authTime: number;
  /** What the person is in the app, as far as it is granted, and what the app calls it. */
  readonly member: MemberClaims;
  readonly claimNames: MemberClaimNames;
}

/**
 * The claims by which a token of this service names its client. A client with a metadata document has its URL as `client_id`, and the
 * number by which it is on record beside it.
 */
const clientClaim = ({ clientId, metadataUrl }: Pick<Subject, 'clientId' | 'metadataUrl'>): Claims =>
  metadataUrl === null ? { client_id: clientId } : { client_id: metadataUrl, client: clientId };

/** What an access token grants. */
interface Access {
  readonly rules: EndpointRules;
  readonly scope: string;
  readonly claims: RequestedClaims | null;
  /** The resources that may accept it; null is UserInfo, as in the contract's token. */
  readonly resources?: readonly string[] | null;
}

/** For how long an access token of a client is valid, in seconds. */
export const accessLifetime = (clientId: string): number =>
  clientId === COMMAND_LINE_ID ? COMMAND_LINE_LIFETIME : ACCESS_LIFETIME;

export function accessClaims(
  subject: Subject,
  { rules, scope, claims, resources = null }: Access,
  jti: string,
  now: number,
): Claims {
  const iat = numericDate(now);
  const own = accessAudience(subject.issuer);
  const isForUserInfo = resources === null || resources.every((resource) => resource === own);
  return {
    iss: subject.issuer,
    aud: audienceClaim(resources ?? []) ?? own,
    sub: subject.accountId,
    // A resource server can read the token, and gets no personal data by it: it uses introspection.
    ...(rules.identityClaims && isForUserInfo && { email: subject.profile.email }),
    ...clientClaim(subject),
    scope,
    iat,
    exp: iat + accessLifetime(subject.clientId),
    jti,
    family: subject.familyId,
    // RFC 9068 §2.2.1.
    ...(rules.accessTokenProfile && {
      auth_time: numericDate(subject.authTime),
      amr: subject.amr,
      ...(subject.acr !== null && { acr: subject.acr }),
    }),
    ...(claims !== null && claims.userinfo.length > 0 && { claims: claims.userinfo }),
  };
}

/** The claims of a token that a client gets for itself. It names no user, so UserInfo refuses it. */
export function clientClaims(
  issuer: string,
  clientId: string,
  {
    jti,
    resources,
    scope,
  }: { readonly jti: string; readonly resources: readonly string[]; readonly scope?: string | undefined },
  now: number,
): Claims {
  const iat = numericDate(now);
  return {
    iss: issuer,
    // RFC 9068 §3: the default resource is the service itself, which has no endpoint for such a token.
    aud: audienceClaim(resources) ?? issuer,
    // RFC 9068 §2.2: the client itself. No account has the same id: both kinds come from one sequence.
    sub: clientId,
    client_id: clientId,
    ...(scope !== undefined && { scope }),
    iat,
    exp: iat + ACCESS_LIFETIME,
    jti,
  };
}

/** The claims of a refresh token. All are stored, so signing them again with the same key gives the same token. */
export function refreshClaims(
  subject: Pick<Subject, 'issuer' | 'accountId' | 'clientId' | 'metadataUrl' | 'familyId'>,
  token: { readonly jti: string; readonly issuedAt: number; readonly expiresAt: number },
  { tokenPath }: Pick<EndpointRules, 'tokenPath'>,
): Claims {
  return {
    iss: subject.issuer,
    aud: subject.issuer + tokenPath,
    sub: subject.accountId,
    ...clientClaim(subject),
    iat: numericDate(token.issuedAt),
    exp: numericDate(token.expiresAt),
    jti: token.jti,
    family: subject.familyId,
  };
}

/** The response that an ID token is part of, and how it is signed. */
export interface IdTokenContext {
  readonly rules: EndpointRules;
  /** The granted scopes. */
  readonly scopes: ReadonlySet<string>;
  /** Whether the claims of all granted scopes are included. */
  readonly withGrantedClaims: boolean;
  readonly accessToken: string;
  /** Only in the code exchange (OpenID Connect Core 1.0 §12.2). */
  readonly nonce: string | null;
  readonly alg: IdTokenAlg;
  readonly claims: RequestedClaims | null;
  /** What makes its `jti` unique, if it has one. */
  readonly random: string;
}

/** OpenID Connect Core 1.0 §2 and the contract §2.2. */
export function idClaims(subject: Subject, context: IdTokenContext, now: number): Claims {
  const { rules, scopes, accessToken, nonce, alg, claims } = context;
  const iat = numericDate(now);
  return {
    iss: subject.issuer,
    aud: subject.metadataUrl ?? subject.clientId,
    sub: subject.accountId,
    ...(context.withGrantedClaims &&
      standardClaims(personOf(subject), scopes, rules.claimScopes, subject.issuer, [], subject.claimNames)),
    ...(rules.identityClaims && identityClaims(subject)),
    ...(nonce === null ? {} : { nonce }),
    iat,
    exp: iat + ACCESS_LIFETIME,
    auth_time: numericDate(subject.authTime),
    sid: subject.sid,
    amr: subject.amr,
    at_hash: accessTokenHash(accessToken, alg),
    ...familyClaim(subject, context),
    ...(claims !== null && requestedClaims(subject, claims.idToken)),
  };
}

const identityClaims = ({ profile, picture, clientId }: Subject): Claims => ({
  name: profile.displayName,
  preferred_username: profile.username,
  email: profile.email,
  email_verified: profile.emailVerified,
  picture,
  avatarUrl: picture,
  client_id: clientId,
});

/**
 * Names the token family, for when the ID token is sent as a hint. The contract lists no such claim (§2.2), and its HS256 tokens are not
 * accepted as hints, so there it is only in those that a key pair signs.
 */
function familyClaim({ familyId }: Subject, { rules, alg, random }: IdTokenContext): Claims {
  if (rules.idTokenFamily === 'jti') return { jti: `${familyId}.${random}` };
  return alg === 'HS256' ? {} : { family: familyId };
}

const personOf = ({ accountId: id, profile, updatedAt, member }: Subject): ClaimedPerson => ({
  id,
  profile,
  updatedAt,
  ...forIdToken(member),
});

/** The claims that were requested one by one (OpenID Connect Core 1.0 §5.5). One without a value is absent (§5.3.2). */
function requestedClaims(subject: Subject, names: readonly string[]): Claims {
  const { issuer, acr, claimNames } = subject;
  const person = personOf(subject);
  return {
    ...(acr !== null && names.includes('acr') && { acr }),
    ...singleClaims(person, names, issuer, claimNames),
  };
}

/** The user, client and authorization that an ID token names. */
export interface NamedByIdToken {
  readonly accountId: string;
  /** As it stands on the wire: see `findClientOnWire`. */
  readonly clientId: string;
  readonly familyId: string;
  readonly sid: string;
}

/**
 * Reads the claims of an ID token whose signature was verified. Its expiry is not checked.
 * @returns undefined where a claim is missing, of the wrong type, or another issuer's
 */
export function readIdClaims(claims: Claims, issuer: string): NamedByIdToken | undefined {
  const { iss, aud, sub, sid } = claims;
  const familyId = familyOf(claims);
  const isClient = isId(aud) || (typeof aud === 'string' && isUrlForm(aud));
  if (iss !== issuer || !isClient || !isId(sub) || !isId(familyId) || typeof sid !== 'string') return undefined;
  return { accountId: sub, clientId: aud, familyId, sid };
}

/** The inverse of {@link familyClaim}, for both sets of endpoints. */
function familyOf({ family, jti }: Claims): unknown {
  return family === undefined && typeof jti === 'string' && jti.includes('.') ? jti.slice(0, jti.indexOf('.')) : family;
}

/** OpenID Connect Core 1.0 §3.1.3.6: the left half of the hash of the access token's ASCII. */
function accessTokenHash(accessToken: string, alg: IdTokenAlg): string {
  const digest = hash(HASH_OF[alg], accessToken, 'buffer');
  return digest.subarray(0, digest.length / 2).toString('base64url');
}

/** When the next refresh token of a family expires: in a week, but never after the family. */
export function refreshExpiry(now: number, familyEndsAt: number): number {
  const week = (numericDate(now) + REFRESH_LIFETIME) * SECOND;
  return Math.min(week, numericDate(familyEndsAt) * SECOND);
}

/** What every token says. */
interface IssuedToken {
  readonly clientId: string;
  /** The `client_id` of the client on the wire. */
  readonly wireClientId: string;
  readonly jti: string;
  readonly audience: readonly string[];
  /** In seconds, as in the token. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** A token that this server signed, with its claims validated. Only {@link readClaims} and {@link readAnyClaims} make one. */
export interface VerifiedToken extends IssuedToken {
  readonly accountId: string;
  readonly familyId: string;
  /** Empty in a refresh token. */
  readonly scope: string;
  /** Single claims that it grants at the standard UserInfo, beside those of its scopes. */
  readonly claims: readonly string[];
}

/** A token that a client got for itself, validated likewise. */
export interface VerifiedClientToken extends IssuedToken {
  readonly accountId: null;
  /** The names of scopes of APIs; empty for none. */
  readonly scope: string;
}

const NO_CLAIMS: readonly string[] = [];

/**
 * Reads the claims of a token whose signature was verified, at the endpoint that is its audience.
 * @param now milliseconds since the epoch: a token expires at the instant of `exp`
 * @returns undefined where a claim is missing, of the wrong type, or the token expired or is for another audience
 * @throws {ClockBehind} where it was issued in the future
 */
export function readClaims(claims: Claims, kind: TokenKind, issuer: string, now: number): VerifiedToken | undefined {
  const { aud } = claims;
  const isOwn = ownAudiences(issuer, kind).some((own) => aud === own || (Array.isArray(aud) && aud.includes(own)));
  if (!isOwn) return undefined;
  const issued = readIssued(claims, issuer, now);
  return issued && ofAccount(claims, kind, issued);
}

/** {@link readClaims} for any audience, and also for tokens that a client got for itself: for endpoints that grant no access. */
export function readAnyClaims(
  claims: Claims,
  kind: TokenKind,
  issuer: string,
  now: number,
): VerifiedToken | VerifiedClientToken | undefined {
  const issued = readIssued(claims, issuer, now);
  if (issued === undefined) return undefined;
  const isOwn = kind === 'access' && claims['sub'] === issued.clientId && claims['family'] === undefined;
  const { scope = '' } = claims;
  if (isOwn) return typeof scope === 'string' ? { ...issued, accountId: null, scope } : undefined;
  return ofAccount(claims, kind, issued);
}

function readIssued(claims: Claims, issuer: string, now: number): IssuedToken | undefined {
  const { iss, aud, client_id, client = client_id, iat, exp, nbf = 0, jti } = claims;
  const audiences = audiencesOf(aud);
  if (iss !== issuer || audiences === undefined) return undefined;
  if (!isSeconds(iat) || !isSeconds(exp) || !isSeconds(nbf)) return undefined;
  const seconds = numericDate(now);
  if (exp <= seconds || nbf > seconds + CLOCK_SKEW / SECOND) return undefined;
  requirePast(iat * SECOND, seconds * SECOND);
  if (!isId(client) || typeof client_id !== 'string' || typeof jti !== 'string' || jti === '') return undefined;
  return { clientId: client, wireClientId: client_id, jti, audience: audiences, issuedAt: iat, expiresAt: exp };
}

function ofAccount(claims: Claims, kind: TokenKind, issued: IssuedToken): VerifiedToken | undefined {
  const { sub, family } = claims;
  // Contract §2.2: an access token always says what was granted; a refresh token never does.
  const scope = kind === 'access' ? claims['scope'] : '';
  if (!isId(sub) || !isId(family)) return undefined;
  if (typeof scope !== 'string' || (kind === 'access' && scope === '')) return undefined;
  const single = claims['claims'] ?? NO_CLAIMS;
  if (!isTexts(single)) return undefined;
  return { ...issued, accountId: sub, familyId: family, scope, claims: single };
}

const isSeconds = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
const isId = (value: unknown): value is string => typeof value === 'string' && isSnowflake(value);
