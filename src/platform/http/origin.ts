import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { TrustProxy } from '../config/config.ts';
import {
  addressBucket,
  canonicalAddress,
  networkBucket,
  networkMatcher,
  parseForwardedEntry,
} from '../validation/ip-address.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The address of the other end of the connection, read when the request arrived: it is gone once the caller hangs up. */
    peerAddress: string | undefined;
    /** The client's canonical IP address according to the trusted proxies alone; null if it is unknown. */
    readonly address: string | null;
  }
}

/** Who acted, and from where: taken from the session, the client's credentials or the admin key, never from a body. */
export interface Origin {
  readonly actor:
    | { readonly type: 'user' | 'client' | 'admin'; readonly id: string | null }
    | { readonly type: 'cli' | 'system' | 'anonymous'; readonly id: null };
  readonly address: string | null;
  /** The id of one HTTP request, or of one run of a command. */
  readonly requestId: string | null;
  /** The name of the operating system's user who ran the command. */
  readonly systemUser?: string;
}

/** The origin of what the service does by itself, such as a rotation of keys that is due. */
export const SYSTEM_ORIGIN: Origin = { actor: { type: 'system', id: null }, address: null, requestId: null };

/** The origin of a request, for the audit trail. */
export function originOf(request: FastifyRequest, actor: Origin['actor'] = { type: 'anonymous', id: null }): Origin {
  return { actor, address: request.address, requestId: request.id };
}

/**
 * Determines the client's address; nothing else reads `X-Forwarded-For`. The list is read from its end, where the nearest proxy
 * appended, up to the first hop that is not trusted: the client may have made up everything before it.
 * @returns a function from a request and its peer address to the canonical address; null if it is unknown, or if a trusted
 *   proxy forwarded something other than an IP address
 */
export function clientAddress(
  trust: TrustProxy,
): (request: IncomingMessage, peerAddress: string | undefined) => string | null {
  const isTrusted = trustedHops(trust);
  return ({ headers }, peerAddress) => {
    let address = canonicalAddress(peerAddress ?? '') ?? null;
    let rest = String(headers['x-forwarded-for'] ?? '');
    for (let hop = 0; rest !== '' && isTrusted(address, hop); ) {
      const comma = rest.lastIndexOf(',');
      const entry = rest.slice(comma + 1).trim();
      rest = comma < 0 ? '' : rest.slice(0, comma);
      if (entry === '') continue;
      address = parseForwardedEntry(entry)?.address ?? null;
      hop++;
    }
    return address;
  };
}

/** Trusts that many hops, counted from the nearest, if proxies are given as a number; otherwise the listed addresses. */
function trustedHops(trust: TrustProxy): (address: string | null, hop: number) => boolean {
  if (trust === false) return () => false;
  if (typeof trust === 'number') return (_address, hop) => hop < trust;
  const isProxy = networkMatcher(trust.split(',').map((part) => part.trim()));
  return (address) => address !== null && isProxy(address);
}

/** The flows of a request for fair queuing: its address, and its IPv6 network, which may have 65,536 /64s. */
export function addressFlows({ address }: Pick<Origin, 'address'>): readonly string[] {
  const network = networkBucket(address);
  return [`address ${addressBucket(address)}`, ...(network === undefined ? [] : [`network ${network}`])];
}
