import type { FastifyInstance } from 'fastify';
import { Failure } from '../../platform/failure.ts';
import { isLiveSchema, isReadySchema } from './route-schemas.ts';

/** Some load balancers ask with HEAD. */
const HEAD = { exposeHeadRoute: true } as const;

/**
 * Whether the process lives, and whether it can do its work: for load balancers and supervisors.
 * @param unready see `readiness`
 */
export function healthRoutes(app: FastifyInstance, unready: () => Promise<string | undefined>): void {
  app.get('/health/live', { ...HEAD, schema: isLiveSchema }, async (_request, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  );
  app.get('/health/ready', { ...HEAD, schema: isReadySchema }, async (_request, reply) => {
    const reason = await unready();
    if (reason !== undefined) throw new Failure('unavailable', reason, { retryAfter: 1 });
    return reply.header('cache-control', 'no-store').send({ status: 'ok' });
  });
}
