import { createServer } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { AdminCaller } from '../admin/guard.ts';
import { ADMIN_PATH } from '../admin/path.ts';
import { adminOperations } from '../admin/routes.ts';
import type { Core } from '../core.ts';
import { EVERYTHING } from '../operators/rights.ts';
import { createApp } from '../platform/http/server.ts';
import { OAuthError } from '../platform/oauth-error.ts';
import { countProgress } from './progress.ts';
import { refusalOfApi } from './refusal.ts';
import { type ApiRequest, FILE_TYPE, type Send } from './send.ts';
import { CLI_ORIGIN } from './session.ts';

/**
 * Serves the admin API in this process: the same routes as the server's, without a network, a key or an operator's rights. What a route
 * throws is thrown here as it is.
 */
export async function sendInProcess(core: Core, { lastOwner }: { readonly lastOwner: boolean }): Promise<Send> {
  const { config, clock } = core;
  const caller: AdminCaller = {
    services: {
      ...{ ...core, ...(await core.notices()) },
      secondFactor: config.secondFactor,
      signUp: config.signUp,
      developers: config.developers,
      traces: { flush: async () => {} },
      traceRetention: config.traceRetention,
      ...{ adminKeyId: null, operator: undefined, lastOwner },
    },
    origin: CLI_ORIGIN,
    reach: EVERYTHING,
    progress: countProgress('Sign-ins'),
  };
  let thrown: unknown;
  const fail = (error: unknown, reply: FastifyReply) => {
    thrown = error;
    reply.code(500).send();
  };
  const app = createApp({
    server: createServer(),
    https: false,
    trustProxy: false,
    logLevel: 'silent',
    log: undefined,
    meter: undefined,
    traceRefusal: () => {},
    enterHead: (next) => next(),
    outages: { failed: () => {}, lasts: () => false, stop: () => {} },
    isRegisteredOrigin: async () => false,
    answerError: (_request, reply, error) => fail(error, reply),
  });
  app.register(
    async (scope) => {
      scope.setErrorHandler((error, _request, reply) => fail(error, reply));
      scope.decorateRequest('adminCaller', undefined);
      scope.addHook('onRequest', async (request) => {
        request.adminCaller = caller;
      });
      adminOperations(scope, clock);
    },
    { prefix: ADMIN_PATH },
  );
  await app.ready();

  return async ({ method, path, body, file, ifMatch }: ApiRequest) => {
    thrown = undefined;
    const url = ADMIN_PATH + path;
    const payload = file === undefined ? body : Buffer.from(file);
    const headers = {
      ...(file !== undefined && { 'content-type': FILE_TYPE }),
      ...(ifMatch !== undefined && { 'if-match': ifMatch }),
    };
    const answer = await app.inject({ method, url, headers, ...(payload !== undefined && { payload }) });
    if (thrown !== undefined) throw errorOf(thrown);
    const { etag } = answer.headers;
    return { body: answer.body === '' ? undefined : JSON.parse(answer.body), etag };
  };
}

/** A refusal of the HTTP layer, such as of a parameter, is one of the command. */
const errorOf = (error: unknown): unknown =>
  (error instanceof OAuthError ? refusalOfApi(error.code, error.message) : undefined) ?? error;
