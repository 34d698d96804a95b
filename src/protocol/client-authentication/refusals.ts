import type { AssertionFault } from '../../clients/rules/assertion.ts';
import type { Client } from '../../clients/store.ts';
import { OAuthError, type RefusalDetail } from '../../platform/oauth-error.ts';
import { type Column, columnOf, type RefusalRow } from '../refusals/row.ts';
import {
  ASSERTION_REMEDIES,
  adviceFor,
  describeHeader,
  renameSent,
  sendCredentials,
  sentInstead,
  wrongIdOf,
} from './advice.ts';
import type { ClientCredentials } from './read-credentials.ts';
import { describeSecret, SECRET_REMEDIES, type SecretKind } from './rules/secret-kind.ts';

/** What is known of a request whose client was not authenticated. */
export interface UnauthenticatedRequest {
  readonly credentials: ClientCredentials;
  /** The client that it names; undefined where there is none. */
  readonly client: Pick<Client, 'id' | 'type' | 'tokenEndpointAuthMethod'> | undefined;
  /** Whether the request has the secret of the client, so that the sender may know more. */
  readonly isProved: boolean;
  /** The path of the called endpoint. */
  readonly endpoint: string;
  readonly issuer: string;
  /** Whether a page in a browser sent it: it has an `Origin` header. */
  readonly isInBrowser?: boolean;
  /** What is wrong with the claims of its assertion whether or not a key verifies it. */
  readonly fault?: AssertionFault;
  /** What a wrong secret is. */
  readonly secret?: SecretKind;
  /** Why the keys of the client cannot be read. */
  readonly cause?: string;
}

type AuthenticationRefusal = RefusalRow<UnauthenticatedRequest>;

interface Texts {
  readonly when: string;
  /** What the caller is told, where it knows the cause anyway (docs/decisions/0013); the same for all other causes. */
  readonly advice?: Column<UnauthenticatedRequest, string>;
  readonly rule?: string;
  readonly expected: Column<UnauthenticatedRequest, string>;
  readonly received: Column<UnauthenticatedRequest, string>;
  readonly remedy: Column<UnauthenticatedRequest, string>;
  readonly example: UnauthenticatedRequest;
}

const CREDENTIALS = { method: 'client_secret_post', clientId: '1', clientSecret: 'x' } as const;
const CLIENT = { id: 'CLIENT_ID', type: 'confidential', tokenEndpointAuthMethod: null } as const;
const AT = { isProved: false, endpoint: '/oidc/token', issuer: 'https://id.example.com' } as const;
const WITH_SECRET: UnauthenticatedRequest = { ...AT, credentials: CREDENTIALS, client: CLIENT };
const BY_ASSERTION = { method: 'private_key_jwt', clientId: '1' } as const;
const WITH_ASSERTION: UnauthenticatedRequest = {
  ...AT,
  credentials: { ...BY_ASSERTION, assertion: { token: 'x', clientId: '1', alg: 'ES256', kid: undefined } },
  client: CLIENT,
};
const WITH_ANOTHER_TEXT: UnauthenticatedRequest = {
  ...WITH_ASSERTION,
  credentials: { ...BY_ASSERTION, assertion: undefined, is: 'a text that is no JWT' },
};

const row = (texts: Texts): AuthenticationRefusal => ({
  when: texts.when,
  app: {
    error: 'invalid_client',
    description: (facts) =>
      `Client authentication failed: ${texts.advice === undefined ? adviceFor(facts.credentials, facts) : columnOf(texts.advice, facts)}`,
  },
  operator: {
    trace: (facts): RefusalDetail => ({
      rule: texts.rule ?? 'RFC 6749 §2.3.1',
      expected: columnOf(texts.expected, facts),
      received: columnOf(texts.received, facts),
      remedy: columnOf(texts.remedy, facts),
    }),
    event: 'client.auth_failed',
  },
  example: texts.example,
});

const idOf = ({ client }: UnauthenticatedRequest): string => client?.id ?? 'CLIENT_ID';
const showClient = (facts: UnauthenticatedRequest): string => `tessera client show ${idOf(facts)}`;

const LIST_CLIENTS = 'This lists the apps of this server: tessera client list';

const METHODS = {
  none: 'client_id alone',
  client_secret_basic: 'client_secret_basic',
  client_secret_post: 'client_secret_post',
  private_key_jwt: 'private_key_jwt',
} as const;

/** Of an assertion: what is wrong with it, and what to do. */
const assertionRow = (
  when: string,
  received: Column<UnauthenticatedRequest, string>,
  remedy: Column<UnauthenticatedRequest, string>,
  example = WITH_ASSERTION,
  advice?: string,
) =>
  row({
    when,
    ...(advice !== undefined && { advice }),
    rule: 'RFC 7523 §3',
    expected:
      'an assertion with alg RS256, PS256, ES256 or EdDSA, iss and sub the client_id, aud the issuer or the URL of the endpoint, exp at most ten minutes ahead, a new jti',
    received,
    remedy,
    example,
  });

/** Of an assertion that a key of the client has signed, so that the caller may know. */
const provedRow = (when: string, cause: string, received: string, remedy: string) =>
  assertionRow(when, received, remedy, WITH_ASSERTION, `${cause}. ${remedy}`);

const COMPARE_KEYS = (facts: UnauthenticatedRequest) =>
  `Compare kid and key with jwks or jwksUri of the registration: ${showClient(facts)}`;

const headerOf = ({ credentials, endpoint }: UnauthenticatedRequest) =>
  describeHeader('header' in credentials ? credentials.header : 'another text', endpoint);

/** Of an assertion whose claims anyone can read: the caller is told, whatever else is wrong. */
const claimsRow = (fault: AssertionFault, when: string, received: string) =>
  assertionRow(when, received, ({ issuer }) => ASSERTION_REMEDIES[fault](issuer), { ...WITH_ASSERTION, fault });

/** Why a client was not authenticated. The names are the reasons of the log and the audit trail. */
export const AUTHENTICATION_REFUSALS = {
  'client_id missing': row({
    when: 'The request names no client.',
    advice: ({ credentials, endpoint }) =>
      `client_id is missing${sentInstead(credentials, 'client_id')}. ${renameSent(credentials, 'client_id') ?? sendCredentials(endpoint)}`,
    expected: 'client_id in the body, or by HTTP Basic',
    received: ({ credentials }) => `a request without client_id${sentInstead(credentials, 'client_id')}`,
    remedy: ({ credentials, endpoint }) => renameSent(credentials, 'client_id') ?? sendCredentials(endpoint),
    example: { ...WITH_SECRET, credentials: { method: 'none', clientId: '' }, client: undefined },
  }),
  'unreadable Authorization header': row({
    when: 'The `Authorization` header cannot be read as client credentials.',
    advice: (facts) => `${headerOf(facts).cause}. ${headerOf(facts).remedy}`,
    expected: 'Basic, with client_id and client_secret form-encoded, joined by a colon, in base64',
    received: (facts) => headerOf(facts).received,
    remedy: (facts) => headerOf(facts).remedy,
    example: { ...WITH_SECRET, client: undefined },
  }),
  'unknown client': row({
    when: 'No client has this `client_id`. The response does not say so.',
    expected: 'the client_id of an active app',
    received({ credentials }) {
      const { clientId } = credentials;
      if (/^\d{1,20}$/.test(clientId)) return `client_id=${clientId}, which no app here has`;
      return wrongIdOf(credentials)?.received ?? 'a client_id that no app here has';
    },
    remedy({ credentials }) {
      const wrongId = wrongIdOf(credentials);
      return wrongId === undefined
        ? `Look for an app of another server or database. ${LIST_CLIENTS}`
        : `${wrongId.remedy} ${LIST_CLIENTS}`;
    },
    example: { ...WITH_SECRET, client: undefined },
  }),
  'the client is disabled': row({
    when: 'The client is disabled. Only a caller with its secret is told, and not at `/api/v2/oauth/token`.',
    advice: (facts) =>
      facts.isProved
        ? `this client is disabled. The operator can set its status to active: PATCH /api/v2/admin/clients/${idOf(facts)}, or on the server: tessera client enable ${idOf(facts)}.`
        : adviceFor(facts.credentials, facts),
    expected: 'an active app',
    received: 'a request of an app that is disabled',
    remedy: (facts) => `Enable the app: tessera client enable ${idOf(facts)}`,
    example: { ...WITH_SECRET, isProved: true },
  }),
  'another authentication method is registered': row({
    when: 'The client is registered for another authentication method. Only a caller with its secret is told which; anyone, that a public client has no secret.',
    advice: ({ credentials, client, isProved, ...context }) => {
      if (client?.type === 'public' && 'clientSecret' in credentials) {
        return 'this client is public and has no secret. Send client_id in the body, and no client_secret.';
      }
      return isProved
        ? `this client is registered for ${client?.tokenEndpointAuthMethod}. Authenticate in that way.`
        : adviceFor(credentials, context);
    },
    expected: ({ client }) =>
      client?.tokenEndpointAuthMethod === 'private_key_jwt'
        ? 'private_key_jwt, which is the authentication method of the registration: the app has no secret'
        : 'the authentication method of the registration',
    received: ({ credentials: { method } }) => METHODS[method],
    remedy: (facts) =>
      facts.client?.type === 'public'
        ? 'Have the app send client_id alone, with PKCE: a public app has no secret.'
        : `Have the app use ${facts.client?.tokenEndpointAuthMethod ?? 'its secret'}, or change the registration: tessera client update ${idOf(facts)} --token-endpoint-auth-method ${METHODS[facts.credentials.method]}${facts.credentials.method === 'private_key_jwt' ? ' --jwks-uri URL' : ''}`,
    example: { ...WITH_SECRET, client: { ...CLIENT, tokenEndpointAuthMethod: 'client_secret_basic' }, isProved: true },
  }),
  'no secret': row({
    when: 'A confidential client sent no secret.',
    expected: 'client_id with client_secret, in the body or by HTTP Basic',
    received: ({ credentials }) => `client_id alone${sentInstead(credentials, 'client_secret')}`,
    remedy: ({ credentials }) =>
      `${renameSent(credentials, 'client_secret') ?? 'Set the client secret in the app: its variable may be empty.'} For an app that cannot keep one, register another with --type public.`,
    example: { ...WITH_SECRET, credentials: { method: 'none', clientId: '1' } },
  }),
  'wrong secret': row({
    when: 'The secret is wrong. The response does not say so.',
    expected: 'a secret of this app that is valid now',
    received: ({ secret }) => describeSecret(secret),
    remedy: (facts) => SECRET_REMEDIES[facts.secret?.kind ?? 'unknown'](idOf(facts)),
    example: WITH_SECRET,
  }),
  'a public client may not introspect': row({
    when: 'A public client called the introspection endpoint.',
    advice:
      'a public client may not introspect tokens. Register the API that receives them as a confidential client, and send its client_id and client_secret.',
    rule: 'RFC 7662 §2.1',
    expected: 'a confidential client: the API that receives the tokens',
    received: 'a public client, which cannot prove that the tokens are its own',
    remedy:
      'Register the API with its resource, and have it authenticate with its own secret: tessera client create --name "My API" --grant-type client_credentials --resource URI',
    example: WITH_SECRET,
  }),
  'the assertion is not supported': assertionRow(
    'The assertion is malformed, or of another kind.',
    ({ cause }) => cause ?? 'an assertion that cannot be read',
    'Send a JWT that is signed with a private key, with iss, sub and client_id equal, and client_assertion_type urn:ietf:params:oauth:client-assertion-type:jwt-bearer.',
    WITH_ANOTHER_TEXT,
  ),
  'the assertion names no key of the client': assertionRow(
    'The key of the assertion is not registered.',
    'an assertion whose kid or algorithm fits no registered key',
    COMPARE_KEYS,
  ),
  'the keys of the client cannot be read': row({
    when: '`jwksUri` of the client cannot be read.',
    rule: 'RFC 7523 §3',
    expected: 'a JSON Web Key Set at jwksUri of the registration',
    received: ({ cause }) => cause ?? 'no answer',
    remedy: (facts) => `Let this server reach jwksUri: ${showClient(facts)}`,
    example: WITH_ASSERTION,
  }),
  'the assertion has a wrong signature': assertionRow(
    'The signature of the assertion is wrong.',
    'an assertion that was signed by another key than the registered one with its kid, or was changed',
    COMPARE_KEYS,
  ),
  'the registration has changed': provedRow(
    'The registration was changed while the keys were read.',
    'the registration has changed meanwhile',
    'an assertion of a registration that has changed meanwhile',
    'Send the request again, with a new assertion.',
  ),
  'the assertion was used before': provedRow(
    'The assertion was used before.',
    'the assertion was used before',
    'an assertion whose jti was used before',
    'Make a new assertion with a new jti for each request, retries included.',
  ),
  'the assertion is of another client': claimsRow(
    'is of another client',
    'The assertion is of another client.',
    'an assertion whose iss or sub is another client',
  ),
  'the assertion is for another audience': claimsRow(
    'is for another audience',
    'The assertion is for another audience.',
    'an assertion whose aud is another server or endpoint',
  ),
  'the assertion has no exp': claimsRow('has no exp', 'The assertion has no `exp`.', 'an assertion without exp'),
  'the assertion has expired': claimsRow(
    'has expired',
    'The assertion has expired.',
    'an assertion whose exp is in the past',
  ),
  'the assertion expires too late': claimsRow(
    'expires too late',
    'The assertion expires too late.',
    'an assertion whose exp is more than ten minutes ahead',
  ),
  'the assertion has times that make no sense': claimsRow(
    'has times that make no sense',
    'The times of the assertion make no sense.',
    'an assertion whose iat or nbf is no time, or is later than exp',
  ),
  'the assertion is of the future': claimsRow(
    'is of the future',
    'The assertion is of the future.',
    'an assertion whose iat or nbf is in the future',
  ),
  'the assertion has no jti': claimsRow('has no jti', 'The assertion has no `jti`.', 'an assertion without jti'),
} as const;

export type AuthenticationRefusalName = keyof typeof AUTHENTICATION_REFUSALS;

/** RFC 6749 §5.2. A client that used the Authorization header gets a challenge in the response. */
export function refuseClient(name: AuthenticationRefusalName, facts: UnauthenticatedRequest): OAuthError {
  const { app, operator } = AUTHENTICATION_REFUSALS[name];
  const challenge = facts.credentials.method === 'client_secret_basic';
  const headers = challenge ? { 'www-authenticate': 'Basic realm="tessera", charset="UTF-8"' } : {};
  const trace = operator.trace && columnOf(operator.trace, facts);
  return new OAuthError(401, columnOf(app.error, facts), columnOf(app.description, facts), headers, name, trace);
}
