import type { AsymmetricAlg, IdTokenAlg } from '../../../keys/algorithms.ts';
import { numericDate } from '../../../platform/clock.ts';

/** RFC 8725 §3.11: explicit typing keeps a logout token from being accepted as another kind of token. */
export const LOGOUT_TOKEN_TYPE = 'logout+jwt';

/** OpenID Connect Back-Channel Logout 1.0 §4: at most two minutes, in seconds. */
const LIFETIME = 120;

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** The client that a logout token is for, and the session that it is about; with a null `sid`, every session of the account. */
export interface LogoutTokenSubject {
  readonly issuer: string;
  readonly clientId: string;
  readonly accountId: string;
  readonly sid: string | null;
}

/** The algorithm of a client's logout tokens: HS256 would need its secret, of which only a hash is stored. */
export const logoutTokenAlg = (registered: IdTokenAlg | null): AsymmetricAlg =>
  registered === null || registered === 'HS256' ? 'RS256' : registered;

/** OpenID Connect Back-Channel Logout 1.0 §2.4. `nonce` is prohibited, so that no logout token passes for an ID token. */
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
