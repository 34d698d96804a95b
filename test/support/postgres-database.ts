import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { randomSecret } from '../../src/secrets.ts';

/** Runs one statement on the server's maintenance database. */
async function administer(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

/** A database of a test's own on the server that TESSERA_TEST_POSTGRES names; undefined where it names none. */
export async function ownDatabase() {
  const server = process.env['TESSERA_TEST_POSTGRES'];
  if (server === undefined) return undefined;
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await administer(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    environment: { TESSERA_DATABASE_URL: url.href, TESSERA_SECRET: randomSecret() },
    drop: () => administer(server, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}
