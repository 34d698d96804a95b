// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { rowQueues } from './row-queues.ts';

test('tasks for one row run one after the other, and those for others beside them, up to a number of rows', async () => {
  const queues = rowQueues(2);
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (row: string, name: string): Promise<string> =>
    queues.run(row, async () => {
      running.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      return name;
    });
  const first = start('a', 'a1');
  const others = [start('a', 'a2'), start('b', 'b1'), start('c', 'c1')];
  await nextTurn();
  assert.deepEqual(running, ['a1', 'b1']);
  assert.equal(queues.waiting(), 2);
  ends.get('a1')?.();
  assert.equal(await first, 'a1');
  await nextTurn();
  // The next one for a row waits for its turn behind those of other rows.
  assert.deepEqual(running, ['a1', 'b1', 'c1']);
  ends.get('b1')?.();
  ends.get('c1')?.();
  await nextTurn();
  ends.get('a2')?.();
  assert.deepEqual(await Promise.all(others), ['a2', 'b1', 'c1']);
  assert.equal(queues.waiting(), 0);
});

test('a task that fails lets the next one begin', async () => {
  const queues = rowQueues(1);
  const failed = queues.run('a', () => Promise.reject(new Error('no')));
  const next = queues.run('a', async () => 'done');
  await assert.rejects(failed, { message: 'no' });
  assert.equal(await next, 'done');
});
