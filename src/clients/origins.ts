import { type Database, StoreUnavailable, type Work } from '../platform/database/database.ts';
import { clientsWithoutOrigins, isClientOrigin, saveOrigins } from './origin-store.ts';
import { originsOf } from './rules/redirect-uri.ts';

/** RFC 6454 §6.2, as browsers write it; "null" is nobody's. */
const ORIGIN = /^https?:\/\/[a-z0-9.:[\]-]{1,260}$/;
/** Origins that are remembered at a time. */
const MOST = 1000;

/**
 * Tells whether an app that runs in a browser is registered at an origin, as the database says now. Only where the database
 * is away the last answer counts, so that the page can read that it is: there is nothing else to read then.
 */
export function registeredOrigins(database: Pick<Database, 'read'>): (origin: string) => Promise<boolean> {
  const known = new Set<string>();
  return async (origin) => {
    if (!ORIGIN.test(origin)) return false;
    try {
      const registered = await database.read(() => isClientOrigin(origin));
      known.delete(origin);
      if (registered) known.add(origin);
      const [oldest] = known;
      if (known.size > MOST && oldest !== undefined) known.delete(oldest);
      return registered;
    } catch (error) {
      if (error instanceof StoreUnavailable) return known.has(origin);
      throw error;
    }
  };
}

/** Writes down the origins of clients that were registered by a version which did not. */
export async function fillOrigins(database: Database): Promise<void> {
  const missing = (client: Parameters<typeof saveOrigins>[0]) => originsOf(client.redirectUris, client.type).length > 0;
  if (!(await database.read(clientsWithoutOrigins)).some(missing)) return;
  await database.commit(function* fill(): Work<void> {
    for (const client of (yield* clientsWithoutOrigins()).filter(missing)) yield* saveOrigins(client);
  });
}
