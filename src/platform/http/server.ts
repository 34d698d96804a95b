import { randomUUID } from 'node:crypto';
import type { Server } from 'node:http';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { LogLevel, TrustProxy } from '../config/config.ts';
import { invalidRequest, nothingHere, OAuthError } from '../oauth-error.ts';
import { callerAddress } from './caller-address.ts';
import { crossOrigin } from './cors.ts';
import { toOAuthError } from './errors.ts';
import type { Meter } from './meter.ts';
import { observe } from './observe.ts';
import type { Outages } from './outages.ts';
import { formParameters } from './parameters.ts';
import { compileValidator } from './validators.ts';

/** Addresses have up to 16 KiB. */
const LONGEST_URL = 16 * 1024;

export interface ServerOptions {
  readonly server: Server;
  readonly https: boolean;
  readonly trustProxy: TrustProxy;
  readonly logLevel: LogLevel;
  readonly meter: Pick<Meter, 'answered'>;
  readonly outages: Outages;
  /** Whether an app that runs in a browser is registered at an origin. */
  readonly isRegisteredOrigin: (origin: string) => Promise<boolean>;
  /** Answers with an error where no route has its own way to. */
  readonly answerError: (request: FastifyRequest, reply: FastifyReply, error: OAuthError) => void;
}

/** Headers of every answer, errors included; beside them stands the correlation id, under which the log tells of it. */
function commonHeaders(https: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'x-frame-options': 'DENY',
    ...(https && { 'strict-transport-security': 'max-age=63072000; includeSubDomains' }),
  };
}

/** How many Host headers came: of several, `headers` shows one. */
function hostsIn(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  }
  return hosts;
}

/** In place of the framework's own compilers, which are not even loaded: ours are set before any route is. */
const neverAsked = (): never => {
  throw new Error('a compiler of the framework was asked for');
};

const pathOf = ({ raw }: FastifyRequest): string => (raw.url ?? '').split('?', 1)[0] ?? '';

/**
 * The HTTP server without its routes: limits, common headers, one place where errors become answers.
 * @param options.server an HTTP server that listens already; requests reach the routes once they are ready
 */
export function createApp(options: ServerOptions): FastifyInstance {
  const headers = commonHeaders(options.https);
  const refuse = (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
    options.answerError(request, reply, toOAuthError(error, request));
  const app = fastify({
    serverFactory: (handler) => {
      options.server.on('request', handler);
      return options.server;
    },
    // What the router refuses before any route: an address that cannot be decoded.
    frameworkErrors: (error, request, reply) => {
      reply.headers(headers).header('x-request-id', request.id);
      refuse(error, request as FastifyRequest, reply as FastifyReply);
    },
    exposeHeadRoutes: false,
    genReqId: () => randomUUID(),
    // The framework's own lines carry addresses, and with them codes, states and handles: see observe.ts.
    logger: { level: options.logLevel },
    logController: new LogController({ disableRequestLogging: true }),
    // A logger made for each request would cost more than most requests log: the lines name the request themselves.
    childLoggerFactory: (logger) => logger,
    schemaController: { compilersFactory: { buildValidator: neverAsked, buildSerializer: neverAsked } },
    routerOptions: {
      ignoreTrailingSlash: false,
      caseSensitive: true,
      maxParamLength: 128,
      // Of an address that is refused for its length nothing is read.
      querystringParser: (text) => formParameters(text.length > LONGEST_URL ? '' : text) as never,
    },
  });

  const methodsAt = servedMethods(app);
  const admitOrigin = crossOrigin(app, options.isRegisteredOrigin);
  app.decorate('outages', options.outages);
  observe(app, options.meter);
  const addressOf = callerAddress(options.trustProxy);
  app.decorateRequest('address', null);
  const check = (request: FastifyRequest): void => {
    if (request.raw.url !== undefined && request.raw.url.length > LONGEST_URL) {
      throw new OAuthError(414, 'invalid_request', 'The address is longer than 16 KiB.');
    }
    // RFC 9112 §3.2: one Host, neither none nor several.
    if (request.raw.httpVersion === '1.1' && hostsIn(request.raw.rawHeaders) !== 1) {
      throw invalidRequest('The request must have one Host header.');
    }
  };
  app.addHook('onRequest', (request, reply, done) => {
    request.address = addressOf(request.raw);
    reply.headers(headers).header('x-request-id', request.id);
    if (request.headers.origin === undefined) {
      // Most requests come from no page, and need not wait for a promise.
      check(request);
      return done(request.is404 ? refuseAddress(methodsAt(pathOf(request))) : undefined);
    }
    return admitOrigin(request, reply).then((preflight) => {
      check(request);
      if (preflight) return reply.code(204).send();
      if (request.is404) throw refuseAddress(methodsAt(pathOf(request)));
      return undefined;
    });
  });
  // Before any body is read; the handler is only there for the framework.
  app.setNotFoundHandler((request, reply) => refuse(refuseAddress(undefined), request, reply));
  app.setErrorHandler(refuse);
  app.removeAllContentTypeParsers();
  app.setValidatorCompiler(compileValidator);
  // Views are allow-lists already; schemas of answers describe them and need not filter them again.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  return app;
}

/** RFC 9110 §15.5.6: 405 names the methods that an address does serve. @param allow undefined where there is none */
function refuseAddress(allow: string | undefined): OAuthError {
  return allow === undefined
    ? nothingHere()
    : new OAuthError(405, 'invalid_request', `This address answers ${allow}.`, { allow });
}

/** Knows every route that was registered, to tell a wrong method from an address where there is nothing. */
function servedMethods(app: FastifyInstance): (path: string) => string | undefined {
  const served = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  app.addHook('onRoute', ({ url, method }) => {
    const pattern = new RegExp(`^${url.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:[^/]+/g, '[^/]+')}$`);
    const { methods } = served.get(url) ?? { methods: new Set() };
    for (const name of [method].flat()) methods.add(name);
    served.set(url, { pattern, methods });
  });
  return (path) => {
    for (const { pattern, methods } of served.values()) {
      if (pattern.test(path)) return [...methods].sort().join(', ');
    }
    return undefined;
  };
}
