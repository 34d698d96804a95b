import { hash } from 'node:crypto';
import type { Profile } from '../../../accounts/fields.ts';
import type { AuthenticationContext } from '../../../authenticators/rules/authentication-context.ts';
import type { RequestedClaims } from '../../../claims/claims.ts';
import { standardClaim } from '../../../claims/rules/userinfo.ts';
import { HASH_OF, type IdTokenAlg, isAsymmetric } from '../../../keys/algorithms.ts';
import type { TokenKind } from '../../../keys/tokens.ts';
import { CLOCK_SKEW, numericDate, requirePast, SECOND } from '../../../platform/clock.ts';
import { isSnowflake } from '../../../platform/ids/ids.ts';

/** Lifetime of access and ID tokens, in seconds. */
export const ACCESS_LIFETIME = 1800;
/** Lifetime of a refresh token, in seconds. */
const REFRESH_LIFETIME = 7 * 24 * 60 * 60;
/** A family of tokens ends this long after its authorization, in seconds. */
export const FAMILY_LIFETIME = 90 * 24 * 60 * 60;

/** The audience of each kind: whoever reads one never takes the other. */
export const audience = (issuer: string, kind: TokenKind): string =>
  kind === 'access' ? `${issuer}/oidc/userinfo` : `${issuer}/api/v2/oauth/token`;

type Claims = Readonly<Record<string, unknown>>;

/** RFC 7519 §4.1.3: one audience is a text, several are a list. */
export const audienceClaim = (resources: readonly string[]): string | readonly string[] | undefined =>
  resources.length > 1 ? resources : resources[0];

/** The inverse: what is written in another way is not ours. */
function audiencesOf(aud: unknown): readonly string[] | undefined {
  if (typeof aud === 'string') return [aud];
  const isList = Array.isArray(aud) && aud.length > 1 && aud.every((item) => typeof item === 'string');
  return isList ? aud : undefined;
}

/** Whom and what tokens are minted for. */
export interface Subject extends AuthenticationContext {
  readonly issuer: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly familyId: string;
  readonly profile: Profile;
  readonly updatedAt: number;
  /** Where the person's picture is served. */
  readonly picture: string;
  readonly sid: string;
  readonly authTime: number;
}

/** What an access token is for. */
interface Access {
  readonly scope: string;
  readonly claims: RequestedClaims | null;
  /** The places that may take it; without a word UserInfo, and so the contract's token. */
  readonly resources?: readonly string[] | null;
}

export function accessClaims(
  subject: Subject,
  { scope, claims, resources = null }: Access,
  jti: string,
  now: number,
): Claims {
  const iat = numericDate(now);
  const own = audience(subject.issuer, 'access');
  const stays = resources === null || resources.every((resource) => resource === own);
  return {
    iss: subject.issuer,
    aud: audienceClaim(resources ?? []) ?? own,
    sub: subject.accountId,
    // Others can read the token as well: they are told by introspection what they may know.
    ...(stays && { email: subject.profile.email }),
    client_id: subject.clientId,
    scope,
    iat,
    exp: iat + ACCESS_LIFETIME,
    jti,
    family: subject.familyId,
    ...(claims !== null && claims.userinfo.length > 0 && { claims: claims.userinfo }),
  };
}

/** A token that a client got for itself: it names no person, and no place of ours takes it. */
export function clientClaims(
  issuer: string,
  clientId: string,
  { jti, resources }: { readonly jti: string; readonly resources: readonly string[] },
  now: number,
): Claims {
  const iat = numericDate(now);
  return {
    iss: issuer,
    // RFC 9068 §3: without a word the service itself, where no place takes it.
    aud: audienceClaim(resources) ?? issuer,
    // RFC 9068 §2.2: without a person the client itself. Ids of both come of one source and are never equal.
    sub: clientId,
    client_id: clientId,
    iat,
    exp: iat + ACCESS_LIFETIME,
    jti,
  };
}

/** The claims of a refresh token, all of them stored: signed again with the same key they give the same token. */
export function refreshClaims(
  subject: Pick<Subject, 'issuer' | 'accountId' | 'clientId' | 'familyId'>,
  leaf: { readonly jti: string; readonly issuedAt: number; readonly expiresAt: number },
): Claims {
  return {
    iss: subject.issuer,
    aud: audience(subject.issuer, 'refresh'),
    sub: subject.accountId,
    client_id: subject.clientId,
    iat: numericDate(leaf.issuedAt),
    exp: numericDate(leaf.expiresAt),
    jti: leaf.jti,
    family: subject.familyId,
  };
}

/** What an ID token stands beside, and how it is signed. */
export interface IdTokenContext {
  readonly accessToken: string;
  /** Only from the code exchange (OpenID Connect Core 1.0 §12.2). */
  readonly nonce: string | null;
  readonly alg: IdTokenAlg;
  readonly claims: RequestedClaims | null;
}

/** OpenID Connect Core 1.0 §2 and the contract §2.2. */
export function idClaims(subject: Subject, { accessToken, nonce, alg, claims }: IdTokenContext, now: number): Claims {
  const iat = numericDate(now);
  const { profile } = subject;
  return {
    iss: subject.issuer,
    aud: subject.clientId,
    sub: subject.accountId,
    name: profile.displayName,
    preferred_username: profile.username,
    email: profile.email,
    email_verified: profile.emailVerified,
    picture: subject.picture,
    avatarUrl: subject.picture,
    client_id: subject.clientId,
    ...(nonce === null ? {} : { nonce }),
    iat,
    exp: iat + ACCESS_LIFETIME,
    auth_time: numericDate(subject.authTime),
    sid: subject.sid,
    amr: subject.amr,
    at_hash: accessTokenHash(accessToken, alg),
    // Tells which authorization a hint comes from. One under HS256 is never looked at, so it need not say.
    ...(isAsymmetric(alg) && { family: subject.familyId }),
    ...(claims !== null && askedFor(subject, claims.idToken)),
  };
}

/** The claims that were asked for one by one (OpenID Connect Core 1.0 §5.5). What is not set is absent (§5.3.2). */
function askedFor({ issuer, accountId: id, profile, updatedAt, acr }: Subject, names: readonly string[]): Claims {
  const person = { id, profile, updatedAt };
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = name === 'acr' ? (acr ?? undefined) : standardClaim(name, person, issuer);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Whom an ID token names. */
export interface NamedByIdToken {
  readonly accountId: string;
  readonly clientId: string;
  readonly familyId: string;
  readonly sid: string;
}

/**
 * Reads the claims of an ID token whose signature has been proved, at whatever age.
 * @returns undefined where a claim is missing, of the wrong type, or another issuer's
 */
export function readIdClaims(claims: Claims, issuer: string): NamedByIdToken | undefined {
  const { iss, aud, sub, family, sid } = claims;
  if (iss !== issuer || !isId(aud) || !isId(sub) || !isId(family) || typeof sid !== 'string') return undefined;
  return { accountId: sub, clientId: aud, familyId: family, sid };
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

/** What every token says: who got it, for whom it is, and when. */
interface Issued {
  readonly clientId: string;
  readonly jti: string;
  readonly audience: readonly string[];
  /** In seconds, as in the token. */
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** A token that this server signed, with its claims proved in type and meaning. Only {@link readClaims} makes one. */
export interface VerifiedToken extends Issued {
  readonly accountId: string;
  readonly familyId: string;
  /** Empty in a refresh token. */
  readonly scope: string;
  /** Single claims that it gives at the standard UserInfo, beside those of its scopes. */
  readonly claims: readonly string[];
}

/** A token of a client's own, proved likewise. */
export interface VerifiedClientToken extends Issued {
  readonly accountId: null;
}

const NO_CLAIMS: readonly string[] = [];

/**
 * Reads the claims of a token whose signature has been proved, at the place that it is meant for.
 * @param now milliseconds since the epoch: a token is good in its last second and dead in the instant of `exp`
 * @returns undefined where a claim is missing, of the wrong type, or meant for another place or time
 * @throws {ClockBehind} where it was issued in the future
 */
export function readClaims(claims: Claims, kind: TokenKind, issuer: string, now: number): VerifiedToken | undefined {
  const { aud } = claims;
  const own = audience(issuer, kind);
  if (aud !== own && !(Array.isArray(aud) && aud.includes(own))) return undefined;
  const issued = readIssued(claims, issuer, now);
  return issued && ofPerson(claims, kind, issued);
}

/** The same, for those who judge a token without taking it: it may be meant for any place, and be a client's own. */
export function readAnyClaims(
  claims: Claims,
  kind: TokenKind,
  issuer: string,
  now: number,
): VerifiedToken | VerifiedClientToken | undefined {
  const issued = readIssued(claims, issuer, now);
  if (issued === undefined) return undefined;
  const isOwn = kind === 'access' && claims['sub'] === issued.clientId && claims['family'] === undefined;
  return isOwn ? { ...issued, accountId: null } : ofPerson(claims, kind, issued);
}

function readIssued({ iss, aud, client_id, iat, exp, nbf = 0, jti }: Claims, issuer: string, now: number) {
  const audiences = audiencesOf(aud);
  if (iss !== issuer || audiences === undefined) return undefined;
  if (!isSeconds(iat) || !isSeconds(exp) || !isSeconds(nbf)) return undefined;
  const seconds = numericDate(now);
  if (exp <= seconds || nbf > seconds + CLOCK_SKEW / SECOND) return undefined;
  requirePast(iat * SECOND, seconds * SECOND);
  if (!isId(client_id) || typeof jti !== 'string' || jti === '') return undefined;
  return { clientId: client_id, jti, audience: audiences, issuedAt: iat, expiresAt: exp };
}

function ofPerson(claims: Claims, kind: TokenKind, issued: Issued): VerifiedToken | undefined {
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
