import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { Pool } from 'pg';
import { readConfig } from '../../src/settings/config.ts';
import type { Agent, Answer } from './agent.ts';
import type { TestServer } from './server.ts';

/** Asserts that an answer was given here: a page or a JSON body, and nothing that would take a browser elsewhere. */
export function assertStaysHere(answer: Answer, status: number): void {
  assert.equal(answer.status, status, `${answer.location ?? answer.text.slice(0, 500)}`);
  for (const header of ['location', 'refresh']) assert.equal(answer.headers.get(header), null, header);
  assert.doesNotMatch(answer.text, /http-equiv/i);
}

/** The parameters that a redirect adds, each of which must stand there once. */
export function parametersOf(address: URL | undefined): Record<string, string> {
  assert.ok(address !== undefined, 'no redirect');
  const names = [...address.searchParams.keys()];
  assert.equal(new Set(names).size, names.length, `a parameter stands twice in ${address}`);
  return Object.fromEntries(address.searchParams);
}

/** Asserts an error that was sent to the client: contract §4.1 and §7, RFC 9207. */
export function assertErrorRedirect(
  answer: Answer,
  expected: {
    error: string;
    status?: 302 | 303;
    state?: string | undefined;
    description?: string | RegExp;
    to: string;
  },
  server: Pick<TestServer, 'baseUrl'>,
): void {
  assert.equal(answer.status, expected.status ?? 302, answer.text.slice(0, 500));
  assert.ok(answer.location?.href.startsWith(`${expected.to}?`), `${answer.location}`);
  const { error_description: description, ...rest } = parametersOf(answer.location);
  const { state } = expected;
  assert.deepEqual(rest, { error: expected.error, ...(state !== undefined && { state }), iss: server.baseUrl });
  // RFC 6749 §4.1.2.1: the characters that an error_description may have.
  assert.match(description ?? '', /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
  if (typeof expected.description === 'string') assert.equal(description, expected.description);
  else if (expected.description !== undefined) assert.match(description ?? '', expected.description);
}

/** Follows redirects between our own pages, up to a page or a foreign address. */
export async function settle(browser: Agent, server: Pick<TestServer, 'baseUrl'>, answer: Answer): Promise<Answer> {
  let last = answer;
  for (let hop = 0; hop < 5; hop++) {
    if (last.location === undefined || last.location.origin !== new URL(server.baseUrl).origin) return last;
    last = await browser.get(last.location.href);
  }
  throw new Error(`redirects without end: ${last.location}`);
}

/** Restarts a server, and lets go of the connections that were kept alive: the first requests on them would fail. */
export async function restart(server: TestServer): Promise<void> {
  await server.restart();
  for (let attempt = 0; attempt < 20; attempt++) {
    const alive = await fetch(`${server.baseUrl}/health/live`).catch(() => undefined);
    await alive?.text();
    if (alive?.ok === true) return;
  }
  throw new Error('the server did not come back');
}

/** The code that an answer carries to the client. */
export function codeOf(answer: Answer): string {
  const code = answer.location?.searchParams.get('code');
  assert.ok(code, `no code: ${answer.status} ${answer.location ?? answer.text.slice(0, 800)}`);
  return code;
}

type Value = string | number | bigint | null;
type Stored = Pick<TestServer, 'environment'>;

/** Runs SQL on a server's own database, beside the server; whole numbers come as text, for ids exceed 2⁵³. */
export async function query(server: Stored, sql: string, ...parameters: Value[]): Promise<Record<string, unknown>[]> {
  const { databaseUrl } = readConfig(server.environment);
  if (databaseUrl.startsWith('sqlite:')) return onFile(databaseUrl.slice('sqlite:'.length), sql, parameters);
  let count = 0;
  const numbered = sql.replaceAll('?', () => `$${++count}`);
  // The driver gives 64-bit integers as texts.
  return (await poolOf(databaseUrl).query(numbered, parameters)).rows;
}

const pools = new Map<string, Pool>();

/** A connection that is kept: each new one costs PostgreSQL a process. */
function poolOf(connectionString: string): Pool {
  const kept = pools.get(connectionString);
  if (kept !== undefined) return kept;
  const pool = new Pool({ connectionString, max: 1, allowExitOnIdle: true });
  // It breaks when its database is dropped, or the server killed; the next query opens another one.
  pool.on('error', () => {});
  pools.set(connectionString, pool);
  return pool;
}

function onFile(path: string, sql: string, parameters: readonly Value[]): Record<string, unknown>[] {
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    return rowsOn(database, sql, parameters);
  } finally {
    database.close();
  }
}

function rowsOn(database: DatabaseSync, sql: string, parameters: readonly Value[] = []): Record<string, unknown>[] {
  const statement = database.prepare(sql);
  statement.setReadBigInts(true);
  return statement.all(...parameters).map((row) => {
    // Some tests read whole databases, hundreds of times.
    const read: Record<string, unknown> = {};
    for (const name in row) read[name] = typeof row[name] === 'bigint' ? String(row[name]) : row[name];
    return read;
  });
}

type Tables = Readonly<Record<string, readonly Record<string, unknown>[]>>;

const latest = new WeakMap<object, { readonly dataVersion: () => unknown; version: unknown; tables: Tables }>();

/** Every row of every table, by table; read again only where something was written since. */
export async function everyRow({ environment }: Stored): Promise<Tables> {
  const known = latest.get(environment) ?? {
    dataVersion: dataVersionOf({ environment }),
    version: undefined,
    tables: {},
  };
  latest.set(environment, known);
  const version = known.dataVersion();
  if (version === undefined || version !== known.version) {
    known.tables = await readEveryRow({ environment });
    known.version = version;
  }
  return known.tables;
}

/** Over one connection, since each reads the whole schema first. */
async function readEveryRow(server: Stored): Promise<Tables> {
  const { databaseUrl } = readConfig(server.environment);
  const found: Record<string, Record<string, unknown>[]> = {};
  if (!databaseUrl.startsWith('sqlite:')) {
    for (const table of await tablesOf(server)) found[table] = await query(server, `SELECT * FROM ${table}`);
    return found;
  }
  const database = new DatabaseSync(databaseUrl.slice('sqlite:'.length), { timeout: 5000 });
  try {
    for (const { name } of rowsOn(database, TABLES)) found[String(name)] = rowsOn(database, `SELECT * FROM ${name}`);
    return found;
  } finally {
    database.close();
  }
}

const TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'";

/** A reader of the number that changes with each commit of a server's own database; it reads undefined on PostgreSQL, which has none. */
export function dataVersionOf(server: Stored): () => unknown {
  const { databaseUrl } = readConfig(server.environment);
  if (!databaseUrl.startsWith('sqlite:')) return () => undefined;
  // Only one and the same connection tells of the commits of others: https://www.sqlite.org/pragma.html#pragma_data_version
  const statement = new DatabaseSync(databaseUrl.slice('sqlite:'.length)).prepare('PRAGMA data_version');
  return () => statement.get()?.['data_version'];
}

/** How many rows a table has. */
export const countRows = async (server: Stored, table: string): Promise<number> =>
  Number((await query(server, `SELECT count(*) AS n FROM ${table}`))[0]?.['n']);

/** The names of all tables. */
export async function tablesOf(server: Stored): Promise<string[]> {
  const tables = readConfig(server.environment).databaseUrl.startsWith('sqlite:')
    ? TABLES
    : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'";
  return (await query(server, tables)).map(({ name }) => String(name));
}

/** Does something while a table is not there. */
export async function withoutTable(server: Stored, table: string, work: () => Promise<void>): Promise<void> {
  await query(server, `ALTER TABLE ${table} RENAME TO table_set_aside`);
  try {
    await work();
  } finally {
    await query(server, `ALTER TABLE table_set_aside RENAME TO ${table}`);
  }
}

/** Every value of every row of every table, as text. */
export async function storedTexts(server: Stored): Promise<string> {
  const texts = Object.values(await everyRow(server)).flatMap((rows) =>
    rows.flatMap((row) => Object.values(row).map(String)),
  );
  return texts.join('\n');
}

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
