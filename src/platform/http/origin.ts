import type { FastifyRequest } from 'fastify';
import { addressBucket, networkBucket } from '../validation/address-bucket.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * The caller's IP address, by the trusted proxies alone; null where none is known. Read when the request came: a caller
     * that hangs up takes it from the socket, and what was asked is done and recorded all the same.
     */
    address: string | null;
  }
}

/** Who acted, and from where: taken from the session, the client's credentials or the admin key, never from a body. */
export interface Origin {
  readonly actor:
    | { readonly type: 'user' | 'client' | 'admin'; readonly id: string | null }
    | { readonly type: 'cli' | 'system' | 'anonymous'; readonly id: null };
  readonly address: string | null;
  /** One HTTP request, or one run of a command. */
  readonly requestId: string | null;
  /** Who ran the command, by the name that the machine has for them. */
  readonly systemUser?: string;
}

/** Where a request comes from, for the audit trail. */
export function originOf(request: FastifyRequest, actor: Origin['actor'] = { type: 'anonymous', id: null }): Origin {
  return { actor, address: request.address, requestId: request.id };
}

/** The address behind a request, and its network, as those that share the queue: one site may have 65,536 IPv6 /64s. */
export function addressSharers({ address }: Pick<Origin, 'address'>): readonly string[] {
  const network = networkBucket(address);
  return [`address ${addressBucket(address)}`, ...(network === undefined ? [] : [`network ${network}`])];
}
