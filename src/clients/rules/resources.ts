/** More than any app has use for, and little enough for a token. */
const MOST = 5;
const LONGEST = 512;

/** RFC 3986 §4.3: an absolute URI; RFC 8707 §2: without a fragment. */
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:[\x21\x24-\x3b\x3d\x3f-\x5b\x5d\x5f\x61-\x7a\x7e]+$/i;

/**
 * The `resource` parameters of a request without repetitions: none where it names none.
 * @returns undefined where one cannot be a resource, or there are too many
 */
export function parseResources(values: readonly string[]): readonly string[] | undefined {
  const resources = [...new Set(values)];
  const good = (text: string) => text.length <= LONGEST && ABSOLUTE.test(text);
  return resources.length <= MOST && resources.every(good) ? resources : undefined;
}

/**
 * RFC 8707 §2.2: for which of the granted resources a token shall be.
 * @param granted null where the authorization named none
 * @returns undefined where one is asked for that was not granted
 */
export function narrowedResources(
  granted: readonly string[] | null,
  asked: readonly string[],
): readonly string[] | null | undefined {
  if (asked.length === 0) return granted;
  return asked.every((resource) => granted?.includes(resource)) ? asked : undefined;
}

/** Lists of resources as they are stored. */
export const formatResources = (resources: readonly string[] | null): string | null =>
  resources === null || resources.length === 0 ? null : JSON.stringify(resources);
export const storedResources = (text: string | null): readonly string[] | null =>
  text === null ? null : (JSON.parse(text) as string[]);
