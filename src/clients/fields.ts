import { ENDPOINT_SETS, type EndpointSet, endpointSetsCodec } from '../claims/endpoint-set.ts';
import { SCOPES } from '../claims/permissions.ts';
import { ASYMMETRIC_ALGS, type AsymmetricAlg, ID_TOKEN_ALGS, type IdTokenAlg } from '../keys/algorithms.ts';
import type { JwkSet } from '../keys/rules/jwks.ts';
import { json, jsonOr, plain } from '../platform/database/statement.ts';
import { nullableField } from '../platform/http/operation.ts';
import { declareField } from '../platform/validation/fields.ts';
import * as Type from '../platform/validation/type.ts';
import { ACCESS_FIELDS } from './access-fields.ts';
import { CONSENT_FIELDS } from './consent-fields.ts';
import { nullableText, text, texts, yesOrNo } from './field-kinds.ts';
import { RESOURCE_FIELDS } from './resource-fields.ts';
import {
  AUTH_METHODS,
  type AuthMethod,
  DEFAULT_GRANT_TYPES,
  GRANT_TYPES,
  type GrantType,
} from './rules/registration.ts';

/** Whether a client can keep a secret: RFC 6749 §2.1. */
export type ClientType = 'confidential' | 'public';

/** Where the other scopes are allowed: they belong to an API, not to the app. */
const OF_APIS = 'scopes of an API are allowed with tessera client allow-scopes';

const ID_TOKEN_CLAIMS = ['granted', 'requested'] as const;
type IdTokenClaims = (typeof ID_TOKEN_CLAIMS)[number];

/** An https URL that users can open. */
const webAddress = <const Column extends string>(column: Column, flags: string, about: string) =>
  declareField({
    column,
    ...nullableText(Type.String({ format: 'https-url' }), 'an absolute https URL', about),
    option: { flags, about: 'https URL; "" for none', kind: 'nullable text' },
  });

const uris = (description: string, minItems: number, about: string) =>
  Type.Array(Type.String({ description: 'a string' }), {
    minItems,
    maxItems: 50,
    uniqueItems: true,
    about,
    description,
  });

/**
 * The fields of a client's registration, each declared once. To add one, also add its column to the table
 * (tables.ts) and a migration; requests, responses, the API document, the command line and the stored row are
 * derived from this.
 */
export const CLIENT_FIELDS = {
  name: declareField({
    column: 'name',
    codec: plain<string>(),
    schema: Type.String({
      minLength: 1,
      maxLength: 64,
      format: 'single-line',
      about: 'Display name.',
      description: '1 to 64 characters on one line, at least one of them visible, without spaces around them',
    }),
    record: text,
    option: { flags: '--name <name>', about: 'name that users see', kind: 'text' },
  }),
  description: declareField({
    column: 'description',
    ...nullableText(
      Type.String({ maxLength: 500, format: 'multi-line' }),
      'at most 500 characters without control characters',
      'Description of the app.',
    ),
    option: { flags: '--description <text>', about: 'description', kind: 'nullable text' },
  }),
  logoUrl: webAddress('logo_url', '--logo-url <url>', 'URL of the logo.'),
  homepageUrl: webAddress('homepage_url', '--homepage-url <url>', 'URL of the home page.'),
  policyUrl: webAddress('policy_url', '--policy-url <url>', 'URL of the privacy policy.'),
  termsUrl: webAddress('terms_url', '--terms-url <url>', 'URL of the terms of service.'),
  redirectUris: declareField({
    column: 'redirect_uris',
    codec: json<readonly string[]>(),
    initial: [],
    schema: uris(
      'a list of 1 to 50 different redirect URIs',
      1,
      'Where responses may be sent; compared exactly. Required for the authorization code grant.',
    ),
    record: texts,
    option: {
      flags: '--redirect-uri <uri>',
      about: 'redirect URI; may be given several times',
      kind: 'list',
    },
  }),
  postLogoutRedirectUris: declareField({
    column: 'post_logout_redirect_uris',
    codec: json<readonly string[]>(),
    initial: [],
    schema: uris('a list of at most 50 different URIs', 0, 'Where the browser may return after signing out.'),
    record: texts,
    option: {
      flags: '--post-logout-redirect-uri <uri>',
      about: 'redirect URI after signing out; may be given several times',
      kind: 'list',
    },
  }),
  /** The scopes that the client may request; null for all. */
  scopes: declareField({
    column: 'scopes',
    codec: jsonOr<readonly string[], null>(null),
    initial: null,
    schema: Type.Union(
      [
        Type.Array(Type.Unsafe<string>({ enum: SCOPES, description: `one of ${SCOPES.join(', ')} (${OF_APIS})` }), {
          uniqueItems: true,
          maxItems: SCOPES.length,
        }),
        Type.Null(),
      ],
      {
        about: 'Scopes that the client may request.',
        description: `a list of scopes out of ${SCOPES.join(', ')}, or null for all`,
      },
    ),
    record: nullableField(texts, 'Null means all.'),
    option: {
      flags: '--scope <scope>',
      about: 'scope that the app may request; may be given several times (default: all)',
      kind: 'list',
    },
  }),
  grantTypes: declareField({
    column: 'grant_types',
    codec: jsonOr<readonly GrantType[], readonly GrantType[]>(DEFAULT_GRANT_TYPES),
    initial: DEFAULT_GRANT_TYPES,
    schema: Type.Array(Type.Unsafe<GrantType>({ enum: GRANT_TYPES, description: `one of ${GRANT_TYPES.join(', ')}` }), {
      uniqueItems: true,
      minItems: 1,
      about: 'Default: authorization_code and refresh_token.',
      description: `a list of different grants out of ${GRANT_TYPES.join(', ')}`,
    }),
    record: Type.Array(Type.Unsafe<string>({ enum: GRANT_TYPES })),
    option: {
      flags: '--grant-type <grant>',
      about: `grant type: ${GRANT_TYPES.join(', ')}; may be given several times`,
      kind: 'list',
    },
  }),
  ...RESOURCE_FIELDS,
  ...CONSENT_FIELDS,
  type: declareField({
    column: 'type',
    codec: plain<ClientType>(),
    initial: 'confidential',
    schema: Type.Unsafe<ClientType>({
      enum: ['confidential', 'public'],
      about: '`public` for an app that cannot keep a secret. Default: confidential.',
      description: 'confidential or public',
    }),
    record: Type.Unsafe<string>({ enum: ['confidential', 'public'] }),
  }),
  requirePkce: declareField({
    column: 'require_pkce',
    ...yesOrNo('Whether PKCE is required. Always required for public clients.'),
    initial: ({ type }) => type === 'public',
    option: { flags: '--require-pkce', about: 'require PKCE', kind: 'switch', aboutOff: 'make PKCE optional' },
  }),
  /** Null where the registration leaves it out: `idTokenAlg` (protocol/token/grant.ts) then decides. */
  idTokenSignedResponseAlg: declareField({
    column: 'id_token_signed_response_alg',
    codec: plain<IdTokenAlg | null>(),
    initial: null,
    schema: Type.Unsafe<IdTokenAlg | null>({
      enum: [...ID_TOKEN_ALGS, null],
      about:
        'Signature algorithm of ID tokens. null is RS256, except that the tokens of `/api/v2/oauth/token` have HS256 for a client with a secret and without a backchannelLogoutUri.',
      description: `one of ${ID_TOKEN_ALGS.join(', ')}, or null for the default of the endpoint`,
    }),
    record: Type.Unsafe<string | null>({ enum: [...ID_TOKEN_ALGS, null] }),
    option: {
      flags: '--id-token-signed-response-alg <alg>',
      about: `signature algorithm of ID tokens: ${ID_TOKEN_ALGS.join(', ')}; "" for the default of the endpoint`,
      kind: 'nullable text',
    },
  }),
  /** The `max_age` of requests that have none, in seconds; null for no limit. */
  defaultMaxAge: declareField({
    column: 'default_max_age',
    codec: plain<number | null>(),
    initial: null,
    schema: Type.Union([Type.Integer({ minimum: 0, maximum: 2_147_483_647 }), Type.Null()], {
      about: 'Maximum age of a sign-in in seconds, for requests without max_age.',
      description: 'a whole number of seconds from 0 on, or null',
    }),
    record: nullableField(Type.Integer()),
    option: {
      flags: '--default-max-age <seconds>',
      about: 'maximum age of a sign-in; "" for any age',
      kind: 'nullable seconds',
    },
  }),
  /** OpenID Connect Back-Channel Logout 1.0 §2.2. */
  backchannelLogoutUri: declareField({
    column: 'backchannel_logout_uri',
    ...nullableText(Type.String(), 'an https address', 'Where logout tokens are sent when a session ends.'),
    option: {
      flags: '--backchannel-logout-uri <url>',
      about: 'https URL that receives logout tokens; "" for none',
      kind: 'nullable text',
    },
  }),
  /** Whether a logout token names its session also where every session of the person ends. */
  backchannelLogoutSessionRequired: declareField({
    column: 'backchannel_logout_session_required',
    ...yesOrNo(
      'Whether every logout token contains sid. Default: true. false: one without sid ends all sessions of a person.',
    ),
    initial: true,
    option: {
      flags: '--backchannel-logout-session-required',
      about: 'put sid in every logout token (default)',
      kind: 'switch',
      aboutOff: 'end all sessions of a person by one logout token without sid',
    },
  }),
  /** Null for JSON without a signature. */
  userinfoSignedResponseAlg: declareField({
    column: 'userinfo_signed_response_alg',
    codec: plain<AsymmetricAlg | null>(),
    initial: null,
    schema: Type.Unsafe<AsymmetricAlg | null>({
      enum: [...ASYMMETRIC_ALGS, null],
      about: 'Signature algorithm of `/oidc/userinfo` responses.',
      description: `one of ${ASYMMETRIC_ALGS.join(', ')}, or null for JSON without a signature`,
    }),
    record: Type.Unsafe<string | null>({ enum: [...ASYMMETRIC_ALGS, null] }),
    option: {
      flags: '--userinfo-signed-response-alg <alg>',
      about: `signature algorithm of UserInfo responses: ${ASYMMETRIC_ALGS.join(', ')}; "" for JSON`,
      kind: 'nullable text',
    },
  }),
  /** Null for any method with a secret; for a public client, null means `none`. */
  tokenEndpointAuthMethod: declareField({
    column: 'token_endpoint_auth_method',
    codec: plain<AuthMethod | null>(),
    initial: null,
    schema: Type.Unsafe<AuthMethod | null>({
      enum: [...AUTH_METHODS, null],
      about: 'Authentication method at the token endpoint.',
      description: `one of ${AUTH_METHODS.join(', ')}, or null for any method with a secret`,
    }),
    record: Type.Unsafe<string | null>({ enum: [...AUTH_METHODS, null] }),
    option: {
      flags: '--token-endpoint-auth-method <method>',
      about: `authentication method: ${AUTH_METHODS.join(', ')}; "" for either one with a secret`,
      kind: 'nullable text',
    },
  }),
  /** The public keys of the client; exclusive with `jwksUri`. rules/jwks.ts checks the keys, with more precise errors than a schema. */
  jwks: declareField({
    column: 'jwks',
    codec: jsonOr<JwkSet, null>(null),
    initial: null,
    schema: Type.Unsafe<JwkSet | null>({
      type: ['object', 'null'],
      about: 'Public keys for private_key_jwt.',
      description: 'a JSON Web Key Set of public keys, or null',
    }),
    record: nullableField(Type.Object({ keys: Type.Array(Type.Object({}, { additionalProperties: true })) })),
    option: {
      flags: '--jwks-file <path>',
      about: 'file with a JSON Web Key Set of public keys; "" for none',
      kind: 'JSON file',
    },
  }),
  jwksUri: declareField({
    column: 'jwks_uri',
    ...nullableText(
      Type.String({ maxLength: 2048 }),
      'a string of at most 2048 characters',
      'URL of the public keys, instead of jwks.',
    ),
    option: {
      flags: '--jwks-uri <url>',
      about: 'https URL of the public keys; "" for none',
      kind: 'nullable text',
    },
  }),
  /** The endpoints that the client may use. */
  endpoints: declareField({
    column: 'faces',
    codec: endpointSetsCodec,
    initial: ENDPOINT_SETS,
    schema: Type.Array(
      Type.Unsafe<EndpointSet>({ enum: ENDPOINT_SETS, description: `one of ${ENDPOINT_SETS.join(', ')}` }),
      {
        uniqueItems: true,
        minItems: 1,
        about: 'Endpoints that the client may use: v2 for /api/v2/oauth, oidc for /oidc. Default: both.',
        description: `a list of different names out of ${ENDPOINT_SETS.join(', ')}`,
      },
    ),
    record: Type.Array(Type.Unsafe<string>({ enum: ENDPOINT_SETS })),
    option: {
      flags: '--endpoints <set>',
      about:
        'endpoints that the app may use: v2 (/api/v2/oauth), oidc (/oidc); may be given several times (default: both)',
      kind: 'list',
    },
  }),
  /** Which claims about the user the ID tokens of `/oidc/token` have. Many apps read nothing but the ID token. */
  idTokenClaims: declareField({
    column: 'id_token_claims',
    codec: plain<IdTokenClaims>(),
    initial: 'granted',
    schema: Type.Unsafe<IdTokenClaims>({
      enum: ID_TOKEN_CLAIMS,
      about:
        'Claims about the user in ID tokens of /oidc/token: granted for those of all granted scopes and those that the claims parameter names, requested for the latter only. Default: granted.',
      description: `one of ${ID_TOKEN_CLAIMS.join(', ')}`,
    }),
    record: Type.Unsafe<string>({ enum: ID_TOKEN_CLAIMS }),
    option: {
      flags: '--id-token-claims <which>',
      about:
        'claims about the user in ID tokens of /oidc/token: granted, those of the granted scopes (default); requested, those that the claims parameter names',
      kind: 'text',
    },
  }),
  requireSecondFactor: declareField({
    column: 'require_second_factor',
    ...yesOrNo('Whether people need a second factor, or a passkey, to use the app. Default: false.'),
    initial: false,
    option: {
      flags: '--require-second-factor',
      about: 'require a second factor, or a passkey, of everyone who uses the app',
      kind: 'switch',
      aboutOff: 'require none (default)',
    },
  }),
  ...ACCESS_FIELDS,
  owner: declareField({
    column: 'owner',
    ...nullableText(
      Type.String({ minLength: 1, maxLength: 100, format: 'single-line' }),
      '1 to 100 characters on one line, at least one of them visible',
      'Owner of the app. Users see it.',
    ),
    option: { flags: '--owner <name>', about: 'owner, which users see; "" for none', kind: 'nullable text' },
  }),
  /** OpenID Connect Registration 1.0 §2: the people responsible for the client. */
  contacts: declareField({
    column: 'contacts',
    codec: jsonOr<readonly string[], readonly string[]>([]),
    initial: [],
    schema: Type.Array(
      Type.String({ maxLength: 254, format: 'email', description: 'an email address such as ada@example.com' }),
      {
        maxItems: 10,
        uniqueItems: true,
        about: 'Email addresses of contacts for operators. Users do not see them.',
        description: 'a list of at most 10 different email addresses',
      },
    ),
    record: texts,
    option: {
      flags: '--contact <address>',
      about: 'email address of a contact; may be given several times',
      kind: 'list',
    },
  }),
} as const;
