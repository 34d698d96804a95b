import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loopCaughtUp } from './event-loop.ts';

/** Keeps the processor for some milliseconds. */
function toil(milliseconds: number): void {
  for (const until = performance.now() + milliseconds; performance.now() < until; );
}

test('a loop with work of some turns left has caught up once that is done', async () => {
  let left = 5;
  const turn = () => {
    toil(2);
    if (--left > 0) setImmediate(turn);
  };
  setImmediate(turn);
  await loopCaughtUp(Infinity);
  assert.equal(left, 0);
});

test('a loop that never catches up is not waited for forever', async () => {
  let turns = 0;
  let done = false;
  const turn = () => {
    turns++;
    toil(2);
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  await loopCaughtUp(20);
  done = true;
  assert.ok(turns >= 1 && turns <= 11, `${turns} turns of 2 ms`);
});
