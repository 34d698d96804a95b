import { isIP } from 'node:net';
import type { TrustProxy } from '../validation/origin.ts';
import type { Reading } from './variable.ts';

/** The proxies that are trusted: none, their number, or their addresses. */
export function trustProxy(value: string): Reading<TrustProxy> {
  if (value === '' || value === '0' || value === 'false' || value === 'off') return { value: false };
  if (/^\d{1,2}$/.test(value)) return { value: Number(value) };
  if (value.split(',').every((part) => isNetwork(part.trim()))) return { value };
  return { problem: 'must be off, the number of proxies in front, or their addresses separated by commas' };
}

/** Whether a text is an IP address, or a network as `<address>/<bits>`. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** Networks, separated by commas. */
export function networks(value: string): Reading<readonly string[]> {
  const parts = value.split(',').map((part) => part.trim());
  if (parts.every(isNetwork)) return { value: parts };
  return { problem: 'must be addresses or networks separated by commas, for example 10.0.0.0/8,fd00::/8' };
}
