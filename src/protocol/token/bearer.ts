import { missingToken } from '../../platform/oauth-error.ts';
import { describeAuthorization } from './rules/presented-form.ts';

/**
 * The access token of the Authorization header (RFC 6750 §2.1). The scheme is case-insensitive (RFC 9110 §11.1).
 * @param sentHeaders counts how many Authorization headers the request has, of which the first is read
 * @throws {OAuthError} 401 where there is none
 */
export function bearerToken(authorization: string | undefined, sentHeaders = () => 1): string {
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
  if (token === undefined) {
    const { cause, remedy } = describeAuthorization(authorization, sentHeaders());
    throw missingToken(`${cause} ${remedy}`).withDetail({
      rule: 'RFC 6750 §2.1',
      expected: 'Authorization: Bearer and the access token',
      received: cause,
      remedy,
    });
  }
  return token;
}
