import { hostOf } from '../../platform/domain-name.ts';

/** Percent-encoded characters that mean the same when they are not encoded (RFC 3986 §2.3). */
const UNRESERVED = /^[A-Za-z0-9._~-]$/;

const plainly = (encoded: string): string => {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return UNRESERVED.test(character) ? character : encoded.toUpperCase();
};

/**
 * One spelling for all of a resource identifier that name the same place (RFC 3986 §6.2): the case of scheme and host, the default port,
 * a dot at the end of the host, an empty path, and characters that need no encoding. Tokens carry the registered spelling, never this one.
 */
export function canonicalResource(resource: string): string {
  if (!URL.canParse(resource)) return resource;
  // Decoded first: an encoded dot is one of a path.
  const url = new URL(resource.replace(/%[0-9a-f]{2}/gi, plainly));
  url.hostname = hostOf(url.href);
  return url.href;
}
