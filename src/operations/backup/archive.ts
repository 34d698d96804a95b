import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { ConfigError } from '../../platform/config/config-error.ts';
import { deriveKey, equalSecrets, keyedDigest } from '../../platform/crypto/secrets.ts';
import type { AppliedMigration } from '../../platform/database/migrations/position.ts';
import type { SealedSecret } from './sealed-secret.ts';

/** What a backup says about itself. */
export interface Manifest {
  /** Unique for each backup. */
  readonly id: string;
  readonly createdAt: string;
  /** The version of Tessera that made it. */
  readonly version: string;
  readonly database: {
    readonly bytes: number;
    readonly sha256: string;
    /** The applied migrations, the number of the last audit event, and the number of rows of each table. */
    readonly applied: readonly AppliedMigration[];
    readonly sequence: number;
    readonly rows: Readonly<Record<string, number>>;
  };
  /** The root secret, sealed under a passphrase; null if it is kept apart. */
  readonly secret: SealedSecret | null;
}

/** A backup whose manifest has been read. */
export interface Archive {
  readonly manifest: Manifest;
  /** Whether it was made with this root secret, and the manifest is as it was written. */
  isOf(root: Buffer): boolean;
}

/** Called with the number of bytes that have been processed. */
export type Progress = (done: number, total: number) => void;

/**
 * A backup is the database file, followed by the manifest and a footer of a fixed length: the length and digest of the manifest, and its
 * authentication code under a key derived from the root secret. What was cut off has no footer.
 */
const FOOTER = /^tessera backup 1 (\d{8}) ([0-9a-f]{64}) ([\w-]{43})\n$/;
const FOOTER_LENGTH = 17 + 9 + 65 + 44;

const codeOf = (root: Buffer, text: string): string => keyedDigest(deriveKey(root, 'backup'), text);

/** Makes a copy of a database a backup. It is on the disk when this returns. */
export async function completeArchive(path: string, manifest: Manifest, root: Buffer): Promise<void> {
  const text = JSON.stringify(manifest);
  const length = String(Buffer.byteLength(text)).padStart(8, '0');
  const footer = `tessera backup 1 ${length} ${hash('sha256', text)} ${codeOf(root, text)}\n`;
  const file = await open(path, 'a');
  try {
    await file.writeFile(text + footer);
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Reads the manifest of a backup.
 * @throws {ConfigError} when the file is not a whole backup
 */
export async function openArchive(path: string): Promise<Archive> {
  const file = await open(path).catch((error: Error) => {
    throw new ConfigError([
      `The backup ${path} cannot be read (${error.message}). Name a file that tessera backup has written.`,
    ]);
  });
  try {
    const { size } = await file.stat();
    const read = async (from: number, length: number): Promise<Buffer> => {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
      return buffer.subarray(0, bytesRead);
    };
    const footer = FOOTER.exec((await read(Math.max(0, size - FOOTER_LENGTH), FOOTER_LENGTH)).toString('latin1'));
    if (footer === null) throw notWhole(path, 'it does not end as a backup of Tessera does');
    const [, length = '', digest, code = ''] = footer;
    const start = size - FOOTER_LENGTH - Number(length);
    const text = start < 0 ? '' : (await read(start, Number(length))).toString('utf8');
    if (hash('sha256', text) !== digest) throw notWhole(path, 'its manifest was changed');
    const manifest = JSON.parse(text) as Manifest;
    if (manifest.database.bytes !== start) {
      throw notWhole(path, `it should contain ${manifest.database.bytes} bytes of data and contains ${start}`);
    }
    return { manifest, isOf: (root) => equalSecrets(codeOf(root, text), code) };
  } finally {
    await file.close();
  }
}

/**
 * Reads the database in a backup, and checks that it is as it was written.
 * @param write receives the bytes; they may be relied on only when this returns
 * @throws {ConfigError} when it was changed
 */
export async function readDatabase(
  path: string,
  { database }: Manifest,
  progress: Progress,
  write: (bytes: Buffer) => Promise<unknown> = async () => {},
): Promise<void> {
  const found = await digestOf(path, database.bytes, progress, write);
  if (found !== database.sha256) throw notWhole(path, 'its data was changed, or was damaged on the disk or on the way');
}

/** The SHA-256 digest of the first bytes of a file. */
export async function digestOf(
  path: string,
  bytes: number,
  progress: Progress,
  write: (bytes: Buffer) => Promise<unknown> = async () => {},
): Promise<string> {
  const sha256 = createHash('sha256');
  let done = 0;
  for await (const chunk of createReadStream(path, { end: bytes - 1, highWaterMark: 1 << 20 })) {
    sha256.update(chunk as Buffer);
    await write(chunk as Buffer);
    done += (chunk as Buffer).length;
    progress(done, bytes);
  }
  return sha256.digest('hex');
}

const notWhole = (path: string, why: string): ConfigError =>
  new ConfigError([
    `${path} is not a whole backup: ${why}. Copy it again from where it was made, or choose another backup. Nothing was changed.`,
  ]);
