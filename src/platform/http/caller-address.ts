import type { IncomingMessage } from 'node:http';
import type { TrustProxy } from '../config/config.ts';
import { canonicalAddress, networkMatcher, parseForwardedEntry } from '../validation/ip-address.ts';

type TrustsHop = (address: string | null, hop: number) => boolean;

/** A number of proxies means that many hops, counted from the nearest; otherwise they are known by their addresses. */
function trustedHops(trust: TrustProxy): TrustsHop {
  if (trust === false) return () => false;
  if (typeof trust === 'number') return (_address, hop) => hop < trust;
  const isProxy = networkMatcher(trust.split(',').map((part) => part.trim()));
  return (address) => address !== null && isProxy(address);
}

/**
 * Determines where a request comes from: the only place that does. The list in `X-Forwarded-For` is read from its end, where the
 * nearest proxy wrote, and no further than the first hop that is not trusted: what stands before it, the caller may have made up.
 * @returns for each request the canonical address; null where it is not known, or what a proxy named is no IP address
 */
export function callerAddress(trust: TrustProxy): (request: IncomingMessage) => string | null {
  const trusts = trustedHops(trust);
  return ({ headers, socket }) => {
    let address = canonicalAddress(socket.remoteAddress ?? '') ?? null;
    let rest = String(headers['x-forwarded-for'] ?? '');
    for (let hop = 0; rest !== '' && trusts(address, hop); ) {
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
