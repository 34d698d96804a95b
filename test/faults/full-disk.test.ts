import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { faults, runFault } from './faults.ts';
import { fillable } from './full-disk.ts';
import { inTests } from './in-tests.ts';

const ways = [
  ['disk', 'any', 'a full disk'],
  ['file-size', 'limit', 'files that cannot grow'],
] as const;

for (const [name, way, title] of ways) {
  const skip = fillable(tmpdir(), way) === undefined && 'this system lets nobody limit what a process writes';
  test(`AV-06: nothing is lost by ${title} under SQLite; reads go on, and changes are taken again once there is room`, {
    skip,
  }, async () => {
    const fault = faults()[name];
    assert.ok(fault !== undefined);
    const outcome = await runFault(fault, inTests(1));
    assert.deepEqual(outcome.violations, []);
    assert.ok(outcome.unanswered >= 20, 'changes failed meanwhile');
  });
}
