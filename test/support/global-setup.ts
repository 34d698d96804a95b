import { ask } from './ask-postgres.ts';
import { openBouncer } from './pgbouncer.ts';
import { type PostgresServer, startPostgres, THROWN_AWAY } from './postgres.ts';
import { makeTemplate } from './postgres-database.ts';

let postgres: PostgresServer | undefined;

/** Starts the PostgreSQL server that test files share, unless TESSERA_TEST_POSTGRES names one. */
export async function startShared(): Promise<PostgresServer | undefined> {
  if (process.env['TESSERA_TEST_POSTGRES'] !== undefined) return undefined;
  const server = await startPostgres({
    detached: true,
    settings: THROWN_AWAY,
  });
  process.env['TESSERA_TEST_POSTGRES'] = server.url;
  const wanted = process.env['TESSERA_TEST_POSTGRES_MAJOR'];
  if (wanted !== undefined) await assertMajor(server.url, wanted);
  if (process.env['TESSERA_TEST_POOLER'] === 'transaction') {
    // Each test makes its tables: a copy needs a template that nothing is connected to, and a pooler stays connected.
    const bouncer = await openBouncer(server, { mode: 'transaction', size: 24 });
    process.env['TESSERA_TEST_POSTGRES'] = bouncer.through(server.url);
    return { ...server, stop: () => bouncer.close().then(server.stop) };
  }
  await makeTemplate(server.url);
  return server;
}

/** Runs once before all test files of `node --test --test-global-setup`, where they are to run on PostgreSQL. */
export async function globalSetup(): Promise<void> {
  if (process.env['TESSERA_TEST_DATABASE'] === 'postgres') postgres = await startShared();
}

/** A run for one version must not take place on another. */
async function assertMajor(url: string, wanted: string): Promise<void> {
  const [row] = await ask<{ server_version: string }>(url, 'SHOW server_version');
  const version = row?.server_version ?? '';
  if (!version.startsWith(`${wanted}.`)) throw new Error(`this is PostgreSQL ${version}, not ${wanted}`);
}

export async function globalTeardown(): Promise<void> {
  await postgres?.stop();
}
