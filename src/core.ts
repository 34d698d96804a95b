import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Passwords, passwords } from './accounts/passwords.ts';
import type { Clock } from './clock.ts';
import { type Config, ConfigError } from './config/config.ts';
import { loadSecret } from './config/secret-file.ts';
import { type Database, DatabaseUnusable } from './database/database.ts';
import { NewerDatabase } from './database/migrations/timeline.ts';
import { openSqlite } from './database/sqlite/open.ts';
import { type Ids, leasedIds } from './identifiers/ids.ts';

/** What the server and the command line share: the data, and the means to change it. */
export interface Core {
  readonly config: Config;
  readonly clock: Clock;
  readonly database: Database;
  readonly ids: Ids;
  readonly passwords: Passwords;
  readonly secret: Buffer;
  close(): Promise<void>;
}

/** @throws {ConfigError} where the secret or the database cannot be had, with the remedy */
export async function openCore(config: Config, clock: Clock): Promise<Core> {
  const secret = loadSecret(config);
  const database = await openDatabase(config);
  const ids = leasedIds(database, clock);
  return {
    config,
    clock,
    database,
    ids,
    passwords: passwords(config.hashingConcurrency),
    secret,
    async close() {
      await ids.release();
      await database.close();
    },
  };
}

async function openDatabase({ databaseUrl }: Config): Promise<Database> {
  if (databaseUrl.startsWith('sqlite:')) return openFile(databaseUrl.slice('sqlite:'.length));
  try {
    // Loaded where it is used: the embedded default starts without it.
    const { openPostgres } = await import('./database/postgres/open.ts');
    return await openPostgres(databaseUrl);
  } catch (error) {
    if (error instanceof DatabaseUnusable) throw new ConfigError([`The database cannot be used: ${error.message}`]);
    if (error instanceof NewerDatabase) throw new ConfigError([error.message]);
    throw error;
  }
}

async function openFile(path: string): Promise<Database> {
  try {
    if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    return await openSqlite(path);
  } catch (error) {
    if (error instanceof NewerDatabase) throw new ConfigError([error.message]);
    if (error instanceof Error && ('errcode' in error || 'syscall' in error)) {
      throw new ConfigError([
        `The database ${path} cannot be opened: ${error.message}. ` +
          'Check that the folder exists, is writable and has room, and that the file is a database of Tessera; ' +
          'TESSERA_DATA_DIR or TESSERA_DATABASE_URL names another one.',
      ]);
    }
    throw error;
  }
}
