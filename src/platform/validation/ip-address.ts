import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

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
