import { openKeys, WrongSecret } from '../../keys/keys.ts';
import { readVersion } from '../../keys/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Inspection } from '../../platform/database/inspection.ts';
import type { SecretMatch } from './rules/secret.ts';

/** Thrown instead of a commit: a start would encrypt the keys again. */
class WouldWrite extends Error {}

/** A database that is only read: a commit fails. */
export const readOnly = (inspection: Inspection): Database => ({
  read: (work) => inspection.read(work),
  commit: () => Promise.reject(new WouldWrite()),
  emptyJournal: async () => {},
  auditParts: undefined,
  sharedTime: async () => null,
  *recordServer() {},
  load: () => ({ waiting: 0 }),
  close: async () => {},
});

/**
 * Finds out which secret decrypts the keys of a database, by opening them as a start does, without writing.
 * @param inspection a database with the tables of this version
 */
export async function findSecretMatch(
  inspection: Inspection,
  roots: { readonly current: Buffer | undefined; readonly previous: readonly Buffer[] | undefined },
  clock: Clock,
): Promise<SecretMatch> {
  const { current, previous } = roots;
  if ((await inspection.read(() => readVersion({}))) === undefined) return { kind: 'no keys' };
  if (current === undefined) return { kind: 'neither', message: '' };
  const database = readOnly(inspection);
  try {
    await openKeys(database, { current, previous: undefined }, clock);
    return { kind: 'current' };
  } catch (error) {
    if (!(error instanceof WrongSecret)) throw error;
    if (previous === undefined || previous.length === 0) return { kind: 'neither', message: error.message };
  }
  try {
    await openKeys(database, { current, previous }, clock);
    return { kind: 'current' };
  } catch (error) {
    if (error instanceof WouldWrite) return { kind: 'previous' };
    if (error instanceof WrongSecret) return { kind: 'neither', message: error.message };
    throw error;
  }
}
