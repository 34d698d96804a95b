import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database.ts';
import { first, statement } from '../database/statement.ts';
import { OAuthError } from '../oauth-error.ts';
import { isLive, isReady } from './operations.ts';

const probe = statement((db, _p: object) => db.selectFrom('key_set').select('id'));

/** Some load balancers ask with HEAD. */
const HEAD = { exposeHeadRoute: true } as const;

interface HealthParts {
  readonly database: Database;
  /** Whether the process is about to end. */
  leaving(): boolean;
}

/** Whether the process lives, and whether it can do its work: for load balancers and supervisors. */
export function healthRoutes(app: FastifyInstance, { database, leaving }: HealthParts): void {
  app.get('/health/live', { ...HEAD, schema: isLive }, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  );
  app.get('/health/ready', { ...HEAD, schema: isReady }, async (_request, reply) => {
    if (leaving()) {
      throw new OAuthError(503, 'temporarily_unavailable', 'This node is about to stop.', { 'retry-after': '1' });
    }
    await database.read(() => first(probe, {}));
    return reply.header('cache-control', 'no-store').send({ status: 'ok' });
  });
}
