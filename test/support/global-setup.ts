import { type PostgresServer, startPostgres } from './postgres.ts';

let postgres: PostgresServer | undefined;

/** Runs once, before all test files: with TESSERA_TEST_DATABASE=postgres they share one PostgreSQL server. */
export async function globalSetup(): Promise<void> {
  if (process.env['TESSERA_TEST_DATABASE'] !== 'postgres' || process.env['TESSERA_TEST_POSTGRES'] !== undefined) return;
  postgres = await startPostgres();
  process.env['TESSERA_TEST_POSTGRES'] = postgres.url;
}

export async function globalTeardown(): Promise<void> {
  await postgres?.stop();
}
