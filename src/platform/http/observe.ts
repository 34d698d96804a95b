import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Meter } from './meter.ts';
import { STORE_AWAY } from './outages.ts';

/**
 * One line in the log and one count for every answered request. Neither carries an address: it may hold codes, states and
 * handles. A request that went well is logged at `debug`, a refusal at `info` with its reason, a fault at `error`. Of refusals for
 * the store there are as many as requests: they are logged at `debug`, and outages.ts tells of all of them together.
 */
export function observe(app: FastifyInstance, meter: Pick<Meter, 'answered'>): void {
  app.decorateRequest('refusal', null);
  app.addHook('onResponse', (request, reply, done) => {
    const { method, refusal } = request;
    const route = request.routeOptions.url ?? 'none';
    const status = reply.statusCode;
    meter.answered({ method, route, status, seconds: reply.elapsedTime / 1000, refusal });
    const level = levelOf(status, refusal);
    const ms = Math.round(reply.elapsedTime * 10) / 10;
    const why = refusal && { error: refusal.code, reason: refusal.reason, differs: refusal.differs };
    request.log[level]({ reqId: request.id, method, route, status, ms, ...why }, 'answered');
    done();
  });
}

function levelOf(status: number, refusal: FastifyRequest['refusal']): 'debug' | 'info' | 'error' {
  if (refusal?.reason === STORE_AWAY) return 'debug';
  // 503 with another reason, such as a full queue, is a refusal and no fault.
  if (status >= 500 && status !== 503) return 'error';
  return refusal === null && status < 400 ? 'debug' : 'info';
}
