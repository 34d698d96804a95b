import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomIdentifier, randomSecret } from '../crypto/secrets.ts';
import { type Config, ConfigError, parseSecret, variables } from './config.ts';

/** The file that the secret lies in, unless a variable holds it. */
export function secretFile(config: Config): string | undefined {
  if (config.secret !== undefined) return undefined;
  return config.secretFile ?? join(config.dataDir, 'secret');
}

/** The file of the secret that a first start has made in the data folder, where it is there and is the one that counts. */
export function generatedSecretFile(config: Config): string | undefined {
  const path = join(config.dataDir, 'secret');
  return secretFile(config) === path && config.secretFile === undefined && existsSync(path) ? path : undefined;
}

/**
 * The secret of a first start with the embedded database: made in a file that only its owner can read.
 * @throws {ConfigError} when the file cannot be made
 */
export function createSecret(config: Config): Buffer {
  const path = join(config.dataDir, 'secret');
  makeSecret(path, config.dataDir);
  return readSecret(path);
}

/**
 * The root secret, or undefined where a start would make one: nothing is made here.
 * @throws {ConfigError} where a start could not go on
 */
export function findSecret(config: Config): Buffer | undefined {
  if (config.secret !== undefined) return Buffer.from(config.secret, 'utf8');
  const path = secretFile(config) ?? '';
  if (config.secretFile === undefined && !config.databaseUrl.startsWith('sqlite:')) {
    throw new ConfigError([
      `${variables.secret.name} is missing. All nodes of a database share one secret: make it once with ` +
        'openssl rand -base64 32 | tr -d "=", and give it to each of them.',
    ]);
  }
  if (existsSync(path)) return readSecret(path);
  if (config.secretFile === undefined) return undefined;
  throw new ConfigError([`${variables.secretFile.name} names ${path}, which does not exist. Make it, or unset it.`]);
}

/** The secret before the present one, while it is being changed. */
export const previousSecret = (config: Config): Buffer | undefined =>
  config.previousSecret === undefined ? undefined : Buffer.from(config.previousSecret, 'utf8');

function makeSecret(path: string, dataDir: string): void {
  const draft = `${path}.${randomIdentifier()}`;
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    writeFileSync(draft, `${randomSecret()}\n`, { mode: 0o600, flag: 'wx', flush: true });
    // Whole or not there, and exclusive: of two processes that start together one makes the secret and both read it.
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
    `The secret in ${path} is not usable: it ${reading.problem}. Restore it from a backup, if it was changed by mistake.`,
  ]);
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new ConfigError([
      `The secret in ${path} cannot be read: ${error.message}. ` +
        `Let this user read it, or name another file with ${variables.secretFile.name}.`,
    ]);
  }
}
