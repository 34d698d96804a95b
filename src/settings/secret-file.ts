import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../platform/config/config-error.ts';
import { parseSecret } from '../platform/config/secrets.ts';
import { randomIdentifier, randomSecret } from '../platform/crypto/secrets.ts';
import { makeFolder } from '../platform/disk.ts';
import { type Config, variables } from './config.ts';

/** The file that contains the secret; undefined if a variable does. */
export function secretFile(config: Config): string | undefined {
  if (config.secret !== undefined) return undefined;
  return config.secretFile ?? join(config.dataDir, 'secret');
}

/** The secret file that a first start created in the data folder, if it exists and is in use. */
export function generatedSecretFile(config: Config): string | undefined {
  const path = join(config.dataDir, 'secret');
  return secretFile(config) === path && config.secretFile === undefined && existsSync(path) ? path : undefined;
}

/**
 * Creates the secret of a new embedded database, in a file that only its owner can read.
 * @throws {ConfigError} when the file cannot be created
 */
export function createSecret(config: Config): Buffer {
  const path = join(config.dataDir, 'secret');
  makeSecret(path, config.dataDir);
  return readSecret(path);
}

/**
 * Reads the root secret; undefined if a start would create one.
 * @throws {ConfigError} when a start would fail
 */
export function findSecret(config: Config): Buffer | undefined {
  if (config.secret !== undefined) return Buffer.from(config.secret, 'utf8');
  const path = secretFile(config) ?? '';
  if (config.secretFile === undefined && !config.databaseUrl.startsWith('sqlite:')) {
    throw new ConfigError([
      `${variables.secret.name} is missing. All nodes of a database share one secret: generate it once with ` +
        'openssl rand -base64 32 | tr -d "=", and set it on each of them.',
    ]);
  }
  if (existsSync(path)) return readSecret(path);
  if (config.secretFile === undefined) return undefined;
  throw new ConfigError([
    `${variables.secretFile.name} names ${path}, which does not exist. Create the file, or unset the variable.`,
  ]);
}

/** The secret that may still open the data, while it is being replaced. */
export const previousSecrets = ({ previousSecret }: Config): readonly Buffer[] =>
  previousSecret === undefined ? [] : [Buffer.from(previousSecret, 'utf8')];

function makeSecret(path: string, dataDir: string): void {
  const draft = `${path}.${randomIdentifier()}`;
  try {
    makeFolder(dataDir);
    writeFileSync(draft, `${randomSecret()}\n`, { mode: 0o600, flag: 'wx', flush: true });
    // Atomic and exclusive: of two processes that start at once, one creates the secret and both read it.
    linkSync(draft, path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    if (error.code === 'EEXIST' && existsSync(path)) return;
    throw new ConfigError([
      `The data folder ${dataDir} cannot be used: ${error.message}. ` +
        `Set ${variables.dataDir.name} to a folder that this user may write to.`,
    ]);
  } finally {
    if (existsSync(draft)) rmSync(draft);
  }
}

function readSecret(path: string): Buffer {
  const reading = parseSecret(readText(path).trim());
  if ('value' in reading) return Buffer.from(reading.value, 'utf8');
  throw new ConfigError([
    `The secret in ${path} is not usable: it ${reading.problem}. Restore it from a backup if it was changed by mistake.`,
  ]);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new ConfigError([
      `The secret in ${path} cannot be read: ${error.message}. ` +
        `Make it readable for this user, or select another file with ${variables.secretFile.name}.`,
    ]);
  }
}
