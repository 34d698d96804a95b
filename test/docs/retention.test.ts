// store: SQLite
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { retention } from '../../docs/retention.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { removals } from '../../src/operations/housekeeping/removal-store.ts';
import { migrateSqlite } from '../../src/platform/database/sqlite/open.ts';

const folder = mkdtempSync(join(tmpdir(), 'tessera-retention-'));
const path = join(folder, 'tessera.db');
await migrateSqlite(path, toCurrentSchema);
const database = new DatabaseSync(path);
const tables = database
  .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
  .all()
  .map(({ name }) => String(name));
database.close();
rmSync(folder, { recursive: true });

test('docs/retention.ts says of every table until when its rows are kept, and of no other', () => {
  assert.deepEqual(Object.keys(retention).sort(), tables);
});

test('what housekeeping removes by time is said to have an end', () => {
  for (const { table } of removals({ events: 1, steps: 1 })) {
    // Of these, only those of the playground, those that were revoked, what an interrupted deletion left over, and what nothing rests on.
    if (!['client', 'consent_grant', 'app_assignment', 'user_group', 'given_right', 'account_opening'].includes(table))
      assert.notEqual(retention[table].days, null, table);
  }
});
