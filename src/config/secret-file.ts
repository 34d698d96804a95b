import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomSecret } from '../secrets.ts';
import { type Config, ConfigError, variables } from './config.ts';

/**
 * The root secret: as given, from its file, or, with the embedded database, made on the first start in a file that
 * only its owner can read.
 * @throws {ConfigError} when a file that was named cannot be read or holds no usable secret
 */
export function loadSecret(config: Config): Buffer {
  if (config.secret !== undefined) return Buffer.from(config.secret, 'utf8');
  const path = config.secretFile ?? join(config.dataDir, 'secret');
  if (!existsSync(path)) {
    if (config.secretFile !== undefined) {
      throw new ConfigError([
        `${variables.secretFile.name} names ${path}, which does not exist. Make it, or unset it.`,
      ]);
    }
    mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
    try {
      // Exclusive: of two processes that start together one makes the secret and both read it.
      writeFileSync(path, `${randomSecret()}\n`, { mode: 0o600, flag: 'wx', flush: true });
      chmodSync(path, 0o600);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  const problems: string[] = [];
  const secret = variables.secret.read({ [variables.secret.name]: readFileSync(path, 'utf8').trim() }, problems);
  if (secret === undefined) {
    throw new ConfigError([
      `The secret in ${path} is not usable: it must be at least 43 random characters. Restore it from a backup.`,
    ]);
  }
  return Buffer.from(secret, 'utf8');
}
