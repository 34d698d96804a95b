import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { type DescribedRoute, describedRoutes } from '../../src/openapi/document.ts';
import { startServer, type TestServer } from '../support/server.ts';

export interface Route {
  readonly method: string;
  readonly url: string;
}

export interface RoutedServer extends TestServer {
  /** Every route that this very server registered: a new one is in every matrix by itself. */
  readonly routes: readonly Route[];
  /** Those of them that are in the API document. */
  readonly described: readonly DescribedRoute[];
  /** Which of them answered a request, by the request's id: `POST /login`. */
  routeOf(requestId: string): string | undefined;
}

/** Starts a server and notes its route table while it is put together. */
export async function startRouted(settings: Readonly<Record<string, string>> = {}): Promise<RoutedServer> {
  const routes: Route[] = [];
  let described: readonly DescribedRoute[] = [];
  const answered = new Map<string, string>();
  const note = (message: unknown) => {
    const { fastify } = message as { fastify: FastifyInstance };
    described = describedRoutes(fastify);
    fastify.addHook('onRoute', ({ method, url }) => {
      // HEAD is answered by the handler of GET: see head.test.ts.
      for (const name of [method].flat()) if (name !== 'HEAD') routes.push({ method: name, url });
    });
    fastify.addHook('onRequest', async ({ id, method, routeOptions }) => {
      answered.set(id, `${method} ${routeOptions.url}`);
    });
  };
  // Fastify's own notice of a new server: https://fastify.dev/docs/latest/Reference/Hooks/#diagnostics-channel-hooks
  subscribe('fastify.initialization', note);
  try {
    const server = await startServer(settings);
    assert.ok(routes.some(({ url }) => url === '/api/v2/oauth/token'));
    return { ...server, routes, described, routeOf: (id) => answered.get(id) };
  } finally {
    unsubscribe('fastify.initialization', note);
  }
}

/** The routes that a person's browser or a token opens: neither the operators' nor the public ones. */
export const isForPeople = ({ url }: Route): boolean =>
  !['/api/v2/admin', '/health', '/assets', '/.well-known', '/openapi.json'].some((start) => url.startsWith(start)) &&
  !isReference(url);

/** The pages of the API document. */
export const isReference = (url: string): boolean => /^\/api(\/[a-z-]+)?$/.test(url);
