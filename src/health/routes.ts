import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database.ts';
import { first, statement } from '../database/statement.ts';

const probe = statement((db, _p: object) => db.selectFrom('key_set').select('id'));

/** Some load balancers ask with HEAD. */
const HEAD = { exposeHeadRoute: true } as const;

/** Whether the process lives, and whether it can do its work: for load balancers and supervisors. */
export function healthRoutes(app: FastifyInstance, { database }: { readonly database: Database }): void {
  app.get('/health/live', HEAD, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  );
  app.get('/health/ready', HEAD, async (_request, reply) => {
    await database.read(() => first(probe, {}));
    return reply.header('cache-control', 'no-store').send({ status: 'ok' });
  });
}
