import { randomUUID } from 'node:crypto';
import { METHODS, type Server } from 'node:http';
import fastify, { type FastifyInstance, LogController } from 'fastify';
import type { LogLevel, TrustProxy } from '../config/config.ts';
import { OAuthError } from '../oauth-error.ts';
import { findProblem } from '../validation/validate.ts';
import { sendError, toOAuthError } from './errors.ts';
import { formParameters } from './parameters.ts';

/** Bodies up to 64 KiB, addresses up to 16 KiB. */
const LONGEST_BODY = 64 * 1024;
const LONGEST_URL = 16 * 1024;

export interface ServerOptions {
  readonly server: Server;
  readonly https: boolean;
  readonly trustProxy: TrustProxy;
  readonly logLevel: LogLevel;
}

/** A number of proxies means: that many addresses, counted from the nearest, are believed. */
const trustedHops = (trust: TrustProxy) =>
  typeof trust === 'number' ? (_address: string, hop: number) => hop < trust : trust;

/** Headers of every answer, errors included. */
function commonHeaders(https: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'x-frame-options': 'DENY',
    ...(https && { 'strict-transport-security': 'max-age=63072000; includeSubDomains' }),
  };
}

/**
 * The HTTP server without its routes: limits, common headers, one place where errors become answers.
 * @param options.server an HTTP server that listens already; requests reach the routes once they are ready
 */
export function createApp(options: ServerOptions): FastifyInstance {
  const app = fastify({
    serverFactory: (handler) => {
      options.server.on('request', handler);
      return options.server;
    },
    bodyLimit: LONGEST_BODY,
    exposeHeadRoutes: false,
    trustProxy: trustedHops(options.trustProxy),
    genReqId: () => randomUUID(),
    // Requests are not logged by themselves: an address may carry codes, states and handles.
    logger: { level: options.logLevel },
    logController: new LogController({ disableRequestLogging: true }),
    routerOptions: {
      ignoreTrailingSlash: false,
      caseSensitive: true,
      maxParamLength: 128,
      querystringParser: (text) => formParameters(text) as never,
    },
  });

  const headers = commonHeaders(options.https);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(headers);
    if (request.raw.url !== undefined && request.raw.url.length > LONGEST_URL) {
      throw new OAuthError(414, 'invalid_request', 'The address is longer than 16 KiB.');
    }
    if (request.is404) throw new OAuthError(404, 'invalid_request', 'There is nothing at this address.');
  });
  app.setNotFoundHandler((request, reply) => {
    sendError(request, reply, new OAuthError(404, 'invalid_request', 'There is nothing at this address.'));
  });
  app.setErrorHandler((error, request, reply) => sendError(request, reply, toOAuthError(error, request)));
  app.removeAllContentTypeParsers();
  app.setValidatorCompiler(({ schema }) => (value) => {
    const problem = findProblem(schema as object, value);
    return problem === undefined ? { value } : { error: problem };
  });
  // Views are allow-lists already; schemas of answers describe them and need not filter them again.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  return app;
}

/** Every method that reaches the routes. CONNECT never does: it asks for a tunnel, not for an address. */
const methods = METHODS.filter((method) => method !== 'CONNECT');

/**
 * Notes every route that is registered after this call; the function that it answers then gives each address a 405 for
 * the methods that it does not serve (RFC 9110 §15.5.6), before any body is read.
 */
export function refuseOtherMethods(app: FastifyInstance): () => void {
  for (const method of methods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  const served = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const names = served.get(url) ?? new Set();
    for (const name of [method].flat()) names.add(name);
    served.set(url, names);
  });
  return () => {
    for (const [url, names] of [...served]) {
      const allow = [...names].sort().join(', ');
      const refuse = async () => {
        throw new OAuthError(405, 'invalid_request', `This address answers ${allow}.`, { allow });
      };
      const others = methods.filter((method) => !names.has(method));
      if (others.length > 0) app.route({ method: others, url, onRequest: refuse, handler: refuse });
    }
  };
}
