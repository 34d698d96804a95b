import { CLOCK_SKEW, SECOND } from '../../platform/clock.ts';
import type { MappedClaims } from './claims-map.ts';
import { domainIn } from './domains.ts';
import { proposal } from './proposal.ts';
import {
  commonProblem,
  isSubject,
  isTokenId,
  type TokenAudience,
  type TokenClaims,
  type TokenProblem,
  timeOf,
} from './token-claims.ts';

/** What the ID token of a sign-in must say. */
export interface ExpectedIdToken extends TokenAudience {
  readonly nonce: string;
  /** The longest time in seconds since the person authenticated at the upstream; null where that does not matter. */
  readonly maxAge: number | null;
  /** Where another sign-in was asked for: when. An upstream that says nothing of the time is believed. */
  readonly notBefore: number | null;
  /** The `at_hash` of the access token that came with it. */
  readonly accessTokenHash: string;
  /** The claim that identifies a person: `sub`, unless the upstream is known to have a better one. */
  readonly subjectClaim: 'sub' | 'oid';
}

/** A person, as an upstream has just said. */
export interface UpstreamPerson {
  readonly issuer: string;
  /** With the issuer, the only thing by which a person is known. */
  readonly subject: string;
  /** Names the session at the upstream, for its logout tokens. */
  readonly sid: string | null;
  /** When the token was made. */
  readonly issuedAt: number;
  /** How the person authenticated, in the words of the upstream. */
  readonly amr: readonly string[];
  /** Proposals for a new account; nothing is decided by them. */
  readonly name: string | undefined;
  readonly email: string | undefined;
  /** Whether the upstream says that the person has proved the address. It is believed for a few domains only: decisions §14. */
  readonly emailVerified: boolean;
  /** What the map of the upstream has read of the claims. */
  readonly mapped?: MappedClaims;
}

/** How many methods of `amr` are kept. */
const MOST_METHODS = 10;
/** A name of RFC 8176, or of an upstream. */
const METHOD_NAME = /^[A-Za-z0-9_.:/-]{1,40}$/;
const LONGEST_NAME = 64;

const GOOGLE = 'https://accounts.google.com';
const LONGEST_EMAIL = 254;

/**
 * Reads the ID token of a sign-in, whose signature is verified (OpenID Connect Core 1.0 §3.1.3.7).
 * @param claims its claims
 */
export function readIdToken(
  claims: TokenClaims,
  expected: ExpectedIdToken,
  now: number,
): UpstreamPerson | TokenProblem {
  const problem = idTokenProblem(claims, expected, now);
  if (problem !== undefined) return { problem };
  return personOfClaims(claims, expected, now);
}

/** Who the person is, as the claims of an ID token say that was checked, or that only serves a preview. */
export function personOfClaims(
  claims: TokenClaims,
  expected: Pick<ExpectedIdToken, 'issuer' | 'subjectClaim'>,
  now: number,
): UpstreamPerson | TokenProblem {
  const { sid, amr, name, email, iat } = claims;
  const subject = subjectOfClaims(claims, expected);
  if (subject === undefined) return { problem: `${expected.subjectClaim} is missing or no identifier` };
  return {
    issuer: expected.issuer,
    subject,
    sid: isTokenId(sid) ? sid : null,
    issuedAt: timeOf(iat) ?? now,
    amr: Array.isArray(amr) ? amr.filter(isMethodName).slice(0, MOST_METHODS) : [],
    name: proposal(name, LONGEST_NAME),
    email: proposal(email, LONGEST_EMAIL),
    emailVerified: saysVerified(claims, expected),
  };
}

function idTokenProblem(claims: TokenClaims, expected: ExpectedIdToken, now: number): string | undefined {
  const common = commonProblem(claims, expected, now);
  if (common !== undefined) return common;
  // A logout token must not pass for an ID token (OpenID Connect Back-Channel Logout 1.0 §2.6).
  if (claims['events'] !== undefined) return 'it has events, as a logout token';
  if (claims['exp'] === undefined) return 'exp is missing';
  if (!isSubject(claims['sub'])) return 'sub is missing or no identifier';
  if (claims['nonce'] !== expected.nonce) return 'nonce is not that of the request';
  const { at_hash: accessTokenHash } = claims;
  if (accessTokenHash !== undefined && accessTokenHash !== expected.accessTokenHash) {
    return 'at_hash is not that of the access token';
  }
  return ageProblem(claims['auth_time'], expected, now);
}

function ageProblem(value: unknown, { maxAge, notBefore }: ExpectedIdToken, now: number): string | undefined {
  const at = timeOf(value);
  if (value !== undefined && (at === undefined || at > now + CLOCK_SKEW))
    return 'auth_time is no time, or in the future';
  if (at !== undefined && notBefore !== null && at < notBefore - CLOCK_SKEW) {
    return 'auth_time lies before the request that asked for another sign-in';
  }
  if (maxAge === null) return undefined;
  // §2: auth_time is required where max_age was requested.
  if (at === undefined) return 'auth_time is missing, so nothing says when the person authenticated';
  return at + maxAge * SECOND < now - CLOCK_SKEW ? 'auth_time lies further back than was asked for' : undefined;
}

/**
 * Who the person is at the upstream; undefined where the claims do not say. Decisions §14: in Microsoft Entra `sub` is another one for each app,
 * while `tid` and `oid` name the person; the issuer holds the tenant.
 */
function subjectOfClaims(
  { sub, oid, tid }: TokenClaims,
  { subjectClaim }: Pick<ExpectedIdToken, 'subjectClaim'>,
): string | undefined {
  if (subjectClaim === 'sub') return isSubject(sub) ? sub : undefined;
  return isSubject(tid) && isSubject(oid) && tid.length + oid.length < 255 ? `${tid}/${oid}` : undefined;
}

/**
 * Apple writes the value as a text. Microsoft Entra has no `email_verified`, but says whether the owner of the domain is the tenant. At Google
 * anybody may have verified an address of any domain once: that of an organization is one whose domain it names.
 */
function saysVerified(
  claims: TokenClaims,
  { issuer, subjectClaim }: Pick<ExpectedIdToken, 'issuer' | 'subjectClaim'>,
): boolean {
  const { email, email_verified: verified, xms_edov: edov, hd } = claims;
  if (subjectClaim === 'oid') return edov === true || edov === 1 || edov === '1' || edov === 'true';
  if (verified !== true && verified !== 'true') return false;
  return issuer !== GOOGLE || (typeof email === 'string' && typeof hd === 'string' && domainIn(email) === hd);
}

const isMethodName = (value: unknown): value is string => typeof value === 'string' && METHOD_NAME.test(value);
