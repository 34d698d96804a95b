import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomIdentifier, randomSecret } from '../secrets.ts';
import { type Config, ConfigError, variables } from './config.ts';

/**
 * The root secret: as given, from its file, or, with the embedded database, made on the first start in a file that
 * only its owner can read.
 * @throws {ConfigError} when the file cannot be made or read, or holds no usable secret
 */
export function loadSecret(config: Config): Buffer {
  if (config.secret !== undefined) return Buffer.from(config.secret, 'utf8');
  const path = config.secretFile ?? join(config.dataDir, 'secret');
  if (config.secretFile === undefined && !config.databaseUrl.startsWith('sqlite:')) {
    throw new ConfigError([
      `${variables.secret.name} is missing. All nodes of a database share one secret: make it once with ` +
        'openssl rand -base64 32 | tr -d "=", and give it to each of them.',
    ]);
  }
  if (!existsSync(path)) {
    if (config.secretFile !== undefined) {
      throw new ConfigError([
        `${variables.secretFile.name} names ${path}, which does not exist. Make it, or unset it.`,
      ]);
    }
    makeSecret(path, config.dataDir);
  }
  const problems: string[] = [];
  const secret = variables.secret.read({ [variables.secret.name]: readSecret(path).trim() }, problems);
  if (secret === undefined) {
    throw new ConfigError([
      `The secret in ${path} is not usable: it must be at least 43 random characters. Restore it from a backup.`,
    ]);
  }
  return Buffer.from(secret, 'utf8');
}

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

function readSecret(path: string): string {
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
