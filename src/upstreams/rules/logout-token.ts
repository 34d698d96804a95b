import {
  commonProblem,
  isSubject,
  isTokenId,
  LOGOUT_EVENT,
  type TokenAudience,
  type TokenClaims,
  type TokenProblem,
  timeOf,
} from './token-claims.ts';

/** What an upstream says that it has ended. */
export interface UpstreamLogout {
  readonly issuer: string;
  /** Of the token, which is used once. */
  readonly jti: string;
  /** The session; null for all of the person's. */
  readonly sid: string | null;
  /** The person; null where only the session is named. */
  readonly subject: string | null;
  readonly issuedAt: number;
}

/**
 * Reads a logout token, whose signature is verified (OpenID Connect Back-Channel Logout 1.0 §2.6).
 * @param type the `typ` of its header
 */
export function readLogoutToken(
  claims: TokenClaims,
  type: string | undefined,
  expected: TokenAudience,
  now: number,
): UpstreamLogout | TokenProblem {
  const problem = commonProblem(claims, expected, now) ?? logoutProblem(claims, type);
  if (problem !== undefined) return { problem };
  const { jti, sid, sub, iat } = claims;
  if (!isTokenId(jti)) return { problem: 'jti is missing or too long' };
  return {
    issuer: expected.issuer,
    jti,
    sid: isTokenId(sid) ? sid : null,
    subject: isSubject(sub) ? sub : null,
    issuedAt: timeOf(iat) ?? now,
  };
}

function logoutProblem({ events, nonce, sid, sub }: TokenClaims, type: string | undefined): string | undefined {
  // §2.4: typ is recommended, not required. One of another kind is another token.
  if (type !== undefined && !/^(application\/)?(logout\+)?jwt$/i.test(type)) return 'typ is that of another token';
  const event = typeof events === 'object' && events !== null ? Object.entries(events) : [];
  const [, value] = event.find(([name]) => name === LOGOUT_EVENT) ?? [];
  if (typeof value !== 'object' || value === null) return 'events does not say that it is a logout token';
  // An ID token must not pass for a logout token.
  if (nonce !== undefined) return 'it has a nonce, as an ID token';
  if (sid !== undefined && !isTokenId(sid)) return 'sid is no identifier';
  if (sub !== undefined && !isSubject(sub)) return 'sub is no identifier';
  return sid === undefined && sub === undefined ? 'it names neither a session nor a person' : undefined;
}
