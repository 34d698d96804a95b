// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endsInARow, restartDelay } from './restart.ts';

test('a process is replaced at once, then later and later, and at once again after one that lasted', () => {
  assert.deepEqual([1, 2, 3, 4, 5, 6, 7, 8].map(restartDelay), [0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  assert.equal(endsInARow(0, 10), 1);
  assert.equal(endsInARow(3, 10), 4);
  assert.equal(endsInARow(3, Number.NEGATIVE_INFINITY), 4, 'it never served');
  assert.equal(endsInARow(3, 60_000), 1);
});
