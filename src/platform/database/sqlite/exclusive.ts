import { closeSync, linkSync, openSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isLocked, resultCode } from './dialect.ts';

/** The sole use of a database file, until it is released. */
export interface Hold {
  release(): void;
}

/** https://www.sqlite.org/rescode.html: corrupt, not a database. Nothing can serve such a file. */
const UNREADABLE = new Set([11, 26]);

/**
 * Takes sole use of a database file, so that no process can open it until it is released; a file that does not exist is created
 * empty. The file and its write-ahead log are left unchanged.
 * @param path the real path of the file
 * @returns undefined while another process uses it
 */
export function holdExclusively(path: string): Hold | undefined {
  const created = createEmpty(path);
  // By a name of its own, whose write-ahead log does not exist: a connection to the real name would merge the log, and cut it where
  // it is damaged. The locks belong to the file, whatever its name.
  const name = `${path}-hold`;
  const forget = (): void => {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(`${name}${suffix}`, { force: true });
  };
  let connection: DatabaseSync | undefined;
  const release = (): void => {
    if (created && statSync(path, { throwIfNoEntry: false })?.size === 0) rmSync(path);
    connection?.close();
    forget();
  };
  try {
    forget();
    linkSync(path, name);
    connection = new DatabaseSync(name, { timeout: 0 });
    connection.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    if (!UNREADABLE.has(resultCode(error))) {
      release();
      if (isLocked(error)) return undefined;
      throw error;
    }
  }
  // A kill from here on leaves no second name of the file behind.
  forget();
  return { release };
}

function createEmpty(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
