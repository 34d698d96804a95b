import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';

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

const TEMPLATE = 'tessera_migrated';

const urlOf = (server: string, name: string): URL => {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url;
};

/** Makes a database with all tables on a new server, which `migratedDatabase` copies: a copy is made sooner than the tables. */
export async function makeTemplate(server: string): Promise<void> {
  await administer(server, `CREATE DATABASE ${TEMPLATE}`);
  const { migratePostgres } = await import('../../src/platform/database/postgres/migrate.ts');
  await migratePostgres(urlOf(server, TEMPLATE).href);
  process.env['TESSERA_TEST_TEMPLATE'] = TEMPLATE;
}

/** As `ownDatabase`, with all tables where the server has a template. */
export const migratedDatabase = () => ownDatabase(process.env['TESSERA_TEST_TEMPLATE']);

/** An empty database of a test's own on the server that TESSERA_TEST_POSTGRES names; undefined where it names none. */
export async function ownDatabase(template?: string) {
  const server = process.env['TESSERA_TEST_POSTGRES'];
  return server === undefined ? undefined : newDatabase(server, template);
}

/** An empty database on a server. */
export async function newDatabase(server: string, template = 'template1') {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await administer(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = urlOf(server, name);
  return {
    url: url.href,
    environment: { TESSERA_DATABASE_URL: url.href, TESSERA_SECRET: randomSecret() },
    drop: () => administer(server, `DROP DATABASE ${name} WITH (FORCE)`),
  };
}
