import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundedPool } from './bounded-pool.ts';

test('so many run side by side, so many wait, and whoever comes beyond that is turned away', async () => {
  const pool = boundedPool(2, 3, 'busy');
  const ends: (() => void)[] = [];
  let most = 0;
  const work = () => {
    most = Math.max(most, pool.load().running);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const all = Array.from({ length: 5 }, () => pool.run(work));
  await assert.rejects(pool.run(work), /busy/);
  assert.deepEqual(pool.load(), { running: 2, waiting: 3 });
  assert.equal(ends.length, 2);
  for (let ended = 0; ended < 5; ended++) {
    ends[ended]?.();
    await all[ended];
  }
  assert.deepEqual(pool.load(), { running: 0, waiting: 0 });
  assert.equal(most, 2);
});

test('a work that fails makes room as well', async () => {
  const pool = boundedPool(1, 0, 'busy');
  await assert.rejects(
    pool.run(() => Promise.reject(new Error('failed'))),
    /failed/,
  );
  assert.equal(await pool.run(async () => 'next'), 'next');
});

test('between a work and the next of those that wait lies the rest; nobody waits for it alone', async () => {
  const rested = Promise.withResolvers<void>();
  let rests = 0;
  const pool = boundedPool(1, 1, 'busy', (took) => {
    assert.ok(took >= 0);
    rests++;
    return rested.promise;
  });
  await pool.run(async () => {});
  assert.equal(rests, 0);
  let begun = false;
  const first = pool.run(async () => 'first');
  const second = pool.run(async () => {
    begun = true;
  });
  assert.equal(await first, 'first');
  await new Promise(setImmediate);
  assert.deepEqual({ rests, begun, load: pool.load() }, { rests: 1, begun: false, load: { running: 1, waiting: 1 } });
  rested.resolve();
  await second;
  assert.equal(begun, true);
});
