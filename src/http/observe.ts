import type { FastifyInstance } from 'fastify';
import type { Meter } from '../metrics/meter.ts';

/**
 * One line in the log and one count for every answered request. Neither carries an address: it may hold codes, states and
 * handles. A request that went well is logged at `debug`, a refusal at `info` with its reason, a fault at `error`.
 */
export function observe(app: FastifyInstance, meter: Pick<Meter, 'answered'>): void {
  app.decorateRequest('refusal', null);
  app.addHook('onResponse', (request, reply, done) => {
    const { method, refusal } = request;
    const route = request.routeOptions.url ?? 'none';
    const status = reply.statusCode;
    meter.answered({ method, route, status, seconds: reply.elapsedTime / 1000, refusal });
    const level = status >= 500 ? 'error' : refusal === null && status < 400 ? 'debug' : 'info';
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    const why = refusal && { error: refusal.code, reason: refusal.reason, differs: refusal.differs };
    request.log[level]({ reqId: request.id, method, route, status, ms, ...why }, 'answered');
    done();
  });
}
