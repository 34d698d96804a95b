import { invalidRequest } from '../oauth-error.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Every text of a JSON document, and whether it is the name of a member. Linear in the length of the document. */
const TEXTS = /"(?:[^"\\]|\\.)*"\s*(:?)/gs;

/** Deeper than any body that the service reads. */
const DEEPEST = 16;

/**
 * Reads a JSON body as RFC 8259 means it, and stricter where JSON.parse is lenient: no member twice, also not in another
 * spelling, and none that could reach a prototype.
 * @throws {OAuthError} `invalid_request`
 */
export function parseJsonBody(bytes: Buffer): unknown {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw invalidRequest('The body is not valid UTF-8. Encode it as UTF-8.');
  }
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidRequest(
      'The body is not valid JSON. Send one object, without a byte order mark, as Content-Type says.',
    );
  }
  // JSON.parse keeps the last of several members with one name: then fewer are kept than were written.
  let written = 0;
  for (const match of text.matchAll(TEXTS)) if (match[1] === ':') written++;
  if (countMembers(value, 0) !== written) throw invalidRequest('The body names a member twice. Send each member once.');
  return value;
}

function countMembers(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (depth >= DEEPEST) throw invalidRequest(`The body is nested deeper than ${DEEPEST} levels. Send a flatter one.`);
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) count += countMembers(item, depth + 1);
    return count;
  }
  for (const name of Object.keys(value)) {
    if (name === '__proto__') throw invalidRequest('The body has a member named __proto__. Remove it.');
    count += 1 + countMembers((value as Record<string, unknown>)[name], depth + 1);
  }
  return count;
}

/** Decodes a form body. @throws {OAuthError} `invalid_request` when it is not UTF-8 */
export function decodeFormBody(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidRequest('The body is not valid UTF-8. Encode it as UTF-8.');
  }
}
