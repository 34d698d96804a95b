import { existsSync, readlinkSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { UnusableDatabase } from '../database.ts';
import { type DataLoss, describeLoss } from '../loss.ts';
import { resultCode } from './dialect.ts';
import { type Mark, markFile, readMark } from './mark.ts';
import { refuseUnfinished } from './replacement.ts';

/** How to check a database file before it is used. */
export interface DatabaseCheck {
  /** The secret file that a first start created for the database of this folder, if there is one. */
  readonly secretFile?: string | undefined;
  /** Whether to check the structure if a journal was left behind, which takes half a second for each million rows. */
  readonly checkStructure?: boolean | undefined;
}

/**
 * Checks a database file before anything changes it. The write-ahead log is left unchanged, so that it can still be repaired or
 * restored: a writable connection would cut it at the first damaged frame, and remove it when it closes.
 * @returns what the database has lost; undefined if nothing is known to be missing
 * @throws {UnusableDatabase} when it is missing or damaged
 */
export function findDataLossIn(
  given: string,
  { secretFile, checkStructure: thorough = false }: DatabaseCheck = {},
): DataLoss | undefined {
  const path = realPath(given);
  refuseUnfinished(path);
  const mark = readMark(path);
  const atRest = !existsSync(`${path}-wal`);
  const journal = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  // SQLite treats an empty file as a new database, and deletes the journal next to it, so it must not open this one.
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) {
    refuseGone(path, { mark, secretFile, journal, state: 'does not exist or is empty' });
    return undefined;
  }
  const found = lookInside(path, (connection) => {
    const sequence = sequenceIn(connection);
    if (thorough && journal) refuseDamaged(path, connection);
    return sequence;
  });
  // An interrupted first start leaves a journal, but neither a secret nor a mark.
  if (found === undefined) refuseGone(path, { mark, secretFile, journal: false, state: 'holds no tables of Tessera' });
  if (mark.kind !== 'known' || mark.sequence <= (found ?? 0)) return undefined;
  // Another process started to write while the file was read as immutable.
  if (atRest && existsSync(`${path}-wal`)) return findDataLossIn(path, { secretFile, checkStructure: thorough });
  return { expected: mark.sequence, found: found ?? 0, writtenAt: mark.writtenAt };
}

function lookInside<T>(path: string, look: (connection: DatabaseSync) => T): T {
  let connection: DatabaseSync | undefined;
  try {
    connection = openReadOnly(path);
    return look(connection);
  } catch (error) {
    if (resultCode(error) === CORRUPT) refuse(path, error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    connection?.close();
  }
}

/** @throws {UnusableDatabase} when changes are missing, too */
export function requireContinuity(path: string, look: DatabaseCheck): void {
  const loss = findDataLossIn(path, look);
  if (loss === undefined) return;
  throw new UnusableDatabase(
    `${path} lacks ${describeLoss(loss)}: its write-ahead log ${path}-wal was lost, cut or damaged after an unclean end, or ` +
      'the file is an older copy. Put back the missing log or the newer file while nothing runs. Where they are lost for ' +
      'good, what was revoked meanwhile would be accepted again; this accepts the loss and ends all that was issued before: ' +
      'tessera recover --accept-loss',
  );
}

/** The number of the last audit event; undefined without the tables of Tessera. It never decreases, even if events are removed. */
export function sequenceIn(connection: DatabaseSync): number | undefined {
  const table = connection.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'audit_event'").get();
  if (table === undefined) return undefined;
  return Number(connection.prepare(SEQUENCE).get()?.['seq'] ?? 0);
}

/** https://www.sqlite.org/autoinc.html#the_autoincrement_keyword */
export const SEQUENCE = "SELECT seq FROM sqlite_sequence WHERE name = 'audit_event'";

/** Opens a database without creating or changing a file, except for the index of an existing journal. */
export function openReadOnly(given: string): DatabaseSync {
  const path = realPath(given);
  const url = pathToFileURL(path);
  // Without a journal, no process has the database open, and even a reader would create one: https://www.sqlite.org/wal.html
  if (!existsSync(`${path}-wal`)) url.searchParams.set('immutable', '1');
  return new DatabaseSync(url, { readOnly: true, timeout: 5000 });
}

/** The real path of the file: SQLite keeps the journal next to that, not next to a symbolic link. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return targetOf(path) ?? resolve(path);
  }
}

/** Where a symbolic link leads, also while there is no file. */
function targetOf(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
}

/** @throws {UnusableDatabase} when a file shows that there was a database */
function refuseGone(
  path: string,
  {
    mark,
    secretFile,
    journal,
    state,
  }: { mark: Mark; secretFile?: string | undefined; journal: boolean; state: string },
): void {
  const marked = mark.kind === 'known' && mark.sequence > 0;
  const left = [secretFile, marked && markFile(path), journal && `${path}-wal`].filter(
    (name) => typeof name === 'string',
  );
  if (left.length === 0) return;
  const names = left.join(' and ');
  throw new UnusableDatabase(
    `The database is gone: ${path} ${state}, and ${names} ${left.length > 1 ? 'belong' : 'belongs'} to one. Put the database ` +
      'back, with its -wal file where it has one; name the right one with TESSERA_DATA_DIR or TESSERA_DATABASE_URL; or, to ' +
      `start without any of the former data, move ${names} away` +
      `${secretFile === undefined ? '' : ', or name a secret that you chose yourself in TESSERA_SECRET_FILE'}.`,
  );
}

function refuseDamaged(path: string, connection: DatabaseSync): void {
  const [row] = connection.prepare('PRAGMA quick_check(1)').all();
  const [found] = Object.values(row ?? {});
  if (found !== 'ok') refuse(path, String(found).replaceAll('\n', ' '));
}

/** https://www.sqlite.org/rescode.html#corrupt */
const CORRUPT = 11;

function refuse(path: string, why: string): never {
  throw new UnusableDatabase(
    `${path} is damaged, or ${path}-wal is not the log that belongs to it: ${why}. Put back the two files as they were ` +
      'together, or restore a backup: tessera restore <backup> --replace',
  );
}
