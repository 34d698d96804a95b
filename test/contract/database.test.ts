// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newUser } from '../support/flow.ts';
import { countRows, query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

test('the contract is tested on the database that TESSERA_TEST_DATABASE names', async () => {
  const postgres = process.env['TESSERA_TEST_DATABASE'] === 'postgres' || process.env['TESSERA_TEST_POSTGRES'];
  const server = await startServer();
  try {
    await newUser(server);
    assert.equal(await countRows(server, 'account'), 1);
    const [row] = await query(server, postgres ? 'SELECT version() AS version' : 'SELECT sqlite_version() AS version');
    assert.match(String(row?.['version']), postgres ? /^PostgreSQL \d/ : /^3\.\d/);
  } finally {
    await server.close();
  }
});
