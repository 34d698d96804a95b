// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { boundedPool } from './bounded-pool.ts';

test('the concurrency and the queue are bounded, and further tasks are rejected', async () => {
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

test('a task that fails makes room as well', async () => {
  const pool = boundedPool(1, 0, 'busy');
  await assert.rejects(
    pool.run(() => Promise.reject(new Error('failed'))),
    /failed/,
  );
  assert.equal(await pool.run(async () => 'next'), 'next');
});

test('the pause comes before the next queued task, and only if there is one', async () => {
  const paused = Promise.withResolvers<void>();
  let pauses = 0;
  const pool = boundedPool(1, 1, 'busy', (took) => {
    assert.ok(took >= 0);
    pauses++;
    return paused.promise;
  });
  await pool.run(async () => {});
  assert.equal(pauses, 0);
  let started = false;
  const first = pool.run(async () => 'first');
  const second = pool.run(async () => {
    started = true;
  });
  assert.equal(await first, 'first');
  await new Promise(setImmediate);
  assert.deepEqual(
    { pauses, started, load: pool.load() },
    { pauses: 1, started: false, load: { running: 1, waiting: 1 } },
  );
  paused.resolve();
  await second;
  assert.equal(started, true);
});

/** A busy pool with a concurrency of one, and the names of the tasks in the order in which it runs them afterwards. */
async function busyPool(capacity: number) {
  const pool = boundedPool(1, capacity, 'busy');
  const first = Promise.withResolvers<void>();
  const running = pool.run(() => first.promise);
  const done: string[] = [];
  const add = (name: string, ...flows: string[]) =>
    pool.run(async () => void done.push(name), flows).catch(() => void done.push(`${name} refused`));
  const release = () => {
    first.resolve();
    return running;
  };
  return { pool, done, add, release };
}

test('flows are served in turn, however many tasks one of them has queued first', async () => {
  const { done, add, release } = await busyPool(10);
  const all = [add('a1', 'a'), add('a2', 'a'), add('a3', 'a'), add('b1', 'b'), add('c1', 'c'), add('b2', 'b')];
  await release();
  await Promise.all(all);
  assert.deepEqual(done, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
});

test('each flow of a task counts: one account from many addresses waits behind itself', async () => {
  const { done, add, release } = await busyPool(10);
  const all = [
    add('x at 1', 'address 1', 'account x'),
    add('x at 2', 'address 2', 'account x'),
    add('x at 3', 'address 3', 'account x'),
    add('y at 4', 'address 4', 'account y'),
  ];
  await release();
  await Promise.all(all);
  assert.deepEqual(done, ['x at 1', 'y at 4', 'x at 2', 'x at 3']);
});

test('a full queue evicts a task of the largest flow for one of a smaller flow', async () => {
  const { pool, done, add, release } = await busyPool(4);
  const all = [add('a1', 'a'), add('a2', 'a'), add('a3', 'a'), add('a4', 'a')];
  all.push(add('b1', 'b'), add('a5', 'a'), add('b2', 'b'), add('c1', 'c'), add('a6', 'a'));
  assert.deepEqual(pool.load(), { running: 1, waiting: 4 });
  await release();
  await Promise.all(all);
  const refused = done.filter((name) => name.endsWith('refused')).map((name) => name.slice(0, 2));
  assert.deepEqual(refused.sort(), ['a3', 'a4', 'a5', 'a6', 'b2']);
  assert.deepEqual(
    done.filter((name) => !name.endsWith('refused')),
    ['a1', 'b1', 'c1', 'a2'],
  );
});

test('a queued flow is reached although new flows keep coming', async () => {
  const pool = boundedPool(1, 8, 'busy');
  const ends: (() => void)[] = [];
  const started: string[] = [];
  const add = (name: string, flow: string) =>
    pool.run(() => {
      started.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    }, [flow]);
  const all = [add('first', 'z'), add('a1', 'a'), add('a2', 'a'), add('a3', 'a')];
  for (let other = 0; started.at(-1) !== 'a3'; other++) {
    assert.ok(other < 20, `after ${started.join(' ')}`);
    all.push(add(`n${other}`, `n${other}`));
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  while (ends.length > 0 || pool.load().running > 0) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  await Promise.all(all);
});

test('a new flow gets a place in a queue with one task of each flow, and keeps it for a while', async () => {
  const { done, add, release } = await busyPool(4);
  const all = [add('a1', 'a'), add('b1', 'b'), add('c1', 'c'), add('d1', 'd')];
  all.push(add('victim', 'v'), add('a2', 'a'), add('e1', 'e'));
  await release();
  await Promise.all(all);
  assert.deepEqual(done.filter((name) => name.endsWith('refused')).sort(), ['a1 refused', 'b1 refused', 'c1 refused']);
  assert.ok(done.includes('victim'));
});

test('a task without flows is rejected if the queue is full', async () => {
  const { done, add, release } = await busyPool(1);
  const all = [add('first'), add('second')];
  await release();
  await Promise.all(all);
  assert.deepEqual(done, ['second refused', 'first']);
});
