import { ENDPOINT_RULES, type EndpointSet } from '../../claims/endpoint-set.ts';
import { invalidRequest, invalidToken, missingToken, OAuthError } from '../../platform/oauth-error.ts';
import { columnOf, type RefusalRow, sentence } from '../refusals/row.ts';
import type { TokenFault } from '../token/misuse.ts';

type Challenge = 'invalid_request' | 'missing token' | 'invalid_token' | 'insufficient_scope';

/** How the error of a row is sent: RFC 6750 §3.1. */
type UserInfoRow<Facts> = RefusalRow<Facts> & { readonly challenge: Challenge };

interface Texts<Facts> {
  readonly when: string;
  readonly challenge: Challenge;
  readonly cause: string | ((facts: Facts) => string);
  readonly remedy: string | ((facts: Facts) => string);
  readonly reason?: string | ((facts: Facts) => string);
  readonly rule: string;
  readonly expected: string;
  readonly received?: string | ((facts: Facts) => string);
  readonly example?: Facts;
}

function row<Facts = unknown>(texts: Texts<Facts>): UserInfoRow<Facts> {
  const { when, challenge, cause, remedy, reason, rule, expected, received = cause, example } = texts;
  return {
    when,
    challenge,
    app: {
      error: challenge === 'missing token' ? 'invalid_token' : challenge,
      description: (facts) => `${columnOf(cause, facts)} ${columnOf(remedy, facts)}`,
    },
    operator: {
      ...(reason !== undefined && { reason }),
      trace: (facts) => ({
        rule,
        expected,
        received: columnOf(received, facts),
        remedy: sentence(columnOf(remedy, facts)),
      }),
    },
    ...(example !== undefined && { example }),
  };
}

const IN_HEADER = 'an access token in the Authorization header';
const SCOPE = 'openid';

/** Of UserInfo, apart from a header without a bearer token, and the verdict on the token. */
export const USERINFO_REFUSALS = {
  'token in the address': row({
    when: 'The access token is in the address.',
    challenge: 'invalid_request',
    cause: 'The access token is in the address, where logs and histories keep it.',
    remedy: 'Send the token in the Authorization header.',
    rule: 'RFC 6750 §2.3',
    expected: IN_HEADER,
  }),
  'token only in the address': row({
    when: 'The access token is in the address, and there is no `Authorization` header.',
    challenge: 'missing token',
    cause: 'The access token is in the address, where logs and histories keep it.',
    remedy: 'Send the token in the Authorization header.',
    rule: 'RFC 6750 §2.3',
    expected: IN_HEADER,
  }),
  'token sent twice': row({
    when: 'The access token was sent in more than one way.',
    challenge: 'invalid_request',
    cause: 'The access token was sent in more than one place.',
    remedy: 'Send the access token once: in the Authorization header, and nowhere else.',
    rule: 'RFC 6750 §2',
    expected: IN_HEADER,
  }),
  'white space in the form': row({
    when: '`access_token` in a form has white space in it.',
    challenge: 'missing token',
    cause: 'access_token in the form has white space in it.',
    remedy: 'Send the token alone.',
    rule: 'RFC 6750 §2.2',
    expected: 'an access token without white space',
  }),
  'not an access token': row<{ readonly fault: Pick<TokenFault, 'reason' | 'description'> }>({
    when: 'The text is no access token of this service, or has expired. The description says which.',
    challenge: 'invalid_token',
    cause: 'The access token is not accepted:',
    remedy: ({ fault }) => `it ${fault.description}`,
    reason: ({ fault }) => fault.reason,
    rule: 'RFC 6750 §3.1',
    expected: 'a valid access token of this service',
    received: ({ fault }) => fault.reason,
    example: {
      fault: {
        reason: 'expired',
        description: 'expired at 2026-01-08T09:00:00Z. Get a new one with the refresh token.',
      },
    },
  }),
  'token of the other endpoints': row<{ readonly issuedBy: EndpointSet }>({
    when: 'The access token was issued by the OIDC endpoints, and sent to `/api/v2/oauth/userinfo`.',
    challenge: 'invalid_token',
    cause: ({ issuedBy }) => `This access token was issued at ${ENDPOINT_RULES[issuedBy].tokenPath}.`,
    remedy: ({ issuedBy }) => `Send it to ${ENDPOINT_RULES[issuedBy].userinfoPath}.`,
    reason: 'a token of the other endpoints',
    rule: 'RFC 6750 §3.1',
    expected: 'an access token of the v2 endpoints',
    received: ({ issuedBy }) => `an access token from ${ENDPOINT_RULES[issuedBy].tokenPath}`,
    example: { issuedBy: 'oidc' },
  }),
  'scope openid missing': row({
    when: 'At `/oidc/userinfo`: `openid` was not granted.',
    challenge: 'insufficient_scope',
    cause: `The access token lacks the scope ${SCOPE}:`,
    remedy: `request ${SCOPE} in a new authorization.`,
    rule: 'RFC 6750 §3.1',
    expected: `an access token with the scope ${SCOPE}`,
    received: 'an access token without it',
  }),
};

type UserInfoRefusalName = keyof typeof USERINFO_REFUSALS;
type FactsOfRow<Name extends UserInfoRefusalName> =
  (typeof USERINFO_REFUSALS)[Name] extends UserInfoRow<infer Facts> ? Facts : never;

export function refuseUserInfo<Name extends UserInfoRefusalName>(
  name: Name,
  ...[facts]: unknown extends FactsOfRow<Name> ? [] : [facts: FactsOfRow<Name>]
): OAuthError {
  const { app, operator, challenge } = USERINFO_REFUSALS[name] as UserInfoRow<unknown>;
  const description = columnOf(app.description, facts);
  const reason = operator.reason && columnOf(operator.reason, facts);
  const detail = operator.trace === undefined ? {} : columnOf(operator.trace, facts);
  return errorOf(challenge, description, reason).withDetail(detail);
}

function errorOf(challenge: Challenge, description: string, reason: string | undefined): OAuthError {
  if (challenge === 'invalid_request') return invalidRequest(description);
  if (challenge === 'missing token') return missingToken(description);
  if (challenge === 'invalid_token') return invalidToken(description, reason);
  const header = `Bearer realm="tessera", error="insufficient_scope", error_description="${description}", scope="${SCOPE}"`;
  return new OAuthError(403, 'insufficient_scope', description, { 'www-authenticate': header }, reason);
}
