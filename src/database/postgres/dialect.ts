import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { QueryResult } from 'pg';
import type { Row } from '../database.ts';
import type { ColumnTypes } from '../migrations/timeline.ts';
import type { Tables } from '../schema.ts';

/** Builds queries for PostgreSQL; it has no connection and runs none. */
export const builder = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

export const columnTypes: ColumnTypes = {
  int: 'BIGINT',
  serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  options: '',
};

/** The type number of a 64-bit integer, which the driver gives as a text. */
const INT8 = 20;

/** The rows of an answer: 64-bit integers are ids and stay texts, or become numbers, by the names of their columns. */
export function rowsOf(result: QueryResult): Row[] {
  const numbers = result.fields
    .filter(({ name, dataTypeID }) => dataTypeID === INT8 && name !== 'id' && !name.endsWith('_id'))
    .map(({ name }) => name);
  const rows = result.rows as Record<string, unknown>[];
  if (numbers.length === 0) return rows;
  for (const row of rows) {
    for (const name of numbers) if (row[name] !== null) row[name] = Number(row[name]);
  }
  return rows;
}
