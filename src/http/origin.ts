import type { FastifyRequest } from 'fastify';
import type { Origin } from '../events/audit.ts';

/** Where a request comes from, for the audit trail. The address honours the trusted proxies alone. */
export function originOf(request: FastifyRequest, actor: Origin['actor'] = { type: 'anonymous', id: null }): Origin {
  return { actor, address: request.ip, requestId: request.id };
}
