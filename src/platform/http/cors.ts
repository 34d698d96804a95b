import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MINUTE, SECOND } from '../clock.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Whose pages may read the answers of a route: anybody's, or those on the origins of registered apps that run in a
     * browser. Without it no page of another origin may. Cookies are never part of it.
     */
    readers?: 'anyone' | 'registered';
  }
}

/** What a page may send beside what it may send anyway, and how long it need not ask again. */
const ALLOWED_HEADERS = 'Authorization, Content-Type';
const PREFLIGHT_MAX_AGE = 10 * MINUTE;
/** What it may read beside what it may read anyway: how it was refused, when to come back, what to report. */
const EXPOSED_HEADERS = 'WWW-Authenticate, Retry-After, X-Request-Id';

interface Place {
  readonly readers: 'anyone' | 'registered';
  readonly methods: Set<string>;
}

/**
 * Cross-origin requests (Fetch Standard §3.2). What is decided about an origin goes into the answer before anything else
 * is looked at, so that a page can read errors too.
 * @param app the server, before any of its routes
 * @param isRegistered whether an app that runs in a browser is registered at an origin
 * @returns what every request with an Origin passes through; true for a preflight that is granted
 */
export function crossOrigin(
  app: FastifyInstance,
  isRegistered: (origin: string) => Promise<boolean>,
): (request: FastifyRequest, reply: FastifyReply) => Promise<boolean> {
  const places = new Map<string, Place>();
  app.addHook('onRoute', ({ url, method, config }) => {
    const readers = config?.readers;
    if (readers === undefined) return;
    const { methods } = places.get(url) ?? { methods: new Set<string>() };
    for (const name of [method].flat()) methods.add(name);
    places.set(url, { readers, methods });
  });

  return async (request, reply) => {
    const { origin } = request.headers;
    const place = places.get((request.raw.url ?? '').split('?', 1)[0] ?? '');
    if (origin === undefined || place === undefined) return false;
    if (place.readers === 'registered') {
      reply.header('vary', 'Origin');
      if (!(await isRegistered(origin))) return false;
    }
    reply
      .header('access-control-allow-origin', place.readers === 'anyone' ? '*' : origin)
      .header('access-control-expose-headers', EXPOSED_HEADERS);
    if (request.method !== 'OPTIONS' || request.headers['access-control-request-method'] === undefined) return false;
    reply
      .header('access-control-allow-methods', [...place.methods].sort().join(', '))
      .header('access-control-allow-headers', ALLOWED_HEADERS)
      .header('access-control-max-age', String(PREFLIGHT_MAX_AGE / SECOND));
    return true;
  };
}

/** Takes back what was granted to the page's origin: the answer turns out to be another app's. */
export function closeToPages(reply: FastifyReply): void {
  reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
}
