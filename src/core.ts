import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { readVersion } from './keys/store.ts';
import { type Pictures, pictures } from './pictures/pictures.ts';
import type { Clock } from './platform/clock.ts';
import { baseUrlOf, type Config, ConfigError, isLoopback } from './platform/config/config.ts';
import { findSecret, firstSecret, ownSecretFile, secretFile } from './platform/config/secret-file.ts';
import { HASH_COST, type Passwords, passwords } from './platform/crypto/passwords.ts';
import { type Database, type DatabaseMeter, DatabaseUnusable } from './platform/database/database.ts';
import type { Inspection } from './platform/database/inspection.ts';
import type { Loss } from './platform/database/loss.ts';
import { type MigrationOptions, NewerDatabase } from './platform/database/migrations/timeline.ts';
import { findLoss, requireContinuity } from './platform/database/sqlite/continuity.ts';
import { inspectSqlite } from './platform/database/sqlite/inspect.ts';
import { migrateSqlite, openSqlite } from './platform/database/sqlite/open.ts';
import { type Ids, leasedIds } from './platform/ids/ids.ts';

/** What the server and the command line share: the data, and the means to change it. */
export interface Core {
  readonly config: Config;
  readonly clock: Clock;
  readonly database: Database;
  readonly ids: Ids;
  readonly passwords: Passwords;
  readonly pictures: Pictures;
  readonly secret: Buffer;
  close(): Promise<void>;
}

/** How the data is opened, where it is not as usual. */
export interface Opening {
  readonly migration?: MigrationOptions;
  readonly meter?: DatabaseMeter;
  /**
   * Told what the database puts at risk, where that does not stop a start. Without it, as in a command, nobody is served by this
   * process, and nothing is refused for that.
   */
  readonly caution?: (text: string) => void;
  /** Whether the structure of an embedded database is checked where its last process left a journal behind. */
  readonly thorough?: boolean;
  /** Opens the data also where recorded changes are missing: for what ends all that was issued before. */
  readonly acceptLoss?: boolean;
  /** For tests, which hash thousands of passwords at a lower cost, and hold up a hash or a picture under way. */
  readonly passwords?: (concurrency: number) => Passwords;
  readonly pictures?: Pictures;
  /** In place of the time by the database's clock, for tests that move their own. */
  readonly sharedTime?: () => number;
}

/**
 * Opens the data, and brings it to the current schema.
 * @throws {ConfigError} where the secret or the database cannot be had, with the remedy
 */
export async function openCore(
  config: Config,
  clock: Clock,
  { migration, meter, caution, thorough, acceptLoss = false, ...own }: Opening = {},
): Promise<Core> {
  const found = findSecret(config);
  if (acceptLoss) await lossOf(config);
  else await checkData(config, thorough);
  const opened = await usable(config, openDatabase(config, migration, meter, caution));
  const { sharedTime } = own;
  const database = sharedTime === undefined ? opened : { ...opened, sharedTime: async () => sharedTime() };
  const secret = found ?? (await secretFor(config, database));
  const ids = leasedIds(database, clock);
  return {
    config,
    clock,
    database,
    ids,
    passwords: own.passwords?.(config.hashingConcurrency) ?? passwords(config.hashingConcurrency, HASH_COST),
    pictures: own.pictures ?? pictures(),
    secret,
    async close() {
      try {
        await ids.release();
      } catch {
        // With the database away nothing can be given back: the lease runs out by itself, and a stop is a stop.
      } finally {
        await database.close();
      }
    },
  };
}

/** A new database gets a new secret. One that has keys was made with another, without which nobody can use it. */
async function secretFor(config: Config, database: Database): Promise<Buffer> {
  if ((await database.read(() => readVersion({}))) === undefined) return firstSecret(config);
  // Another process may have made both in this moment.
  const found = findSecret(config);
  if (found !== undefined) return found;
  await database.close();
  throw new ConfigError([
    `The secret is gone: ${secretFile(config)} does not exist, and the keys in the database are sealed with it. ` +
      'Restore it from a backup; it belongs beside every copy of the database.',
  ]);
}

/**
 * Brings the database to the current schema, and answers the names of the migrations that ran.
 * @throws {ConfigError} where the database cannot be had, or a migration failed
 */
export async function migrateDatabase(config: Config, migration?: MigrationOptions): Promise<readonly string[]> {
  const path = fileOf(config);
  // Thoroughly: a log that is not this file's would be taken in here, before any start sees it.
  await checkData(config, true);
  return usable(
    config,
    path === undefined
      ? import('./platform/database/postgres/migrate.ts').then((postgres) =>
          postgres.migratePostgres(config.databaseUrl, migration),
        )
      : inFolder(path, () => migrateSqlite(path, migration)),
  );
}

/**
 * Opens the database to look at it, or answers undefined where there is none yet: nothing is made or changed.
 * @throws {ConfigError} where a start would refuse the database too, in the same words
 */
export async function inspectDatabase(config: Config, clock: Clock): Promise<Inspection | undefined> {
  const path = fileOf(config);
  await checkData(config);
  if (path !== undefined) return usable(config, inspectSqlite(path));
  return usable(
    config,
    import('./platform/database/postgres/inspect.ts').then(({ inspectPostgres }) =>
      inspectPostgres(config.databaseUrl, clock, servesThisMachine(config)),
    ),
  );
}

/** Whether no other machine is served. */
const servesThisMachine = (config: Config): boolean => isLoopback(new URL(baseUrlOf(config, config.port)).hostname);

/**
 * Looks at the file of an embedded database before anything is made, migrated or served.
 * @throws {ConfigError} where it is gone, damaged, or lacks changes that were recorded
 */
function checkData(config: Config, thorough = false): Promise<void> {
  return usable(
    config,
    lookAt(config, (path) => requireContinuity(path, { secretFile: ownSecretFile(config), thorough })),
  );
}

/**
 * What an embedded database is known to lack; undefined where nothing is.
 * @throws {ConfigError} where it is gone or damaged
 */
export function lossOf(config: Config): Promise<Loss | undefined> {
  return usable(
    config,
    lookAt(config, (path) => findLoss(path, { secretFile: ownSecretFile(config) })),
  );
}

async function lookAt<T>(config: Config, look: (path: string) => T): Promise<T | undefined> {
  const path = databaseFile(config);
  return path === undefined ? undefined : look(path);
}

/** What `sqlite:` names: a file, or `:memory:`. */
const fileOf = ({ databaseUrl }: Config): string | undefined => /^sqlite:(.+)$/s.exec(databaseUrl)?.[1];

/** The file of an embedded database, or undefined for one in memory or on a server. */
export function databaseFile(config: Config): string | undefined {
  const path = fileOf(config);
  return path === ':memory:' ? undefined : path;
}

async function openDatabase(
  config: Config,
  migration?: MigrationOptions,
  meter?: DatabaseMeter,
  caution?: (text: string) => void,
): Promise<Database> {
  const path = fileOf(config);
  if (path === undefined) {
    // Loaded where it is used: the embedded default starts without it.
    const { openPostgres } = await import('./platform/database/postgres/open.ts');
    return openPostgres(config.databaseUrl, migration, meter, {
      local: caution === undefined || servesThisMachine(config),
      ...(caution && { caution }),
    });
  }
  return inFolder(path, () => openSqlite(path, migration, meter));
}

/** Makes the folder of a file first. */
async function inFolder<T>(path: string, open: () => Promise<T>): Promise<T> {
  if (path !== ':memory:') mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  return open();
}

/** What is wrong with a database, in words that name the remedy. */
async function usable<T>(config: Config, opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof DatabaseUnusable) throw new ConfigError([`The database cannot be used: ${error.message}`]);
    if (error instanceof NewerDatabase) throw new ConfigError([error.message]);
    if (error instanceof Error && fileOf(config) !== undefined && ('errcode' in error || 'syscall' in error)) {
      throw new ConfigError([
        `The database ${fileOf(config)} cannot be opened: ${error.message}. ` +
          'Check that the folder exists, is writable and has room, and that the file is a database of Tessera (if it was ' +
          'one, restore a backup); ' +
          'TESSERA_DATA_DIR or TESSERA_DATABASE_URL names another one.',
      ]);
    }
    throw error;
  }
}
