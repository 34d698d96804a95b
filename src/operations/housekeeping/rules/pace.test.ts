// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BATCH, nextBatchSize, restAfter } from './pace.ts';

test('batches shrink while the node or the database is slow, and grow while both are fast, within bounds', () => {
  const cases = [
    [250, { took: 11, busy: 11 }, 125],
    [200, { took: 60, busy: 1 }, 100],
    [BATCH.least + 5, { took: 60, busy: 60 }, BATCH.least],
    [200, { took: 8, busy: 8 }, 200],
    [200, { took: 30, busy: 1 }, 200],
    [200, { took: 10, busy: 1 }, 400],
    [400, { took: 1, busy: 1 }, BATCH.most],
  ] as const;
  for (const [size, time, next] of cases) assert.equal(nextBatchSize(size, time), next);
});

test('a rest is as long as requests need, and never so long that rows pile up', () => {
  assert.equal(restAfter({ took: 4, busy: 4 }), 8);
  assert.equal(restAfter({ took: 20, busy: 1 }), 20);
  assert.equal(restAfter({ took: 60_000, busy: 1 }), 200);
});
