import type { IncomingMessage } from 'node:http';
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';
import Bowser from 'bowser';
import type { FastifyRequest } from 'fastify';

/**
 * The canonical form of an IP address: IPv4 in dotted form, also where it is mapped into IPv6 (RFC 4291 §2.5.5.2); IPv6 in
 * lower case and compressed, without its zone, which has a meaning only on the machine that wrote it.
 * @returns undefined if the text is not an IP address
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const [address = ''] = text.split('%', 1);
  if (!isIPv6(address)) return undefined;
  // The URL parser serializes an IPv6 address in its canonical form.
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(canonical) ?? [];
  return high === undefined || low === undefined ? canonical : [high, low].flatMap(bytesOf).join('.');
}

/** The two bytes of a group of an IPv6 address. */
function bytesOf(group: string): [number, number] {
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 0xff];
}

/**
 * Parses an entry of `X-Forwarded-For`: an address, which some proxies enclose in brackets or follow with a port.
 * @returns its canonical address and whether it had a port; undefined if it is not an IP address
 */
export function parseForwardedEntry(
  entry: string,
): { readonly address: string; readonly hasPort: boolean } | undefined {
  const [, bracketed, dotted, port] = /^(?:\[([^\]]*)\]|([\d.]+))(:\d{1,5})?$/.exec(entry) ?? [];
  const address = canonicalAddress(bracketed ?? dotted ?? entry);
  return address === undefined ? undefined : { address, hasPort: port !== undefined };
}

/** Returns whether a canonical address is in one of these networks, each an address or `<address>/<bits>`. */
export function networkMatcher(networks: readonly string[]): (address: string) => boolean {
  // One list for each family: in a list of both, IPv4 addresses would match networks of IPv6.
  const lists = { 4: new BlockList(), 6: new BlockList() };
  for (const network of networks) {
    const [written = '', bits] = network.split('/');
    const length = bits === undefined ? undefined : Number(bits);
    const canonical = canonicalAddress(written) ?? '';
    if (isIPv6(canonical)) lists[6].addSubnet(canonical, length ?? 128, 'ipv6');
    else if (isIPv4(written)) lists[4].addSubnet(written, length ?? 32, 'ipv4');
    // A network of mapped addresses counts its bits in IPv6; one wider than all mapped addresses is IPv6 only.
    else if ((length ?? 128) >= 96) lists[4].addSubnet(canonical, (length ?? 128) - 96, 'ipv4');
    else lists[6].addSubnet(written, length ?? 128, 'ipv6');
  }
  return (address) => {
    const family = isIP(address);
    return (family === 4 && lists[4].check(address, 'ipv4')) || (family === 6 && lists[6].check(address, 'ipv6'));
  };
}

/**
 * The part of an address that rate limits count: an IPv4 address, or the /64 of an IPv6 address, which one household has to
 * itself. Everything that is not an address shares one bucket, so that an invalid address does not get a fresh count.
 */
export function addressBucket(text: string | null): string {
  const address = canonicalAddress(text ?? '');
  if (address === undefined) return 'unknown';
  if (!address.includes(':')) return address;
  return `${groupsOf(address).slice(0, 4).join(':')}::/64`;
}

/** The /48 of an IPv6 address, which one site may have to itself. Undefined for any other address. */
export function networkBucket(text: string | null): string | undefined {
  const address = canonicalAddress(text ?? '');
  if (address === undefined || !address.includes(':')) return undefined;
  return `${groupsOf(address).slice(0, 3).join(':')}::/48`;
}

/** The eight groups of a canonical IPv6 address. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  return [...left, ...Array<string>(8 - left.length - right.length).fill('0'), ...right];
}

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
  /** The names of the roles in which an operator acted, for the audit trail. What they allow is decided by the grants. */
  readonly roles?: readonly string[];
  /** The name of the operating system's user who ran the command. */
  readonly systemUser?: string;
  /** What the caller says it is; only the names of a person's browser and system are recorded of it. */
  readonly userAgent?: string;
}

/** The origin of what the service does by itself, such as a rotation of keys that is due. */
export const SYSTEM_ORIGIN: Origin = { actor: { type: 'system', id: null }, address: null, requestId: null };

/** How much of a User-Agent header is kept, in characters: more than browsers send. */
const MAX_USER_AGENT = 512;

/** The origin of a request, for the audit trail. */
export function originOf(request: FastifyRequest, actor: Origin['actor'] = { type: 'anonymous', id: null }): Origin {
  const origin = { actor, address: request.address, requestId: request.id };
  const userAgent = request.headers['user-agent'];
  return userAgent === undefined ? origin : { ...origin, userAgent: userAgent.slice(0, MAX_USER_AGENT) };
}

/** What a person recognizes a session by; null where it is unknown. */
export interface Device {
  /** Such as `Firefox`. */
  readonly browser: string | null;
  /** Such as `Windows`. */
  readonly system: string | null;
  /** The network that it was in, as {@link networkOf} writes it. */
  readonly network: string | null;
}

const BROWSERS: ReadonlySet<string> = new Set(Object.values(Bowser.BROWSER_MAP));
const SYSTEMS: ReadonlySet<string> = new Set(Object.values(Bowser.OS_MAP));

/**
 * The names of browser and system, from the lists of the library: nothing that was sent is returned as it is. Only these are
 * stored, because the whole header says more about a person than is needed to recognize a session.
 * @param address as {@link networkOf} takes it
 */
export function deviceOf(userAgent: string | undefined, address: string | null): Device {
  const text = (userAgent ?? '').slice(0, MAX_USER_AGENT).trim();
  const parser = text === '' ? undefined : Bowser.getParser(text);
  const known = (names: ReadonlySet<string>, name: string | undefined) =>
    name !== undefined && names.has(name) ? name : null;
  return {
    browser: known(BROWSERS, parser?.getBrowserName()),
    system: known(SYSTEMS, parser?.getOSName()),
    network: address === null ? null : networkOf(address),
  };
}

/** The browser behind a request. */
export const deviceIn = ({ headers, address }: Pick<FastifyRequest, 'headers' | 'address'>): Device =>
  deviceOf(headers['user-agent'], addressBucket(address));

/**
 * An address without the part that distinguishes one home from another: the /24 of IPv4, the /48 of IPv6.
 * @param bucket as `addressBucket` writes it: the whole IPv4 address, or the /64 of an IPv6 one
 */
export function networkOf(bucket: string): string | null {
  const v4 = /^(\d+\.\d+\.\d+)\.\d+$/.exec(bucket);
  if (v4 !== null) return `${v4[1]}.x`;
  const v6 = /^([0-9a-f]+:[0-9a-f]+:[0-9a-f]+):[0-9a-f]+::\/64$/.exec(bucket);
  return v6 === null ? null : `${v6[1]}:x`;
}

/** Which proxies are trusted to report the client's address: none, a number of hops, or a list of addresses. */
export type TrustProxy = false | number | string;

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
