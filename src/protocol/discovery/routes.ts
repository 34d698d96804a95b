import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readAlgorithmsInUse } from '../../clients/store.ts';
import type { Keys } from '../../keys/keys.ts';
import { JWKS_MAX_AGE } from '../../keys/rules/schedule.ts';
import { type Clock, HOUR, MINUTE, SECOND } from '../../platform/clock.ts';
import { isLoopback } from '../../platform/config/loopback.ts';
import type { TraceRecorder } from '../../traces/recorder.ts';
import {
  adminMetadata,
  adminMetadataPath,
  JWKS_PATH,
  metadata,
  type Published,
  resourceMetadata,
  resourceMetadataPath,
} from './metadata.ts';
import { documents, readAdminMetadataSchema, readKeysSchema, readResourceMetadataSchema } from './route-schemas.ts';

interface DiscoveryParts extends Published {
  readonly keys: Keys;
  readonly clock: Clock;
  readonly traces: Pick<TraceRecorder, 'completed'>;
}

/** RFC 9110 §9.3.2: public resources answer HEAD too. */
const HEAD = { exposeHeadRoute: true, config: { readers: 'anyone' } } as const;

/** How long a host is remembered that discovery was fetched at. */
const TOLD_FOR = MINUTE;
const MOST_HOSTS = 20;

/**
 * Tells a developer that discovery was fetched at another host than that of the issuer, such as 127.0.0.1 for localhost: a library refuses
 * the issuer that it finds there. Only where the issuer is this machine; elsewhere, a proxy may change the host.
 */
function tellOtherHost({ issuer, clock, traces }: DiscoveryParts): (request: FastifyRequest) => void {
  const { host, protocol, hostname } = new URL(issuer);
  const told = new Map<string, number>();
  return ({ id, headers, routeOptions }) => {
    const now = clock();
    const used = headers.host?.toLowerCase();
    if (!isLoopback(hostname) || used === undefined || used === host || !isHost(used)) return;
    if (now - (told.get(used) ?? Number.NEGATIVE_INFINITY) < TOLD_FOR || told.size >= MOST_HOSTS) return;
    told.set(used, now);
    traces.completed.push({
      at: now,
      requestId: id,
      step: 'other',
      facts: {
        method: 'GET',
        path: routeOptions.url,
        status: 200,
        description: `Discovery was fetched at ${protocol}//${used}, and the issuer is ${issuer}: a library refuses this.`,
        expected: issuer,
        received: `${protocol}//${used}`,
        remedy: `Use ${issuer} as the issuer in the app, character for character, or set TESSERA_BASE_URL to ${protocol}//${used}.`,
      },
    });
  };
}

/** Whether a Host header is a host, so that it can be printed. */
const isHost = (text: string): boolean => /^[a-z0-9.-]{1,100}(:\d{1,5})?$|^\[[0-9a-f:.]{2,45}\](:\d{1,5})?$/.test(text);

/** Sends a public document that is the same for every client: any page may read it, and caches may store it. */
const publish = (reply: FastifyReply, maxAge: number, body: unknown): FastifyReply =>
  reply
    .header('access-control-allow-origin', '*')
    .header('cache-control', `public, max-age=${maxAge / SECOND}`)
    .type('application/json')
    .send(JSON.stringify(body));

/** The discovery documents and the key set, below the base URL (OpenID Connect Discovery 1.0 §4). */
export function discoveryRoutes(app: FastifyInstance, parts: DiscoveryParts): void {
  const { keys, ...published } = parts;
  const tellHost = tellOtherHost(parts);
  for (const [name, schema] of Object.entries(documents)) {
    app.get(`/.well-known/${name}`, { ...HEAD, schema }, async (request, reply) => {
      tellHost(request);
      return publish(reply, HOUR, metadata(published));
    });
  }
  app.get(resourceMetadataPath(''), { ...HEAD, schema: readResourceMetadataSchema }, async (_request, reply) =>
    publish(reply, HOUR, resourceMetadata(published)),
  );
  app.get(adminMetadataPath(''), { ...HEAD, schema: readAdminMetadataSchema }, async (_request, reply) =>
    publish(reply, HOUR, adminMetadata(published)),
  );
  app.get(JWKS_PATH, { ...HEAD, schema: readKeysSchema }, async (_request, reply) => {
    const signing = await keys.published(readAlgorithmsInUse);
    return publish(reply, JWKS_MAX_AGE, { keys: signing.map(({ publicJwk }) => publicJwk) });
  });
}

/**
 * RFC 8414 §3.1, RFC 9728 §3.1: if the base URL has a path, the well-known part comes before it, at the root of the host. OpenID Connect puts
 * it after the path, but clients look for its document in both places (RFC 8414 §5).
 */
export function insertedDiscoveryRoutes(app: FastifyInstance, published: Published, basePath: string): void {
  if (basePath === '') return;
  for (const name of Object.keys(documents)) {
    app.get(`/.well-known/${name}${basePath}`, HEAD, async (_request, reply) =>
      publish(reply, HOUR, metadata(published)),
    );
  }
  app.get(resourceMetadataPath(basePath), HEAD, async (_request, reply) =>
    publish(reply, HOUR, resourceMetadata(published)),
  );
  app.get(adminMetadataPath(basePath), HEAD, async (_request, reply) => publish(reply, HOUR, adminMetadata(published)));
}
