import type { FastifySchema } from 'fastify';
import type { EndpointSet } from '../../claims/endpoint-set.ts';
import { ASSERTION_TYPE } from '../../clients/rules/assertion.ts';
import { DEVICE_GRANT, GRANT_TYPES } from '../../clients/rules/registration.ts';
import { FORM_TYPE, JSON_TYPE, jsonResponse, refusalResponses } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import { describeUnknownCode } from './rules/presented-form.ts';

const text = (about: string) => Type.Optional(Type.String({ about }));

/** The parameters that name and prove a client, at every endpoint that it authenticates to. */
export const CREDENTIALS = {
  client_id: text('The client ID. Not needed with Basic or an assertion.'),
  client_secret: text('The client secret, unless it is sent with Basic.'),
  client_assertion: text('Instead of a secret: a JWT signed by the client (RFC 7523).'),
  client_assertion_type: text(`Goes with client_assertion: \`${ASSERTION_TYPE}\`.`),
};

/** What each grant cannot do without. */
const variant = (grant: string, required: readonly string[]) => ({
  type: 'object',
  properties: { grant_type: { const: grant } },
  required: ['grant_type', ...required],
});

/** RFC 6749 §§4.1.3, 4.4.2 and 6; RFC 7636 §4.5; RFC 8628 §3.4; RFC 8707 §2. */
const TokenRequest = Type.Object(
  {
    grant_type: Type.Unsafe<string>({ type: 'string', enum: GRANT_TYPES }),
    code: text('The authorization code. For authorization_code.'),
    redirect_uri: text('The redirect URI of the authorization request. For authorization_code.'),
    code_verifier: text('PKCE code verifier, if the authorization request had a code_challenge.'),
    refresh_token: text('The refresh token. For refresh_token.'),
    device_code: text('The device code of the device authorization. For a device, at /oidc/token.'),
    scope: text('A subset of the granted scopes. For refresh_token.'),
    ...CREDENTIALS,
    resource: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String())], {
        about: 'Resource that the access token is for (RFC 8707). Can be repeated in a form.',
      }),
    ),
  },
  {
    title: 'TokenRequest',
    oneOf: [
      variant('authorization_code', ['code', 'redirect_uri']),
      variant('refresh_token', ['refresh_token']),
      variant('client_credentials', []),
      variant(DEVICE_GRANT, ['device_code']),
    ],
  },
);

/** RFC 7009 §2.1, RFC 7662 §2.1. */
const TokenActionRequest = Type.Object(
  {
    token: Type.String({ about: 'An access or refresh token.' }),
    token_type_hint: text('Accepted and ignored.'),
    ...CREDENTIALS,
  },
  { title: 'TokenActionRequest' },
);

/** Contract §2.3. */
const TokenResponseSchema = Type.Object(
  {
    access_token: Type.String({ about: 'A JWT for UserInfo, or for the requested resource.' }),
    token_type: Type.Unsafe<'Bearer'>({ type: 'string', enum: ['Bearer'] }),
    expires_in: Type.Integer({ about: 'Lifetime in seconds: 1800.' }),
    refresh_token: text('Can be used once for new tokens. Not with client_credentials.'),
    id_token: text('Identifies the user. With the scope openid.'),
    scope: text('The granted scopes. At /api/v2/oauth/token only if they are fewer than requested.'),
  },
  { title: 'TokenResponse' },
);

const time = (about: string) => Type.Optional(Type.Integer({ about }));
const IntrospectionResponse = Type.Object(
  {
    active: Type.Boolean({
      about: 'Whether the token is valid now. If not, there are no other members.',
    }),
    scope: text('The granted scopes.'),
    client_id: Type.Optional(Type.String({ about: 'A number, or the URL of a metadata document.' })),
    username: text('Username. Only for the client that the token was issued to.'),
    token_type: Type.Optional(Type.Unsafe<'Bearer'>({ type: 'string', enum: ['Bearer'] })),
    exp: time('Expiration, in Unix time.'),
    iat: time('Issue time, in Unix time.'),
    sub: text('The user ID; the client ID for client_credentials.'),
    aud: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())], { about: 'The audience.' })),
    iss: text('The issuer.'),
    jti: text('The token ID.'),
    acr: text('The class of authentication. Only for an access token of a user, where one is met.'),
    amr: Type.Optional(Type.Array(Type.String(), { about: 'The methods that the user proved who they are by.' })),
    auth_time: time('When the user signed in, in Unix time.'),
    groups: Type.Optional(Type.Array(Type.String(), { about: 'The groups of the user. Only with the scope groups.' })),
    roles: Type.Optional(
      Type.Array(Type.String(), { about: 'The roles of the user in the app. Only with the scope roles.' }),
    ),
  },
  // An app may be registered with other names for groups and roles.
  { title: 'IntrospectionResponse', additionalProperties: Type.Array(Type.String()) },
);

const IN_TOKENS = { area: 'tokens', consumes: [JSON_TYPE, FORM_TYPE] } as const;
const COMMON = { 401: ['invalid_client'], 429: ['rate_limit_exceeded'] } as const;
const CLIENT = { client_id: sample.clientId, client_secret: sample.clientSecret };
const THREE = {
  access_token: sample.accessToken,
  token_type: 'Bearer',
  expires_in: 1800,
  refresh_token: sample.refreshToken,
  id_token: sample.idToken,
};

const TOKEN_ERRORS = [
  'invalid_request',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_target',
] as const;
/** RFC 8628 §3.5. */
const DEVICE_ERRORS = ['authorization_pending', 'slow_down', 'expired_token', 'access_denied'] as const;
const TOKENS = jsonResponse('The tokens.', TokenResponseSchema);

const requestTokens = {
  ...IN_TOKENS,
  operationId: 'requestTokens',
  caller: 'client',
  summary: 'Get tokens',
  description:
    'For an authorization code, a refresh token, or client credentials. A refresh token can be used once, and each use returns the next one. Reuse revokes all tokens of its family, except for a retry within 30 seconds.',
  body: TokenRequest,
  response: { 200: TOKENS, ...refusalResponses({ ...COMMON, 400: TOKEN_ERRORS, 403: ['access_denied'] }) },
  examples: [
    {
      summary: 'Authorization code',
      body: { grant_type: 'authorization_code', code: sample.code, redirect_uri: sample.redirectUri, ...CLIENT },
      status: 200,
      answer: THREE,
    },
    {
      summary: 'Refresh token',
      body: { grant_type: 'refresh_token', refresh_token: sample.refreshToken, ...CLIENT },
      status: 200,
      answer: THREE,
    },
    {
      summary: 'A used or unknown code',
      body: { grant_type: 'authorization_code', code: 'unknown', redirect_uri: sample.redirectUri, ...CLIENT },
      status: 400,
      answer: {
        error: 'invalid_grant',
        error_description: `The code was refused: the code is unknown or was used before. ${describeUnknownCode('unknown')}`,
      },
    },
  ],
} satisfies FastifySchema;

export const requestTokensSchemas = {
  v2: requestTokens,
  oidc: {
    ...requestTokens,
    operationId: 'requestStandardTokens',
    summary: 'Get tokens (standard)',
    description: `${requestTokens.description} This is the endpoint that the discovery document names. It exchanges codes of /oidc/authorize and of devices (RFC 8628), and answers every refused code and refresh token with \`invalid_grant\`.`,
    response: { 200: TOKENS, ...refusalResponses({ ...COMMON, 400: [...TOKEN_ERRORS, ...DEVICE_ERRORS] }) },
    examples: requestTokens.examples.map((example) =>
      example.status === 200 ? { ...example, answer: { ...THREE, scope: 'openid email' } } : example,
    ),
  },
} satisfies Record<EndpointSet, FastifySchema>;

export const revokeTokenSchema = {
  ...IN_TOKENS,
  operationId: 'revokeToken',
  caller: 'client',
  summary: 'Revoke a token',
  description:
    'RFC 7009. Revokes all tokens of its family immediately, on every node. Succeeds for an unknown or invalid token.',
  body: TokenActionRequest,
  response: {
    200: jsonResponse('Success.', Type.Object({})),
    ...refusalResponses({ ...COMMON, 400: ['invalid_request', 'invalid_grant'] }),
  },
  examples: [{ summary: 'A refresh token', body: { token: sample.refreshToken, ...CLIENT }, status: 200, answer: {} }],
} satisfies FastifySchema;

export const introspectTokenSchema = {
  ...IN_TOKENS,
  operationId: 'introspectToken',
  caller: 'confidential client',
  summary: 'Introspect a token',
  description:
    'RFC 7662, with the same checks as every endpoint. A client can introspect its own tokens; a resource server, access tokens that are issued for it.',
  body: TokenActionRequest,
  response: { 200: jsonResponse('The state of the token.', IntrospectionResponse), ...refusalResponses(COMMON) },
  examples: [
    {
      summary: 'A valid token',
      body: { token: sample.accessToken, ...CLIENT },
      status: 200,
      answer: {
        active: true,
        client_id: sample.clientId,
        scope: 'openid email',
        sub: sample.userId,
        username: sample.username,
        token_type: 'Bearer',
        exp: 1782898200,
        iat: 1782896400,
        aud: 'https://id.example.com/oidc/userinfo',
        iss: 'https://id.example.com',
        jti: 'b3VyIHRva2VuIGhhcyBhbiBpZA',
        acr: 'https://refeds.org/profile/mfa',
        amr: ['pwd', 'otp', 'mfa'],
        auth_time: 1782896390,
      },
    },
    { summary: 'An invalid token', body: { token: 'rubbish', ...CLIENT }, status: 200, answer: { active: false } },
  ],
} satisfies FastifySchema;
