import type { FastifyInstance, FastifySchema } from 'fastify';
import { SCOPES } from '../claims/permissions.ts';
import type { ErrorCode } from '../platform/error-codes.ts';
import {
  AREAS,
  type Caller,
  JSON_TYPE,
  makesNew,
  type Operation,
  type OperationExample,
  type ResponseDescription,
  refusalResponse,
} from '../platform/http/operation.ts';
import { type Convert, namedSchemas, type Schema } from './schemas.ts';

/** A route with a description. */
export interface DescribedRoute {
  readonly method: string;
  /** As registered, including the path of the base URL. */
  readonly url: string;
  readonly schema: FastifySchema & Operation;
}

/** The parts of an OpenAPI 3.1 document that are used here. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

export interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, MediaObject>> };
  readonly responses: Readonly<Record<string, ResponseObject | Reference>>;
}

/** A reference to a component, such as `#/components/responses/404.not_found`. */
export interface Reference {
  readonly $ref: string;
}

export interface ParameterObject {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface MediaObject {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: ResponseDescription['headers'];
  readonly content?: Readonly<Record<string, MediaObject>>;
}

/** Collects the described routes of a server. HEAD routes are left out, because each has a GET. */
export function describedRoutes(app: FastifyInstance): readonly DescribedRoute[] {
  const routes: DescribedRoute[] = [];
  app.addHook('onRoute', ({ method, url, schema }) => {
    if (!isDescribed(schema)) return;
    for (const name of [method].flat()) if (name !== 'HEAD') routes.push({ method: name, url, schema });
  });
  return routes;
}

const isDescribed = (schema: FastifySchema | undefined): schema is FastifySchema & Operation =>
  schema?.operationId !== undefined;

/** The path of a route in OpenAPI syntax, relative to the base URL. */
export const pathOf = ({ url }: Pick<DescribedRoute, 'url'>, issuer: string): string =>
  url.slice(new URL(issuer).pathname.replace(/\/$/, '').length).replaceAll(/:(\w+)/g, '{$1}');

/**
 * Builds the API document of the routes.
 * @param options.issuer the base URL of the routes
 */
export function openApiDocument(
  routes: readonly DescribedRoute[],
  { issuer }: { readonly issuer: string },
): OpenApiDocument {
  const schemas = namedSchemas();
  const refusals: Record<string, ResponseObject> = {};
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const route of routes) {
    const { method, schema } = route;
    const path = pathOf(route, issuer);
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation(method, schema, { ...schemas, refusals }) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tessera',
      version: 'v2',
      description:
        'The endpoints of this server, generated from the schemas that validate their requests. Every error is JSON with a stable code and a description that says what to do.',
    },
    servers: [{ url: issuer }],
    tags: Object.entries(AREAS).map(([name, [title, about]]) => ({ name, description: `${title}. ${about}` })),
    paths,
    components: { schemas: schemas.named, responses: refusals, securitySchemes: securitySchemes(issuer) },
  };
}

function securitySchemes(issuer: string) {
  const scopes = Object.fromEntries(SCOPES.map((scope) => [scope, '']));
  const tokenUrl = `${issuer}/api/v2/oauth/token`;
  return {
    accessToken: {
      type: 'oauth2',
      description: 'An access token: `Authorization: Bearer <token>`.',
      flows: {
        authorizationCode: {
          authorizationUrl: `${issuer}/api/v2/oauth/authorize`,
          tokenUrl,
          refreshUrl: tokenUrl,
          scopes,
        },
      },
    },
    adminKey: {
      type: 'http',
      scheme: 'bearer',
      description:
        'An admin key: `tessera admin-key create`, or `TESSERA_ADMIN_KEY`. Or the access token of an operator who signed in: `tessera login`.',
    },
    registrationAccessToken: {
      type: 'http',
      scheme: 'bearer',
      description: 'The token that an app got when it registered itself (RFC 7592).',
    },
    clientSecretBasic: {
      type: 'http',
      scheme: 'basic',
      description:
        '`client_secret_basic`: client ID and secret. Alternatively, the client authenticates in the body: `client_id` with `client_secret` (`client_secret_post`), or `client_assertion` with `client_assertion_type` (`private_key_jwt`). A public client sends `client_id` only.',
    },
  };
}

/** The empty requirement stands for authentication in the body. */
const SECURITY: Readonly<Record<Caller, OperationObject['security']>> = {
  anyone: [],
  'access token': [{ accessToken: [] }],
  'admin key': [{ adminKey: [] }],
  'registration access token': [{ registrationAccessToken: [] }],
  client: [{ clientSecretBasic: [] }, {}],
  'confidential client': [{ clientSecretBasic: [] }, {}],
};

interface DocumentBuilder {
  readonly convert: Convert;
  /** Error responses that operations share, by name. */
  readonly refusals: Record<string, ResponseObject>;
}

function operation(method: string, schema: DescribedRoute['schema'], builder: DocumentBuilder): OperationObject {
  const { convert } = builder;
  const { operationId, area, summary, description, caller, body, consumes = [JSON_TYPE] } = schema;
  const parameters = [
    ...parametersOf('path', schema.params, schema.examples, convert),
    ...parametersOf('query', schema.querystring, schema.examples, convert),
    ...(makesNew(method, schema) ? [IDEMPOTENCY_KEY] : []),
    ...(schema.versioned !== undefined && method !== 'GET' ? [IF_MATCH] : []),
  ];
  return {
    operationId,
    tags: [area],
    summary,
    ...(description !== undefined && { description }),
    security: SECURITY[caller],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: bodyOf(body, consumes, schema.examples, convert) }),
    responses: responsesOf(method, schema, builder),
  };
}

/** Headers of the admin API, which no schema validates. */
const headerParameter = (name: string, description: string): ParameterObject => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
});
const IDEMPOTENCY_KEY = headerParameter(
  'Idempotency-Key',
  'A text of your own for what this makes, such as a UUID. The same request with it gets the same answer for a day, and makes nothing more; another request with it gets 422.',
);
const IF_MATCH = headerParameter(
  'If-Match',
  'The `ETag` of the record as you read it. If it has changed since, nothing is done, and the answer is 412.',
);

/** What a repeated request may get. */
const WITH_KEY: Readonly<Record<number, readonly ErrorCode[]>> = {
  409: ['conflict'],
  422: ['idempotency_key_reused'],
};

interface ObjectShape {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

function parametersOf(
  place: 'path' | 'query',
  schema: unknown,
  examples: readonly OperationExample[],
  convert: Convert,
): readonly ParameterObject[] {
  if (schema === undefined) return [];
  const { properties, required = [] } = schema as ObjectShape;
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = convert(property);
    const initial = (property as Schema)['default'];
    const shown = examples.flatMap(({ summary, params, query }) => {
      const value = (place === 'path' ? params : query)?.[name];
      return value === undefined ? [] : [[summary, { value }] as const];
    });
    return {
      name,
      in: place,
      required: required.includes(name) && initial === undefined,
      ...(typeof description === 'string' && { description }),
      schema: rest,
      ...(shown.length > 0 && { examples: Object.fromEntries(shown) }),
    };
  });
}

function bodyOf(schema: unknown, consumes: readonly string[], examples: readonly OperationExample[], convert: Convert) {
  const shown = examples.flatMap(({ summary, body }) =>
    body === undefined ? [] : [[summary, { value: body }] as const],
  );
  const media = {
    schema: convert(schema),
    ...(shown.length > 0 && { examples: Object.fromEntries(shown) }),
  };
  return {
    required: ((schema as ObjectShape).required ?? []).length > 0,
    content: Object.fromEntries(consumes.map((type) => [type, media])),
  };
}

/** Errors that every route may answer. */
const ANYWHERE: Readonly<Record<number, readonly ErrorCode[]>> = {
  400: ['invalid_request'],
  414: ['invalid_request'],
  500: ['server_error'],
  503: ['temporarily_unavailable'],
};
/** Errors that every route with a body may answer. */
const WITH_BODY: Readonly<Record<number, readonly ErrorCode[]>> = {
  413: ['invalid_request'],
  415: ['invalid_request'],
  429: ['rate_limit_exceeded'],
};

/** Whether a response is one that every route may give, so that pages omit it. */
export const isCommon = ({ $ref }: Reference): boolean =>
  Object.entries({ ...ANYWHERE, ...WITH_BODY }).some(([status, codes]) =>
    [`${status}.${codes}`, `${status}.${codes}.page`].includes($ref.split('/').at(-1) ?? ''),
  );

function responsesOf(method: string, schema: DescribedRoute['schema'], { convert, refusals }: DocumentBuilder) {
  const own = schema.response as Readonly<Record<string, ResponseDescription>>;
  const common = {
    ...ANYWHERE,
    ...(method !== 'GET' && WITH_BODY),
    ...(makesNew(method, schema) && WITH_KEY),
  };
  const all: Record<string, ResponseDescription> = { ...own };
  for (const [status, codes] of Object.entries(common)) {
    all[status] ??= refusalResponse(Number(status), codes, schema.refusesWithPage);
  }
  return Object.fromEntries(
    Object.entries(all).map(([status, answer]) => {
      const made = response(status, answer, schema.examples, convert);
      const { name } = answer;
      if (name === undefined || schema.examples.some((example) => String(example.status) === status)) {
        return [status, made];
      }
      refusals[name] ??= made;
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
}

function response(
  status: string,
  { content, name: _, ...answer }: ResponseDescription,
  examples: readonly OperationExample[],
  convert: Convert,
): ResponseObject {
  if (content === undefined) return answer;
  const shown = examples.flatMap((example) =>
    String(example.status) === status && example.answer !== undefined
      ? [[example.summary, { value: example.answer }] as const]
      : [],
  );
  return {
    ...answer,
    content: Object.fromEntries(
      Object.entries(content).map(([type, { schema }]) => [
        type,
        {
          schema: convert(schema),
          ...(shown.length > 0 && type === JSON_TYPE && { examples: Object.fromEntries(shown) }),
        },
      ]),
    ),
  };
}
