import { invalidRequest, missingToken } from '../../platform/oauth-error.ts';

/**
 * The access token of the Authorization header (RFC 6750 §2.1; the scheme is case-insensitive, RFC 9110 §11.1).
 * @throws {OAuthError} 401 where there is none
 */
export function bearerToken(authorization: string | undefined): string {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) throw missingToken();
  return token;
}

/**
 * RFC 6750 §2: a token is sent in one way only, and never in the address (§2.3 is not offered).
 * @throws {OAuthError} 400
 */
export function refuseSecondToken(): never {
  throw invalidRequest('Send the access token once: in the Authorization header, and nowhere else.');
}
