import { existsSync, lchownSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { databaseFile, explainErrors } from './core.ts';
import { ConfigError } from './platform/config/config-error.ts';
import type { DataLoss } from './platform/database/loss.ts';
import { openReadOnly, realPath, requireContinuity, sequenceIn } from './platform/database/sqlite/continuity.ts';
import { checkSqlite, copySqlite, type DatabaseContent } from './platform/database/sqlite/copy.ts';
import { holdExclusively } from './platform/database/sqlite/exclusive.ts';
import { readMark } from './platform/database/sqlite/mark.ts';
import {
  finishReplacement,
  type Move,
  type Replacement,
  replaceDatabase,
  stagedFile,
  syncFolder,
  writeNew,
} from './platform/database/sqlite/replacement.ts';
import { isDiskFull, makeFolder } from './platform/disk.ts';
import { conflict } from './platform/failure.ts';
import type { Config } from './settings/config.ts';
import { generatedSecretFile } from './settings/secret-file.ts';

export { syncFolder };

// What `tessera backup` and `tessera restore` do to the file of an embedded database.

/** The file of the embedded database, for commands that exist only for that. @throws {ConfigError} */
export function embeddedFile(config: Config, otherwise: string): string {
  const path = databaseFile(config);
  if (path === undefined) throw new ConfigError([otherwise]);
  return realPath(path);
}

/**
 * Copies the embedded database, while servers use it, and checks the copy.
 * @param to a file that does not exist yet; nothing is left of it on failure
 */
export function copyEmbedded(
  config: Config,
  path: string,
  to: string,
  progress: (done: number, total: number) => void,
): Promise<DatabaseContent> {
  return explainErrors(config, async () => {
    if (!existsSync(path)) throw new ConfigError([`There is no Tessera database at ${path}.`]);
    requireContinuity(path, { secretFile: generatedSecretFile(config) });
    return copySqlite(path, to, progress).catch((error: unknown) => {
      throw isDiskFull(error) ? noRoom(dirname(to), statSync(path).size) : error;
    });
  });
}

/** Checks the structure of a copy, and returns what it contains. @throws {ConfigError} when it is damaged */
export const checkCopy = (config: Config, path: string): Promise<DatabaseContent> =>
  explainErrors(config, () => checkSqlite(path));

/** Finishes a restore that was interrupted between the first and the last file; undefined if there was none. */
export const finishRestore = (config: Config, path: string): Promise<Replacement | undefined> =>
  explainErrors(config, async () => finishReplacement(path));

/** The state of the files that a restore would replace. */
export interface ReplacedFiles {
  readonly hasData: boolean;
  /** The last audit event that is known to have been committed. */
  readonly known: { readonly sequence: number; readonly writtenAt: number };
}

export function lookAtFiles(path: string): ReplacedFiles {
  const size = (suffix: string): number => statSync(`${path}${suffix}`, { throwIfNoEntry: false })?.size ?? 0;
  const hasData = size('') > 0 || size('-wal') > 0;
  const found = hasData ? sequenceOf(path) : 0;
  const marked = markOf(path);
  const known = found > marked.sequence ? { sequence: found, writtenAt: statSync(path).mtimeMs } : marked;
  return { hasData, known };
}

function markOf(path: string): ReplacedFiles['known'] {
  const mark = readMark(path);
  return mark.kind === 'known' ? mark : { sequence: 0, writtenAt: 0 };
}

function sequenceOf(path: string): number {
  try {
    const connection = openReadOnly(path);
    try {
      return sequenceIn(connection) ?? 0;
    } finally {
      connection.close();
    }
  } catch {
    // Damaged, which may be why it is replaced.
    return 0;
  }
}

/** A place where a database is prepared, while no other process can open the one that it replaces. */
export interface Staging {
  /** Where to prepare the database. */
  readonly file: string;
  /** The changes that a database with this last event lacks of those that were here; undefined if none are known. */
  loss(found: number): DataLoss | undefined;
  /**
   * Puts the prepared database in place.
   * @param secret a secret file to create, or to replace
   * @returns the folder that has the files of before
   */
  install(backup: { readonly file: string; readonly id: string }, at: string, secret?: NewSecret): string | undefined;
  /** Removes what was prepared and not put in place, and lets other processes open the database. */
  release(): void;
}

export interface NewSecret {
  readonly path: string;
  readonly text: string;
}

const SUFFIXES = ['', '-wal', '-shm', '-journal', '-mark'] as const;

/**
 * @param bytes the size of the database that will be prepared
 * @throws {Failure} while another process uses the database
 * @throws {ConfigError} when there is no room for it
 */
export function stage(path: string, bytes: number): Staging {
  makeFolder(dirname(path));
  requireRoom(dirname(path), bytes);
  const { hasData, known } = lookAtFiles(path);
  const hold = holdExclusively(path);
  if (hold === undefined) {
    throw conflict(
      `${path} is in use: a server or another command is running on it. Stop it, then run this command again. Nothing was changed.`,
    );
  }
  const file = stagedFile(path);
  const discard = (): void => {
    for (const suffix of SUFFIXES) rmSync(`${file}${suffix}`, { force: true });
  };
  // Left by a restore that was killed.
  discard();
  // Again: a server may have stopped in between.
  const marked = markOf(path);
  const { sequence, writtenAt } = marked.sequence > known.sequence ? marked : known;
  return {
    file,
    loss: (found) => (sequence > found ? { expected: sequence, found, writtenAt } : undefined),
    install(backup, at, secret) {
      for (const suffix of ['-wal', '-journal']) {
        if (existsSync(`${file}${suffix}`)) throw new Error(`${file} was not closed`);
      }
      const stamp = at.replaceAll(/[-:.]/g, '');
      const folder = join(dirname(path), `replaced-${stamp}`);
      const { uid, gid } = statSync(hasData ? path : dirname(path));
      const aside: Move[] = [];
      const install: Move[] = [];
      for (const suffix of hasData ? SUFFIXES : []) {
        if (existsSync(`${path}${suffix}`))
          aside.push({ from: `${path}${suffix}`, to: join(folder, `tessera.db${suffix}`) });
      }
      for (const suffix of ['', '-mark']) install.push({ from: `${file}${suffix}`, to: `${path}${suffix}` });
      if (secret !== undefined) {
        const staged = `${secret.path}-restoring`;
        makeFolder(dirname(secret.path));
        writeNew(staged, `${secret.text}\n`);
        if (existsSync(secret.path)) aside.push({ from: secret.path, to: `${secret.path}-replaced-${stamp}` });
        install.push({ from: staged, to: secret.path });
      }
      // The owner of the files before must be able to open these. They may have put links in their place.
      if (process.getuid?.() === 0) for (const { from } of install) lchownSync(from, uid, gid);
      if (!hasData) for (const suffix of ['-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true });
      replaceDatabase(path, { backup: backup.file, id: backup.id, aside, install });
      return hasData ? folder : undefined;
    },
    release() {
      discard();
      hold.release();
    },
  };
}

/** @throws {ConfigError} when a folder has no room for a file of this size */
export function requireRoom(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize > bytes) return;
  throw noRoom(folder, bytes);
}

export const noRoom = (folder: string, bytes: number): ConfigError =>
  new ConfigError([
    `There is no room in ${folder}, or its disk fails: this needs ${Math.ceil(bytes / 2 ** 20)} MiB of free space. Make room, or ` +
      'choose another folder, then run the command again. Nothing was changed.',
  ]);
