import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';

/** What the file beside a database says of it. */
export type Mark =
  | { readonly kind: 'absent' }
  /** Cut or damaged: it says nothing. */
  | { readonly kind: 'unreadable' }
  /** The database has had an audit event of this number; `writtenAt` in milliseconds since the epoch. */
  | { readonly kind: 'known'; readonly sequence: number; readonly writtenAt: number };

export const markFile = (path: string): string => `${path}-mark`;

/** How long after a commit the mark may still be lost with the power, in milliseconds. */
const SYNC_AFTER = 1000;

const content = (sequence: number): string => {
  const text = `tessera 1 ${String(sequence).padStart(16, '0')}`;
  return `${text} ${crc32(text).toString(16).padStart(8, '0')}\n`;
};

/** Reads the mark beside a database file. @throws the error of the system where it is there and cannot be read */
export function readMark(path: string): Mark {
  const stat = statSync(markFile(path), { throwIfNoEntry: false });
  if (stat === undefined) return { kind: 'absent' };
  const text = readFileSync(markFile(path), 'latin1');
  const sequence = Number(/^tessera 1 (\d{16}) /.exec(text)?.[1] ?? Number.NaN);
  if (!Number.isSafeInteger(sequence) || text !== content(sequence)) return { kind: 'unreadable' };
  return { kind: 'known', sequence, writtenAt: stat.mtimeMs };
}

/** Keeps the mark of a database up with what this process commits. It never fails a commit. */
export interface MarkKeeper {
  /** An event of this number is committed. The kernel has it when this returns, so it outlives the process. */
  note(sequence: number): void;
  close(): Promise<void>;
}

/**
 * Opens the mark of a database, and makes it where there is none.
 *
 * It is never ahead of what is committed, and never goes back by itself: what it names and the database lacks is lost. The
 * processes that share a file share it; where two write in the same moment the lower number may stay, until the next second.
 * @param committed the last number in the database now
 */
export function keepMark(path: string, committed: number): MarkKeeper {
  const file = markFile(path);
  let descriptor: number | undefined;
  let highest = 0;
  // Octets at hand cost half of what a text does, which counts after every commit.
  const octets = Buffer.from(content(0), 'latin1');
  let timer: NodeJS.Timeout | undefined;
  let syncing: Promise<void> = Promise.resolve();

  function write(): void {
    try {
      descriptor ??= openMark(file, path);
      octets.write(content(highest), 'latin1');
      writeSync(descriptor, octets, 0, octets.length, 0);
    } catch {
      // A full or read-only disk: the commit holds all the same, and the next one tries again.
    }
  }

  /** Mends what another process or an operator did to the file meanwhile. */
  function mend(): void {
    const there = statSync(file, { throwIfNoEntry: false });
    if (descriptor !== undefined && there?.ino !== fstatSync(descriptor).ino) {
      closeSync(descriptor);
      descriptor = undefined;
    }
    const mark = readMark(path);
    if (mark.kind !== 'known' || mark.sequence < highest) write();
  }

  async function sync(): Promise<void> {
    timer = undefined;
    try {
      mend();
      if (descriptor !== undefined) await promisify(fdatasync)(descriptor);
    } catch {
      // As above.
    }
  }

  try {
    const mark = readMark(path);
    highest = Math.max(committed, mark.kind === 'known' ? mark.sequence : 0);
    if (mark.kind !== 'known' || mark.sequence < highest) {
      write();
      if (descriptor !== undefined) fdatasyncSync(descriptor);
    }
  } catch {
    highest = committed;
  }
  return {
    note(sequence) {
      if (sequence <= highest) return;
      highest = sequence;
      write();
      timer ??= setTimeout(() => {
        syncing = sync();
      }, SYNC_AFTER).unref();
    },
    async close() {
      const pending = timer !== undefined;
      clearTimeout(timer);
      await syncing;
      if (pending) await sync();
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

/** Opens the file for writing in place; where it is made, its name is on the disk before anything relies on it. */
function openMark(file: string, database: string): number {
  const made = statSync(file, { throwIfNoEntry: false }) === undefined;
  const { mode, uid, gid } = statSync(database);
  const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT, mode & 0o666);
  if (!made) return descriptor;
  try {
    // As SQLite does with its own files: who may write the database may write what is beside it.
    fchmodSync(descriptor, mode & 0o666);
    if (process.getuid?.() === 0) fchownSync(descriptor, uid, gid);
  } catch (error) {
    closeSync(descriptor);
    unlinkSync(file);
    throw error;
  }
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
  return descriptor;
}
