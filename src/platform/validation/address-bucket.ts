import { canonicalAddress } from './ip-address.ts';

/**
 * The part of an address that is limited as one: an IPv4 address, or the /64 of an IPv6 one (one household's own). All that
 * is no address shares one bucket, so that nobody gets a fresh count by writing something else.
 */
export function addressBucket(text: string | null): string {
  const address = canonicalAddress(text ?? '');
  if (address === undefined) return 'unknown';
  if (!address.includes(':')) return address;
  return `${groupsOf(address).slice(0, 4).join(':')}::/64`;
}

/** The network of an IPv6 address, which one site may have whole: its /48. Undefined for any other address. */
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
