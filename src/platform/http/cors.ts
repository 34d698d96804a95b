import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { MINUTE, SECOND } from '../clock.ts';
import { logLine } from '../log.ts';
import { requestIds } from './request-tracing.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /**
     * Which web pages may read the answers of a route: those of any origin, or those of the origins of registered browser apps.
     * Without it, no page of another origin may. Requests never include credentials such as cookies.
     */
    readers?: 'anyone' | 'registered';
    /** Whether a browser opens the route as a page or redirect, so that no script can call it. */
    opened?: true;
  }
  interface FastifyRequest {
    /** Why a web page cannot read the answer, for the developer of that page: see {@link reportUnreadable}. */
    unreadable: UnreadableAnswer | undefined;
  }
}

/** Why browsers hide an answer from a page, and what to do. */
export interface UnreadableAnswer {
  readonly cause: string;
  readonly expected: string;
  readonly remedy: string;
}

/** What the developer of the page is told. */
export const describeUnreadable = ({ cause, remedy }: UnreadableAnswer): string =>
  `CORS blocked: ${cause}. Browsers hide this response. ${remedy}`;

/** Request headers beyond the CORS-safelisted ones, and how long a browser may cache a preflight. */
const ALLOWED_HEADERS = [
  'Authorization, Content-Type',
  // Added to every request of a page by W3C Trace Context, W3C Baggage, Zipkin, and the agents of Sentry, Datadog, Elastic, New Relic,
  // Application Insights and AWS. They are ignored, except for a traceparent where the settings say so.
  'Traceparent, Tracestate, Baggage, X-Request-Id, X-Correlation-Id, B3, X-B3-TraceId, X-B3-SpanId, X-B3-ParentSpanId, X-B3-Sampled, X-B3-Flags',
  'Sentry-Trace, X-Datadog-Origin, X-Datadog-Parent-Id, X-Datadog-Sampling-Priority, X-Datadog-Trace-Id, Elastic-Apm-Traceparent, Newrelic',
  'Request-Id, Request-Context, X-Amzn-Trace-Id, X-Cloud-Trace-Context, Uber-Trace-Id',
].join(', ');
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
  const openedPaths = new Set<string>();
  app.decorateRequest('unreadable', undefined);
  app.addHook('onRoute', ({ url, method, config }) => {
    const { readers, opened } = config ?? {};
    if (opened) openedPaths.add(url);
    if (readers === undefined) return;
    const { methods } = paths.get(url) ?? { methods: new Set<string>() };
    for (const name of [method].flat()) methods.add(name);
    paths.set(url, { readers, methods });
  });

  return async (request, reply) => {
    const { origin } = request.headers;
    const address = (request.raw.url ?? '').split('?', 1)[0] ?? '';
    const path = paths.get(address);
    if (origin === undefined) return false;
    if (path === undefined) {
      // Its description is that of the 405. Other requests to such a path come from forms and native apps, too.
      if (isPreflight(request)) request.unreadable = openedPaths.has(address) ? NO_SCRIPTS : NO_PAGES;
      return false;
    }
    if (path.readers === 'registered') {
      reply.header('vary', 'Origin');
      if (!(await isRegistered(origin))) {
        await reportUnregistered(request, origin, isRegistered);
        return false;
      }
    }
    const refused = isPreflight(request) ? refusedHeader(request) : undefined;
    if (refused !== undefined) {
      reportUnreadable(request, `the request header ${refused} is not allowed here`, {
        expected: 'a request without headers of the app’s own',
        remedy: `Leave ${refused} out of this request: an interceptor of the app may add it.`,
      });
      return false;
    }
    reply
      .header('access-control-allow-origin', path.readers === 'anyone' ? '*' : origin)
      .header('access-control-expose-headers', EXPOSED_HEADERS);
    if (!isPreflight(request)) return false;
    reply
      .header('access-control-allow-methods', [...path.methods].sort().join(', '))
      .header('access-control-allow-headers', ALLOWED_HEADERS)
      .header('access-control-max-age', String(PREFLIGHT_MAX_AGE / SECOND));
    return true;
  };
}

/** Reports a page of an origin at which no app is registered; one that is, but by the other scheme, is named. */
async function reportUnregistered(
  request: FastifyRequest,
  origin: string,
  isRegistered: (origin: string) => Promise<boolean>,
): Promise<void> {
  if (origin === 'null') return reportUnreadable(request, 'the page has no origin (Origin: null)', WITHOUT_ORIGIN);
  const cause = `no active public app has a redirect URI at ${shown(origin)}`;
  const isSecure = origin.startsWith('https:');
  const other = isSecure ? origin.replace('https:', 'http:') : origin.replace('http:', 'https:');
  if (!(await isRegistered(other))) return reportUnreadable(request, cause);
  const scheme = isSecure ? 'http' : 'https';
  reportUnreadable(request, `${cause}, and a public app has this host with ${scheme}`, {
    expected: `a request from ${other}`,
    remedy: `A public app has this host with ${scheme}: open its page with ${scheme}, or add a redirect URI at ${shown(origin)} to it.`,
  });
}

const ALLOWED_NAMES: ReadonlySet<string> = new Set(ALLOWED_HEADERS.toLowerCase().split(', '));

/** The first header that a page would send and that is not allowed; it is only repeated if it is a name of a header. */
function refusedHeader({ headers }: FastifyRequest): string | undefined {
  const names = (headers['access-control-request-headers'] ?? '').toLowerCase().split(',');
  const refused = names.map((name) => name.trim()).find((name) => name !== '' && !ALLOWED_NAMES.has(name));
  return refused === undefined || /^[a-z0-9-]{1,40}$/.test(refused) ? refused : 'of the app';
}

/** Fetch Standard §3.2.2. */
export const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;

/** RFC 6454 §6.2: an origin as browsers write it. Any other text is not repeated. */
const ORIGIN = /^https?:\/\/[a-z0-9.:[\]-]{1,260}$/;
const shown = (origin: string): string => (ORIGIN.test(origin) ? origin : 'this origin');

/** Of a page whose origin browsers do not tell. */
const WITHOUT_ORIGIN = {
  expected: 'a request from the origin of a redirect URI of an active public app',
  remedy:
    'Serve the page over http or https: it is a file, a data: URL, or in a sandboxed frame without allow-same-origin.',
};

/** Of an address that the browser itself opens. */
export const NO_SCRIPTS: UnreadableAnswer = {
  expected: 'a navigation of the browser',
  cause: 'this address was called by a script (fetch or XMLHttpRequest), and a browser must open it itself',
  remedy:
    'Navigate to it: set window.location, or let the server of the app answer the page with 401 and not with a redirect that fetch follows.',
};

const NO_PAGES: UnreadableAnswer = {
  cause: 'pages of other origins cannot call this address',
  expected: 'a request from a server',
  remedy: 'Make this call from your server.',
};

const UNKNOWN_ORIGIN = {
  expected: 'a request from the origin of a redirect URI of an active public app',
  remedy:
    'Add a redirect URI at that origin to redirectUris of an app of type public (PATCH /api/v2/admin/clients/{clientId}), or make this call from your server. A confidential app stays one: register another for the browser, with type public.',
};

/**
 * Tells the developer of a page that browsers keep the answer from it: in the description of an error, and in the log, where the id
 * of the request leads.
 * @param cause what is wrong, to follow a colon
 */
export function reportUnreadable(
  request: FastifyRequest,
  cause: string,
  { expected, remedy }: Pick<UnreadableAnswer, 'expected' | 'remedy'> = UNKNOWN_ORIGIN,
): void {
  request.unreadable = { cause, remedy, expected };
  logLine(request.log, 'info', 'a page cannot read the answer', { ...requestIds(request), reason: cause });
}

/** Removes the CORS headers again, if the answer turns out to be for another app than the page's. */
export function removeCorsHeaders(reply: FastifyReply): void {
  reply.removeHeader('access-control-allow-origin').removeHeader('access-control-expose-headers');
}
