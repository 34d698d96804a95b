import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { type Core, databaseFile, type OpenOptions, openCore, requireFinishedRestore } from '../core.ts';
import { ConfigError } from '../platform/config/config-error.ts';
import type { MigrationProgress, MigrationStep } from '../platform/database/migrations/progress.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { readConfig } from '../settings/config.ts';

/** The origin of every audit event of this run: the operating system user, and one request ID for the whole run. */
export const CLI_ORIGIN: Origin = {
  actor: { type: 'cli', id: null },
  address: null,
  requestId: randomUUID(),
  systemUser: systemUser(),
};

function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under a user ID that has no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Reports on standard error that a migration has to wait. */
export const reportWaiting: MigrationProgress = {
  waiting: () => void process.stderr.write('Waiting: another node or command is migrating this database.\n'),
  retrying: (attempt, of) =>
    void process.stderr.write(
      `Waiting: a transaction of another program holds a lock that the migration needs (${attempt} of ${of}).\n`,
    ),
};

/** Reports on standard error what a migration left for an operator to decide. */
const reportFound: Pick<MigrationProgress, 'found'> = {
  found: ({ name }, text) => void process.stderr.write(`Migrating: ${name}: ${text}\n`),
};

/** How often a migration says how far it is, in milliseconds. */
const REPORT_INTERVAL = 5000;

/** Says how far a migration of a large table is: at its first progress, and then once in a while. */
export function reportAdvance(
  say: (step: MigrationStep, text: string) => void,
): Required<MigrationProgress>['advanced'] {
  const told = new Map<string, number>();
  return (step, { what, done, total }) => {
    const now = performance.now();
    if (now - (told.get(step.name) ?? Number.NEGATIVE_INFINITY) < REPORT_INTERVAL) return;
    told.set(step.name, now);
    const of = total === 0 ? '' : ` of about ${total.toLocaleString('en')}`;
    say(step, `${what}: ${done.toLocaleString('en')}${of}`);
  };
}

/** For a process that migrates before it does something else: reports on standard error what takes long. */
export const reportLong: MigrationProgress = {
  ...reportWaiting,
  ...reportFound,
  advanced: reportAdvance(({ name }, text) => void process.stderr.write(`Migrating: ${name}, ${text}\n`)),
};

/** The parsed global flags, which override environment variables. */
export interface GlobalFlags {
  readonly dataDir?: string;
  readonly databaseUrl?: string;
  readonly json?: boolean;
  readonly baseUrl?: string;
  readonly server?: string;
  readonly keyFile?: string;
}

/** The environment variables, overridden by the flags. */
export function environment(
  flags: GlobalFlags & { host?: string; port?: string; processes?: string },
): Readonly<Record<string, string | undefined>> {
  return {
    ...process.env,
    ...(flags.dataDir !== undefined && { TESSERA_DATA_DIR: flags.dataDir }),
    ...(flags.databaseUrl !== undefined && {
      TESSERA_DATABASE_URL: flags.databaseUrl,
      TESSERA_DATABASE_URL_FILE: undefined,
    }),
    ...(flags.host !== undefined && { TESSERA_HOST: flags.host }),
    ...(flags.port !== undefined && { TESSERA_PORT: flags.port }),
    ...(flags.processes !== undefined && { TESSERA_PROCESSES: flags.processes }),
    ...(flags.baseUrl !== undefined && { TESSERA_BASE_URL: flags.baseUrl }),
    ...(flags.server !== undefined && { TESSERA_SERVER: flags.server }),
    ...(flags.keyFile !== undefined && { TESSERA_KEY_FILE: flags.keyFile }),
  };
}

/** Says on standard error where a database was made, which may not be the one of the server that is meant. */
export function tellNewDatabase(path: string): void {
  process.stderr.write(
    `Created a new database: ${path}\nFor a server with another data folder, give that folder with --data-dir.\n`,
  );
}

/**
 * Opens the database, runs the work and closes it. A server may use the database at the same time.
 * @param options.mayBeNew whether to create the database if it does not exist
 * @param options.acceptLoss whether to open a database that lacks recorded changes
 * @throws {ConfigError} if the database does not exist: the command was probably run in another folder than the server
 */
export async function withCore<T>(
  flags: GlobalFlags,
  work: (core: Core) => Promise<T>,
  options: { readonly mayBeNew?: boolean } & Pick<OpenOptions, 'acceptLoss' | 'patience'> = {},
): Promise<T> {
  const config = readConfig(environment(flags));
  const path = databaseFile(config);
  await requireFinishedRestore(config);
  const isNew = path !== undefined && !existsSync(path);
  if (isNew && !options.mayBeNew) {
    throw new ConfigError([
      `There is no Tessera database at ${path}. Run the command in the folder where the server runs, ` +
        'or give the data folder with --data-dir or TESSERA_DATA_DIR.',
    ]);
  }
  const core = await openCore(config, Date.now, { ...options, migration: { progress: reportLong } });
  try {
    if (isNew) tellNewDatabase(path);
    return await work(core);
  } finally {
    await core.close();
  }
}
