import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import { type ErrorCode, errorCodes } from '../oauth-error.ts';
import * as Type from '../validation/type.ts';

/** The areas of the API, in the order in which they are read. */
export const AREAS = {
  'sign-in': ['Sign-in and sign-out', 'Where an app sends a person’s browser, and where it comes back from.'],
  tokens: ['Tokens', 'Where apps get tokens, end them, and ask about them.'],
  userinfo: ['UserInfo', 'Who the person behind an access token is.'],
  discovery: ['Discovery and keys', 'What a standard client reads to find the rest.'],
  users: ['Admin: users', 'Accounts, their state, and the apps that they let in.'],
  clients: ['Admin: clients', 'Registered apps and their secrets.'],
  organizations: ['Admin: organizations', 'Organizations and who is in them.'],
  audit: ['Admin: audit trail', 'What happened, by whom, and from where.'],
  health: ['Health', 'For load balancers and supervisors.'],
} as const;
export type Area = keyof typeof AREAS;

/** How a caller shows that it may call. A client proves itself by Basic, or by fields of the body. */
export type Caller = 'anyone' | 'access token' | 'admin key' | 'client' | 'client that can prove itself';

/** A request that is documented: what goes into it, and what comes out. The tests send each of them. */
export interface OperationExample {
  readonly summary: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  /** A body that is a file, in base64. */
  readonly file?: string;
  readonly status: number;
  /** The body of the answer, where it has one. */
  readonly answer?: unknown;
}

/** An answer of a route: a Response Object of OpenAPI, which is what the framework's `schema.response` takes too. */
export interface ResponseDescription {
  /** What it is called where several routes answer the same. */
  readonly name?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: object }>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

/** What a route says of itself beside its schemas. With it the route is in the API document. */
export interface Operation {
  readonly operationId: string;
  readonly area: Area;
  readonly summary: string;
  readonly description?: string;
  readonly caller: Caller;
  /** What a body may be sent as: JSON, unless something else is said. */
  readonly consumes?: readonly string[];
  /** Whether a browser that is refused gets a page. */
  readonly refusesWithPage?: boolean;
  readonly examples: readonly OperationExample[];
}

declare module 'fastify' {
  interface FastifySchema extends Partial<Operation> {}
}

/** Parameters and bodies have the type of the schema by which they were validated. */
export interface SchemaTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends Type.TSchema ? Type.Static<this['schema']> : unknown;
}

/** Where routes with such types are registered. */
export type TypedApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  SchemaTypes
>;

export const JSON_TYPE = 'application/json';
export const FORM_TYPE = 'application/x-www-form-urlencoded';

const texts = (description: string) => ({ description, schema: { type: 'string' } });

/** An answer with a JSON body. */
export const jsonResponse = (description: string, schema: object): ResponseDescription => ({
  description,
  content: { [JSON_TYPE]: { schema } },
});

/** An answer that is a page for a person. */
export const PAGE = { 'text/html': { schema: { type: 'string' } } } as const;

/** An answer that sends a browser on. */
export const redirectResponse = (description: string): ResponseDescription => ({
  description,
  headers: { location: texts('Where the browser goes next.') },
});

export const NO_CONTENT_RESPONSE: ResponseDescription = { description: 'Done; there is no body.' };

/** Decisions §4: the one shape of an error. */
const errorOf = (codes: readonly ErrorCode[]) =>
  Type.Object({ error: Type.Unsafe<ErrorCode>({ type: 'string', enum: codes }), error_description: Type.String() });

const ERROR_HEADERS: Readonly<Record<number, ResponseDescription['headers']>> = {
  401: { 'www-authenticate': texts('How to authenticate: RFC 6750 §3 for tokens, RFC 9110 §11.6.1 for clients.') },
  429: { 'retry-after': texts('The seconds to wait.') },
  503: { 'retry-after': texts('The seconds to wait.') },
};

/** A refusal with one of these codes. */
export function refusalResponse(status: number, codes: readonly ErrorCode[], withPage = false): ResponseDescription {
  const headers = ERROR_HEADERS[status];
  return {
    name: [status, ...codes, ...(withPage ? ['page'] : [])].join('.'),
    description: codes.map((code) => `\`${code}\`: ${errorCodes[code][1]}`).join('  \n'),
    ...(headers !== undefined && { headers }),
    content: { [JSON_TYPE]: { schema: errorOf(codes) }, ...(withPage && PAGE) },
  };
}

/** Refusals by status and code, for `schema.response`. */
export const refusalResponses = (
  byStatus: Readonly<Record<number, readonly ErrorCode[]>>,
): Record<number, ResponseDescription> =>
  Object.fromEntries(
    Object.entries(byStatus).map(([status, codes]) => [status, refusalResponse(Number(status), codes)]),
  );

/** An id, as it stands in paths and answers. */
export const Id = Type.String({ format: 'id', description: 'an id' });

/** An instant of an answer. */
export const Instant = Type.String({ format: 'instant', description: 'an instant in UTC, as ISO 8601 writes it' });

export const nullableField = <S extends Type.TSchema>(schema: S, about?: string) =>
  Type.Union([schema, Type.Null()], about === undefined ? {} : { about });
