/** More than an app needs, and few enough for a token. */
const MAX_RESOURCES = 5;
const MAX_LENGTH = 512;

/** RFC 3986 §4.3: an absolute URI; RFC 8707 §2: without a fragment. */
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:[\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/i;

/**
 * The `resource` parameters of a request, each once.
 * @returns undefined if one is malformed, or if there are too many
 */
export function parseResources(values: readonly string[]): readonly string[] | undefined {
  const resources = [...new Set(values)];
  const good = (text: string) => text.length <= MAX_LENGTH && ABSOLUTE.test(text);
  return resources.length <= MAX_RESOURCES && resources.every(good) ? resources : undefined;
}

/**
 * RFC 8707 §2.2: the resources of a new token, which a token request may narrow.
 * @param granted null if the authorization request named none
 * @returns undefined if the request names one that was not granted
 */
export function narrowedResources(
  granted: readonly string[] | null,
  asked: readonly string[],
): readonly string[] | null | undefined {
  if (asked.length === 0) return granted;
  return asked.every((resource) => granted?.includes(resource)) ? asked : undefined;
}

/** A list of resources as it is stored; null for none. */
export const encodeResources = (resources: readonly string[] | null): string | null =>
  resources === null || resources.length === 0 ? null : JSON.stringify(resources);
export const decodeResources = (text: string | null): readonly string[] | null =>
  text === null ? null : (JSON.parse(text) as string[]);
