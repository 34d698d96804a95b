// store: SQLite
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { exceeded, take } from '../../../limits/limits.ts';
import { toCurrentSchema } from '../../../migrations/timeline.ts';
import { openSqlite } from './open.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-lock-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const about = {
  name: 'token',
  origin: { actor: { type: 'system', id: null }, address: null, requestId: null },
} as const;

test('while another process writes, reads go on and writes wait for it', async () => {
  const path = join(folder, 'tessera.db');
  const database = await openSqlite(path, toCurrentSchema);
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  let committed = false;
  const writing = database
    .commit(() => take('bucket', { count: 1, windowMs: 1000 }, 0, about))
    .then(() => {
      committed = true;
    });
  for (let turn = 0; turn < 20; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await database.read(() => exceeded('bucket', { count: 1, windowMs: 1000 }, 0)), 0);
  }
  assert.equal(committed, false);
  other.exec('COMMIT');
  await writing;
  assert.equal(committed, true);
  other.close();
  await database.close();
});
