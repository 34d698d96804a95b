// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgePoll } from './poll.ts';

const cases: readonly [
  about: string,
  polledAt: number | null,
  interval: number,
  now: number,
  tooSoon: boolean,
  then: number,
][] = [
  ['the first request is never too soon', null, 5, 0, false, 5],
  ['after the interval', 1000, 5, 6000, false, 5],
  ['a little before its end, as the network has it', 1000, 5, 5000, false, 5],
  ['at once: the interval grows by five seconds', 1000, 5, 1001, true, 10],
  ['the longer interval counts', 1000, 10, 6000, true, 15],
  ['it does not grow beyond a minute', 1000, 60, 2000, true, 60],
];

for (const [about, polledAt, interval, now, tooSoon, then] of cases) {
  test(`RFC 8628 §3.5: ${about}`, () => {
    assert.deepEqual(judgePoll({ polledAt, interval }, now), { tooSoon, interval: then });
  });
}
