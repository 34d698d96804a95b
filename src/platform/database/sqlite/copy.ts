import { closeSync, openSync, rmSync } from 'node:fs';
import { backup, type DatabaseSync } from 'node:sqlite';
import { UnusableDatabase } from '../database.ts';
import { appliedOn } from '../migrations/migrate.ts';
import type { AppliedMigration } from '../migrations/position.ts';
import { openReadOnly, sequenceIn } from './continuity.ts';
import { sqliteColumnTypes } from './dialect.ts';
import { connect } from './open.ts';

/** What a database contains, to compare a copy with its original. */
export interface DatabaseContent {
  /** The applied migrations. */
  readonly applied: readonly AppliedMigration[];
  /** The number of the last audit event. */
  readonly sequence: number;
  /** The number of rows of each table. */
  readonly rows: Readonly<Record<string, number>>;
}

/** Pages for each step of a copy: 8 MiB, after which other work of this process may go on. */
const STEP = 2048;

/**
 * Copies a database as it is at one moment, while other processes read and write it. They never wait for the copy, but the write-ahead
 * log cannot be emptied until it is finished.
 * @param to a file that does not exist yet; nothing is left of it on failure
 * @param progress called with the number of copied pages
 */
export async function copySqlite(
  path: string,
  to: string,
  progress: (done: number, total: number) => void,
): Promise<DatabaseContent> {
  const connection = await connect(path);
  try {
    closeSync(openSync(to, 'wx', 0o600));
    // All steps read the state of this transaction, so that no commit of others makes the copy start again.
    connection.exec('BEGIN');
    const content = await contentOf(connection);
    await backup(connection, to, {
      rate: STEP,
      progress: ({ totalPages, remainingPages }) => progress(totalPages - remainingPages, totalPages),
    });
    connection.exec('COMMIT');
    return content;
  } catch (error) {
    for (const suffix of ['', '-journal']) rmSync(`${to}${suffix}`, { force: true });
    throw error;
  } finally {
    connection.close();
  }
}

/**
 * Checks the structure of a database file that no process uses, and returns what it contains.
 * @throws {UnusableDatabase} when it is damaged
 */
export async function checkSqlite(path: string): Promise<DatabaseContent> {
  const connection = openReadOnly(path);
  try {
    const [row] = connection.prepare('PRAGMA integrity_check(1)').all();
    const [found] = Object.values(row ?? {});
    if (found !== 'ok') throw new UnusableDatabase(`${path} is damaged: ${String(found).replaceAll('\n', ' ')}`);
    return await contentOf(connection);
  } finally {
    connection.close();
  }
}

async function contentOf(connection: DatabaseSync): Promise<DatabaseContent> {
  const tables = connection
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .all()
    .map(({ name }) => String(name));
  const count = (table: string): number =>
    Number(connection.prepare(`SELECT count(*) AS rows FROM "${table}"`).get()?.['rows']);
  return {
    applied: await appliedOn(async (text) => connection.prepare(text).all(), sqliteColumnTypes),
    sequence: sequenceIn(connection) ?? 0,
    rows: Object.fromEntries(tables.map((table) => [table, count(table)])),
  };
}
