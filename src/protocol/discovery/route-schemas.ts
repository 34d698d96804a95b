import type { FastifySchema } from 'fastify';
import { ASYMMETRIC_ALGS } from '../../keys/algorithms.ts';
import { jsonResponse } from '../../platform/http/operation.ts';
import * as Type from '../../platform/validation/type.ts';
import { adminMetadata, metadata, resourceMetadata } from './metadata.ts';

const IN_DISCOVERY = { area: 'discovery', caller: 'anyone' } as const;
const SHOWN = metadata({
  issuer: 'https://id.example.com',
  languages: ['en'],
  discoveryScopes: [],
  readsMetadata: false,
  registersApps: true,
});

const schemaOf = (value: unknown): Type.TSchema => {
  if (typeof value === 'boolean') return Type.Boolean();
  return Array.isArray(value) ? Type.Array(Type.String()) : Type.String();
};
const Metadata = Type.Object(
  {
    ...Object.fromEntries(Object.entries(SHOWN).map(([name, value]) => [name, schemaOf(value)])),
    registration_endpoint: Type.Optional(Type.String({ about: 'Where apps can register themselves.' })),
  },
  { title: 'ProviderMetadata' },
);
const document = {
  ...IN_DISCOVERY,
  response: { 200: jsonResponse('What the service can do.', Metadata) },
  examples: [{ summary: 'The document', status: 200, answer: SHOWN }],
};

/** The discovery documents, by the end of their address. */
export const documents = {
  'openid-configuration': {
    ...document,
    operationId: 'readOpenIdConfiguration',
    summary: 'OpenID Connect Discovery 1.0',
  },
  'oauth-authorization-server': {
    ...document,
    operationId: 'readServerMetadata',
    summary: 'The same document, at the RFC 8414 address',
  },
} satisfies Readonly<Record<string, FastifySchema>>;

const resourceSchema = (
  operationId: string,
  summary: string,
  title: string,
  shown: Readonly<Record<string, unknown>>,
) =>
  ({
    ...IN_DISCOVERY,
    operationId,
    summary,
    response: {
      200: jsonResponse(
        'Which authorization server issues tokens for it.',
        Type.Object(Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, schemaOf(value)])), {
          title,
        }),
      ),
    },
    examples: [{ summary: 'The document', status: 200, answer: shown }],
  }) satisfies FastifySchema;

export const readResourceMetadataSchema = resourceSchema(
  'readResourceMetadata',
  'UserInfo as a protected resource (RFC 9728)',
  'ProtectedResourceMetadata',
  resourceMetadata({ issuer: 'https://id.example.com' }),
);

export const readAdminMetadataSchema = resourceSchema(
  'readAdminMetadata',
  'The admin API as a protected resource (RFC 9728)',
  'AdminResourceMetadata',
  adminMetadata({ issuer: 'https://id.example.com' }),
);

const part = Type.Optional(Type.String());
const PublicKey = Type.Object(
  {
    kty: Type.String(),
    kid: Type.String(),
    use: Type.Unsafe<'sig'>({ type: 'string', enum: ['sig'] }),
    alg: Type.Unsafe<string>({ type: 'string', enum: ASYMMETRIC_ALGS }),
    ...{ crv: part, x: part, y: part, n: part, e: part },
  },
  { title: 'JsonWebKey' },
);

export const readKeysSchema = {
  ...IN_DISCOVERY,
  operationId: 'readKeys',
  summary: 'Public keys of ID tokens',
  response: { 200: jsonResponse('A JSON Web Key Set (RFC 7517).', Type.Object({ keys: Type.Array(PublicKey) })) },
  examples: [
    {
      summary: 'A key',
      status: 200,
      answer: {
        keys: [
          {
            kty: 'RSA',
            kid: 'q1w2e3',
            use: 'sig',
            alg: 'RS256',
            n: 'yPa_14j5tsmH…',
            e: 'AQAB',
          },
        ],
      },
    },
  ],
} satisfies FastifySchema;
