import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { type Core, databaseFile, openCore } from '../core.ts';
import { ConfigError, readConfig } from '../platform/config/config.ts';
import type { MigrationProgress } from '../platform/database/migrations/migrate.ts';
import type { Origin } from '../platform/http/origin.ts';

/** Every act of the command line is recorded as its own, with who ran it; what one run does bears one id. */
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
    // A container may run under a number that has no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** What a person is told where the migration of a start has to wait. */
export const sayWaiting: MigrationProgress = {
  waiting: () => void process.stderr.write('Waiting: another node or command is migrating this database.\n'),
};

/** The flags that stand for environment variables, as the parser gives them. */
export interface GlobalFlags {
  readonly dataDir?: string;
  readonly databaseUrl?: string;
  readonly json?: boolean;
  readonly baseUrl?: string;
}

/** The environment with the flags of the command line laid over it. */
export function environment(flags: GlobalFlags & { host?: string; port?: string }) {
  return {
    ...process.env,
    ...(flags.dataDir !== undefined && { TESSERA_DATA_DIR: flags.dataDir }),
    ...(flags.databaseUrl !== undefined && { TESSERA_DATABASE_URL: flags.databaseUrl }),
    ...(flags.host !== undefined && { TESSERA_HOST: flags.host }),
    ...(flags.port !== undefined && { TESSERA_PORT: flags.port }),
    ...(flags.baseUrl !== undefined && { TESSERA_BASE_URL: flags.baseUrl }),
  };
}

/**
 * Opens the data, works on it, and lets go of it: also while a server runs on it.
 * @param options.mayBeNew whether the work makes sense on a database that does not exist yet
 * @param options.acceptLoss whether it is opened also where recorded changes are missing
 * @throws {ConfigError} where it does not: the command was most likely run in another folder than the server
 */
export async function withCore<T>(
  flags: GlobalFlags,
  work: (core: Core) => Promise<T>,
  options: { readonly mayBeNew?: boolean; readonly acceptLoss?: boolean } = {},
): Promise<T> {
  const config = readConfig(environment(flags));
  const path = databaseFile(config);
  const isNew = path !== undefined && !existsSync(path);
  if (isNew && !options.mayBeNew) {
    throw new ConfigError([
      `There is no data of Tessera at ${path}. Run the command in the folder where the server runs, ` +
        'or name the folder of the data with --data-dir or TESSERA_DATA_DIR.',
    ]);
  }
  const { acceptLoss = false } = options;
  const core = await openCore(config, Date.now, { migration: { progress: sayWaiting }, acceptLoss });
  try {
    if (isNew) process.stderr.write(`Made a new database: ${path}\n`);
    return await work(core);
  } finally {
    await core.close();
  }
}
