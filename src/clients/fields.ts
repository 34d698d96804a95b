import { SCOPES } from '../claims/scopes.ts';
import { ASYMMETRIC_ALGS, type AsymmetricAlg, ID_TOKEN_ALGS, type IdTokenAlg } from '../keys/algorithms.ts';
import { nullableField } from '../platform/http/operation.ts';
import { bit, declareField, json, jsonOr, plain } from '../platform/validation/fields.ts';
import * as Type from '../platform/validation/type.ts';
import type { JwkSet } from './rules/jwks.ts';
import {
  AUTH_METHODS,
  type AuthMethod,
  DEFAULT_GRANT_TYPES,
  GRANT_TYPES,
  type GrantType,
} from './rules/registration.ts';

/** Whether a client can keep a secret: RFC 6749 §2.1. */
export type ClientType = 'confidential' | 'public';

const text = Type.String();
const textOrNull = nullableField(text);
const texts = Type.Array(text);

const orNull = (schema: Type.TSchema, description: string, about: string) =>
  Type.Union([schema, Type.Null()], { about, description: `${description}, or null` });

const nullableText = (schema: Type.TSchema, description: string, about: string) =>
  ({
    codec: plain<string | null>(),
    initial: null,
    schema: orNull(schema, description, about),
    record: textOrNull,
  }) as const;

/** An https address of the app, for people to open. */
const webAddress = <const Column extends string>(column: Column, flags: string, about: string) =>
  declareField({
    column,
    ...nullableText(Type.String({ format: 'https-url' }), 'a full https address', about),
    option: { flags, about: 'an https address; "" for none', kind: 'nullable text' },
  });

const uris = (description: string, minItems: number, about: string) =>
  Type.Array(Type.String({ description: 'a text' }), { minItems, maxItems: 50, uniqueItems: true, about, description });

/**
 * The fields of a client's registration, each declared once. A new one needs its column in the table (platform/database/schema.ts)
 * and a migration; requests, answers, the API document, the command line and the stored row follow from this.
 */
export const CLIENT_FIELDS = {
  name: declareField({
    column: 'name',
    codec: plain<string>(),
    schema: Type.String({
      minLength: 1,
      maxLength: 64,
      format: 'single-line',
      about: 'The name that people see.',
      description: '1 to 64 characters on one line, at least one of them visible, without spaces around them',
    }),
    record: text,
    option: { flags: '--name <name>', about: 'the name that people see', kind: 'text' },
  }),
  description: declareField({
    column: 'description',
    ...nullableText(
      Type.String({ maxLength: 500, format: 'multi-line' }),
      'at most 500 characters without control characters',
      'What the app is.',
    ),
    option: { flags: '--description <text>', about: 'what it is', kind: 'nullable text' },
  }),
  logoUrl: webAddress('logo_url', '--logo-url <url>', 'Its picture.'),
  homepageUrl: webAddress('homepage_url', '--homepage-url <url>', 'Its home page.'),
  policyUrl: webAddress('policy_url', '--policy-url <url>', 'Its privacy policy.'),
  termsUrl: webAddress('terms_url', '--terms-url <url>', 'Its terms of service.'),
  redirectUris: declareField({
    column: 'redirect_uris',
    codec: json<readonly string[]>(),
    initial: [],
    schema: uris(
      'a list of 1 to 50 different redirect URIs',
      1,
      'Where answers go, character for character. Needed by every client that uses codes.',
    ),
    record: texts,
    option: {
      flags: '--redirect-uri <uri>',
      about: 'an address that answers may go to; may be given several times',
      kind: 'list',
    },
  }),
  postLogoutRedirectUris: declareField({
    column: 'post_logout_redirect_uris',
    codec: json<readonly string[]>(),
    initial: [],
    schema: uris('a list of at most 50 different URIs', 0, 'Where the browser may return to after signing out.'),
    record: texts,
    option: { flags: '--post-logout-redirect-uri <uri>', about: 'may be given several times', kind: 'list' },
  }),
  /** The scopes that it may ask for; null is all. */
  scopes: declareField({
    column: 'scopes',
    codec: jsonOr<readonly string[], null>(null),
    initial: null,
    schema: Type.Union(
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
    record: nullableField(texts, 'Null is all.'),
    option: {
      flags: '--scope <scope>',
      about: 'a scope that it may ask for; may be given several times; none is all',
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
      about: 'Without it: authorization_code and refresh_token.',
      description: `a list of different grants out of ${GRANT_TYPES.join(', ')}`,
    }),
    record: Type.Array(Type.Unsafe<string>({ enum: GRANT_TYPES })),
    option: {
      flags: '--grant-type <grant>',
      about: `a grant that it may use: ${GRANT_TYPES.join(', ')}; may be given several times`,
      kind: 'list',
    },
  }),
  /** As a resource server: the `resource` that others ask tokens for (RFC 8707). */
  resource: declareField({
    column: 'resource',
    ...nullableText(
      Type.String({ maxLength: 512 }),
      'a text of at most 512 characters',
      'The service that it is, for which tokens can be asked (RFC 8707): an absolute URI.',
    ),
    option: {
      flags: '--resource <uri>',
      about: 'for a resource server: what apps ask its tokens by; "" for none',
      kind: 'nullable text',
    },
  }),
  type: declareField({
    column: 'type',
    codec: plain<ClientType>(),
    initial: 'confidential',
    schema: Type.Unsafe<ClientType>({
      enum: ['confidential', 'public'],
      about: 'public is an app that cannot keep a secret. Without it: confidential.',
      description: 'confidential or public',
    }),
    record: Type.Unsafe<string>({ enum: ['confidential', 'public'] }),
  }),
  requirePkce: declareField({
    column: 'require_pkce',
    codec: bit,
    initial: ({ type }) => type === 'public',
    schema: Type.Boolean({
      about: 'Whether it must use PKCE; a public client always must.',
      description: 'true or false',
    }),
    record: Type.Boolean(),
    option: { flags: '--require-pkce', about: 'it must use PKCE', kind: 'switch', aboutOff: 'it may use PKCE' },
  }),
  idTokenSignedResponseAlg: declareField({
    column: 'id_token_signed_response_alg',
    codec: plain<IdTokenAlg>(),
    // OpenID Connect Registration 1.0 §2: RS256 is the default where no secret can sign.
    initial: ({ type, tokenEndpointAuthMethod }) =>
      type === 'public' || tokenEndpointAuthMethod === 'private_key_jwt' ? 'RS256' : 'HS256',
    schema: Type.Unsafe<IdTokenAlg>({
      enum: ID_TOKEN_ALGS,
      about: 'How its ID tokens are signed. Without it: HS256, and RS256 for a client that presents no secret.',
      description: `one of ${ID_TOKEN_ALGS.join(', ')}`,
    }),
    record: Type.Unsafe<string>({ enum: ID_TOKEN_ALGS }),
    option: {
      flags: '--id-token-signed-response-alg <alg>',
      about: `how its ID tokens are signed: ${ID_TOKEN_ALGS.join(', ')}`,
      kind: 'text',
    },
  }),
  /** How old a sign-in may be, in seconds, where a request does not say; null is any age. */
  defaultMaxAge: declareField({
    column: 'default_max_age',
    codec: plain<number | null>(),
    initial: null,
    schema: Type.Union([Type.Integer({ minimum: 0, maximum: 2_147_483_647 }), Type.Null()], {
      about: 'How old a sign-in may be where a request has no max_age.',
      description: 'a whole number of seconds from 0 on, or null',
    }),
    record: nullableField(Type.Integer()),
    option: {
      flags: '--default-max-age <seconds>',
      about: 'how old a sign-in may be for it; "" for any age',
      kind: 'nullable seconds',
    },
  }),
  /** Where it is notified that a session has ended: OpenID Connect Back-Channel Logout 1.0 §2.2. */
  backchannelLogoutUri: declareField({
    column: 'backchannel_logout_uri',
    ...nullableText(Type.String(), 'an https address', 'Where it is told of sessions that ended.'),
    option: {
      flags: '--backchannel-logout-uri <url>',
      about: 'where it is told that a session has ended; "" for nowhere',
      kind: 'nullable text',
    },
  }),
  /** Whether a notice that does not name the session is of no use to it. */
  backchannelLogoutSessionRequired: declareField({
    column: 'backchannel_logout_session_required',
    codec: bit,
    initial: false,
    schema: Type.Boolean({ about: 'Whether it needs to know which session ended.', description: 'true or false' }),
    record: Type.Boolean(),
    option: {
      flags: '--backchannel-logout-session-required',
      about: 'it must be told which session',
      kind: 'switch',
      aboutOff: 'it need not be told which session',
    },
  }),
  /** Null is JSON without a signature. */
  userinfoSignedResponseAlg: declareField({
    column: 'userinfo_signed_response_alg',
    codec: plain<AsymmetricAlg | null>(),
    initial: null,
    schema: Type.Unsafe<AsymmetricAlg | null>({
      enum: [...ASYMMETRIC_ALGS, null],
      about: 'How `/oidc/userinfo` signs its answer.',
      description: `one of ${ASYMMETRIC_ALGS.join(', ')}, or null for JSON without a signature`,
    }),
    record: Type.Unsafe<string | null>({ enum: [...ASYMMETRIC_ALGS, null] }),
    option: {
      flags: '--userinfo-signed-response-alg <alg>',
      about: `how UserInfo is signed: ${ASYMMETRIC_ALGS.join(', ')}; "" for JSON`,
      kind: 'nullable text',
    },
  }),
  /** Null is any method that presents a secret, and for a public client none. */
  tokenEndpointAuthMethod: declareField({
    column: 'token_endpoint_auth_method',
    codec: plain<AuthMethod | null>(),
    initial: null,
    schema: Type.Unsafe<AuthMethod | null>({
      enum: [...AUTH_METHODS, null],
      about: 'How it authenticates.',
      description: `one of ${AUTH_METHODS.join(', ')}, or null for any way that presents a secret`,
    }),
    record: Type.Unsafe<string | null>({ enum: [...AUTH_METHODS, null] }),
    option: {
      flags: '--token-endpoint-auth-method <method>',
      about: `${AUTH_METHODS.join(', ')}; "" for any that presents a secret`,
      kind: 'nullable text',
    },
  }),
  /** Its public keys, or where they are: never both. The keys are judged by rules/jwks.ts, in better words than a schema has. */
  jwks: declareField({
    column: 'jwks',
    codec: jsonOr<JwkSet, null>(null),
    initial: null,
    schema: Type.Unsafe<JwkSet | null>({
      type: ['object', 'null'],
      about: 'The keys of its assertions, for private_key_jwt.',
      description: 'a JSON Web Key Set of public keys, or null',
    }),
    record: nullableField(Type.Object({ keys: Type.Array(Type.Object({}, { additionalProperties: true })) })),
    option: {
      flags: '--jwks-file <path>',
      about: 'a file with its public keys, a JSON Web Key Set; "" for none',
      kind: 'JSON file',
    },
  }),
  jwksUri: declareField({
    column: 'jwks_uri',
    ...nullableText(
      Type.String({ maxLength: 2048 }),
      'a text of at most 2048 characters',
      'Where those keys are, in place of jwks.',
    ),
    option: {
      flags: '--jwks-uri <url>',
      about: 'an https address of its public keys; "" for none',
      kind: 'nullable text',
    },
  }),
  owner: declareField({
    column: 'owner',
    ...nullableText(
      Type.String({ minLength: 1, maxLength: 100, format: 'single-line' }),
      '1 to 100 characters on one line, at least one of them visible',
      'Who stands behind it; people see it.',
    ),
    option: { flags: '--owner <name>', about: 'who stands behind it; "" for nobody', kind: 'nullable text' },
  }),
  /** OpenID Connect Registration 1.0 §2: the people who are responsible for it. */
  contacts: declareField({
    column: 'contacts',
    codec: jsonOr<readonly string[], readonly string[]>([]),
    initial: [],
    schema: Type.Array(
      Type.String({ maxLength: 254, format: 'email', description: 'an email address such as ada@example.com' }),
      {
        maxItems: 10,
        uniqueItems: true,
        about: 'Whom operators write to about it; users do not see it.',
        description: 'a list of at most 10 different email addresses',
      },
    ),
    record: texts,
    option: {
      flags: '--contact <address>',
      about: 'whom to write to about it; may be given several times',
      kind: 'list',
    },
  }),
} as const;
