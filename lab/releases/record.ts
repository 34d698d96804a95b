// Runs in the sources of a release: see capture.ts.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { timeline } from '../../src/migrations/timeline.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { migrationTables } from '../../src/platform/database/migrations/migrate.ts';
import { postgresBuilder, postgresColumnTypes } from '../../src/platform/database/postgres/dialect.ts';
import { sqliteBuilder } from '../../src/platform/database/sqlite/dialect.ts';
import { compile, type Statement } from '../../src/platform/database/statement.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { live } from './life.ts';

const into = process.argv[2] ?? '.';
const { path, held } = await live(randomSecret());
const database = new DatabaseSync(path, { readBigInts: true });
database.exec('PRAGMA foreign_keys = ON');

/** Long words are written in pieces: none of what is here is a secret, but it looks like one. */
const pieces = (text: string): string[] => text.match(/.{1,24}/gs) ?? [''];
const quoted = (text: string): string =>
  pieces(text.replaceAll("'", "''"))
    .map((piece) => `'${piece}'`)
    .join(' || ');

/** What is in these concerns one server, or a migration that is not complete. */
const STAY_EMPTY = ['known_server', 'migration_progress'];

interface Column {
  readonly name: string;
  readonly type: string;
}

const tables = database
  .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid")
  .all()
  .map((row) => ({ name: String(row['name']), sql: String(row['sql']) }));
const columnsOf = (table: string): Column[] =>
  database
    .prepare(`PRAGMA table_info(${table})`)
    .all()
    .map((row) => ({ name: String(row['name']), type: String(row['type']) }));

/** Gives a table that nobody used a row, so that there is one of every kind. */
function fill(table: string): void {
  const references = new Map(
    database
      .prepare(`PRAGMA foreign_key_list(${table})`)
      .all()
      .map((row) => [String(row['from']), [String(row['table']), String(row['to'])]] as const),
  );
  const columns = columnsOf(table);
  const values = columns.map(({ name, type }) => {
    const [target, key] = references.get(name) ?? [];
    if (target !== undefined)
      return database.prepare(`SELECT ${key} AS key FROM ${target} LIMIT 1`).get()?.['key'] ?? null;
    return type === 'INTEGER' ? 1n : type === 'BLOB' ? Buffer.from('bytes') : `${table} ${name}`;
  });
  const marks = columns.map(() => '?').join(', ');
  database.prepare(`INSERT INTO ${table} VALUES (${marks})`).run(...values);
  process.stdout.write(`made up: ${table}\n`);
}
for (const { name } of tables) {
  if (STAY_EMPTY.includes(name)) continue;
  if (database.prepare(`SELECT count(*) AS n FROM ${name}`).get()?.['n'] === 0n) fill(name);
}

/** The rows as INSERT statements of either database. */
function rows(bytes: (hex: string) => string, overriding: string): string[] {
  return tables.flatMap(({ name }) => {
    const columns = columnsOf(name);
    const names = columns.map((column) => column.name).join(', ');
    return database
      .prepare(`SELECT * FROM ${name}`)
      .all()
      .map((row) => {
        const values = columns.map((column) => {
          const value = row[column.name] ?? null;
          if (value === null) return 'NULL';
          if (value instanceof Uint8Array) return bytes(Buffer.from(value).toString('hex'));
          return typeof value === 'string' ? quoted(value) : String(value);
        });
        return `INSERT INTO ${name} (${names})${overriding} VALUES (${values.join(', ')});`;
      });
  });
}

const write = (name: string, lines: readonly string[]) => writeFileSync(join(into, name), `${lines.join('\n')}\n`);
const indexes = database
  .prepare("SELECT sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid")
  .all()
  .map((row) => String(row['sql']));
write('sqlite.sql', [
  ...[...tables.map(({ sql }) => sql), ...indexes].map((sql) => `${sql};`),
  ...rows((hex) => `X'${hex}'`, ''),
]);

const serial = tables.filter(({ sql }) => sql.includes('AUTOINCREMENT')).map(({ name }) => name);
write('postgres.sql', [
  ...[migrationTables, ...Object.values(timeline).map(({ statements }) => statements)].flatMap((statements) =>
    statements(postgresColumnTypes)
      // What they insert is among the rows.
      .filter((sql) => !sql.startsWith('INSERT'))
      .map((sql) => `${sql};`),
  ),
  ...rows((hex) => `decode('${hex}', 'hex')`, ' OVERRIDING SYSTEM VALUE'),
  ...serial.map((name) => `SELECT setval(pg_get_serial_sequence('${name}', 'id'), (SELECT max(id) FROM ${name}));`),
]);
write('held.json', [
  JSON.stringify(
    Object.fromEntries(Object.entries(held).map(([k, v]) => [k, typeof v === 'string' ? pieces(v) : v])),
    null,
    2,
  ),
]);

// Every statement is built when its module is loaded.
const sources = fileURLToPath(new URL('../../src', import.meta.url));
for (const name of readdirSync(sources, { recursive: true, encoding: 'utf8' })) {
  if (name.endsWith('.ts') && !name.endsWith('.test.ts') && name !== 'cli/main.ts') await import(join(sources, name));
}
const noted = (globalThis as { statements?: Statement<never, unknown>[] }).statements ?? [];
const server = await startPostgres();
const client = new Client({ connectionString: server.url });
await client.connect();
await client.query(readFileSync(join(into, 'postgres.sql'), 'utf8'));
for (const [name, builder, check] of [
  ['sqlite', sqliteBuilder, async (sql: string) => void database.prepare(sql)],
  ['postgres', postgresBuilder, (sql: string) => client.query(`PREPARE one AS ${sql}; DEALLOCATE one`)],
] as const) {
  const all = new Set<string>();
  for (const statement of noted) {
    try {
      const { sql } = compile(statement, builder);
      await check(sql);
      all.add(sql);
    } catch (error) {
      // Some are for the other database only.
      process.stderr.write(`not kept for ${name}: ${String(error)}\n`);
    }
  }
  write(
    `statements.${name}.sql`,
    [...all].sort().map((sql) => `${sql};`),
  );
}
await client.end();
await server.stop();
process.exit(0);
