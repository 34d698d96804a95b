import { numericDate } from '../../../platform/clock.ts';

/** RFC 8725 §3.11: a type of its own, so that no verifier takes it for another token. */
export const LOGOUT_TOKEN_TYPE = 'logout+jwt';

/** OpenID Connect Back-Channel Logout 1.0 §4: at most two minutes, in seconds. */
const LIFETIME = 120;

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Whom a notice is for, and what about. */
export interface LogoutTokenSubject {
  readonly issuer: string;
  readonly clientId: string;
  readonly accountId: string;
  readonly sid: string | null;
}

/** OpenID Connect Back-Channel Logout 1.0 §2.4. There is never a `nonce`, so that none passes for an ID token. */
export function logoutClaims(
  { issuer, clientId, accountId, sid }: LogoutTokenSubject,
  jti: string,
  now: number,
): Readonly<Record<string, unknown>> {
  const iat = numericDate(now);
  return {
    iss: issuer,
    aud: clientId,
    sub: accountId,
    ...(sid !== null && { sid }),
    iat,
    exp: iat + LIFETIME,
    jti,
    events: { [EVENT]: {} },
  };
}
