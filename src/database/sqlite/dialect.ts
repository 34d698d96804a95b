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
import type { ColumnTypes } from '../migrations/timeline.ts';
import type { Tables } from '../schema.ts';

class Compiler extends SqliteQueryCompiler {
  // SQLite has one writer at a time, so a row read inside a unit of work is locked already.
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier !== 'ForUpdate') super.visitSelectModifier(node);
  }
}

/** Builds queries for SQLite; it has no connection and runs none. */
export const builder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new Compiler(),
  },
});

export const columnTypes: ColumnTypes = {
  int: 'INTEGER',
  serial: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  options: 'STRICT',
};

/** A dialect over an open `node:sqlite` connection, for the migrator. */
export function migrationDialect(connection: DatabaseSync): Dialect {
  const database: SqliteDatabase = {
    close: () => {},
    prepare(sql) {
      const prepared = connection.prepare(sql);
      return {
        reader: prepared.columns().length > 0,
        all: (parameters) => prepared.all(...(parameters as [])),
        run: (parameters) => prepared.run(...(parameters as [])),
        iterate: (parameters) => prepared.iterate(...(parameters as [])),
      };
    },
  };
  return new SqliteDialect({ database });
}
