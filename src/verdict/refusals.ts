import { invalidGrant, invalidToken, OAuthError } from '../platform/oauth-error.ts';
import type { Verdict } from './rules.ts';

/** The contract's messages, to the letter. */
export const MESSAGES = {
  banned: 'Account banned',
  suspended: 'Account is suspended',
  revoked: 'Access revoked by user',
} as const;

type Refused = Exclude<Verdict, { kind: 'live' }>;

const forbidden = (kind: keyof typeof MESSAGES): OAuthError =>
  new OAuthError(403, 'access_denied', MESSAGES[kind], {}, kind);

/** A refusal at a resource: UserInfo. */
export function refuseToken(verdict: Refused): OAuthError {
  return verdict.kind === 'invalid'
    ? invalidToken('The access token is invalid or has expired.', verdict.reason)
    : forbidden(verdict.kind);
}

/** A refusal of the grant that was presented at the token endpoint. */
export function refuseGrant(verdict: Refused, description: string): OAuthError {
  return verdict.kind === 'invalid' ? invalidGrant(description, verdict.reason) : forbidden(verdict.kind);
}
