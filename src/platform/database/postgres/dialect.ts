import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import { DatabaseError, type QueryResult } from 'pg';
import type { Row } from '../database.ts';
import type { MigrationDialect } from '../migrations/migrate.ts';
import type { Tables } from '../schema.ts';

const builderWith = (createQueryCompiler: () => PostgresQueryCompiler): Kysely<Tables> =>
  new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler,
    },
  });

/** Builds queries for PostgreSQL; it has no connection and runs none. */
export const postgresBuilder = builderWith(() => new PostgresQueryCompiler());

class LateralQueryCompiler extends PostgresQueryCompiler {
  protected override getCurrentParameterPlaceholder(): string {
    return `caller.p${this.numParameters}`;
  }
}

/** Builds queries for a lateral join whose parameters are the columns `p1`, `p2`, … of a table `caller`. */
export const lateralBuilder = builderWith(() => new LateralQueryCompiler());

/** The advisory lock of the migrations. An arbitrary number, which must never change. */
const MIGRATION_LOCK = '3853314791062309107';

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const DEADLOCK_DETECTED = '40P01';

export const postgresColumnTypes: MigrationDialect = {
  int: 'BIGINT',
  serial: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
  bytes: 'BYTEA',
  options: '',
  rebuilds: false,
  findTable: (table) => `SELECT to_regclass('${table}')::text AS name`,
  async begin(query) {
    // Each statement sees everything committed before it, including the migrations of another process.
    await query('BEGIN ISOLATION LEVEL READ COMMITTED');
    // Without waiting inside the statement, which could not report that, and would reach its time limit.
    const [lock] = await query(`SELECT pg_try_advisory_xact_lock(${MIGRATION_LOCK}) AS got`);
    if (lock?.['got'] === true) return true;
    await query('ROLLBACK');
    return false;
  },
  isDeadlock: (error) => error instanceof DatabaseError && error.code === DEADLOCK_DETECTED,
};

/** The type of 64-bit integers, which the driver returns as strings. */
const INT8 = 20;

/** The rows of a result: 64-bit integers stay strings if the column is named as an id, and become numbers otherwise. */
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
