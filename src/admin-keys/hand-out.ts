import type { Work } from '../platform/database/database.ts';
import { conflict } from '../platform/failure.ts';
import { holdAdminKey } from './store.ts';

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
