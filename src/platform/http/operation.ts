import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifySchema,
  FastifyTypeProvider,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import { type ErrorCode, errorCodes } from '../error-codes.ts';
import * as Type from '../validation/type.ts';

/** The areas of the API, in the order of the document. */
export const AREAS = {
  'sign-in': ['Sign-in and sign-out', 'Where an app sends a person’s browser.'],
  tokens: ['Tokens', 'Where apps get, revoke and introspect tokens.'],
  registration: ['Registration by apps', 'How apps register themselves, where the operator allows that.'],
  userinfo: ['UserInfo', 'Claims about the person behind an access token.'],
  discovery: ['Discovery and keys', 'What a standard client reads to find the other endpoints.'],
  users: ['Admin: users', 'Accounts and their state.'],
  sessions: [
    'Admin: sessions and recovery',
    'Where people are signed in, which apps have access, and how people get back into their accounts.',
  ],
  clients: ['Admin: clients', 'Registered apps and their secrets.'],
  secrets: ['Admin: client secrets', 'The secrets of apps, and how they are replaced.'],
  'api-scopes': [
    'Admin: scopes',
    'Which scopes of an API a client may request, and which scopes an operator approved.',
  ],
  unregistered: [
    'Admin: unregistered apps',
    'Apps that no operator registered: which are accepted, and whose domains are blocked.',
  ],
  access: ['Admin: access to apps', 'Who may use an app that is not open to everyone, and in which role.'],
  groups: ['Admin: groups', 'Groups of people, of the installation or of an organization.'],
  organizations: ['Admin: organizations', 'Organizations and their members.'],
  upstreams: ['Admin: upstreams', 'Other providers through which people sign in.'],
  operators: ['Admin: operators', 'Who may do what in the admin API: roles of people, and admin keys.'],
  mail: ['Admin: mail', 'Messages that wait, were sent or were given up.'],
  audit: ['Admin: audit trail', 'What happened, who did it, and from where.'],
  health: ['Health', 'For load balancers and supervisors.'],
} as const;
export type Area = keyof typeof AREAS;

/** How a caller authenticates. A client uses Basic, or fields of the body. */
export type Caller =
  | 'anyone'
  | 'access token'
  | 'admin key'
  | 'registration access token'
  | 'client'
  | 'confidential client';

/** A documented request with its answer. The tests send each of them. */
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
  /** The name of a response that several routes share. */
  readonly name?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: object }>>;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
}

/** The description of a route beside its schemas. A route with an `operationId` is in the API document. */
export interface Operation {
  readonly operationId: string;
  readonly area: Area;
  readonly summary: string;
  readonly description?: string;
  readonly caller: Caller;
  /** The media types of the body; JSON by default. */
  readonly consumes?: readonly string[];
  /** Whether a browser gets a page as an error response. */
  readonly refusesWithPage?: boolean;
  readonly examples: readonly OperationExample[];
}

/** Whether a route of the admin API makes something, so that a repeated request would make it twice. */
export const makesNew = (method: string, schema: Pick<FastifySchema, 'caller' | 'response'> = {}): boolean =>
  method === 'POST' && schema.caller === 'admin key' && Object.hasOwn(schema.response ?? {}, '201');

declare module 'fastify' {
  interface FastifySchema extends Partial<Operation> {}
}

/** Gives parameters and bodies the static type of the schema that validated them. */
export interface SchemaTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends Type.TSchema ? Type.Static<this['schema']> : unknown;
}

/** A Fastify instance whose routes are typed by {@link SchemaTypes}. */
export type TypedApp = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  SchemaTypes
>;

export const JSON_TYPE = 'application/json';
export const FORM_TYPE = 'application/x-www-form-urlencoded';

const stringHeader = (description: string) => ({ description, schema: { type: 'string' } });

/** An answer with a JSON body. */
export const jsonResponse = (description: string, schema: object): ResponseDescription => ({
  description,
  content: { [JSON_TYPE]: { schema } },
});

/** The content of an answer that is a page. */
export const PAGE = { 'text/html': { schema: { type: 'string' } } } as const;

/** An answer that redirects a browser. */
export const redirectResponse = (description: string): ResponseDescription => ({
  description,
  headers: { location: stringHeader('Where the browser is redirected.') },
});

export const NO_CONTENT_RESPONSE: ResponseDescription = { description: 'Success, without a body.' };

/** Decisions §4: the body of every error. */
const errorOf = (codes: readonly ErrorCode[]) =>
  Type.Object({ error: Type.Unsafe<ErrorCode>({ type: 'string', enum: codes }), error_description: Type.String() });

const ERROR_HEADERS: Readonly<Record<number, ResponseDescription['headers']>> = {
  401: {
    'www-authenticate': stringHeader('How to authenticate: RFC 6750 §3 for tokens, RFC 9110 §11.6.1 for clients.'),
  },
  429: { 'retry-after': stringHeader('The seconds to wait.') },
  503: { 'retry-after': stringHeader('The seconds to wait.') },
};

/** An error response with one of these codes. */
export function refusalResponse(status: number, codes: readonly ErrorCode[], withPage = false): ResponseDescription {
  const headers = ERROR_HEADERS[status];
  return {
    name: [status, ...codes, ...(withPage ? ['page'] : [])].join('.'),
    description: codes.map((code) => `\`${code}\`: ${errorCodes[code][1]}`).join('  \n'),
    ...(headers !== undefined && { headers }),
    content: { [JSON_TYPE]: { schema: errorOf(codes) }, ...(withPage && PAGE) },
  };
}

/** Error responses by status and code, for `schema.response`. */
export const refusalResponses = (
  byStatus: Readonly<Record<number, readonly ErrorCode[]>>,
): Record<number, ResponseDescription> =>
  Object.fromEntries(
    Object.entries(byStatus).map(([status, codes]) => [status, refusalResponse(Number(status), codes)]),
  );

/** An id in paths and answers. */
export const Id = Type.String({ format: 'id', description: 'an id' });

/** A time in an answer. */
export const Instant = Type.String({ format: 'instant', description: 'an ISO 8601 time in UTC' });

export const nullableField = <S extends Type.TSchema>(schema: S, about?: string) =>
  Type.Union([schema, Type.Null()], about === undefined ? {} : { about });
