import type { DatabaseSync } from 'node:sqlite';
import {
  type Dialect,
  DummyDriver,
  Kysely,
  type SelectModifierNode,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDialect,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { MigrationDialect } from '../migrations/migrate.ts';
import type { Tables } from '../schema.ts';

/** Of row-locks.ts. */
const LOCKS: readonly SelectModifierNode['modifier'][] = ['ForUpdate', 'ForNoKeyUpdate', 'ForShare', 'ForKeyShare'];

class Compiler extends SqliteQueryCompiler {
  // SQLite has one writer at a time, so a row read inside a unit of work is locked already.
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (!LOCKS.includes(node.modifier)) super.visitSelectModifier(node);
  }
}

/** Builds queries for SQLite; it has no connection and runs none. */
export const sqliteBuilder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new Compiler(),
  },
});

export const sqliteColumnTypes: MigrationDialect = {
  int: 'INTEGER',
  serial: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  bytes: 'BLOB',
  options: 'STRICT',
  findTable: (table) => `SELECT name FROM sqlite_schema WHERE type = 'table' AND name = '${table}'`,
  now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  countRows: (table) => `SELECT count(*) AS amount FROM ${table}`,
  async begin(query) {
    // Short, because the statement blocks the whole process.
    await query('PRAGMA busy_timeout = 50');
    try {
      // SQLite has one writer, so the write lock is the lock of the migrations.
      await query('BEGIN IMMEDIATE');
      return true;
    } catch (error) {
      if (isLocked(error)) return false;
      throw error;
    }
  },
  // The write lock is taken first, and there is no other.
  isContention: () => false,
  indexing: undefined,
};

/** The primary result code (https://www.sqlite.org/rescode.html); 0 if the error does not come from SQLite. */
export const resultCode = (error: unknown): number =>
  error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;

/** Whether another connection holds a lock that is needed (busy, locked). */
export const isLocked = (error: unknown): boolean => resultCode(error) === 5 || resultCode(error) === 6;

/** A dialect over an open `node:sqlite` connection, for the migrator. */
export function migrationDialect(connection: DatabaseSync): Dialect {
  const database: SqliteDatabase = {
    close: () => {},
    prepare(sql) {
      const prepared = connection.prepare(sql);
      const reader = prepared.columns().length > 0;
      // A write returns the id of the last row, which may exceed the range of a number.
      if (!reader) prepared.setReadBigInts(true);
      return {
        reader,
        all: (parameters) => prepared.all(...(parameters as [])),
        run: (parameters) => prepared.run(...(parameters as [])),
        iterate: (parameters) => prepared.iterate(...(parameters as [])),
      };
    },
  };
  return new SqliteDialect({ database });
}
