// store: SQLite
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { faults, stopFaults } from './faults.ts';
import { inTests } from './in-tests.ts';
import { runFault } from './schedule.ts';

after(stopFaults);

test('ST-05, RC-09: nothing acknowledged is lost, and nothing orphaned, by kill -9 of a node on PostgreSQL', async () => {
  const fault = faults()['node-postgres'];
  assert.ok(fault !== undefined);
  const outcome = await runFault(fault, inTests(3));
  assert.deepEqual(outcome.violations, []);
  assert.ok(outcome.acknowledged > 0 && outcome.unanswered > 0, 'the kills met requests');
});
