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

/** The content of the mark, a file next to the database. */
export type Mark =
  | { readonly kind: 'absent' }
  /** Truncated or damaged. */
  | { readonly kind: 'unreadable' }
  /** The database has had an audit event of this number; `writtenAt` in milliseconds since the epoch. */
  | { readonly kind: 'known'; readonly sequence: number; readonly writtenAt: number };

export const markFile = (path: string): string => `${path}-mark`;

/** How long after a commit the mark is synced to disk, in milliseconds. Until then a power failure can lose it. */
const SYNC_DELAY = 1000;

const content = (sequence: number): string => {
  const text = `tessera 1 ${String(sequence).padStart(16, '0')}`;
  return `${text} ${crc32(text).toString(16).padStart(8, '0')}\n`;
};

/** Reads the mark of a database file. @throws the system error when it exists but cannot be read */
export function readMark(path: string): Mark {
  const stat = statSync(markFile(path), { throwIfNoEntry: false });
  if (stat === undefined) return { kind: 'absent' };
  const text = readFileSync(markFile(path), 'latin1');
  const sequence = Number(/^tessera 1 (\d{16}) /.exec(text)?.[1] ?? Number.NaN);
  if (!Number.isSafeInteger(sequence) || text !== content(sequence)) return { kind: 'unreadable' };
  return { kind: 'known', sequence, writtenAt: stat.mtimeMs };
}

/** Updates the mark of a database after each commit of this process. A failure never fails a commit. */
export interface MarkWriter {
  /** Records that the event of this number is committed. The kernel has it when this returns, so it survives a crash of the process. */
  advance(sequence: number): void;
  close(): Promise<void>;
}

/**
 * Opens the mark of a database, and creates it if there is none.
 *
 * It is never ahead of the commits and never decreases, so changes that it counts and the database lacks are lost. All processes that use
 * a database write the same mark. If two write at the same moment, the lower number may remain for up to a second.
 * @param committed the number of the last event in the database
 */
export function openMark(path: string, committed: number): MarkWriter {
  const file = markFile(path);
  let descriptor: number | undefined;
  let highest = 0;
  // Reused, because writing a string would take twice as long after every commit.
  const bytes = Buffer.from(content(0), 'latin1');
  let timer: NodeJS.Timeout | undefined;
  let syncing: Promise<void> = Promise.resolve();

  function write(): void {
    try {
      descriptor ??= openMarkFile(file, path);
      bytes.write(content(highest), 'latin1');
      writeSync(descriptor, bytes, 0, bytes.length, 0);
    } catch {
      // A full or read-only disk. The commit is valid nevertheless, and the next one tries again.
    }
  }

  /** Repairs the file if another process or an operator has changed or replaced it. */
  function repair(): void {
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
      repair();
      if (descriptor !== undefined) await promisify(fdatasync)(descriptor);
    } catch {
      // As in write().
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
    advance(sequence) {
      if (sequence <= highest) return;
      highest = sequence;
      write();
      timer ??= setTimeout(() => {
        syncing = sync();
      }, SYNC_DELAY).unref();
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

/** Opens the file for writing in place. A new file is synced with its folder before it is relied on. */
function openMarkFile(file: string, database: string): number {
  const isNew = statSync(file, { throwIfNoEntry: false }) === undefined;
  const { mode, uid, gid } = statSync(database);
  const descriptor = openSync(file, constants.O_RDWR | constants.O_CREAT, mode & 0o666);
  if (!isNew) return descriptor;
  try {
    // Like SQLite's own files: a process that can write the database can write the mark.
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
