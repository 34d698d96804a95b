import * as Type from 'typebox/type';
import { ASYMMETRIC_ALGS, type AsymmetricAlg, ID_TOKEN_ALGS, type IdTokenAlg } from '../keys/algorithms.ts';
import { SCOPES } from '../scopes/scopes.ts';
import { AUTH_METHODS, type AuthMethod } from './rules/credentials.ts';
import { GRANT_TYPES, type GrantType } from './rules/grant-types.ts';
import type { JwkSet } from './rules/jwks.ts';
import type { ClientType } from './store.ts';

const nullable = (schema: Type.TString, description: string) =>
  Type.Union([schema, Type.Null()], { description: `${description}, or null` });
const address = Type.Optional(nullable(Type.String({ format: 'https-url' }), 'a full https address'));

const uris = (description: string, minItems: number) =>
  Type.Array(Type.String({ description: 'a text' }), { minItems, maxItems: 50, uniqueItems: true, description });

const fields = {
  description: Type.Optional(
    nullable(
      Type.String({ maxLength: 500, format: 'multi-line' }),
      'at most 500 characters without control characters',
    ),
  ),
  logoUrl: address,
  homepageUrl: address,
  policyUrl: address,
  termsUrl: address,
  postLogoutRedirectUris: Type.Optional(uris('a list of at most 50 different URIs', 0)),
  scopes: Type.Optional(
    Type.Union(
      [Type.Array(Type.Unsafe<string>({ enum: SCOPES }), { uniqueItems: true, maxItems: SCOPES.length }), Type.Null()],
      { description: `a list of scopes out of ${SCOPES.join(', ')}, or null for all` },
    ),
  ),
  resource: Type.Optional(nullable(Type.String({ maxLength: 512 }), 'a text of at most 512 characters')),
  grantTypes: Type.Optional(
    Type.Array(Type.Unsafe<GrantType>({ enum: GRANT_TYPES, description: `one of ${GRANT_TYPES.join(', ')}` }), {
      uniqueItems: true,
      minItems: 1,
      description: `a list of different grants out of ${GRANT_TYPES.join(', ')}`,
    }),
  ),
  requirePkce: Type.Optional(Type.Boolean({ description: 'true or false' })),
  idTokenSignedResponseAlg: Type.Optional(
    Type.Unsafe<IdTokenAlg>({ enum: ID_TOKEN_ALGS, description: `one of ${ID_TOKEN_ALGS.join(', ')}` }),
  ),
  backchannelLogoutUri: Type.Optional(nullable(Type.String(), 'an https address')),
  backchannelLogoutSessionRequired: Type.Optional(Type.Boolean({ description: 'true or false' })),
  userinfoSignedResponseAlg: Type.Optional(
    Type.Unsafe<AsymmetricAlg | null>({
      enum: [...ASYMMETRIC_ALGS, null],
      description: `one of ${ASYMMETRIC_ALGS.join(', ')}, or null for JSON without a signature`,
    }),
  ),
  tokenEndpointAuthMethod: Type.Optional(
    Type.Unsafe<AuthMethod | null>({
      enum: [...AUTH_METHODS, null],
      description: `one of ${AUTH_METHODS.join(', ')}, or null for any way that presents a secret`,
    }),
  ),
  // What is in it is judged by rules/jwks.ts, in better words than a schema has.
  jwks: Type.Optional(
    Type.Unsafe<JwkSet | null>({ type: ['object', 'null'], description: 'a JSON Web Key Set of public keys, or null' }),
  ),
  jwksUri: Type.Optional(nullable(Type.String({ maxLength: 2048 }), 'a text of at most 2048 characters')),
  defaultMaxAge: Type.Optional(
    Type.Union([Type.Integer({ minimum: 0, maximum: 2_147_483_647 }), Type.Null()], {
      description: 'a whole number of seconds from 0 on, or null',
    }),
  ),
  owner: Type.Optional(
    nullable(Type.String({ minLength: 1, maxLength: 100, format: 'single-line' }), '1 to 100 characters on one line'),
  ),
};
const name = Type.String({
  minLength: 1,
  maxLength: 64,
  format: 'single-line',
  description: '1 to 64 characters on one line, without spaces around them',
});
const redirectUris = uris('a list of 1 to 50 different redirect URIs', 1);

/** What an operator gives to register a client. */
export const NewClient = Type.Object(
  {
    name,
    // Only a client that uses codes has to have one.
    redirectUris: Type.Optional(redirectUris),
    type: Type.Optional(
      Type.Unsafe<ClientType>({ enum: ['confidential', 'public'], description: 'confidential or public' }),
    ),
    ...fields,
  },
  { additionalProperties: false, description: 'a JSON object' },
);
export type NewClient = Type.Static<typeof NewClient>;

/** What an operator may change; a field left out stays as it is. */
export const ClientChange = Type.Object(
  {
    name: Type.Optional(name),
    redirectUris: Type.Optional(redirectUris),
    status: Type.Optional(
      Type.Unsafe<'active' | 'disabled'>({ enum: ['active', 'disabled'], description: 'active or disabled' }),
    ),
    ...fields,
  },
  { additionalProperties: false, description: 'a JSON object' },
);
export type ClientChange = Type.Static<typeof ClientChange>;

/** How a second secret is made. */
export const NewSecret = Type.Object(
  {
    expirePreviousIn: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30 * 24 * 60 * 60,
        description: 'the seconds for which the previous secret still holds, from 0 to 2592000',
      }),
    ),
  },
  { additionalProperties: false, description: 'a JSON object' },
);
export type NewSecret = Type.Static<typeof NewSecret>;
