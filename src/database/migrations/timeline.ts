import { type Dialect, Kysely, sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { contract } from './0001-contract.ts';

/** What the two databases spell differently in a table definition. */
export interface ColumnTypes {
  /** A 64-bit integer. */
  readonly int: string;
  /** A 64-bit primary key that the database numbers itself, never giving a number twice. */
  readonly serial: string;
  /** Table options after the closing parenthesis. */
  readonly options: string;
}

/** The one timeline. A migration that has landed is never edited; the next change is a new entry at the end. */
const timeline: Readonly<Record<string, (types: ColumnTypes) => readonly string[]>> = {
  '0001-contract': contract,
};

/**
 * Brings a database to the current schema, under the migrator's lock, and answers the names of what it ran.
 * @throws the database's error when a step fails; that step is rolled back.
 */
export async function migrate(dialect: Dialect, types: ColumnTypes): Promise<readonly string[]> {
  const db = new Kysely<unknown>({ dialect });
  const migrations: Record<string, Migration> = {};
  for (const [name, statements] of Object.entries(timeline)) {
    migrations[name] = {
      up: async (transaction) => {
        for (const statement of statements(types)) await sql.raw(statement).execute(transaction);
      },
    };
  }
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error, results } = await migrator.migrateToLatest();
  if (error) throw error;
  return (results ?? []).map((result) => result.migrationName);
}
