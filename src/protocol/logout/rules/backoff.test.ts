import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, SECOND } from '../../../platform/clock.ts';
import { MAX_ATTEMPTS, retryDelay } from './backoff.ts';

const delays = (random: number): (number | undefined)[] =>
  Array.from({ length: MAX_ATTEMPTS }, (_, index) => retryDelay(index + 1, random));

test('each delay is four times the one before; there is none after the last attempt', () => {
  assert.deepEqual(
    delays(0).map((delay) => delay && delay / SECOND),
    [15, 60, 240, 960, 3840, 15_360, 61_440, undefined],
  );
});

test('all attempts fit into a day, and take most of one, with any jitter', () => {
  for (const random of [0, 0.5, 1]) {
    const sum = delays(random).reduce<number>((total, delay) => total + (delay ?? 0), 0);
    assert.ok(sum < DAY && sum > DAY / 2, `${sum}`);
  }
});

test('jitter makes a delay up to a fifth shorter', () => {
  assert.equal(retryDelay(1, 1), 12 * SECOND);
  assert.equal(retryDelay(1, 0.5), 13.5 * SECOND);
});
