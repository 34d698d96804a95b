import { appendFileSync, copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open.ts';
import type { Random } from './random.ts';

/** The files of a node with SQLite, by what they hold. */
export interface Files {
  readonly folder: string;
  readonly database: string;
  readonly wal: string;
  readonly shm: string;
  readonly secret: string;
  /** A sound copy of the database from a while before. */
  readonly earlier: string;
}

export interface Damage {
  readonly name: string;
  readonly harm: (files: Files, random: Random) => void | Promise<void>;
}

// https://www.sqlite.org/fileformat2.html#walformat
const WAL_HEADER = 32;
const FRAME_HEADER = 24;
const pageSize = (wal: Buffer): number => wal.readUInt32BE(8);

/** The frames that count: what lies behind them is left from before the last checkpoint, and has another salt. */
function framesOf(path: string): { readonly wal: Buffer; readonly frame: number; readonly frames: number } {
  const wal = readFileSync(path);
  const frame = FRAME_HEADER + pageSize(wal);
  const salt = (at: number) => wal.subarray(at, at + 8);
  let frames = 0;
  const next = () => WAL_HEADER + frames * frame;
  while (next() + frame <= wal.length && salt(next() + 8).equals(salt(16))) frames++;
  if (frames === 0) throw new Error('the journal holds nothing that could be damaged');
  return { wal, frame, frames };
}

function cut(path: string, leave: (frames: number, frame: number) => number): void {
  const { frame, frames } = framesOf(path);
  truncateSync(path, WAL_HEADER + leave(frames, frame));
}

/** Turns around every bit of a part of a file. */
function flip(path: string, at: number, length: number): void {
  const bytes = readFileSync(path);
  for (let n = at; n < Math.min(at + length, bytes.length); n++) bytes[n] = ~(bytes[n] ?? 0) & 0xff;
  writeFileSync(path, bytes);
}

/** Damages 16 bytes in the page of a frame. */
function flipFrame(path: string, which: (frames: number) => number): void {
  const { frame, frames } = framesOf(path);
  flip(path, WAL_HEADER + which(frames) * frame + FRAME_HEADER + 100, 16);
}

/** Puts the journal of another database of this version in the place of this one's. */
async function foreignJournal({ folder, wal }: Files): Promise<void> {
  const other = join(folder, 'other.db');
  const database = await openSqlite(other, toCurrentSchema);
  copyFileSync(`${other}-wal`, wal);
  await database.close();
  for (const ending of ['', '-wal', '-shm']) rmSync(other + ending, { force: true });
}

const remove = (...paths: readonly string[]): void => {
  for (const path of paths) rmSync(path, { force: true });
};

/** What becomes of the files while no node runs. */
export const DAMAGES: Readonly<Record<string, Damage>> = {
  'wal-deleted': { name: 'the journal deleted', harm: ({ wal }) => remove(wal) },
  'wal-half': {
    name: 'the journal cut in half',
    harm: ({ wal }) => cut(wal, (frames, frame) => Math.floor(frames / 2) * frame),
  },
  'wal-last': {
    name: 'the last frame of the journal cut off',
    harm: ({ wal }) => cut(wal, (frames, frame) => (frames - 1) * frame),
  },
  'wal-torn': {
    name: 'the journal cut inside a frame',
    harm: ({ wal }, random) => cut(wal, (frames, frame) => random(frames) * frame + 1 + random(frame - 1)),
  },
  'wal-early': { name: 'bytes of the first frame flipped', harm: ({ wal }) => flipFrame(wal, () => 0) },
  'wal-middle': {
    name: 'bytes of a frame in the middle flipped',
    harm: ({ wal }) => flipFrame(wal, (frames) => Math.floor(frames / 2)),
  },
  'wal-late': { name: 'bytes of the last frame flipped', harm: ({ wal }) => flipFrame(wal, (frames) => frames - 1) },
  'wal-header': { name: 'the header of the journal damaged', harm: ({ wal }) => flip(wal, 0, WAL_HEADER) },
  'wal-other': { name: 'the journal of another database', harm: foreignJournal },
  'shm-deleted': { name: 'the -shm file deleted', harm: ({ shm }) => remove(shm) },
  'shm-garbage': { name: 'garbage in the -shm file', harm: ({ shm }) => flip(shm, 0, statSync(shm).size) },
  'database-cut': {
    name: 'the database file cut in half',
    harm: ({ database }) => truncateSync(database, Math.floor(statSync(database).size / 2)),
  },
  'database-empty': {
    name: 'a database file of no bytes',
    harm: ({ database, wal, shm }) => {
      truncateSync(database);
      remove(wal, shm);
    },
  },
  'database-older': {
    name: 'the database replaced by an older copy',
    harm: ({ database, wal, shm, earlier }) => {
      copyFileSync(earlier, database);
      remove(wal, shm);
    },
  },
  'database-older-journal': {
    name: 'an older copy of the database beside the present journal',
    harm: ({ database, earlier }) => copyFileSync(earlier, database),
  },
  'database-header': { name: 'the header of the database damaged', harm: ({ database }) => flip(database, 0, 100) },
  'database-page': {
    name: 'a page of the database damaged',
    harm: ({ database }, random) => flip(database, (1 + random(statSync(database).size / 4096 - 1)) * 4096, 4096),
  },
  'database-gone': {
    name: 'the secret without its database',
    harm: ({ database, wal, shm }) => remove(database, wal, shm),
  },
  'secret-gone': { name: 'the database without its secret', harm: ({ secret }) => remove(secret) },
  'secret-garbage': {
    name: 'garbage in the secret',
    harm: ({ secret }) => {
      const length = statSync(secret).size;
      truncateSync(secret);
      appendFileSync(secret, Buffer.alloc(length, 0xa5));
    },
  },
};
