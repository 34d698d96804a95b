import { PostgresDialect } from 'kysely';
import { type MigrationOptions, migrate } from '../migrations/timeline.ts';
import { postgresColumnTypes } from './dialect.ts';
import { migrationPool } from './pools.ts';
import { explainConnectionError } from './start.ts';

/**
 * Brings the tables of a PostgreSQL database to the current schema, on a connection of its own with as much time as large
 * tables need.
 * @throws {DatabaseUnusable} where the server is not fit for it, or a step fails
 */
export async function migratePostgres(url: string, options?: MigrationOptions): Promise<readonly string[]> {
  const pool = migrationPool(url);
  try {
    // The migrator would end the pool with itself.
    const lent = { connect: () => pool.connect(), end: async () => {}, options: {} };
    return await migrate(new PostgresDialect({ pool: lent }), postgresColumnTypes, options);
  } catch (error) {
    throw explainConnectionError(error);
  } finally {
    await pool.end();
  }
}
