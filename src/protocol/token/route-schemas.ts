import type { FastifySchema } from 'fastify';
import { ASSERTION_TYPE } from '../../clients/rules/assertion.ts';
import { GRANT_TYPES } from '../../clients/rules/registration.ts';
import { FORM_TYPE, Id, JSON_TYPE, jsonResponse, refusalResponses } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';

const text = (about: string) => Type.Optional(Type.String({ about }));

/** The parameters that name and prove a client, at every endpoint that it authenticates to. */
const credentials = {
  client_id: text('The client; not needed beside Basic or an assertion.'),
  client_secret: text('Its secret, unless it is sent as Basic.'),
  client_assertion: text('In place of a secret: a JWT that the client signed (RFC 7523).'),
  client_assertion_type: text(`Goes with client_assertion: \`${ASSERTION_TYPE}\`.`),
};

/** What each grant cannot do without. */
const variant = (grant: string, required: readonly string[]) => ({
  type: 'object',
  properties: { grant_type: { const: grant } },
  required: ['grant_type', ...required],
});

/** RFC 6749 §§4.1.3, 4.4.2 and 6; RFC 7636 §4.5; RFC 8707 §2. */
const TokenRequest = Type.Object(
  {
    grant_type: Type.Unsafe<string>({ type: 'string', enum: GRANT_TYPES }),
    code: text('The code of the redirect. For authorization_code.'),
    redirect_uri: text('That of the authorization request. For authorization_code.'),
    code_verifier: text('PKCE: where the authorization request had a code_challenge.'),
    refresh_token: text('The refresh token. For refresh_token.'),
    scope: text('Fewer scopes than were granted. For refresh_token.'),
    ...credentials,
    resource: Type.Optional(
      Type.Union([Type.String(), Type.Array(Type.String())], {
        about: 'What the access token is for (RFC 8707); in a form it may stand several times.',
      }),
    ),
  },
  {
    title: 'TokenRequest',
    oneOf: [
      variant('authorization_code', ['code', 'redirect_uri']),
      variant('refresh_token', ['refresh_token']),
      variant('client_credentials', []),
    ],
  },
);

/** RFC 7009 §2.1, RFC 7662 §2.1. */
const TokenActionRequest = Type.Object(
  {
    token: Type.String({ about: 'An access or refresh token.' }),
    token_type_hint: text('Accepted; the token itself says what it is.'),
    ...credentials,
  },
  { title: 'TokenActionRequest' },
);

/** Contract §2.3. */
const TokenResponseSchema = Type.Object(
  {
    access_token: Type.String({ about: 'A JWT for UserInfo, or for the resource that was asked for.' }),
    token_type: Type.Unsafe<'Bearer'>({ type: 'string', enum: ['Bearer'] }),
    expires_in: Type.Integer({ about: 'Seconds: 1800.' }),
    refresh_token: text('For the next tokens, once. Not with client_credentials.'),
    id_token: text('Who signed in. Not with client_credentials.'),
    scope: text('What was granted, where it is less than what was asked for.'),
  },
  { title: 'TokenResponse' },
);

const time = (about: string) => Type.Optional(Type.Integer({ about }));
const IntrospectionResponse = Type.Object(
  {
    active: Type.Boolean({
      about: 'Whether the token would be accepted now. Of one that would not, nothing else is said.',
    }),
    scope: text('What was granted.'),
    client_id: Type.Optional(Id),
    username: text('Of whom the token is; told to its own client alone.'),
    token_type: Type.Optional(Type.Unsafe<'Bearer'>({ type: 'string', enum: ['Bearer'] })),
    exp: time('When it ends, in Unix time.'),
    iat: time('When it was made, in Unix time.'),
    sub: text('The user; the client for a token of its own.'),
    aud: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())], { about: 'What it is for.' })),
    iss: text('The issuer.'),
    jti: text('Its id.'),
  },
  { title: 'IntrospectionResponse' },
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

export const requestTokensSchema = {
  ...IN_TOKENS,
  operationId: 'requestTokens',
  caller: 'client',
  summary: 'Get tokens',
  description:
    'For a code, for a refresh token, or for the client itself. Each refresh token works once and is answered with the next; used again it ends every token of its family, but for a repeat within 30 seconds.',
  body: TokenRequest,
  response: {
    200: jsonResponse('The tokens.', TokenResponseSchema),
    ...refusalResponses({
      ...COMMON,
      400: [
        'invalid_request',
        'invalid_grant',
        'unauthorized_client',
        'unsupported_grant_type',
        'invalid_scope',
        'invalid_target',
      ],
      403: ['access_denied'],
    }),
  },
  examples: [
    {
      summary: 'For a code',
      body: { grant_type: 'authorization_code', code: sample.code, redirect_uri: sample.redirectUri, ...CLIENT },
      status: 200,
      answer: THREE,
    },
    {
      summary: 'For a refresh token',
      body: { grant_type: 'refresh_token', refresh_token: sample.refreshToken, ...CLIENT },
      status: 200,
      answer: THREE,
    },
    {
      summary: 'A code that was used before, or never was',
      body: { grant_type: 'authorization_code', code: 'unknown', redirect_uri: sample.redirectUri, ...CLIENT },
      status: 400,
      answer: {
        error: 'invalid_grant',
        error_description: 'The code was refused: the code is unknown or was used before.',
      },
    },
  ],
} satisfies FastifySchema;

export const revokeTokenSchema = {
  ...IN_TOKENS,
  operationId: 'revokeToken',
  caller: 'client',
  summary: 'End a token',
  description:
    'RFC 7009: with it every token of its family ends, at once and on every node. One that is unknown or dead is no error.',
  body: TokenActionRequest,
  response: {
    200: jsonResponse('Done.', Type.Object({})),
    ...refusalResponses({ ...COMMON, 400: ['invalid_request', 'invalid_grant'] }),
  },
  examples: [{ summary: 'A refresh token', body: { token: sample.refreshToken, ...CLIENT }, status: 200, answer: {} }],
} satisfies FastifySchema;

export const introspectTokenSchema = {
  ...IN_TOKENS,
  operationId: 'introspectToken',
  caller: 'client that can prove itself',
  summary: 'Ask whether a token works',
  description:
    'RFC 7662, by the verdict that every endpoint goes by. A client may ask about its own tokens, a resource server about access tokens for it.',
  body: TokenActionRequest,
  response: { 200: jsonResponse('What may be said of the token.', IntrospectionResponse), ...refusalResponses(COMMON) },
  examples: [
    {
      summary: 'A token that works',
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
        aud: 'https://id.example.com/api/v2/oauth/userinfo',
        iss: 'https://id.example.com',
        jti: 'b3VyIHRva2VuIGhhcyBhbiBpZA',
      },
    },
    { summary: 'A token that does not', body: { token: 'rubbish', ...CLIENT }, status: 200, answer: { active: false } },
  ],
} satisfies FastifySchema;
