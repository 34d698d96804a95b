import { closeSync, openSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { type Database, type DatabaseMeter, UnusableDatabase } from '../database.ts';
import { type MigrationOptions, migrate } from '../migrations/migrate.ts';
import { realPath } from './continuity.ts';
import { databaseOn, LOCK_RETRY, LOCK_TIMEOUT } from './database.ts';
import { isLocked, migrationDialect, sqliteColumnTypes } from './dialect.ts';
import { refuseUnfinished } from './replacement.ts';

/**
 * Opens a SQLite database, which is created and migrated if necessary.
 * @param path a file, or `:memory:`
 */
export async function openSqlite(path: string, options: MigrationOptions, meter?: DatabaseMeter): Promise<Database> {
  const connection = await connect(path);
  try {
    await migrate(migrationDialect(connection), sqliteColumnTypes, options);
  } catch (error) {
    connection.close();
    throw error;
  }
  // From now on no statement waits for a lock, because that blocks the whole process.
  connection.exec('PRAGMA busy_timeout = 10');
  // Otherwise undo data of statements and savepoints above 64 KiB would be written to a file. Set after the migrations, which sort whole
  // tables.
  connection.exec('PRAGMA temp_store = MEMORY');
  return databaseOn(path, connection, meter);
}

/** Migrates a SQLite database to the current schema and closes it; returns the names of the migrations that it ran. */
export async function migrateSqlite(path: string, options: MigrationOptions): Promise<readonly string[]> {
  const connection = await connect(path);
  try {
    return await migrate(migrationDialect(connection), sqliteColumnTypes, options);
  } finally {
    connection.close();
  }
}

/**
 * Opens a connection that may write, and creates the file if it does not exist. While `tessera restore` replaces the file, this waits:
 * with the file of before and the journal of the new one, SQLite would damage both.
 * @throws {UnusableDatabase} when the file is being replaced
 */
export async function connect(path: string): Promise<DatabaseSync> {
  const since = performance.now();
  for (;;) {
    const connection = connectOnce(path);
    if (connection !== undefined) return connection;
    if (performance.now() - since > LOCK_TIMEOUT) {
      throw new UnusableDatabase(
        `${path} is in the sole use of another process, such as tessera restore. Try again when that has finished.`,
      );
    }
    await wait(LOCK_RETRY);
  }
}

/** Undefined while another process has the file to itself, or replaced it in this moment. */
function connectOnce(path: string): DatabaseSync | undefined {
  if (path !== ':memory:') refuseUnfinished(realPath(path));
  // Created readable only by its owner; SQLite gives its journal files the same mode.
  if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600));
  const isCurrent = watchReplacement(path);
  const connection = new DatabaseSync(path, { timeout: 0 });
  let usable = false;
  try {
    // Before the journal is opened, which has the same name for every file that had this one, and once the file is locked.
    usable = isCurrent();
    if (usable) connection.exec('PRAGMA journal_mode = WAL');
    usable &&= isCurrent();
  } catch (error) {
    usable = false;
    if (!isLocked(error)) throw error;
  } finally {
    if (!usable) connection.close();
  }
  if (!usable) return undefined;
  connection.exec(`PRAGMA busy_timeout = ${LOCK_TIMEOUT}`);
  connection.exec('PRAGMA synchronous = FULL');
  connection.exec('PRAGMA foreign_keys = ON');
  // Deleted and replaced data is overwritten with zeros, also on pages that become free. FAST would keep free pages, and with them values
  // longer than a page, such as pictures.
  connection.exec('PRAGMA secure_delete = ON');
  // In KiB, enough for the upper pages of the trees. Others come from the page cache of the system. A larger cache here is slower with many
  // accounts, because it is searched for each page and exceeds the cache of the processor.
  connection.exec('PRAGMA cache_size = -8192');
  return connection;
}

/** @returns whether the path still leads to the same file, and no replacement of it has begun */
function watchReplacement(path: string): () => boolean {
  if (path === ':memory:') return () => true;
  const { ino } = statSync(path);
  return () => {
    refuseUnfinished(realPath(path));
    return statSync(path, { throwIfNoEntry: false })?.ino === ino;
  };
}
