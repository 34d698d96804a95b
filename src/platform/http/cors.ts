import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MINUTE, SECOND } from '../clock.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Which web pages may read the answers of a route: those of any origin, or those of the origins of registered browser apps.
     * Without it, no page of another origin may. Requests never include credentials such as cookies.
     */
    readers?: 'anyone' | 'registered';
  }
}

/** Request headers beyond the CORS-safelisted ones, and how long a browser may cache a preflight. */
const ALLOWED_HEADERS = 'Authorization, Content-Type';
const PREFLIGHT_MAX_AGE = 10 * MINUTE;
/** Response headers beyond the CORS-safelisted ones: why it was refused, when to retry, what id to report. */
const EXPOSED_HEADERS = 'WWW-Authenticate, Retry-After, X-Request-Id';

interface CorsPath {
  readonly readers: 'anyone' | 'registered';
  readonly methods: Set<string>;
}

/**
 * Cross-origin requests (Fetch Standard §3.2). The CORS headers are set before anything else is checked, so that a page can read
 * errors too.
 * @param app the server, before any route is registered
 * @param isRegistered whether a browser app is registered for an origin
 * @returns a function for every request with an Origin header; it resolves to true for a granted preflight
 */
export function crossOrigin(
  app: FastifyInstance,
  isRegistered: (origin: string) => Promise<boolean>,
): (request: FastifyRequest, reply: FastifyReply) => Promise<boolean> {
  const paths = new Map<string, CorsPath>();
  app.addHook('onRoute', ({ url, method, config }) => {
    const readers = config?.readers;
    if (readers === undefined) return;
    const { methods } = paths.get(url) ?? { methods: new Set<string>() };
    for (const name of [method].flat()) methods.add(name);
    paths.set(url, { readers, methods });
  });

  return async (request, reply) => {
    const { origin } = request.headers;
    const path = paths.get((request.raw.url ?? '').split('?', 1)[0] ?? '');
    if (origin === undefined || path === undefined) return false;
    if (path.readers === 'registered') {
      reply.header('vary', 'Origin');
      if (!(await isRegistered(origin))) return false;
    }
    reply
      .header('access-control-allow-origin', path.readers === 'anyone' ? '*' : origin)
      .header('access-control-expose-headers', EXPOSED_HEADERS);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
    reply
      .header('access-control-allow-methods', [...path.methods].sort().join(', '))
      .header('access-control-allow-headers', ALLOWED_HEADERS)
      .header('access-control-max-age', String(PREFLIGHT_MAX_AGE / SECOND));
    return true;
  };
}

/** Removes the CORS headers again, if the answer turns out to be for another app than the page's. */
export function removeCorsHeaders(reply: FastifyReply): void {
  reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
}
