import type { Client } from '../../clients/store.ts';
import { OAuthError, type RefusalDetail } from '../../platform/oauth-error.ts';
import { type Column, columnOf, type RefusalRow, sentence } from '../refusals/row.ts';
import type { ClientCredentials, UnreadableHeader } from './authenticate.ts';
import {
  describeSecret,
  isEmptyWord,
  isSecretLike,
  kindByForm,
  SECRET_REMEDIES,
  type SecretKind,
} from './rules/secret-kind.ts';

/** What is known of a request whose client was not authenticated. */
export interface UnauthenticatedRequest {
  readonly credentials: ClientCredentials;
  /** The client that it names; undefined where there is none. */
  readonly client: Pick<Client, 'id' | 'type' | 'tokenEndpointAuthMethod'> | undefined;
  /** Whether the request has the secret of the client, so that the sender may know more. */
  readonly isProved: boolean;
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
  readonly expected: string;
  readonly received: Column<UnauthenticatedRequest, string>;
  readonly remedy: Column<UnauthenticatedRequest, string>;
  readonly example: UnauthenticatedRequest;
}

const CREDENTIALS = { method: 'client_secret_post', clientId: '1', clientSecret: 'x' } as const;
const CLIENT = { id: 'CLIENT_ID', type: 'confidential', tokenEndpointAuthMethod: null } as const;
const WITH_SECRET: UnauthenticatedRequest = { credentials: CREDENTIALS, client: CLIENT, isProved: false };
const BY_ASSERTION = { method: 'private_key_jwt', clientId: '1' } as const;
const WITH_ASSERTION: UnauthenticatedRequest = {
  credentials: { ...BY_ASSERTION, assertion: { token: 'x', clientId: '1', alg: 'ES256', kid: undefined } },
  client: CLIENT,
  isProved: false,
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
      `Client authentication failed: ${texts.advice === undefined ? adviceFor(facts.credentials) : columnOf(texts.advice, facts)}`,
  },
  operator: {
    trace: (facts): RefusalDetail => ({
      rule: texts.rule ?? 'RFC 6749 §2.3.1',
      expected: texts.expected,
      received: columnOf(texts.received, facts),
      remedy: columnOf(texts.remedy, facts),
    }),
    event: 'client.auth_failed',
  },
  example: texts.example,
});

const idOf = ({ client }: UnauthenticatedRequest): string => client?.id ?? 'CLIENT_ID';
const showClient = (facts: UnauthenticatedRequest): string => `tessera client show ${idOf(facts)}`;

/** What a client_id is that no app can have, by its form alone; undefined for any other. */
function idByForm(clientId: string): { readonly is: string; readonly remedy: string } | undefined {
  if (isSecretLike(clientId)) {
    return {
      is: 'begins with tcs_, as secrets do',
      remedy: 'client_id and client_secret may be swapped: exchange them.',
    };
  }
  if (!isEmptyWord(clientId)) return undefined;
  return { is: `is the word ${clientId.trim()}`, remedy: 'Set the variable that should hold it: it has no value.' };
}

/** What to check, by what the request holds alone: it must not tell which clients exist. */
function adviceFor(credentials: ClientCredentials): string {
  const { method, clientId } = credentials;
  const wrongId = idByForm(clientId);
  if (wrongId !== undefined) return `client_id ${wrongId.is}. ${wrongId.remedy}`;
  if (method === 'private_key_jwt') {
    return 'is' in credentials ? `${FORM_OF_ASSERTION} What was sent is ${credentials.is}.` : `${CHECK_ASSERTION}.`;
  }
  if (method === 'none')
    return `check client_id; client_secret was not sent${sentInstead(credentials)}, and only a public client has none.`;
  return `${describeSent(credentials)}.`;
}

/** What is wrong with the form of what was sent, which its sender knows; the same for all causes that its form does not tell. */
function describeSent(credentials: ClientCredentials): string {
  const secret = 'clientSecret' in credentials ? kindByForm(credentials.clientSecret) : undefined;
  switch (secret?.kind) {
    case 'wrapped':
      return `client_secret has ${secret.by} around it: send it without`;
    case 'word':
      return `client_secret is the word ${secret.word}: the variable that should hold it has no value`;
    case 'placeholder':
      return 'client_secret is a placeholder: send the secret that was shown when it was made';
    case 'shortened':
      return 'client_secret is not whole: a secret is tcs_ and 43 characters. Copy it again';
    case 'not a secret':
      return `client_secret does not begin with tcs_, as every secret of this service does; an app that signs assertions (private_key_jwt) has none. ${COMPARE}`;
    default:
      return `the client is not registered here or is disabled, or the secret is wrong, was replaced, or belongs to another client. ${COMPARE}`;
  }
}

const sentInstead = (credentials: ClientCredentials): string =>
  'misspelled' in credentials && credentials.misspelled !== undefined ? ` (${credentials.misspelled} was sent)` : '';

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

const FORM_OF_ASSERTION = `send client_assertion as a JWT whose alg is RS256, PS256, ES256 or EdDSA and whose iss and sub are the client_id, with client_assertion_type ${JWT_BEARER}.`;

const CHECK_ASSERTION =
  'check client_id and the claims and key of client_assertion. In it, alg is RS256, PS256, ES256 or EdDSA, iss and sub are the client_id, aud is the issuer, ' +
  'exp is at most ten minutes ahead, no time is more than 30 seconds off, jti is new, and the signing key is in jwks, or at jwksUri, of the registration. Which of these it is, the operator finds by the x-request-id of this response: tessera explain ID';

const COMPARE = 'Compare both with the registration. A lost secret cannot be shown again: the operator makes another';

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
) =>
  row({
    when,
    rule: 'RFC 7523 §3',
    expected:
      'an assertion with alg RS256, PS256, ES256 or EdDSA, iss and sub the client_id, aud the issuer or the URL of the endpoint, exp at most ten minutes ahead, a new jti',
    received,
    remedy,
    example,
  });

const CLOCKS = 'Run NTP on both machines: clocks may differ by 30 seconds.';
const COMPARE_KEYS = (facts: UnauthenticatedRequest) =>
  `Compare kid and key with jwks or jwksUri of the registration: ${showClient(facts)}`;

const SEND_ID =
  'send client_id alone if the app is public, else with client_secret, in the body or by HTTP Basic, or with client_assertion';

const BASIC = 'the Authorization header must be Basic, with client_id:client_secret in base64';

/** What a header has instead of Basic authentication: its sender knows what it sent. */
const HEADERS: Readonly<Record<UnreadableHeader, { advice: string; received: string; remedy: string }>> = {
  'an assertion': {
    advice: `the Authorization header has a JWT. An app that signs assertions (private_key_jwt) sends it in the body, as client_assertion, with client_assertion_type ${JWT_BEARER} and without this header.`,
    received: 'an Authorization header with a JWT, such as a client assertion',
    remedy: `Send the assertion in the body as client_assertion, with client_assertion_type ${JWT_BEARER}, and no Authorization header.`,
  },
  'a client secret': {
    advice: `${BASIC}, and has a client secret alone.`,
    received: 'an Authorization header with a client secret alone',
    remedy: 'Encode client_id, a colon and client_secret in base64 after the word Basic, or send both in the body.',
  },
  'another text': {
    advice: `${BASIC}.`,
    received: 'an Authorization header that is not Basic, or not base64 of a client_id and a client_secret',
    remedy: 'Encode client_id, a colon and client_secret in base64 after the word Basic, or send both in the body.',
  },
};

const headerOf = (credentials: ClientCredentials): UnreadableHeader =>
  'header' in credentials ? credentials.header : 'another text';

/** Why a client was not authenticated. The names are the reasons of the log and the audit trail. */
export const AUTHENTICATION_REFUSALS = {
  'client_id missing': row({
    when: 'The request names no client.',
    advice: ({ credentials }) => `client_id is missing${sentInstead(credentials)}: ${SEND_ID}.`,
    expected: 'client_id in the body, or by HTTP Basic',
    received: 'a request without client_id',
    remedy: sentence(SEND_ID),
    example: { ...WITH_SECRET, credentials: { method: 'none', clientId: '' }, client: undefined },
  }),
  'unreadable Authorization header': row({
    when: 'The `Authorization` header cannot be read as client credentials.',
    advice: ({ credentials }) => HEADERS[headerOf(credentials)].advice,
    expected: 'Basic, with client_id and client_secret form-encoded, joined by a colon, in base64',
    received: ({ credentials }) => HEADERS[headerOf(credentials)].received,
    remedy: ({ credentials }) => HEADERS[headerOf(credentials)].remedy,
    example: { ...WITH_SECRET, client: undefined },
  }),
  'unknown client': row({
    when: 'No client has this `client_id`. The response does not say so.',
    expected: 'the client_id of an active app',
    received({ credentials: { clientId } }) {
      if (/^\d{1,20}$/.test(clientId)) return `client_id=${clientId}, which no app here has`;
      const wrongId = idByForm(clientId);
      return wrongId === undefined
        ? 'a client_id that no app here can have: they are numbers'
        : `a client_id that ${wrongId.is}`;
    },
    remedy: ({ credentials: { clientId } }) =>
      idByForm(clientId)?.remedy ??
      'Look for an app of another server or database. This lists those of this one: tessera client list',
    example: { ...WITH_SECRET, client: undefined },
  }),
  'the client is disabled': row({
    when: 'The client is disabled. Only a caller with its secret is told, and not at `/api/v2/oauth/token`.',
    advice: (facts) =>
      facts.isProved
        ? `this client is disabled. The operator can set its status to active: PATCH /api/v2/admin/clients/${idOf(facts)}, or on the server: tessera client enable ${idOf(facts)}.`
        : adviceFor(facts.credentials),
    expected: 'an active app',
    received: 'a request of an app that is disabled',
    remedy: (facts) => `Enable the app: tessera client enable ${idOf(facts)}`,
    example: { ...WITH_SECRET, isProved: true },
  }),
  'another authentication method is registered': row({
    when: 'The client is registered for another authentication method. Only a caller with its secret is told which; anyone, that a public client has no secret.',
    advice: ({ credentials, client, isProved }) => {
      if (client?.type === 'public' && 'clientSecret' in credentials) {
        return 'this client is public and has no secret. Send client_id in the body, and no client_secret.';
      }
      return isProved
        ? `this client is registered for ${client?.tokenEndpointAuthMethod}. Authenticate in that way.`
        : adviceFor(credentials);
    },
    expected: 'the authentication method of the registration',
    received: ({ credentials: { method } }) => METHODS[method],
    remedy: (facts) =>
      facts.client?.type === 'public'
        ? 'Have the app send client_id alone, with PKCE: a public app has no secret.'
        : `Have the app use ${facts.client?.tokenEndpointAuthMethod ?? 'its secret'}, or change the registration: tessera client update ${idOf(facts)} --token-endpoint-auth-method ${METHODS[facts.credentials.method]}`,
    example: { ...WITH_SECRET, client: { ...CLIENT, tokenEndpointAuthMethod: 'client_secret_basic' }, isProved: true },
  }),
  'no secret': row({
    when: 'A confidential client sent no secret.',
    expected: 'client_id with client_secret, in the body or by HTTP Basic',
    received: ({ credentials }) => `client_id alone${sentInstead(credentials)}`,
    remedy:
      'Set the client secret in the app: its variable may be empty. For an app that cannot keep one, register another with --type public.',
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
  'the registration has changed': assertionRow(
    'The registration was changed while the keys were read.',
    'an assertion of a registration that has changed meanwhile',
    'Send the request again, with a new assertion.',
  ),
  'the assertion was used before': assertionRow(
    'The assertion was used before.',
    'an assertion whose jti was used before',
    'Make a new assertion with a new jti for each request, retries included.',
  ),
  'the assertion is of another client': assertionRow(
    'The assertion is of another client.',
    'an assertion whose iss or sub is another client',
    'Send iss and sub equal to client_id.',
  ),
  'the assertion is for another audience': assertionRow(
    'The assertion is for another audience.',
    'an assertion whose aud is another server or endpoint',
    'Send the issuer of the discovery document as aud.',
  ),
  'the assertion has no exp': assertionRow(
    'The assertion has no `exp`.',
    'an assertion without exp',
    'Send exp, in seconds.',
  ),
  'the assertion has expired': assertionRow(
    'The assertion has expired.',
    'an assertion whose exp is in the past',
    `Make one for each request. ${CLOCKS}`,
  ),
  'the assertion expires too late': assertionRow(
    'The assertion expires too late.',
    'an assertion whose exp is more than ten minutes ahead',
    `Send an exp a minute or so ahead, in seconds: one in milliseconds is thousands of years ahead. ${CLOCKS}`,
  ),
  'the assertion has times that make no sense': assertionRow(
    'The times of the assertion make no sense.',
    'an assertion whose iat or nbf is no time, or is later than exp',
    'Send iat, nbf and exp in seconds, not in milliseconds.',
  ),
  'the assertion is of the future': assertionRow(
    'The assertion is of the future.',
    'an assertion whose iat or nbf is in the future',
    CLOCKS,
  ),
  'the assertion has no jti': assertionRow(
    'The assertion has no `jti`.',
    'an assertion without jti',
    'Send a random jti of at most 256 characters.',
  ),
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
