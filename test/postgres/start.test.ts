import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { randomSecret } from '../../src/secrets.ts';
import { serve, tessera } from '../operator/command.ts';
import { admin } from '../support/flow.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-start-pg-'));
const secret = randomSecret();
let postgres: PostgresServer;
before(async () => {
  postgres = await startPostgres();
});
after(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

const run = (settings: Readonly<Record<string, string>>) => ({
  env: { TESSERA_DATA_DIR: join(folder, 'data'), TESSERA_PORT: '0', ...settings },
  cwd: folder,
});

/** The address of a database on the server, or of another host. */
function address(name: string, host?: string): string {
  const url = new URL(postgres.url);
  url.pathname = `/${name}`;
  if (host !== undefined) url.searchParams.set('host', host);
  return url.href;
}

async function execute(sql: string): Promise<void> {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(sql);
  await client.end();
}

test('without a secret the start is refused, and none is made', async () => {
  const { code, stderr } = await tessera(['serve'], run({ TESSERA_DATABASE_URL: postgres.url }));
  assert.equal(code, 3, stderr);
  assert.match(stderr, /TESSERA_SECRET is missing\..*openssl rand/);
});

const refusals: [string, () => Record<string, string>, RegExp][] = [
  ['an address that is none', () => ({ TESSERA_DATABASE_URL: 'postgres://' }), /TESSERA_DATABASE_URL must be/],
  [
    'a host where nothing listens',
    () => ({ TESSERA_DATABASE_URL: address('x', folder) }),
    /no socket there\. Start the server/,
  ],
  [
    'a database that is not there',
    () => ({ TESSERA_DATABASE_URL: address('missing') }),
    /no such database\. Create it/,
  ],
  ['a database that takes no writes', () => ({ TESSERA_DATABASE_URL: address('frozen') }), /takes no writes/],
];
for (const [what, settings, message] of refusals) {
  test(`${what} is refused with the remedy, without a stack trace`, async () => {
    if (what.includes('no writes')) {
      await execute('CREATE DATABASE frozen');
      await execute('ALTER DATABASE frozen SET default_transaction_read_only = on');
    }
    const { code, stdout, stderr } = await tessera(['serve'], run({ TESSERA_SECRET: secret, ...settings() }));
    assert.equal(code, 3, stdout + stderr);
    assert.match(stderr, message);
    assert.doesNotMatch(stderr, /^\s+at /m);
  });
}

test('a server on PostgreSQL starts, and another secret than the database’s is refused', async () => {
  await execute('CREATE DATABASE good');
  const settings = { TESSERA_DATABASE_URL: address('good'), TESSERA_ADMIN_KEY: secret };
  const server = await serve(run({ ...settings, TESSERA_SECRET: secret }));
  assert.equal((await admin(server, 'GET', '/users', undefined, secret)).status, 200);
  assert.equal((await server.stop()).code, 0);
  const { code, stderr } = await tessera(['serve'], run({ ...settings, TESSERA_SECRET: randomSecret() }));
  assert.equal(code, 3, stderr);
  assert.match(stderr, /secret does not fit this database/);
});
