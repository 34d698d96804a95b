import { type Dialect, Kysely, sql } from 'kysely';
import { DEFAULT_MIGRATION_TABLE, type Migration, Migrator } from 'kysely/migration';
import { contract } from './0001-contract.ts';
import { standardClients } from './0002-standard-clients.ts';

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
  '0002-standard-clients': standardClients,
};

/** The database has steps of a later version behind it: this one does not know what it would read. */
export class NewerDatabase extends Error {
  override readonly name = 'NewerDatabase';
}

/**
 * Brings a database to the current schema, under the migrator's lock, and answers the names of what it ran.
 * @throws the database's error when a step fails; that step is rolled back
 * @throws {NewerDatabase} when a later version migrated it already
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
  if (error) {
    const unknown = await unknownSteps(db);
    if (unknown.length === 0) throw error;
    throw new NewerDatabase(
      `The database was changed by a later version of Tessera (${unknown.join(', ')}). ` +
        'Run that version or a later one, or restore a backup from before.',
    );
  }
  return (results ?? []).map((result) => result.migrationName);
}

/** The steps that ran on a database and that this version does not have. */
async function unknownSteps(db: Kysely<unknown>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return [];
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db);
  return rows.map(({ name }) => name).filter((name) => !Object.hasOwn(timeline, name));
}
