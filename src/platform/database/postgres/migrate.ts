import { PostgresDialect } from 'kysely';
import { type MigrationOptions, migrate } from '../migrations/migrate.ts';
import { postgresColumnTypes } from './dialect.ts';
import { migrationPool } from './pools.ts';
import { openPrimary, type PrimaryOptions } from './primary.ts';
import { explainMissingRights } from './schema-rights.ts';
import { explainConnectionError } from './start.ts';

/**
 * Migrates a PostgreSQL database to the current schema, on a separate connection with time limits for large tables.
 * @throws {UnusableDatabase} when the server is not suitable, or a migration fails
 */
export async function migratePostgres(
  url: string,
  options: MigrationOptions,
  trust?: PrimaryOptions,
): Promise<readonly string[]> {
  const primary = openPrimary(url, trust);
  const pool = migrationPool(primary);
  try {
    // Kysely would close the pool otherwise.
    const lent = { connect: () => pool.connect(), end: async () => {}, options: {} };
    return await migrate(new PostgresDialect({ pool: lent }), postgresColumnTypes, options);
  } catch (error) {
    throw explainConnectionError(await explainMissingRights(error, pool));
  } finally {
    await pool.end();
    await primary.close();
  }
}
