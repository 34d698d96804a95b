import { CLOCK_SKEW, MINUTE, SECOND } from '../../platform/clock.ts';

/** The claims of a JWT whose signature is verified. */
export type TokenClaims = Readonly<Record<string, unknown>>;

/** What is wrong with a token of an upstream, for operators. */
export interface TokenProblem {
  readonly problem: string;
}

/** For which upstream a token must be made. */
export interface TokenAudience {
  readonly issuer: string;
  /** Our id there. */
  readonly clientId: string;
}

/** A token is used as soon as it is made. An older one was kept by somebody, or the clocks differ too much. */
const MAX_TOKEN_AGE = 10 * MINUTE;

/** OpenID Connect Core 1.0 §2: a subject has at most 255 ASCII characters. Spaces and control characters are in none that is known. */
const SUBJECT = /^[\x21-\x7e]{1,255}$/;

/** The longest id of a token or a session that is stored. */
const LONGEST_ID = 255;

/** The member of `events` that makes a JWT a logout token (OpenID Connect Back-Channel Logout 1.0 §2.4). */
export const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

export const isSubject = (value: unknown): value is string => typeof value === 'string' && SUBJECT.test(value);

/** Whether a value can be the id of a token or a session. PostgreSQL stores no NUL, and no provider needs another control character. */
export const isTokenId = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= LONGEST_ID && !/\p{Cc}/u.test(value);

/** A time of a token in milliseconds; undefined for what is no time. */
export const timeOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 && value < 1e11 ? value * SECOND : undefined;

/**
 * What is wrong with the claims that every token of an upstream has in common: who made it, for whom, and when. Undefined where
 * nothing is.
 */
export function commonProblem(claims: TokenClaims, { issuer, clientId }: TokenAudience, now: number) {
  const { iss, aud, azp } = claims;
  // OpenID Connect Core 1.0 §3.1.3.7, steps 2 to 5.
  if (iss !== issuer) return 'iss is not the issuer of this upstream';
  const audiences = typeof aud === 'string' ? [aud] : Array.isArray(aud) ? aud : [];
  if (!audiences.includes(clientId)) return 'aud does not name the client id';
  if (audiences.length > 1 && azp === undefined) return 'aud has several values, and azp is missing';
  if (azp !== undefined && azp !== clientId) return 'azp is not the client id';
  return timeProblem(claims, now);
}

function timeProblem({ exp, iat, nbf }: TokenClaims, now: number): string | undefined {
  const issuedAt = timeOf(iat);
  if (issuedAt === undefined) return 'iat is missing or no time';
  if (issuedAt > now + CLOCK_SKEW) return 'iat lies in the future';
  if (issuedAt < now - MAX_TOKEN_AGE) return 'iat lies more than ten minutes back';
  const expiresAt = timeOf(exp);
  if (exp !== undefined && expiresAt === undefined) return 'exp is no time';
  if (expiresAt !== undefined && expiresAt <= now - CLOCK_SKEW) return 'exp has passed';
  const notBefore = timeOf(nbf);
  if (nbf !== undefined && (notBefore === undefined || notBefore > now + CLOCK_SKEW)) return 'nbf lies in the future';
  return undefined;
}
