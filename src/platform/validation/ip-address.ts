import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * An IP address in its one spelling: IPv4 in dotted form, also where it is mapped into IPv6 (RFC 4291 §2.5.5.2); IPv6 in
 * lower case and shortened, without its zone, which has a meaning only on the machine that wrote it.
 * @returns undefined where the text is no IP address
 */
export function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const [address = ''] = text.split('%', 1);
  if (!isIPv6(address)) return undefined;
  // The URL parser writes an IPv6 address in its one canonical form.
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
 * An entry of `X-Forwarded-For`: an address, which some proxies put into brackets or follow with a port.
 * @returns its canonical address and whether it came with a port; undefined where it holds no IP address
 */
export function parseForwardedEntry(
  entry: string,
): { readonly address: string; readonly hasPort: boolean } | undefined {
  const [, bracketed, dotted, port] = /^(?:\[([^\]]*)\]|([\d.]+))(:\d{1,5})?$/.exec(entry) ?? [];
  const address = canonicalAddress(bracketed ?? dotted ?? entry);
  return address === undefined ? undefined : { address, hasPort: port !== undefined };
}

/** Tells whether a canonical address lies in one of these networks, each an address or `<address>/<bits>`. */
export function networkMatcher(networks: readonly string[]): (address: string) => boolean {
  // One list for each family: in a list of both, IPv4 addresses would match networks of IPv6.
  const lists = { 4: new BlockList(), 6: new BlockList() };
  for (const network of networks) {
    const [written = '', bits] = network.split('/');
    const length = bits === undefined ? undefined : Number(bits);
    const canonical = canonicalAddress(written) ?? '';
    if (isIPv6(canonical)) lists[6].addSubnet(canonical, length ?? 128, 'ipv6');
    else if (isIPv4(written)) lists[4].addSubnet(written, length ?? 32, 'ipv4');
    // A network of mapped addresses counts its bits in IPv6; a wider one than all of them is one of IPv6 alone.
    else if ((length ?? 128) >= 96) lists[4].addSubnet(canonical, (length ?? 128) - 96, 'ipv4');
    else lists[6].addSubnet(written, length ?? 128, 'ipv6');
  }
  return (address) => {
    const family = isIP(address);
    return (family === 4 && lists[4].check(address, 'ipv4')) || (family === 6 && lists[6].check(address, 'ipv6'));
  };
}
