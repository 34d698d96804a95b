import type { FastifyRequest } from 'fastify';
import type { Origin } from '../events/audit.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The caller's IP address, by the trusted proxies alone; null where none is known. Read when the request came: a caller
     * that hangs up takes it from the socket, and what was asked is done and recorded all the same.
     */
    address: string | null;
  }
}

/** Where a request comes from, for the audit trail. */
export function originOf(request: FastifyRequest, actor: Origin['actor'] = { type: 'anonymous', id: null }): Origin {
  return { actor, address: request.address, requestId: request.id };
}
