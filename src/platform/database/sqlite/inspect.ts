import { accessSync, closeSync, constants, existsSync, openSync, readSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isIdColumn } from '../columns.ts';
import type { Row } from '../database.ts';
import { type Inspection, readSingly, type SqliteFacts } from '../inspection.ts';
import { appliedOn, unfinishedOn } from '../migrations/migrate.ts';
import { openReadOnly, realPath, sequenceIn } from './continuity.ts';
import { sqliteBuilder, sqliteColumnTypes } from './dialect.ts';
import { readMark } from './mark.ts';

/**
 * Opens a SQLite database for inspection, without creating or changing a file; undefined if there is none.
 * @throws the error of SQLite or the system when it cannot be read
 */
export async function inspectSqlite(path: string): Promise<Inspection | undefined> {
  if (path === ':memory:' || !existsSync(path)) return undefined;
  const connection = openReadOnly(path);
  const ask = async (text: string, values: readonly unknown[] = []): Promise<readonly Row[]> =>
    readRows(connection, text, values);
  try {
    return {
      facts: gather(path, connection),
      applied: await appliedOn(ask, sqliteColumnTypes),
      unfinished: await unfinishedOn(ask, sqliteColumnTypes),
      read: (work) => readSingly(work(), sqliteBuilder, ask),
      close: async () => connection.close(),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** Rows as the store reads them: ids as text, since they exceed the whole numbers of JavaScript. */
function readRows(connection: DatabaseSync, text: string, values: readonly unknown[]): readonly Row[] {
  const statement = connection.prepare(text);
  statement.setReadBigInts(true);
  const decoded = (name: string, value: unknown): unknown => {
    if (typeof value !== 'bigint') return value;
    return isIdColumn(name) ? String(value) : Number(value);
  };
  return statement
    .all(...(values as []))
    .map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, decoded(name, value)])));
}

function gather(path: string, connection: DatabaseSync): SqliteFacts {
  const folder = dirname(resolve(path));
  const { mode, size } = statSync(path);
  const system = statfsSync(folder);
  const texts = (sql: string): string[] =>
    connection
      .prepare(sql)
      .all()
      .map((row) => String(Object.values(row)[0]));
  return {
    kind: 'sqlite',
    path,
    mode: mode & 0o777,
    folderMode: statSync(folder).mode & 0o777,
    writable: [path, folder].every(isWritable),
    size,
    free: system.bavail * system.bsize,
    network: process.platform === 'linux' ? NETWORK[system.type] : undefined,
    wal: isWal(path),
    journal: statSync(`${realPath(path)}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    mark: markOf(path, sequenceIn(connection) ?? 0),
    damage: texts('PRAGMA quick_check(5)').filter((line) => line !== 'ok'),
  };
}

function markOf(path: string, sequence: number): SqliteFacts['mark'] {
  const mark = readMark(realPath(path));
  if (mark.kind !== 'known') return mark.kind;
  return mark.sequence < sequence ? 'behind' : 'current';
}

/** https://www.sqlite.org/fileformat.html §1.3: the versions that write and read the file are 2 for WAL. */
function isWal(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(20);
    return readSync(file, header, 0, 20, 0) === 20 && header[18] === 2 && header[19] === 2;
  } finally {
    closeSync(file);
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The type numbers of network file systems, from statfs(2). */
const NETWORK: Readonly<Record<number, string>> = {
  26985: 'NFS',
  20859: 'SMB',
  4266872130: 'SMB',
  4283649346: 'CIFS',
  16914839: '9P',
  12805120: 'Ceph',
  1397113167: 'AFS',
};
