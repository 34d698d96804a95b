import type { FastifyRequest } from 'fastify';

/** How many Authorization headers a request has: a proxy may add its own, and the first alone is read. */
export const sentAuthorizations = ({ raw }: FastifyRequest): number =>
  raw.headersDistinct['authorization']?.length ?? 0;
