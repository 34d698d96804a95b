// store: SQLite
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faults } from './faults.ts';
import { inTests } from './in-tests.ts';
import { runFault } from './schedule.ts';

test('ST-05, RC-09: nothing acknowledged is lost, and nothing orphaned, by kill -9 of a node on SQLite', async () => {
  const fault = faults()['node-sqlite'];
  assert.ok(fault !== undefined);
  const outcome = await runFault(fault, inTests(3));
  assert.deepEqual(outcome.violations, []);
  assert.ok(outcome.acknowledged > 0 && outcome.unanswered > 0, 'the kills met requests');
});

test('ST-05, RC-09: nothing acknowledged is lost, and nothing orphaned, by kill -9 of one of two processes, and of their supervisor', async (t) => {
  const fault = faults()['process-sqlite'];
  assert.ok(fault !== undefined);
  if (fault.missing !== undefined) return t.skip(fault.missing);
  const outcome = await runFault(fault, inTests(2));
  assert.deepEqual(outcome.violations, []);
  assert.ok(outcome.acknowledged > 0);
});
