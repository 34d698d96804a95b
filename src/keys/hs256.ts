import { createHmac, type KeyObject } from 'node:crypto';

/** The header segment of a JWS (RFC 7515 §7.1). */
export const headerSegment = (header: Readonly<Record<string, string>>): string =>
  Buffer.from(JSON.stringify(header)).toString('base64url');

/** The signature segment of HS256 (RFC 7518 §3.2) for what stands before it. */
export const hs256 = (key: KeyObject | string, input: string): string =>
  createHmac('sha256', key).update(input).digest('base64url');

/**
 * A JWT under HS256 in compact form. Three of these are most of what a token answer computes, so the runtime's HMAC signs them
 * without a library between.
 * @param key a text is taken as its octets in UTF-8
 */
export function signHs256(key: KeyObject | string, segment: string, claims: Readonly<Record<string, unknown>>): string {
  const input = `${segment}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  return `${input}.${hs256(key, input)}`;
}
