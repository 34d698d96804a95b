import type { FastifyInstance, FastifyReply } from 'fastify';
import { readAlgorithmsInUse } from '../../clients/store.ts';
import type { Keys } from '../../keys/keys.ts';
import { JWKS_MAX_AGE } from '../../keys/rules/schedule.ts';
import { HOUR, SECOND } from '../../platform/clock.ts';
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
}

/** RFC 9110 §9.3.2: public resources answer HEAD too. */
const HEAD = { exposeHeadRoute: true, config: { readers: 'anyone' } } as const;

/** Sends a public document that is the same for every client: any page may read it, and caches may store it. */
const publish = (reply: FastifyReply, maxAge: number, body: unknown): FastifyReply =>
  reply
    .header('access-control-allow-origin', '*')
    .header('cache-control', `public, max-age=${maxAge / SECOND}`)
    .type('application/json')
    .send(JSON.stringify(body));

/** The discovery documents and the key set, below the base URL (OpenID Connect Discovery 1.0 §4). */
export function discoveryRoutes(app: FastifyInstance, { keys, ...published }: DiscoveryParts): void {
  for (const [name, schema] of Object.entries(documents)) {
    app.get(`/.well-known/${name}`, { ...HEAD, schema }, async (_request, reply) =>
      publish(reply, HOUR, metadata(published)),
    );
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
