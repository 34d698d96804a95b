import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { ownDatabase } from '../support/postgres-database.ts';

interface Column {
  /** Whether a row that leaves it out is refused. */
  readonly required: boolean;
}

/** The columns of each table. */
type Columns = Readonly<Record<string, Readonly<Record<string, Column>>>>;

/** A database of one test. */
export interface Place {
  readonly environment: Readonly<Record<string, string>>;
  execute(sql: string): Promise<void>;
  columns(): Promise<Columns>;
  /** The rows of these tables, in these columns, as comparable texts. */
  rows(columns: Columns): Promise<Readonly<Record<string, readonly string[]>>>;
  /** The unique indexes, as the table and the name. */
  uniqueIndexes(): Promise<readonly string[]>;
  /** Lets the database check statements, without running them. */
  prepare(statements: readonly string[]): Promise<void>;
  drop(): Promise<void>;
}

type Ask = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** What both databases do alike. */
function common(ask: Ask, findColumns: string): Pick<Place, 'columns' | 'rows'> {
  return {
    async columns() {
      const tables: Record<string, Record<string, Column>> = {};
      for (const { table, column, required } of await ask(findColumns)) {
        const columns = tables[String(table)] ?? {};
        tables[String(table)] = { ...columns, [String(column)]: { required: Number(required) === 1 } };
      }
      return tables;
    },
    async rows(columns) {
      const all: Record<string, string[]> = {};
      for (const [table, names] of Object.entries(columns)) {
        const found = await ask(`SELECT ${Object.keys(names).join(', ')} FROM ${table}`);
        const text = (value: unknown) =>
          value instanceof Uint8Array ? Buffer.from(value).toString('hex') : String(value);
        all[table] = found.map((row) => Object.values(row).map(text).join(' | ')).sort();
      }
      return all;
    },
  };
}

export async function filePlace(): Promise<Place> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tessera-release-'));
  const on = <T>(work: (database: DatabaseSync) => T): T => {
    const database = new DatabaseSync(join(dataDir, 'tessera.db'), { readBigInts: true });
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  const ask: Ask = async (sql) => on((database) => database.prepare(sql).all());
  return {
    environment: { TESSERA_DATA_DIR: dataDir },
    execute: async (sql) => on((database) => database.exec(`PRAGMA journal_mode = WAL; ${sql}`)),
    ...common(
      ask,
      // The key of a table without a type of its own is generated.
      `SELECT t.name AS "table", c.name AS "column",
         c."notnull" = 1 AND c.dflt_value IS NULL AND c.pk = 0 AS required
       FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
       WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE '%_migration'`,
    ),
    uniqueIndexes: async () =>
      (
        await ask(
          `SELECT t.name AS "table", group_concat(c.name) AS columns, i.partial AS partial
           FROM sqlite_schema AS t, pragma_index_list(t.name) AS i, pragma_index_info(i.name) AS c
           WHERE t.type = 'table' AND i."unique" = 1 GROUP BY t.name, i.name`,
        )
      ).map((row) => Object.values(row).join(' ')),
    prepare: async (statements) =>
      on((database) => {
        for (const statement of statements) database.prepare(`EXPLAIN ${statement}`);
      }),
    drop: async () => rmSync(dataDir, { recursive: true }),
  };
}

export async function postgresPlace(): Promise<Place> {
  const own = await ownDatabase();
  assert.ok(own !== undefined, 'there is no PostgreSQL to test with');
  const on = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
    const client = new Client({ connectionString: own.url });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  };
  const ask: Ask = (sql) => on(async (client) => (await client.query(sql)).rows);
  return {
    environment: own.environment,
    execute: (sql) => on(async (client) => void (await client.query(sql))),
    ...common(
      ask,
      `SELECT table_name AS "table", column_name AS "column",
         (is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO')::int AS required
       FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name NOT LIKE '%_migration'`,
    ),
    uniqueIndexes: async () =>
      (
        await ask(
          `SELECT tablename AS "table", indexname AS name FROM pg_indexes
           WHERE schemaname = current_schema() AND indexdef LIKE 'CREATE UNIQUE%'`,
        )
      ).map((row) => Object.values(row).join(' ')),
    prepare: (statements) =>
      on(async (client) => {
        for (const [index, statement] of statements.entries()) {
          await client.query(`PREPARE of_release_${index} AS ${statement}`).catch((error: unknown) => {
            throw new Error(`${String(error)}: ${statement}`);
          });
        }
      }),
    drop: own.drop,
  };
}
