import { dirname } from 'node:path';
import type { SecurityNoticeServices } from './account-actions/notices/notices.ts';
import { type BreachedPasswords, breachedPasswords } from './accounts/breached-passwords.ts';
import { openSealer, type Sealer } from './keys/sealer.ts';
import { readVersion } from './keys/store.ts';
import { createMailer, type Mailer } from './mail/mail.ts';
import { toCurrentSchema } from './migrations/timeline.ts';
import { type Pictures, pictures } from './pictures/pictures.ts';
import type { Clock } from './platform/clock.ts';
import { ConfigError } from './platform/config/config-error.ts';
import { isLoopback } from './platform/config/loopback.ts';
import { HASH_COST, type Passwords, passwords } from './platform/crypto/passwords.ts';
import { type Database, type DatabaseMeter, UnusableDatabase } from './platform/database/database.ts';
import type { Inspection } from './platform/database/inspection.ts';
import type { DataLoss } from './platform/database/loss.ts';
import type { MigrationOptions } from './platform/database/migrations/migrate.ts';
import { NewerDatabase } from './platform/database/migrations/position.ts';
import { findDataLossIn, realPath, requireContinuity } from './platform/database/sqlite/continuity.ts';
import { inspectSqlite } from './platform/database/sqlite/inspect.ts';
import { migrateSqlite, openSqlite } from './platform/database/sqlite/open.ts';
import { refuseUnfinished } from './platform/database/sqlite/replacement.ts';
import { makeFolder } from './platform/disk.ts';
import { type Meter, unmetered } from './platform/http/meter.ts';
import { type Outgoing, outgoing } from './platform/http/outgoing.ts';
import { type Ids, leasedIds } from './platform/ids/ids.ts';
import type { Traced } from './platform/telemetry/traced.ts';
import { baseUrlOf, type Config } from './settings/config.ts';
import { createSecret, findSecret, generatedSecretFile, previousSecrets, secretFile } from './settings/secret-file.ts';

/** The store and the services on it, as the server and the command line share them. */
export interface Core {
  readonly config: Config;
  readonly clock: Clock;
  readonly database: Database;
  readonly ids: Ids;
  readonly passwords: Passwords;
  readonly breaches: BreachedPasswords;
  readonly pictures: Pictures;
  readonly secret: Buffer;
  readonly outgoing: Outgoing;
  /** Opened when it is first needed: commands that need none work without the right secret. */
  sealer(): Promise<Sealer>;
  mailer(): Promise<Mailer>;
  /** What people are told by mail with, for commands that change accounts. */
  notices(): Promise<SecurityNoticeServices>;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Migrates to the current schema unless it names other steps. */
  readonly migration?: Partial<MigrationOptions>;
  readonly meter?: DatabaseMeter & Pick<Meter, 'checkedBreaches'>;
  /**
   * Called with what puts the data at risk without preventing a start. A process that serves no requests, such as a command, leaves it out;
   * then unsafe settings of the database server are accepted.
   */
  readonly warn?: (text: string) => void;
  /** Whether to check the structure of an embedded database whose last process left a journal behind. */
  readonly checkStructure?: boolean;
  /** Opens the data even if recorded changes are missing, in order to revoke everything that was issued before. */
  readonly acceptLoss?: boolean;
  /** How long a unit of work may take on a database server, in milliseconds: for commands that change every row. */
  readonly patience?: number;
  /** For tests: cheaper hashing, and means to delay a hash or a picture. */
  readonly passwords?: (concurrency: number) => Passwords;
  readonly pictures?: Pictures;
  /** Adds spans to what takes time, where the service is traced. */
  readonly traced?: Traced | undefined;
  /** For tests that move the clock: replaces the time of the database's clock. */
  readonly sharedTime?: () => number;
  /** For tests: means to delay units of work. */
  readonly wrapDatabase?: (database: Database) => Database;
}

/**
 * Opens the data and migrates it to the current schema.
 * @throws {ConfigError} when the secret or the database cannot be used; the message says what to do
 */
export async function openCore(config: Config, clock: Clock, options: OpenOptions = {}): Promise<Core> {
  const existingSecret = findSecret(config);
  if (options.acceptLoss) await findDataLoss(config);
  else await checkEmbeddedDatabase(config, options.checkStructure);
  const opened = await openDatabase(config, options);
  const database = options.traced?.database(opened) ?? opened;
  const secret = existingSecret ?? (await secretFor(config, database));
  const ids = leasedIds(database, clock);
  let sealing: Promise<Sealer> | undefined;
  const sealer = () =>
    (sealing ??= openSealer(database, { current: secret, previous: previousSecrets(config) }, clock));
  const mailer = async () => createMailer(config.mail, await sealer());
  const hashing = options.passwords?.(config.hashingConcurrency) ?? passwords(config.hashingConcurrency, HASH_COST);
  const send = outgoing({ local: servesThisMachineOnly(config), networks: config.outgoingAllow });
  return {
    config,
    clock,
    database,
    ids,
    passwords: options.traced?.passwords(hashing) ?? hashing,
    breaches: breachedPasswords(
      config.passwordBreaches,
      options.traced?.outgoing(send) ?? send,
      options.meter ?? unmetered,
    ),
    pictures: options.pictures ?? pictures(),
    secret,
    outgoing: options.traced?.outgoing(send) ?? send,
    sealer,
    mailer,
    notices: async () => ({
      mail: await mailer(),
      sealer: await sealer(),
      issuer: baseUrlOf(config, config.port),
    }),
    async close() {
      try {
        await ids.release();
      } catch {
        // Without the database the node number cannot be returned; its lease expires by itself.
      } finally {
        await database.close();
      }
    },
  };
}

/** Creates the secret of a new database. The keys of an existing one are encrypted with a secret that cannot be replaced. */
async function secretFor(config: Config, database: Database): Promise<Buffer> {
  if ((await database.read(() => readVersion({}))) === undefined) return createSecret(config);
  // Another process may just have created both.
  const secret = findSecret(config);
  if (secret !== undefined) return secret;
  await database.close();
  throw new ConfigError([
    `The secret is gone: ${secretFile(config)} does not exist, and the keys in the database are encrypted with it. ` +
      'Restore it from a backup; it belongs with every copy of the database.',
  ]);
}

/**
 * Migrates the database to the current schema.
 * @returns the names of the migrations that ran
 * @throws {ConfigError} when the database cannot be used, or a migration failed
 */
export async function migrateDatabase(
  config: Config,
  options: Partial<MigrationOptions> = {},
): Promise<readonly string[]> {
  const path = sqlitePath(config);
  const migration = { ...toCurrentSchema, ...options };
  // Structure included: a journal of another file would be merged here, before any start could notice it.
  await checkEmbeddedDatabase(config, true);
  return explainErrors(config, async () => {
    if (path !== undefined) return migrateSqlite(makeFolderOf(path), migration);
    const { migratePostgres } = await import('./platform/database/postgres/migrate.ts');
    return migratePostgres(config.databaseUrl, migration);
  });
}

/**
 * Opens the database for inspection, without creating or changing anything; undefined if there is none yet.
 * @throws {ConfigError} when a start would refuse the database too, with the same message
 */
export async function inspectDatabase(config: Config, clock: Clock): Promise<Inspection | undefined> {
  const path = sqlitePath(config);
  await checkEmbeddedDatabase(config);
  return explainErrors(config, async () => {
    if (path !== undefined) return inspectSqlite(path);
    const { inspectPostgres } = await import('./platform/database/postgres/inspect.ts');
    return inspectPostgres(config.databaseUrl, clock, {
      local: servesThisMachineOnly(config),
      processes: config.processes,
    });
  });
}

const servesThisMachineOnly = (config: Config): boolean => isLoopback(new URL(baseUrlOf(config, config.port)).hostname);

/**
 * Checks the file of an embedded database, before anything is created, migrated or served.
 * @throws {ConfigError} when it is missing or damaged, or lacks changes that were recorded
 */
async function checkEmbeddedDatabase(config: Config, checkStructure = false): Promise<void> {
  const path = databaseFile(config);
  if (path === undefined) return;
  const check = { secretFile: generatedSecretFile(config), checkStructure };
  await explainErrors(config, async () => requireContinuity(path, check));
}

/**
 * The changes that an embedded database is known to have lost; undefined if there are none.
 * @throws {ConfigError} when it is missing or damaged
 */
export async function findDataLoss(config: Config): Promise<DataLoss | undefined> {
  const path = databaseFile(config);
  if (path === undefined) return undefined;
  return explainErrors(config, async () => findDataLossIn(path, { secretFile: generatedSecretFile(config) }));
}

/** @throws {ConfigError} while the database is being replaced by `tessera restore`: it may not be there now */
export async function requireFinishedRestore(config: Config): Promise<void> {
  const path = databaseFile(config);
  if (path !== undefined) await explainErrors(config, async () => refuseUnfinished(realPath(path)));
}

/** What follows `sqlite:` in the database URL: a file, or `:memory:`. */
const sqlitePath = ({ databaseUrl }: Config): string | undefined => /^sqlite:(.+)$/s.exec(databaseUrl)?.[1];

/** The file of an embedded database; undefined for one in memory or on a server. */
export function databaseFile(config: Config): string | undefined {
  const path = sqlitePath(config);
  return path === ':memory:' ? undefined : path;
}

async function openDatabase(
  config: Config,
  { migration, meter, warn, patience, acceptLoss = false, sharedTime, wrapDatabase = (own) => own }: OpenOptions,
): Promise<Database> {
  const path = sqlitePath(config);
  const database = await explainErrors(config, async () => {
    if (path !== undefined) return openSqlite(makeFolderOf(path), { ...toCurrentSchema, ...migration }, meter);
    // Loaded on demand: the embedded database starts without it.
    const { openPostgres } = await import('./platform/database/postgres/open.ts');
    return openPostgres(config.databaseUrl, { ...toCurrentSchema, ...migration }, meter, {
      local: warn === undefined || servesThisMachineOnly(config),
      ...(warn && { warn }),
      patience,
      acceptsLoss: acceptLoss,
      processes: config.processes,
    });
  });
  return wrapDatabase(sharedTime === undefined ? database : { ...database, sharedTime: async () => sharedTime() });
}

/** Creates the folder of a database file; returns the path. */
function makeFolderOf(path: string): string {
  if (path !== ':memory:') makeFolder(dirname(path));
  return path;
}

/** Converts the errors of a database that cannot be used to a {@link ConfigError} that says what to do. */
export async function explainErrors<T>(config: Config, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof UnusableDatabase) throw new ConfigError([`The database cannot be used: ${error.message}`]);
    if (error instanceof NewerDatabase) throw new ConfigError([error.message]);
    const path = sqlitePath(config);
    if (error instanceof Error && path !== undefined && ('errcode' in error || 'syscall' in error)) {
      throw new ConfigError([
        `The database ${path} cannot be opened: ${error.message}. ` +
          'Check that the folder exists, is writable and has free space, and that the file is a database of Tessera (if it ' +
          'was one, restore a backup). TESSERA_DATA_DIR or TESSERA_DATABASE_URL selects another one.',
      ]);
    }
    throw error;
  }
}
