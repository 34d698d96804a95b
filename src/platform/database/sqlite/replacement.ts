import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { makeFolder } from '../../disk.ts';
import { UnusableDatabase } from '../database.ts';

/**
 * The replacement of a database by a restored one. It is written to a file next to the database before the first file is moved, and
 * removed after the last. In between, every command refuses to run, and `tessera restore` finishes it.
 */
export interface Replacement {
  /** The backup that is restored. */
  readonly backup: string;
  readonly id: string;
  /** Files to keep under another name, and files to put in place; all names relative to the folder of the database. */
  readonly aside: readonly Move[];
  readonly install: readonly Move[];
}

export interface Move {
  readonly from: string;
  readonly to: string;
}

const replacementFile = (path: string): string => `${path}-restore`;

/** Where the restored database is prepared. */
export const stagedFile = (path: string): string => `${path}-restoring`;

/** @throws {UnusableDatabase} while a database is being replaced */
export function refuseUnfinished(path: string): void {
  const found = readReplacement(path);
  if (found === undefined) return;
  throw new UnusableDatabase(
    `The restore of ${found.backup} has not finished: some files are in place and others are not. To finish it, run again: ` +
      'tessera restore',
  );
}

/** The replacement that has begun and has not finished; undefined if there is none. */
function readReplacement(path: string): Replacement | undefined {
  const file = replacementFile(path);
  if (!existsSync(file)) return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Replacement;
  } catch (error) {
    // Only the user who began it can read the list.
    throw new UnusableDatabase(
      `A restore has not finished, and its list of files cannot be read: ${error instanceof Error ? error.message : error}. To finish it, ` +
        'run as the user who began it: tessera restore',
    );
  }
}

/**
 * Replaces a database that this process holds exclusively. If it is interrupted, {@link finishReplacement} goes on.
 * @param path the real path of the database
 * @param moves absolute paths
 */
export function replaceDatabase(path: string, replacement: Replacement): void {
  const folder = dirname(path);
  const inFolder = (moves: readonly Move[]): Move[] =>
    moves.map(({ from, to }) => ({ from: relative(folder, from), to: relative(folder, to) }));
  const stored = { ...replacement, aside: inFolder(replacement.aside), install: inFolder(replacement.install) };
  const draft = `${replacementFile(path)}-draft`;
  try {
    writeNew(draft, JSON.stringify(stored));
    renameSync(draft, replacementFile(path));
    syncFolder(folder);
  } catch (error) {
    rmSync(draft, { force: true });
    rmSync(replacementFile(path), { force: true });
    throw error;
  }
  finishReplacement(path);
}

/**
 * Writes a file of our own in place of what has its name, and never through a link that somebody else put there: the folder of the
 * database may belong to another user than the one who restores.
 */
export function writeNew(file: string, text: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, text, { mode: 0o600, flag: 'wx', flush: true });
}

/**
 * Finishes a replacement that has begun; returns it, or undefined if there is none. Each of its steps can be repeated.
 * @throws {UnusableDatabase} when another user began it: root must not move what the server's user names
 */
export function finishReplacement(path: string): Replacement | undefined {
  const replacement = readReplacement(path);
  if (replacement === undefined) return undefined;
  const { uid } = lstatSync(replacementFile(path));
  if (process.geteuid?.() === 0 && uid !== 0) {
    throw new UnusableDatabase(
      `The user with the number ${uid} began the restore of ${replacement.backup}, and it has not finished. To finish it, run as that ` +
        'user: tessera restore',
    );
  }
  const folder = dirname(path);
  const at = (name: string): string => resolve(folder, name);
  for (const { from, to } of replacement.aside) {
    makeFolder(dirname(at(to)));
    // If the name is taken, the file was moved before, and the one that is there now is the new one.
    if (!existsSync(at(to)) && existsSync(at(from))) renameSync(at(from), at(to));
  }
  syncFoldersOf(replacement.aside, at);
  for (const { from, to } of replacement.install) if (existsSync(at(from))) renameSync(at(from), at(to));
  syncFoldersOf(replacement.install, at);
  rmSync(replacementFile(path));
  syncFolder(folder);
  return replacement;
}

function syncFoldersOf(moves: readonly Move[], at: (name: string) => string): void {
  for (const folder of new Set(moves.flatMap(({ from, to }) => [dirname(at(from)), dirname(at(to))])))
    syncFolder(folder);
}

/** Makes the names in a folder durable. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
