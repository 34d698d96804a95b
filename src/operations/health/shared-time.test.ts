import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SECOND } from '../../platform/clock.ts';
import { ClockOff, sharedTime, watchClock } from './shared-time.ts';

const NOW = 1_000_000;

test('the clock of a node serves while it is within 30 seconds of the shared one, as it was last known', async (context) => {
  context.mock.timers.enable({ apis: ['setInterval'] });
  let shared: number | Error = NOW;
  const database = {
    async sharedTime() {
      if (shared instanceof Error) throw shared;
      return shared;
    },
  };
  const look = async () => {
    context.mock.timers.tick(10 * SECOND);
    await nextTurn();
  };
  const watch = await watchClock(database, () => NOW);
  assert.equal(watch.clock(), NOW);
  for (const [ahead, serves] of [
    [30 * SECOND, true],
    [30 * SECOND + 1, false],
    [-30 * SECOND, true],
    [-30 * SECOND - 1, false],
  ] as const) {
    shared = NOW + ahead;
    await look();
    if (serves) assert.equal(watch.clock(), NOW);
    else assert.throws(watch.clock, ClockOff);
  }
  shared = new Error('away');
  await look();
  assert.throws(watch.clock, ClockOff, 'nobody knows better');
  shared = NOW;
  assert.equal(await watch.compare(), 0);
  assert.equal(watch.clock(), NOW);
  watch.stop();
  shared = 0;
  await look();
  assert.equal(watch.clock(), NOW, 'after the stop it looks no more');
});

test('where there is no other clock than the node’s, that is the time', async () => {
  const database = { sharedTime: async () => null };
  assert.equal(await sharedTime(database, () => NOW), NOW);
  assert.equal((await watchClock(database, () => NOW)).clock(), NOW);
});
