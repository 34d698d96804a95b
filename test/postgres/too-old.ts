// Run by versions.ts on a server that is too old; by its name it is no part of the other runs.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { randomSecret } from '../../src/platform/crypto/secrets.ts';
import { refusedStart } from '../operator/refused-start.ts';
import { ask } from '../support/ask-postgres.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-too-old-'));
let postgres: PostgresServer;
before(async () => {
  postgres = await startPostgres();
});
after(async () => {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a server before 14 is refused at start, and left as it was', async () => {
  const settings = { TESSERA_DATABASE_URL: postgres.url, TESSERA_SECRET: randomSecret() };
  const said = await refusedStart({ TESSERA_DATA_DIR: join(folder, 'data'), ...settings }, folder);
  assert.match(said, /The server is PostgreSQL \d+\.\d+; Tessera needs 14 or newer\. Upgrade it\./);
  assert.deepEqual(await ask(postgres.url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"), []);
});
