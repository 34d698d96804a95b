// store: SQLite
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faults } from './faults.ts';
import { inTests } from './in-tests.ts';
import { runFault } from './schedule.ts';

// What each kind of damage does by itself is shown in test/sqlite; `npm run faults` has all of them under load.
for (const name of ['wal-torn', 'database-older']) {
  test(`ST-05: a start after ${name} is refused with a remedy, or nothing acknowledged is lost`, async () => {
    const fault = faults()[name];
    assert.ok(fault !== undefined);
    const outcome = await runFault(fault, inTests(1));
    assert.deepEqual(outcome.violations, []);
    assert.ok(outcome.acknowledged > 0);
  });
}
