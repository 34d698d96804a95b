import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from 'pg';
import { ownDatabase } from '../../test/support/postgres-database.ts';

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
  /** The only value of the only row of a query. */
  value(sql: string): Promise<string>;
  /** How many rows a table has, or those with a condition. */
  count(table: string): Promise<number>;
  /** The indexes that can be used, as a table with a condition that ends with their name. */
  readonly usableIndexes: string;
  /** Waits until the server has noticed that a process was killed, unless it is completing an index of that. */
  settled(): Promise<void>;
  /** Those of all tables but the ones that concern migrations, or one server. */
  columns(): Promise<Columns>;
  /** The rows of these tables, in these columns, as comparable texts. */
  rows(columns: Columns): Promise<Readonly<Record<string, readonly string[]>>>;
  /** The unique indexes: the table, its columns, and whether only some rows are in it. */
  uniqueIndexes(): Promise<readonly string[]>;
  /** Lets the database check statements, without running them. */
  prepare(statements: readonly string[]): Promise<void>;
  drop(): Promise<void>;
}

type Ask = (sql: string) => Promise<readonly Readonly<Record<string, unknown>>[]>;

/** What both databases do alike. */
function common(ask: Ask, findColumns: string): Pick<Place, 'columns' | 'count' | 'rows' | 'value'> {
  const value = async (sql: string): Promise<string> => String(Object.values((await ask(sql))[0] ?? {})[0]);
  return {
    value,
    count: async (table) => Number(await value(`SELECT count(*) AS amount FROM ${table}`)),
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
       WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT LIKE '%migration%' AND t.name <> 'known_server'`,
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
    usableIndexes: "sqlite_schema WHERE type = 'index' AND name",
    settled: async () => {},
    drop: async () => rmSync(dataDir, { recursive: true }),
  };
}

export async function postgresPlace(): Promise<Place> {
  const own = await ownDatabase();
  assert.ok(own !== undefined, 'there is no PostgreSQL to test with');
  const client = new Client({ connectionString: own.url });
  await client.connect();
  const ask: Ask = async (sql) => (await client.query(sql)).rows;
  return {
    environment: own.environment,
    execute: async (sql) => void (await client.query(sql)),
    ...common(
      ask,
      `SELECT table_name AS "table", column_name AS "column",
         (is_nullable = 'NO' AND column_default IS NULL AND is_identity = 'NO')::int AS required
       FROM information_schema.columns
       WHERE table_schema = current_schema() AND table_name NOT LIKE '%migration%' AND table_name <> 'known_server'`,
    ),
    uniqueIndexes: async () =>
      (
        await ask(
          `SELECT tablename AS "table", replace(substring(indexdef from '[(]([^)]*)[)]'), ', ', ',') AS columns,
             (indexdef LIKE '% WHERE %')::int AS partial
           FROM pg_indexes
           WHERE schemaname = current_schema() AND indexdef LIKE 'CREATE UNIQUE%'`,
        )
      ).map((row) => Object.values(row).join(' ')),
    async prepare(statements) {
      for (const [index, statement] of statements.entries()) {
        await client.query(`PREPARE of_release_${index} AS ${statement}`).catch((error: unknown) => {
          throw new Error(`${String(error)}: ${statement}`);
        });
      }
    },
    usableIndexes: 'pg_index JOIN pg_class ON oid = indexrelid WHERE indisvalid AND relname',
    async settled() {
      const others = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'tessera'
        AND query NOT LIKE 'CREATE INDEX CONCURRENTLY%'`;
      while ((await client.query(others)).rowCount !== 0) await nextTurn();
    },
    async drop() {
      await client.end();
      await own.drop();
    },
  };
}
