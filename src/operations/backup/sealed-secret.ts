import { scrypt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { seal, unseal } from '../../keys/seal.ts';
import { ConfigError } from '../../platform/config/config-error.ts';
import { randomSecret } from '../../platform/crypto/secrets.ts';
import { decodeText } from '../../platform/text-input.ts';

/** The root secret, encrypted under a passphrase. */
export interface SealedSecret {
  readonly salt: string;
  readonly sealed: string;
}

/** The OWASP Password Storage Cheat Sheet's first choice for scrypt: 128 MiB. Fixed, so that a backup cannot ask for more. */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 };

const MIN_LENGTH = 12;

const derive = promisify<string, string, number, typeof COST, Buffer>(scrypt);

/** @param id the backup that contains it: no other can */
export async function sealSecret(secret: Buffer, passphrase: string, id: string): Promise<SealedSecret> {
  const salt = randomSecret();
  return { salt, sealed: seal(await derive(passphrase, salt, 32, COST), secret, contextOf(id)) };
}

/** Decrypts the secret of a backup; undefined if none of these is its passphrase. */
export async function openSecret(
  { salt, sealed }: SealedSecret,
  passphrase: string,
  id: string,
): Promise<Buffer | undefined> {
  return unseal(await derive(passphrase, salt, 32, COST), sealed, contextOf(id));
}

const contextOf = (id: string): string => `root secret of backup ${id}`;

/**
 * Reads a passphrase from a file, without its final line break.
 * @throws {ConfigError}
 */
export function readPassphrase(file: string): string {
  const reading = decodeText(readBytes(file));
  if ('problem' in reading) throw new ConfigError([`The passphrase in ${file} ${reading.problem}.`]);
  return requireLong(reading.text.replace(FINAL_BREAK, ''), file);
}

const FINAL_BREAK = /\r?\n$/;

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new ConfigError([
      `--passphrase-file ${file} cannot be read: ${error instanceof Error ? error.message : error}.`,
    ]);
  }
}

function requireLong(text: string, file: string): string {
  if (text.length >= MIN_LENGTH) return text;
  throw new ConfigError([
    `The passphrase in ${file} has ${text.length} characters and needs at least ${MIN_LENGTH}. Generate one: openssl rand -base64 24`,
  ]);
}
