import type { FastifySchema } from 'fastify';
import { jsonResponse, NO_CONTENT_RESPONSE, refusalResponses } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';

const text = Type.String();
const texts = Type.Array(text);
const metadataFields = {
  redirect_uris: Type.Array(text, { about: 'Where codes may be sent.' }),
  token_endpoint_auth_method: Type.Optional(
    Type.String({ about: 'Default: client_secret_basic. With none, the app is public and must use PKCE.' }),
  ),
  grant_types: Type.Optional(Type.Array(text, { about: 'Default: authorization_code alone, without refreshing.' })),
  response_types: Type.Optional(texts),
  client_name: Type.Optional(Type.String({ about: 'Default: the host of the first redirect URI.' })),
  client_uri: Type.Optional(text),
  policy_uri: Type.Optional(text),
  tos_uri: Type.Optional(text),
  scope: Type.Optional(Type.String({ about: 'Scopes about the person. Others are left out.' })),
  contacts: Type.Optional(texts),
  jwks: Type.Optional(Type.Object({}, { additionalProperties: true })),
  jwks_uri: Type.Optional(text),
  id_token_signed_response_alg: Type.Optional(Type.String({ about: 'Default: RS256.' })),
  userinfo_signed_response_alg: Type.Optional(text),
  default_max_age: Type.Optional(Type.Integer()),
  post_logout_redirect_uris: Type.Optional(texts),
  backchannel_logout_uri: Type.Optional(text),
  backchannel_logout_session_required: Type.Optional(Type.Boolean()),
};

const ClientMetadata = Type.Object(metadataFields, { title: 'ClientMetadata', additionalProperties: true });
const OwnMetadata = Type.Object(
  { client_id: Type.String({ about: 'The ID of the app.' }), ...metadataFields },
  { title: 'OwnClientMetadata', additionalProperties: true },
);

/** RFC 7591 §3.2.1, RFC 7592 §3. */
const Registration = Type.Object(
  {
    client_id: text,
    client_id_issued_at: Type.Integer(),
    client_secret: Type.Optional(Type.String({ about: 'Shown only once: the server stores a hash of it.' })),
    client_secret_expires_at: Type.Optional(Type.Integer({ about: '0: never.' })),
    registration_access_token: Type.String({ about: 'With it the app reads, replaces and deletes its registration.' }),
    registration_client_uri: Type.String({ about: 'Where it does.' }),
    subject_type: text,
    ...metadataFields,
  },
  { title: 'Registration' },
);

const sent = {
  redirect_uris: [sample.redirectUri],
  client_name: 'Calendar agent',
  token_endpoint_auth_method: 'none',
  grant_types: ['authorization_code', 'refresh_token'],
};
const registered = {
  client_id: sample.selfRegisteredId,
  client_id_issued_at: 1782896400,
  registration_access_token: sample.registrationAccessToken,
  registration_client_uri: `https://id.example.com/oidc/register/${sample.selfRegisteredId}`,
  ...sent,
  response_types: ['code'],
  scope: 'openid profile offline_access email details phone social organization.read',
  subject_type: 'public',
  id_token_signed_response_alg: 'RS256',
  post_logout_redirect_uris: [],
  backchannel_logout_session_required: true,
  contacts: [],
};

const IN_REGISTRATION = { area: 'registration' } as const;
const params = Type.Object({ clientId: text });
const refusals = (more: readonly ('invalid_request' | 'invalid_redirect_uri' | 'invalid_client_metadata')[] = []) =>
  refusalResponses({
    ...(more.length > 0 && { 400: more }),
    401: ['invalid_token'],
    404: ['invalid_request'],
  });
const METADATA_ERRORS = ['invalid_request', 'invalid_redirect_uri', 'invalid_client_metadata'] as const;

export const registerSchema = {
  ...IN_REGISTRATION,
  operationId: 'registerSelf',
  caller: 'anyone',
  summary: 'Register an app by itself',
  description:
    'RFC 7591, where the operator has switched it on (`TESSERA_REGISTRATION`). With `token`, an initial access token is required as bearer token. The answer has what was registered, which may be less than what was sent. An app that registered without a token is removed unless a person allows it within 30 days.',
  body: ClientMetadata,
  response: {
    201: jsonResponse('The registration, with the tokens and the secret of the app, this once.', Registration),
    ...refusals(METADATA_ERRORS),
    ...refusalResponses({ 429: ['rate_limit_exceeded'] }),
  },
  examples: [{ summary: 'A public app', body: sent, status: 201, answer: registered }],
} satisfies FastifySchema;

export const readOwnSchema = {
  ...IN_REGISTRATION,
  operationId: 'readOwnRegistration',
  caller: 'registration access token',
  summary: 'Read a registration',
  description: 'RFC 7592 §2.1. The secret cannot be read again.',
  params,
  response: { 200: jsonResponse('The registration.', Registration), ...refusals() },
  examples: [{ summary: 'Read it', params: { clientId: sample.selfRegisteredId }, status: 200, answer: registered }],
} satisfies FastifySchema;

export const replaceOwnSchema = {
  ...IN_REGISTRATION,
  operationId: 'replaceOwnRegistration',
  caller: 'registration access token',
  summary: 'Replace a registration',
  description:
    'RFC 7592 §2.2. What is left out gets its default. Another name or other redirect URIs ask people for consent again; another way to authenticate ends the tokens of the app.',
  params,
  body: OwnMetadata,
  response: {
    200: jsonResponse('The registration.', Registration),
    ...refusals(METADATA_ERRORS),
    ...refusalResponses({ 429: ['rate_limit_exceeded'] }),
  },
  examples: [
    {
      summary: 'Add a redirect URI',
      params: { clientId: sample.selfRegisteredId },
      body: {
        client_id: sample.selfRegisteredId,
        ...sent,
        redirect_uris: [sample.redirectUri, 'https://app.example.com/second'],
      },
      status: 200,
    },
  ],
} satisfies FastifySchema;

export const deleteOwnSchema = {
  ...IN_REGISTRATION,
  operationId: 'deleteOwnRegistration',
  caller: 'registration access token',
  summary: 'Delete a registration',
  description: 'RFC 7592 §2.3. Everything that was issued to the app is invalid at once.',
  params,
  response: { 204: NO_CONTENT_RESPONSE, ...refusals() },
  examples: [{ summary: 'Delete it', params: { clientId: sample.selfRegisteredId }, status: 204 }],
} satisfies FastifySchema;
