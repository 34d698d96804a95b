// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAIL_RETRIES, NOTICE_RETRIES, type RetrySchedule, retryDelay } from './backoff.ts';
import { DAY, SECOND } from './clock.ts';

const delays = (schedule: RetrySchedule, random: number): (number | undefined)[] =>
  Array.from({ length: schedule.attempts }, (_, index) => retryDelay(schedule, index + 1, random));

test('each delay is a multiple of the one before, up to the longest; there is none after the last attempt', () => {
  assert.deepEqual(
    delays(NOTICE_RETRIES, 0).map((delay) => delay && delay / SECOND),
    [15, 60, 240, 960, 3840, 15_360, 61_440, undefined],
  );
  const ofMail = delays(MAIL_RETRIES, 0).map((delay) => delay && delay / SECOND);
  assert.deepEqual(ofMail.slice(0, 9), [15, 30, 60, 120, 240, 480, 960, 1800, 1800]);
  assert.deepEqual(ofMail.slice(-2), [1800, undefined]);
});

test('all attempts fit into a day, and take most of one, with any jitter', () => {
  for (const schedule of [NOTICE_RETRIES, MAIL_RETRIES]) {
    for (const random of [0, 0.5, 1]) {
      const sum = delays(schedule, random).reduce<number>((total, delay) => total + (delay ?? 0), 0);
      assert.ok(sum < DAY && sum > DAY / 2, `${sum}`);
    }
  }
});

test('jitter makes a delay up to a fifth shorter', () => {
  assert.equal(retryDelay(NOTICE_RETRIES, 1, 1), 12 * SECOND);
  assert.equal(retryDelay(NOTICE_RETRIES, 1, 0.5), 13.5 * SECOND);
});
