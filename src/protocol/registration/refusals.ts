import type { MetadataFault } from '../../clients/rules/registration-metadata.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import { type AboutCredential, columnOf, type RefusalRow, row } from '../refusals/row.ts';

const CONNECT = 'docs/how-to/connect-agents.md';
const fromOperator = 'Ask the operator of this server';

interface FaultFacts {
  readonly fault: MetadataFault;
}

const metadataRow = (error: MetadataFault['error'], when: string, example: FaultFacts) =>
  row<FaultFacts & AboutCredential>({
    when,
    app: { error, description: ({ fault }) => `${fault.problem} ${fault.remedy}` },
    operator: {
      reason: ({ fault }) => `${error}: ${fault.field}`,
      trace: ({ fault }) => ({
        rule: 'RFC 7591 §3.2.2',
        expected: `a value of ${fault.field} that this service supports`,
        received: fault.problem,
        remedy: fault.remedy,
      }),
    },
    example,
  });

const tokenRow = (
  when: string,
  cause: string,
  remedy: string,
  reason: string,
  challenge: 'error' | 'no token' = 'error',
) =>
  row({
    when,
    app: {
      error: 'invalid_token',
      status: 401,
      description: `${cause} ${remedy}`,
    },
    operator: {
      reason,
      trace: { rule: 'RFC 6750 §3.1', expected: 'a token that is valid here', received: reason, remedy },
      ...(challenge === 'error' && { event: 'registration.refused' as const, details: { reason } }),
    },
  });

/** Of the endpoints by which apps register themselves. */
export const REGISTRATION_REFUSALS = {
  'registration switched off': row({
    when: 'Apps cannot register themselves at this server.',
    app: {
      error: 'invalid_request',
      status: 404,
      description: `Apps cannot register themselves here. ${fromOperator} to register the app.`,
    },
    operator: {
      trace: {
        expected: 'TESSERA_REGISTRATION=token or open',
        received: 'off',
        remedy: `Register the app with tessera client create, or set TESSERA_REGISTRATION: ${CONNECT}`,
      },
    },
  }),
  'redirect URI not allowed': metadataRow('invalid_redirect_uri', 'A redirect URI is missing or not allowed.', {
    fault: {
      error: 'invalid_redirect_uri',
      field: 'redirect_uris',
      problem: 'http://app.example/callback must use https (http is for localhost, 127.0.0.1 and [::1] only).',
      remedy: 'Correct or remove it.',
    },
  }),
  'metadata not allowed': metadataRow('invalid_client_metadata', 'Another part of the metadata is not allowed.', {
    fault: {
      error: 'invalid_client_metadata',
      field: 'token_endpoint_auth_method',
      problem: 'token_endpoint_auth_method is not supported.',
      remedy: 'Send one of client_secret_basic, client_secret_post, private_key_jwt, none.',
    },
  }),
  'metadata too long': row({
    when: 'The metadata is longer than 8 KiB.',
    app: {
      error: 'invalid_client_metadata',
      description: 'The metadata is longer than 8 KiB. Send less, for example jwks_uri instead of jwks.',
    },
    operator: { reason: 'too long' },
  }),
  'redirect host blocked': row({
    when: 'An operator has blocked the domain of a redirect URI.',
    app: {
      error: 'invalid_redirect_uri',
      description: `This server does not let apps with a redirect URI of this domain register themselves. ${fromOperator} about it.`,
    },
    operator: {
      reason: 'a blocked domain',
      trace: {
        expected: 'redirect URIs of domains that are not blocked',
        received: 'a redirect URI of a blocked domain',
        remedy:
          'If the app may be used: tessera client unblock-domain. This shows which are blocked: tessera client blocked-domains',
      },
    },
  }),
  'initial access token missing': tokenRow(
    'Only apps with an initial access token can register here, and none was sent.',
    'Registering an app here requires an initial access token.',
    `${fromOperator} for one, and send it as Authorization: Bearer <token>.`,
    'no token sent',
    'no token',
  ),
  'initial access token unknown': tokenRow(
    'The initial access token is unknown, used up, revoked or expired.',
    'The initial access token is not accepted: it is unknown, has no uses left, was revoked, or has expired.',
    `${fromOperator} for another. The operator lists them with: tessera initial-access-token list`,
    'initial access token not valid',
  ),
  'admin key for an initial access token': tokenRow(
    'An admin key was sent in place of an initial access token.',
    'The token is an admin key (it begins with tak_), and admin keys cannot register apps at this address.',
    'Send an initial access token: the operator makes one with tessera initial-access-token create. Admin keys register apps at /api/v2/admin/clients.',
    'an admin key',
  ),
  'too many unused': row({
    when: 'Too many apps registered themselves within an hour and were not used.',
    app: {
      error: 'temporarily_unavailable',
      status: 503,
      description: 'Too many apps have just registered themselves here. Try again later.',
    },
    operator: {
      reason: 'too many unused apps',
      trace: {
        remedy: `Somebody may be flooding this endpoint. Set TESSERA_REGISTRATION=token, or lower TESSERA_LIMIT_REGISTRATION: ${CONNECT}`,
      },
    },
  }),
  'registration access token missing': tokenRow(
    'The registration access token of the app was not sent.',
    'Reading or changing a registration requires its registration access token.',
    'Send the one of the registration response as Authorization: Bearer <token>.',
    'no token sent',
    'no token',
  ),
  'registration access token unknown': tokenRow(
    'The registration access token is not that of this app; or the app does not exist, was disabled, or is managed by an operator.',
    'The registration access token is not accepted: it is not that of this app, or the app was removed or disabled, or is managed by an operator.',
    'Send the one of the registration response to its registration_client_uri, or register the app again.',
    'registration access token not valid',
  ),
};

type RegistrationRefusalName = keyof typeof REGISTRATION_REFUSALS;
type FactsOfRow<Name extends RegistrationRefusalName> =
  (typeof REGISTRATION_REFUSALS)[Name] extends RefusalRow<infer Facts> ? Facts : never;

const CHALLENGE = 'Bearer realm="tessera"';

/** The error of a refusal, with the challenge of RFC 6750 §3 where a token is asked for. */
export function refuseRegistration<Name extends RegistrationRefusalName>(
  name: Name,
  ...[facts]: FactsOfRow<Name> extends FaultFacts ? [facts: FaultFacts] : []
): OAuthError {
  const { app, operator } = REGISTRATION_REFUSALS[name] as RefusalRow<unknown>;
  const error = columnOf(app.error, facts);
  const description = columnOf(app.description, facts);
  const reason = operator.reason && columnOf(operator.reason, facts);
  const detail = operator.trace === undefined ? undefined : columnOf(operator.trace, facts);
  const challenge =
    reason === 'no token sent' ? CHALLENGE : `${CHALLENGE}, error="invalid_token", error_description="${description}"`;
  const headers: Readonly<Record<string, string>> =
    app.status === 401 ? { 'www-authenticate': challenge } : app.status === 503 ? { 'retry-after': '3600' } : {};
  return new OAuthError(app.status ?? 400, error, description, headers, reason, detail);
}

/** The refusal of metadata. */
export const refuseMetadata = (fault: MetadataFault): OAuthError =>
  fault.error === 'invalid_redirect_uri'
    ? refuseRegistration('redirect URI not allowed', { fault })
    : refuseRegistration('metadata not allowed', { fault });
