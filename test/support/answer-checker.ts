import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { afterEach } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { FastifyInstance } from 'fastify';
import {
  type DescribedRoute,
  describedRoutes,
  type OpenApiDocument,
  openApiDocument,
  type ResponseObject,
} from '../../src/openapi/document.ts';
import { formats } from '../../src/platform/validation/formats.ts';

/** An answer of a route that is in the API document. */
export interface Answered {
  readonly operationId: string;
  readonly method: string;
  readonly status: number;
  /** Without its parameters; undefined where there is no body. */
  readonly type: string | undefined;
  readonly text: string;
}

/** What an answer does that the document does not say; undefined where it does what is said. */
export type Check = (answer: Answered) => string | undefined;

/** Each process compiles many validators and uses each a few times: fast compilation is worth more than fast validation. */
const CHEAP_TO_COMPILE = { code: { optimize: false }, inlineRefs: false } as const;

/** Holds answers against a document. Validators are made when they are first needed. */
export function answerCheck(document: OpenApiDocument): Check {
  const ajv = new Ajv2020({ ...CHEAP_TO_COMPILE, strict: false, validateSchema: false, formats: FORMATS });
  ajv.addSchema(closed(document) as object, 'document');
  const responses = new Map(
    Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .map((operation) => [operation.operationId, operation.responses] as const),
  );
  const validators = new Map<string, ValidateFunction>();

  function validatorOf(pointer: string): ValidateFunction {
    const validator = validators.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` });
    validators.set(pointer, validator);
    return validator;
  }
  const places = new Map(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, { operationId }]) => [operationId, `/paths/${escaped(path)}/${method}`] as const,
      ),
    ),
  );

  return ({ operationId, method, status, type, text }) => {
    const named = responses.get(operationId)?.[status];
    if (named === undefined) return `status ${status} is not documented`;
    const shared = '$ref' in named ? named.$ref.slice(1) : undefined;
    const response = shared === undefined ? (named as ResponseObject) : sharedResponse(document, shared);
    // The answer to HEAD has the headers alone.
    if (method === 'HEAD') return undefined;
    if (type === undefined || text === '') {
      return response.content === undefined || text !== '' || status >= 300
        ? undefined
        : `${status} has no body, where one is documented`;
    }
    if (response.content?.[type] === undefined) return `${status} as ${type} is not documented`;
    if (type !== 'application/json') return undefined;
    const place = shared ?? `${places.get(operationId)}/responses/${status}`;
    const validate = validatorOf(`${place}/content/${escaped(type)}/schema`);
    if (validate(JSON.parse(text))) return undefined;
    const [error] = validate.errors ?? [];
    return `${status}: ${error?.instancePath} ${error?.message} ${JSON.stringify(error?.params)}`;
  };
}

const sharedResponse = (document: OpenApiDocument, pointer: string): ResponseObject => {
  const found = document.components.responses[pointer.split('/').at(-1) ?? ''];
  if (found === undefined) throw new Error(`there is nothing at ${pointer}`);
  return found;
};

/** RFC 6901 §3 and §6. */
const escaped = (name: string): string => encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));

const FORMATS = {
  'date-time': formats.instant,
  date: formats['calendar-date'],
  uri: (text: string) => URL.canParse(text),
  email: formats.email,
} as const;

/** In tests an answer has what its schema names and nothing else: an undocumented field is an error. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  return schema.constructor === Object && 'type' in inner && inner['type'] === 'object' && 'properties' in inner
    ? { additionalProperties: false, ...inner }
    : inner;
}

/**
 * Holds every answer of a server's documented routes against its document.
 * @param report is told of each that does something else, before the answer leaves
 */
function watchAnswers(app: FastifyInstance, report: (problem: string) => void): void {
  const routes = describedRoutes(app);
  app.addHook('onSend', (request, reply, payload, done) => {
    const { schema, url } = request.routeOptions;
    if (schema?.operationId !== undefined) {
      const check = checkOf(routes);
      const type = reply.getHeader('content-type');
      const problem = check({
        operationId: schema.operationId,
        method: request.method,
        status: reply.statusCode,
        type: type === undefined ? undefined : String(type).split(';', 1)[0],
        text: typeof payload === 'string' ? payload : '',
      });
      if (problem !== undefined) report(`${request.method} ${url}: ${problem}`);
    }
    done();
  });
}

/**
 * One for a process and number of routes: every server of it has the same, whatever its address is, and a command that calls the admin API in
 * its own process has those alone.
 */
const checks = new Map<number, Check>();

function checkOf(routes: readonly DescribedRoute[]): Check {
  const check = checks.get(routes.length) ?? answerCheck(documentOf(routes));
  checks.set(routes.length, check);
  return check;
}

const documentOf = (routes: readonly DescribedRoute[]): OpenApiDocument =>
  openApiDocument(routes, { issuer: 'http://localhost' });

const found: string[] = [];

/** What answers did that the document does not say, since this was last asked. */
const takeProblems = (): readonly string[] => found.splice(0);

// Only where tests run: each server of the process is watched from its beginning, and the test during which an answer was not
// as documented fails. A server reads no further than its route table before the first request.
if (process.env['NODE_TEST_CONTEXT'] !== undefined) {
  // Fastify's own notice of a new server: https://fastify.dev/docs/latest/Reference/Hooks/#diagnostics-channel-hooks
  subscribe('fastify.initialization', (message) => {
    watchAnswers((message as { fastify: FastifyInstance }).fastify, (problem) => found.push(problem));
  });
  afterEach(() => assert.deepEqual(takeProblems(), [], 'answers that the API document does not describe'));
}
