/** How many requests may be under way at a time, in all and to one host. */
export interface FetchBounds {
  readonly most: number;
  readonly mostOfHost: number;
}

/** For addresses that strangers chose: nobody can make the server open more connections, or send one host more requests at a time. */
export const BOUNDS_FOR_STRANGERS: FetchBounds = { most: 16, mostOfHost: 2 };

/** Requests that are under way, by their URL. */
export interface SharedFetches<T> {
  /**
   * Begins a request, or joins the one for the same URL.
   * @returns undefined where that would be one more than there may be
   */
  fetch(url: string, begin: () => Promise<T>): Promise<T> | undefined;
}

/** @param bounds undefined for addresses that operators chose */
export function sharedFetches<T>(bounds: FetchBounds | undefined): SharedFetches<T> {
  const underWay = new Map<string, Promise<T>>();

  function isFull(url: string, { most, mostOfHost }: FetchBounds): boolean {
    const { hostname } = new URL(url);
    const ofHost = [...underWay.keys()].filter((other) => new URL(other).hostname === hostname);
    return underWay.size >= most || ofHost.length >= mostOfHost;
  }

  return {
    fetch(url, begin) {
      const started = underWay.get(url);
      if (started !== undefined) return started;
      if (bounds !== undefined && isFull(url, bounds)) return undefined;
      const request = begin().finally(() => underWay.delete(url));
      underWay.set(url, request);
      return request;
    },
  };
}
