// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { ClockOutOfSync, databaseTime, SECOND, startClockWatch } from './clock.ts';

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
  const watch = await startClockWatch(database, () => NOW);
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
    else assert.throws(watch.clock, ClockOutOfSync);
  }
  shared = new Error('away');
  await look();
  assert.throws(watch.clock, ClockOutOfSync, 'the last offset applies');
  shared = NOW;
  assert.equal(await watch.compare(), 0);
  assert.equal(watch.clock(), NOW);
  watch.stop();
  shared = 0;
  await look();
  assert.equal(watch.clock(), NOW, 'a stopped watch compares no more');
});

test('without a shared clock the time is the node’s', async () => {
  const database = { sharedTime: async () => null };
  assert.equal(await databaseTime(database, () => NOW), NOW);
  assert.equal((await startClockWatch(database, () => NOW)).clock(), NOW);
});
