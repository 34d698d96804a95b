// store: SQLite
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { faults } from './faults.ts';
import { fillable } from './full-disk.ts';
import { inTests } from './in-tests.ts';
import { runFault } from './schedule.ts';

test('AV-06: nothing is lost by a full disk under SQLite; reads go on, and changes are taken again once there is room', async (t) => {
  if (fillable(tmpdir()) === undefined) {
    t.skip('this system limits what no process writes');
    return;
  }
  const fault = faults()['disk'];
  assert.ok(fault !== undefined);
  const outcome = await runFault(fault, inTests(1));
  assert.deepEqual(outcome.violations, []);
  assert.ok(outcome.unanswered >= 20, 'changes failed meanwhile');
});

test('AV-06: nor where the files of a service of two processes cannot grow', async (t) => {
  if (fillable(tmpdir(), 'limit') === undefined) {
    t.skip('this system limits what no process writes');
    return;
  }
  const fault = faults()['file-size'];
  assert.ok(fault !== undefined);
  const outcome = await runFault(fault, { ...inTests(1), processes: 2 });
  assert.deepEqual(outcome.violations, []);
  assert.ok(outcome.unanswered >= 20, 'changes failed meanwhile');
});
