import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifySchema,
  LogController,
} from 'fastify';
import type { LogLevel } from '../config/log-level.ts';
import { isSnowflake } from '../ids/ids.ts';
import { type LogFacts, type LogLineLevel, logLine } from '../log.ts';
import type { LogOutput } from '../log-output.ts';
import { masked, maskedPath } from '../masking.ts';
import { invalidRequest, nothingHere, nothingHereBut, OAuthError } from '../oauth-error.ts';
import { clientAddress, type TrustProxy } from '../validation/origin.ts';
import { crossOrigin, isPreflight } from './cors.ts';
import { type RequestRefusal, toOAuthError } from './errors.ts';
import type { Meter } from './meter.ts';
import { type Outages, STORE_UNAVAILABLE } from './outages.ts';
import { compileValidator, formParameters } from './parameters.ts';
import { type BeginRequestSpan, requestIds, traceRequests } from './request-tracing.ts';
import { type ServedPaths, servedPaths } from './served-paths.ts';
import { refuseLate, type Waiting } from './waiting.ts';

/** The longest request target, in bytes. */
const LONGEST_URL = 16 * 1024;

export interface ServerOptions {
  /** A listening HTTP server; requests reach the routes once they are ready. */
  readonly server: Server;
  readonly https: boolean;
  readonly trustProxy: TrustProxy;
  readonly logLevel: LogLevel;
  /** Where lines are written; by default, to the standard output, which is waited for. */
  readonly log: Pick<LogOutput, 'write'> | undefined;
  /** Where requests are counted, if metrics are served. */
  readonly meter: Pick<Meter, 'answered'> | undefined;
  /** Called after each refusal, and each answer that browsers keep from its page: for the traces. */
  readonly traceRefusal: (request: FastifyRequest, reply: FastifyReply) => void;
  /** Begins the span of a request, where requests are traced. */
  readonly beginSpan?: BeginRequestSpan | undefined;
  /** Goes on with a request whose method is HEAD. */
  readonly enterHead: (next: () => void) => void;
  /** For how long requests waited before they were read, where that is known. */
  readonly waiting?: Waiting | undefined;
  readonly outages: Outages;
  /** Whether an app that runs in a browser is registered at an origin. */
  readonly isRegisteredOrigin: (origin: string) => Promise<boolean>;
  /** Answers with an error where no route does it in its own way. */
  readonly answerError: (request: FastifyRequest, reply: FastifyReply, error: OAuthError) => void;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every response of the route is a step of an authorization flow: see {@link keepOpener}. */
    readonly keepsOpener?: boolean;
  }
}

const OPENER_POLICY = 'cross-origin-opener-policy';

/**
 * Lets the window that opened this one keep its reference to it, and the other way around. A client may run the flow in a popup, and
 * the browser cuts that connection for good at any response, a redirect included, with another opener policy.
 */
export const keepOpener = (reply: FastifyReply): FastifyReply => reply.header(OPENER_POLICY, 'unsafe-none');

/** Redirects the browser. RFC 9700 §4.12: with 303 after a POST, so that the form is not sent on. */
export function redirect(request: FastifyRequest, reply: FastifyReply, location: string): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect(location, request.method === 'POST' ? 303 : 302);
}

/** Headers of every answer, errors included; `x-request-id` is added to them, and the log names the request by the same id. */
function commonHeaders(https: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    [OPENER_POLICY]: 'same-origin',
    'x-frame-options': 'DENY',
    ...(https && { 'strict-transport-security': 'max-age=63072000; includeSubDomains' }),
  };
}

/** Fastify's own compilers are not even loaded: ours are set before any route is registered. */
const neverCompiles = (): never => {
  throw new Error('Fastify asked for a compiler before its own was replaced.');
};

/** The HTTP server without its routes: limits, common headers, log and metrics, and one place where errors become answers. */
export function createApp(options: ServerOptions): FastifyInstance {
  const headers = commonHeaders(options.https);
  const refuse = (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
    options.answerError(request, reply, toOAuthError(error, request));
  const app = fastify({
    serverFactory: (handler) => {
      options.server.on('request', handler);
      return options.server;
    },
    // What the router refuses before any route: a URL that cannot be decoded.
    frameworkErrors: (error, request, reply) => {
      reply.headers(headers).header('x-request-id', request.id);
      refuse(error, request as FastifyRequest, reply as FastifyReply);
    },
    // The listener has answered. Fastify would log the bytes that came, with the cookies, and destroy the socket under the answer.
    clientErrorHandler: () => {},
    exposeHeadRoutes: true,
    genReqId: () => randomUUID(),
    // Fastify's own log lines contain URLs, and with them codes, states and handles: `observe` writes others.
    logger: { level: options.logLevel, ...(options.log && { stream: options.log }) },
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for each request would cost more than most requests log: the lines name the request themselves.
    childLoggerFactory: (logger) => logger,
    schemaController: { compilersFactory: { buildValidator: neverCompiles, buildSerializer: neverCompiles } },
    routerOptions: {
      ignoreTrailingSlash: false,
      caseSensitive: true,
      maxParamLength: 128,
      // A URL that is refused for its length is not parsed.
      querystringParser: (text) => formParameters(text.length > LONGEST_URL ? '' : text) as never,
    },
  });

  const served = servedPaths(app);
  const admitOrigin = crossOrigin(app, options.isRegisteredOrigin);
  app.decorate('outages', options.outages);
  app.decorateRequest('span', undefined);
  if (options.beginSpan !== undefined) traceRequests(app, options.beginSpan);
  observe(app, options);
  decorateAddress(app, options.trustProxy);
  app.addHook('onRequest', (request, _reply, done) => (request.method === 'HEAD' ? options.enterHead(done) : done()));
  app.addHook('onRequest', (request, reply, done) => {
    request.peerAddress = request.raw.socket.remoteAddress;
    reply.headers(headers).header('x-request-id', request.id);
    if (request.routeOptions.config.keepsOpener === true) keepOpener(reply);
    if (request.headers.origin === undefined) {
      // Most requests come from no web page, and need not wait for a promise.
      requireWellFormed(request);
      return done(request.is404 ? refuseRoute(request, served) : undefined);
    }
    return admitOrigin(request, reply).then((isGranted) => {
      requireWellFormed(request);
      if (isGranted) return reply.code(204).send();
      if (request.is404) throw refuseRoute(request, served);
      return undefined;
    });
  });
  if (options.waiting !== undefined) refuseLate(app, options.waiting);
  // The hook refuses such a request before any body is read; Fastify requires a handler all the same.
  app.setNotFoundHandler((request, reply) => refuse(nothingHere(), request, reply));
  app.setErrorHandler(refuse);
  app.removeAllContentTypeParsers();
  app.setValidatorCompiler(compileValidator);
  // Handlers build answers from allow-lists; schemas of answers describe them and need not filter them again.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  return app;
}

const pathOf = ({ raw }: FastifyRequest): string => (raw.url ?? '').split('?', 1)[0] ?? '';

/** @throws {OAuthError} 414 for a URL that is too long; 400 without exactly one Host header (RFC 9112 §3.2) */
function requireWellFormed({ raw }: FastifyRequest): void {
  if (raw.url !== undefined && raw.url.length > LONGEST_URL) {
    throw new OAuthError(414, 'invalid_request', 'The address is longer than 16 KiB.');
  }
  if (raw.httpVersion === '1.1' && countHosts(raw.rawHeaders) !== 1) {
    throw invalidRequest('The request must have one Host header.');
  }
}

/** Counts the Host headers, of which `headers` shows only one. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  }
  return hosts;
}

/** Adds `request.address`, which is determined when it is first read: many requests need no address. */
function decorateAddress(app: FastifyInstance, trustProxy: TrustProxy): void {
  const addressOf = clientAddress(trustProxy);
  const known = Symbol('address');
  app.decorateRequest('peerAddress', undefined);
  app.decorateRequest(known, undefined);
  app.decorateRequest('address', {
    getter(this: FastifyRequest & { [known]?: string | null | undefined }) {
      if (this[known] === undefined) this[known] = addressOf(this.raw, this.peerAddress);
      return this[known];
    },
  });
}

/**
 * Writes one log line and counts one request for each answer. Neither contains the URL, which may hold codes, states and handles.
 * A successful request is logged at `debug`, a refusal at `info` with its reason, an internal error at `error`. During an outage
 * of the store every request is refused: those lines are at `debug`, and outages.ts logs the outage as a whole.
 */
function observe(
  app: FastifyInstance,
  { meter, traceRefusal, logLevel }: Pick<ServerOptions, 'meter' | 'traceRefusal' | 'logLevel'>,
): void {
  // A line that is not written need not be put together: most of them.
  const writesDebug = logLevel === 'debug' || logLevel === 'trace';
  app.decorateRequest('refusal', null);
  app.decorateRequest('subject', undefined);
  app.addHook('onResponse', (request, reply, done) => {
    const { method, refusal } = request;
    const route = request.routeOptions.url ?? 'none';
    const status = reply.statusCode;
    meter?.answered({ method, route, status, seconds: reply.elapsedTime / 1000, refusal });
    const level = levelOf(status, refusal);
    if (level !== 'debug' || writesDebug) {
      const ms = Math.round(reply.elapsedTime * 10) / 10;
      const why = refusal === null ? undefined : whyRefused(request, refusal);
      logLine(request.log, level, 'answered', { ...requestIds(request), method, route, status, ms, ...why });
    }
    if (refusal !== null || status >= 400 || request.unreadable !== undefined) traceRefusal(request, reply);
    done();
  });
}

/** What the log line of a refusal says beside the answer. A path without a route may be anything, so it is masked. */
function whyRefused(request: FastifyRequest, refusal: RequestRefusal): LogFacts<'answered'> {
  const { subject, routeOptions } = request;
  return {
    error: refusal.code,
    reason: refusal.reason,
    // That of an operator's call may repeat a password that was typed into another field.
    description:
      isForApps(routeOptions.schema) && refusal.reason === undefined ? masked(refusal.description) : undefined,
    // Anyone can send any text as an id.
    client: subject?.clientId !== undefined && isSnowflake(subject.clientId) ? subject.clientId : undefined,
    address: request.address,
    path: routeOptions.url === undefined ? maskedPath(pathOf(request)) : undefined,
    differs: refusal.differs,
  };
}

const isForApps = (schema: FastifySchema | undefined): boolean =>
  schema?.operationId !== undefined && schema.caller !== 'admin key';

function levelOf(status: number, refusal: FastifyRequest['refusal']): LogLineLevel<'answered'> {
  if (refusal?.reason === STORE_UNAVAILABLE) return 'debug';
  // 503 for another reason, such as a full queue, is a refusal and not an internal error.
  if (status >= 500 && status !== 503) return 'error';
  return refusal === null && status < 400 ? 'debug' : 'info';
}

/** RFC 9110 §15.5.6: 405 lists the methods that a path does serve; 404 names the similar paths of the API, or what to do instead. */
function refuseRoute(request: FastifyRequest, { methodsAt, similarTo, insteadOf }: ServedPaths): OAuthError {
  const path = pathOf(request);
  const allow = methodsAt(path);
  if (allow === undefined) {
    const similar = similarTo(path);
    const instead = insteadOf(path);
    if (instead !== undefined) return nothingHereBut(instead);
    if (similar.length === 0) return nothingHere();
    return nothingHereBut(`Did you mean ${similar.join(' or ')}?`);
  }
  if (isPreflight(request)) {
    const { headers, unreadable } = request;
    return new OAuthError(
      405,
      'invalid_request',
      'This preflight is not granted.',
      { allow },
      'preflight not granted',
      {
        rule: 'Fetch Standard §3.2.2',
        expected: 'the origin of a redirect URI of an active public app',
        received: `Origin: ${headers.origin}`,
        remedy: unreadable?.remedy,
      },
    );
  }
  // What only reads comes first, and what deletes last.
  const methods = ['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE'].filter((method) =>
    allow.split(', ').includes(method),
  );
  const isChange = request.method === 'PUT' || request.method === 'POST';
  const remedy = isChange && methods.includes('PATCH') ? 'Use PATCH to change fields.' : `Use ${methods.join(' or ')}.`;
  const description = `This address answers ${allow}, and the method was ${request.method}. ${remedy}`;
  return new OAuthError(405, 'invalid_request', description, { allow }, undefined, { remedy });
}
