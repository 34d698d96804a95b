import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BATCH, nextBatchSize, restAfter } from './pace.ts';

test('batches shrink while they are slow, and grow while they are fast, within bounds', () => {
  assert.equal(nextBatchSize(200, 20), 100);
  assert.equal(nextBatchSize(60, 20), BATCH.least);
  assert.equal(nextBatchSize(200, 5), 200);
  assert.equal(nextBatchSize(200, 1), 400);
  assert.equal(nextBatchSize(400, 1), BATCH.most);
});

test('a rest is as long as requests need, and never so long that rows pile up', () => {
  assert.equal(restAfter(4), 8);
  assert.equal(restAfter(60_000), 200);
});
