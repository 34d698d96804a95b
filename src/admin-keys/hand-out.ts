import type { Database, Work } from '../platform/database/database.ts';
import { around } from '../platform/database/finishing.ts';
import { conflict } from '../platform/failure.ts';
import { holdAdminKey } from './live.ts';
import { lockMaking } from './store.ts';

/** Who hands something out that can be used later. */
export interface HandsOut {
  /** The admin key, with which it ends if nobody used it; null for the command line on the server. */
  readonly adminKeyId: string | null;
}

/**
 * Locks the key that hands something out, before any other lock.
 * @throws {Failure} `conflict` where the key of this process's configuration was replaced meanwhile. Any other key was checked before
 */
export function* holdHandingKey({ adminKeyId }: HandsOut, now: number): Work<void> {
  if (adminKeyId === null || (yield* holdAdminKey(adminKeyId, now))) return;
  throw conflict(
    'What this admin key hands out would not work: another server of this database was started with another TESSERA_ADMIN_KEY, or with none. Restart this server with the same one.',
  );
}

/**
 * The database for units of work that hand something out as an operator, or end what was handed out: one after the other, so that what ends
 * a maker finds all that was made. See {@link lockMaking}.
 */
export const makingDatabase = (database: Database): Database => ({
  ...database,
  commit<T>(work: () => Work<T>): Promise<T> {
    return database.commit(
      around(work, function* making(): Work<T> {
        yield* lockMaking({});
        return yield* work();
      }),
    );
  },
});
