import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, SECOND } from '../../../platform/clock.ts';
import { MOST_ATTEMPTS, pauseAfter } from './backoff.ts';

const pauses = (random: number): (number | undefined)[] =>
  Array.from({ length: MOST_ATTEMPTS }, (_, index) => pauseAfter(index + 1, random));

test('each pause is four times the one before, and there is none after the last attempt', () => {
  assert.deepEqual(
    pauses(0).map((pause) => pause && pause / SECOND),
    [15, 60, 240, 960, 3840, 15_360, 61_440, undefined],
  );
});

test('all attempts fit into a day, and take most of one, whatever the chance', () => {
  for (const random of [0, 0.5, 1]) {
    const sum = pauses(random).reduce<number>((total, pause) => total + (pause ?? 0), 0);
    assert.ok(sum < DAY && sum > DAY / 2, `${sum}`);
  }
});

test('chance makes a pause up to a fifth shorter', () => {
  assert.equal(pauseAfter(1, 1), 12 * SECOND);
  assert.equal(pauseAfter(1, 0.5), 13.5 * SECOND);
});
