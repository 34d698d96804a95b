import { randomUUID } from 'node:crypto';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { ask } from './ask-postgres.ts';

const TEMPLATE = 'tessera_migrated';

/**
 * How a database becomes a copy of its template: by files, which takes a third of the time that PostgreSQL 15 and later take to write the
 * copy into their journal. Earlier versions know no other way, and no word for it.
 */
const BY_FILES = 'STRATEGY FILE_COPY';

const urlOf = (server: string, name: string): URL => {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url;
};

/** Makes a database with all tables on a new server, which `migratedDatabase` copies: a copy is made sooner than the tables. */
export async function makeTemplate(server: string): Promise<void> {
  await ask(server, `CREATE DATABASE ${TEMPLATE}`);
  const { migratePostgres } = await import('../../src/platform/database/postgres/migrate.ts');
  await migratePostgres(urlOf(server, TEMPLATE).href, toCurrentSchema);
  const [row] = await ask<{ server_version_num: string }>(server, 'SHOW server_version_num');
  process.env['TESSERA_TEST_TEMPLATE'] =
    Number(row?.server_version_num) < 150_000 ? TEMPLATE : `${TEMPLATE} ${BY_FILES}`;
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
  await ask(server, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = urlOf(server, name);
  return {
    url: url.href,
    environment: { TESSERA_DATABASE_URL: url.href, TESSERA_SECRET: randomSecret() },
    drop: async () => void (await ask(server, `DROP DATABASE ${name} WITH (FORCE)`)),
  };
}
