import { SCOPES } from '../claims/scopes.ts';
import { ASYMMETRIC_ALGS, type AsymmetricAlg, ID_TOKEN_ALGS, type IdTokenAlg } from '../keys/algorithms.ts';
import { Id, Instant, nullableField } from '../platform/http/operation.ts';
import * as Type from '../platform/validation/type.ts';
import { AUTH_METHODS, type AuthMethod } from './rules/credentials.ts';
import { GRANT_TYPES, type GrantType } from './rules/grant-types.ts';
import type { JwkSet } from './rules/jwks.ts';
import type { ClientType } from './store.ts';

const nullable = (schema: Type.TString, description: string, about: string) =>
  Type.Union([schema, Type.Null()], { about, description: `${description}, or null` });
const address = (about: string) =>
  Type.Optional(nullable(Type.String({ format: 'https-url' }), 'a full https address', about));

const uris = (description: string, minItems: number, about: string) =>
  Type.Array(Type.String({ description: 'a text' }), { minItems, maxItems: 50, uniqueItems: true, about, description });

const fields = {
  description: Type.Optional(
    nullable(
      Type.String({ maxLength: 500, format: 'multi-line' }),
      'at most 500 characters without control characters',
      'What the app is.',
    ),
  ),
  logoUrl: address('Its picture.'),
  homepageUrl: address('Its home page.'),
  policyUrl: address('Its privacy policy.'),
  termsUrl: address('Its terms of service.'),
  postLogoutRedirectUris: Type.Optional(
    uris('a list of at most 50 different URIs', 0, 'Where the browser may return to after signing out.'),
  ),
  scopes: Type.Optional(
    Type.Union(
      [
        Type.Array(Type.Unsafe<string>({ enum: SCOPES, description: `one of ${SCOPES.join(', ')}` }), {
          uniqueItems: true,
          maxItems: SCOPES.length,
        }),
        Type.Null(),
      ],
      {
        about: 'The scopes that it may ask for.',
        description: `a list of scopes out of ${SCOPES.join(', ')}, or null for all`,
      },
    ),
  ),
  resource: Type.Optional(
    nullable(
      Type.String({ maxLength: 512 }),
      'a text of at most 512 characters',
      'The service that it is, for which tokens can be asked (RFC 8707): an absolute URI.',
    ),
  ),
  grantTypes: Type.Optional(
    Type.Array(Type.Unsafe<GrantType>({ enum: GRANT_TYPES, description: `one of ${GRANT_TYPES.join(', ')}` }), {
      uniqueItems: true,
      minItems: 1,
      about: 'Without it: authorization_code and refresh_token.',
      description: `a list of different grants out of ${GRANT_TYPES.join(', ')}`,
    }),
  ),
  requirePkce: Type.Optional(
    Type.Boolean({ about: 'Whether it must use PKCE; a public client always must.', description: 'true or false' }),
  ),
  idTokenSignedResponseAlg: Type.Optional(
    Type.Unsafe<IdTokenAlg>({
      enum: ID_TOKEN_ALGS,
      about: 'How its ID tokens are signed. Without it: HS256, and RS256 for a client that presents no secret.',
      description: `one of ${ID_TOKEN_ALGS.join(', ')}`,
    }),
  ),
  backchannelLogoutUri: Type.Optional(
    nullable(Type.String(), 'an https address', 'Where it is told of sessions that ended.'),
  ),
  backchannelLogoutSessionRequired: Type.Optional(
    Type.Boolean({ about: 'Whether it needs to know which session ended.', description: 'true or false' }),
  ),
  userinfoSignedResponseAlg: Type.Optional(
    Type.Unsafe<AsymmetricAlg | null>({
      enum: [...ASYMMETRIC_ALGS, null],
      about: 'How `/oidc/userinfo` signs its answer.',
      description: `one of ${ASYMMETRIC_ALGS.join(', ')}, or null for JSON without a signature`,
    }),
  ),
  tokenEndpointAuthMethod: Type.Optional(
    Type.Unsafe<AuthMethod | null>({
      enum: [...AUTH_METHODS, null],
      about: 'How it authenticates.',
      description: `one of ${AUTH_METHODS.join(', ')}, or null for any way that presents a secret`,
    }),
  ),
  // What is in it is judged by rules/jwks.ts, in better words than a schema has.
  jwks: Type.Optional(
    Type.Unsafe<JwkSet | null>({
      type: ['object', 'null'],
      about: 'The keys of its assertions, for private_key_jwt.',
      description: 'a JSON Web Key Set of public keys, or null',
    }),
  ),
  jwksUri: Type.Optional(
    nullable(
      Type.String({ maxLength: 2048 }),
      'a text of at most 2048 characters',
      'Where those keys are, in place of jwks.',
    ),
  ),
  defaultMaxAge: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: 2_147_483_647 }), Type.Null()], {
      about: 'How old a sign-in may be where a request has no max_age.',
      description: 'a whole number of seconds from 0 on, or null',
    }),
  ),
  owner: Type.Optional(
    nullable(
      Type.String({ minLength: 1, maxLength: 100, format: 'single-line' }),
      '1 to 100 characters on one line, at least one of them visible',
      'Who stands behind it; people see it.',
    ),
  ),
};
const name = Type.String({
  minLength: 1,
  maxLength: 64,
  format: 'single-line',
  about: 'The name that people see.',
  description: '1 to 64 characters on one line, at least one of them visible, without spaces around them',
});
const redirectUris = uris(
  'a list of 1 to 50 different redirect URIs',
  1,
  'Where answers go, character for character. Needed by every client that uses codes.',
);

/** What an operator gives to register a client. */
export const CreateClientRequest = Type.Object(
  {
    name,
    // Only a client that uses codes has to have one.
    redirectUris: Type.Optional(redirectUris),
    type: Type.Optional(
      Type.Unsafe<ClientType>({
        enum: ['confidential', 'public'],
        about: 'public is an app that cannot keep a secret. Without it: confidential.',
        description: 'confidential or public',
      }),
    ),
    ...fields,
  },
  { additionalProperties: false, description: 'a JSON object', title: 'CreateClientRequest' },
);
export type CreateClientRequest = Type.Static<typeof CreateClientRequest>;

/** What an operator may change; a field left out stays as it is. */
export const UpdateClientRequest = Type.Object(
  {
    name: Type.Optional(name),
    redirectUris: Type.Optional(redirectUris),
    status: Type.Optional(
      Type.Unsafe<'active' | 'disabled'>({
        enum: ['active', 'disabled'],
        about: 'disabled ends its codes and tokens for ever.',
        description: 'active or disabled',
      }),
    ),
    ...fields,
  },
  { additionalProperties: false, description: 'a JSON object', title: 'UpdateClientRequest' },
);
export type UpdateClientRequest = Type.Static<typeof UpdateClientRequest>;

/** How a second secret is made. */
export const RotateSecretRequest = Type.Object(
  {
    expirePreviousIn: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30 * 24 * 60 * 60,
        about: 'Without it: 86400, a day.',
        description: 'the seconds for which the previous secret still holds, from 0 to 2592000',
      }),
    ),
  },
  { additionalProperties: false, description: 'a JSON object', title: 'RotateSecretRequest' },
);
export type RotateSecretRequest = Type.Static<typeof RotateSecretRequest>;

const text = Type.String();
const textOrNull = nullableField(text);
const texts = Type.Array(text);

const secretFields = {
  id: Id,
  createdAt: Instant,
  lastUsedAt: nullableField(Instant, 'To the hour; null where it was never used.'),
  expiresAt: nullableField(Instant, 'Null is never.'),
};
const clientSecret = Type.String({ about: 'Shown this once: only its digest is kept.' });

/** A secret as operators see it: the shape of `secretView`. */
const SecretRecord = Type.Object(secretFields, { title: 'ClientSecret' });

/** The answer to a new secret. */
export const CreatedClientSecret = Type.Object(
  { ...secretFields, clientSecret, secrets: Type.Array(SecretRecord, { about: 'Those that hold now.' }) },
  { title: 'CreatedClientSecret' },
);

const clientFields = {
  clientId: Id,
  name: text,
  description: textOrNull,
  logoUrl: textOrNull,
  homepageUrl: textOrNull,
  policyUrl: textOrNull,
  termsUrl: textOrNull,
  redirectUris: texts,
  postLogoutRedirectUris: texts,
  scopes: nullableField(texts, 'Null is all.'),
  grantTypes: Type.Array(Type.Unsafe<string>({ enum: GRANT_TYPES })),
  resource: textOrNull,
  type: Type.Unsafe<string>({ enum: ['confidential', 'public'] }),
  requirePkce: Type.Boolean(),
  idTokenSignedResponseAlg: Type.Unsafe<string>({ enum: ID_TOKEN_ALGS }),
  defaultMaxAge: nullableField(Type.Integer()),
  backchannelLogoutUri: textOrNull,
  backchannelLogoutSessionRequired: Type.Boolean(),
  userinfoSignedResponseAlg: Type.Unsafe<string | null>({ enum: [...ASYMMETRIC_ALGS, null] }),
  tokenEndpointAuthMethod: Type.Unsafe<string | null>({ enum: [...AUTH_METHODS, null] }),
  jwks: nullableField(Type.Object({ keys: Type.Array(Type.Object({}, { additionalProperties: true })) })),
  jwksUri: textOrNull,
  owner: textOrNull,
  hasPicture: Type.Boolean({ about: 'Whether there is a picture; without one its letters are shown.' }),
  status: Type.Unsafe<string>({ enum: ['active', 'disabled'] }),
  secrets: Type.Array(SecretRecord, { about: 'Those that hold now: one, or two during a rotation.' }),
  createdAt: Instant,
  updatedAt: Instant,
};

/** A client as operators see it: the shape of `clientView`. */
export const ClientRecord = Type.Object(clientFields, { title: 'Client' });

/** The answer to a registration. */
export const CreatedClient = Type.Object(
  { ...clientFields, clientSecret: Type.Optional(clientSecret) },
  { title: 'CreatedClient' },
);
