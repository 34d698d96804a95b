import { isLoopback } from '../../platform/config/loopback.ts';
import { hostOf } from '../../platform/domain-name.ts';
import type { ClientType } from '../fields.ts';

/** Parameters that the service itself adds to a redirect (RFC 9700 §2.6). */
const RESERVED = ['code', 'state', 'error', 'error_description', 'iss'];

/** Schemes that run or show content. A private-use scheme has a dot, which none of these has. */
const SCRIPT_LIKE = new Set(['javascript:', 'data:', 'vbscript:', 'blob:', 'file:', 'about:', 'view-source:']);

/**
 * What is wrong with a redirect URI, phrased to follow "must"; undefined if it may be registered and used. The URI is never
 * normalized, because it is compared character for character.
 * @param reserved the query parameters that it may not have, because the service adds them
 * @param example a good one
 */
export function redirectUriProblem(
  uri: string,
  type: ClientType,
  reserved: readonly string[] = RESERVED,
  example = 'https://app.example.com/callback',
): string | undefined {
  if (uri.length > 2048) return 'be at most 2048 characters long';
  // Without the characters that browsers and servers interpret differently.
  if (!/^[\x21-\x7e]+$/.test(uri) || /["<>\\^`{|}]/.test(uri)) {
    return 'consist of printable ASCII without spaces, quotes, braces and backslashes (percent-encode other characters, and write a domain in its ASCII form, such as xn--bcher-kva.example)';
  }
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*\*/i.test(uri)) return 'have no wildcard: register each host and port by itself';
  if (/,[a-z][a-z0-9+.-]*:\/\//i.test(uri)) return 'be one address: register each of several by itself';
  // A host with a port would pass for a scheme: https://app.example.com:8443, without its beginning.
  const withoutScheme = /^([a-z0-9-]+(?:\.[a-z0-9-]+)+|localhost)(:\d+)?(?:\/|$)/i.exec(uri);
  if (withoutScheme !== null) {
    const scheme = isLoopback(withoutScheme[1] ?? '') ? 'http' : 'https';
    return `be an absolute URI: write ${scheme}:// before it, as in ${scheme}://${uri}`;
  }
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  if (url === undefined) return `be an absolute URI, for example ${example}`;
  // RFC 6749 §3.1.2: no fragment.
  if (uri.includes('#')) return 'have no fragment';
  if (SCRIPT_LIKE.has(url.protocol)) return `not use the scheme ${url.protocol}`;
  if (url.username !== '' || url.password !== '' || /^[a-z][a-z0-9+.-]*:\/\/[^/?]*@/i.test(uri)) {
    return 'have no user name or password';
  }
  for (const name of reserved) {
    if (url.searchParams.has(name)) return `not have the query parameter "${name}", which the service adds itself`;
  }
  const host = /^([a-z0-9-]+(\.[a-z0-9-]+)*\.?|\[[0-9a-f:.]+\])$/i;
  if (/^https?:$/.test(url.protocol) && url.hostname !== '' && !host.test(url.hostname)) {
    return 'have a host of letters, digits, dots and hyphens';
  }
  if (url.protocol === 'https:') return /^https:\/\/[^/]/i.test(uri) ? undefined : 'be an absolute URI with a host';
  if (url.protocol === 'http:') {
    if (!/^http:\/\/[^/]/i.test(uri)) return 'be an absolute URI with a host';
    return isLoopback(url.hostname) ? undefined : 'use https (http is for localhost, 127.0.0.1 and [::1] only)';
  }
  // RFC 8252 §7.1: a private-use scheme is a reversed domain name.
  if (url.protocol.includes('.')) {
    return type === 'public' ? undefined : 'use https (a private-use scheme is for public clients only)';
  }
  const { protocol } = url;
  const scheme = protocol.length <= 32 ? `${protocol} is not allowed` : 'this scheme is not allowed';
  return `use https, http on a loopback host or, for an app of the type public, a reversed domain as scheme, such as com.example.myapp:/callback (${scheme})`;
}

/** What is wrong with a URI of a client's server, which this service calls; phrased like {@link redirectUriProblem}. */
export const serverUriProblem = (uri: string): string | undefined =>
  redirectUriProblem(uri, 'confidential', [], 'https://api.example.com');

/**
 * RFC 8252 §8.6: whether any program on the user's device could receive the response at a registered redirect URI. Every program
 * can listen on a loopback host or claim a private-use scheme; any other https host needs a certificate.
 */
export function isClaimable(uri: string): boolean {
  return new URL(uri).protocol !== 'https:' || isLoopback(hostOf(uri));
}

/** The destination of a redirect URI, as it is shown to users: its host, or its private-use scheme, which names an app. */
export function destinationOf(uri: string): string {
  const { host, protocol } = new URL(uri);
  return /^https?:$/.test(protocol) ? host : protocol.slice(0, -1);
}

/** Whether one of the client's redirect URIs has this origin. "null" is the origin of none. */
export const isOwnOrigin = (origin: string, registered: readonly string[]): boolean =>
  registered.some((uri) => /^https?:/i.test(uri) && new URL(uri).origin === origin);

/** The origins of a client that runs in a browser: those of its redirect URIs, if it is public. */
export const originsOf = (registered: readonly string[], type: ClientType): readonly string[] =>
  type === 'public'
    ? [...new Set(registered.filter((uri) => /^https?:/i.test(uri)).map((uri) => new URL(uri).origin))]
    : [];

/** A URI with a loopback IP literal, in three parts; the second is the port. */
const LOOPBACK_LITERAL = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::([1-9]\d{0,4}))?((?:[/?].*)?)$/;

/**
 * Whether a redirect URI is registered: character for character (RFC 9700 §2.1), without patterns or normalization. The one
 * exception is for public clients (RFC 8252 §7.3): an app that listens on a loopback IP address cannot know its port in advance, so
 * any port is accepted there.
 */
export function isRegisteredUri(uri: string, registered: readonly string[], type: ClientType): boolean {
  if (registered.includes(uri)) return true;
  const presented = type === 'public' ? LOOPBACK_LITERAL.exec(uri) : null;
  if (presented === null) return false;
  return registered.some((candidate) => {
    const known = LOOPBACK_LITERAL.exec(candidate);
    return known !== null && known[1] === presented[1] && known[3] === presented[3];
  });
}
