// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPoller } from './poller.ts';

const DAY = 24 * 60 * 60 * 1000;
const unexpected = (error: unknown): never => assert.fail(String(error));

test('a poll is followed by a run, at whatever moment of the one before it', async () => {
  let started = 0;
  const poller = startPoller(
    async () => {
      started++;
      await Promise.resolve();
    },
    DAY,
    unexpected,
  );
  for (let turns = 0; turns < 12; turns++) {
    const run = poller.poll();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    const before = started;
    await poller.poll();
    assert.ok(started > before, `after ${turns} turns`);
    await run;
  }
  await poller.stop();
});

test('a poll during a run that fails makes it run once more', async () => {
  const first = Promise.withResolvers<void>();
  let runs = 0;
  const failures: unknown[] = [];
  const poller = startPoller(
    () => (++runs === 1 ? first.promise : Promise.resolve()),
    DAY,
    (error) => failures.push(error),
  );
  const polls = [poller.poll(), poller.poll()];
  const error = new Error('the database is away');
  first.reject(error);
  await Promise.all(polls);
  assert.deepEqual([runs, failures, poller.isRunning()], [2, [error], false]);
  await poller.stop();
});

test('a stopped poller runs no more', async () => {
  const first = Promise.withResolvers<void>();
  let runs = 0;
  const poller = startPoller(
    () => {
      runs++;
      return first.promise;
    },
    DAY,
    unexpected,
  );
  void poller.poll();
  void poller.poll();
  const stopped = poller.stop();
  first.resolve();
  await stopped;
  await poller.poll();
  assert.equal(runs, 1);
});
