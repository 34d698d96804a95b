import { type Database, StoreUnavailable } from '../platform/database/database.ts';
import { findClientOrigin } from './origin-store.ts';

/** RFC 6454 §6.2, as browsers write it. "null" is not the origin of any app. */
const ORIGIN = /^https?:\/\/[a-z0-9.:[\]-]{1,260}$/;
const MAX_CACHED_ORIGINS = 1000;

/**
 * Creates a function that tells whether an app that runs in a browser is registered at an origin, by what the database says now.
 * The last answer counts only while the database is unavailable, so that the app's page can read that error.
 */
export function createOriginLookup(database: Pick<Database, 'read'>): (origin: string) => Promise<boolean> {
  const known = new Set<string>();
  return async (origin) => {
    if (!ORIGIN.test(origin)) return false;
    try {
      const isRegistered = (await database.read(() => findClientOrigin({ origin }))) !== undefined;
      known.delete(origin);
      if (isRegistered) known.add(origin);
      const [oldest] = known;
      if (known.size > MAX_CACHED_ORIGINS && oldest !== undefined) known.delete(oldest);
      return isRegistered;
    } catch (error) {
      if (error instanceof StoreUnavailable) return known.has(origin);
      throw error;
    }
  };
}
