import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import type { Database } from '../../src/platform/database/database.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open.ts';
import { migratedDatabase } from './postgres-database.ts';

/** A store with no server on it. */
export interface OwnStore {
  readonly database: Database;
  dispose(): Promise<void>;
}

/** An empty store: in memory, or a database of the PostgreSQL server that TESSERA_TEST_POSTGRES names. */
export async function openOwnStore(): Promise<OwnStore> {
  const own = await migratedDatabase();
  if (own === undefined) {
    const database = await openSqlite(':memory:', toCurrentSchema);
    return { database, dispose: () => database.close() };
  }
  const { openPostgres } = await import('../../src/platform/database/postgres/open.ts');
  const database = await openPostgres(own.url, toCurrentSchema);
  return {
    database,
    async dispose() {
      await database.close();
      await own.drop();
    },
  };
}
