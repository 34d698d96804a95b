// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loopCaughtUp } from './event-loop.ts';

/** Blocks the event loop. */
function block(milliseconds: number): void {
  for (const until = performance.now() + milliseconds; performance.now() < until; );
}

test('a loop with work for several turns has caught up once that is done', async () => {
  let left = 5;
  const turn = () => {
    block(2);
    if (--left > 0) setImmediate(turn);
  };
  setImmediate(turn);
  await loopCaughtUp(Infinity);
  assert.equal(left, 0);
});

test('the wait for a loop that never catches up ends with the timeout', async () => {
  let turns = 0;
  let done = false;
  const turn = () => {
    turns++;
    block(2);
    if (!done) setImmediate(turn);
  };
  setImmediate(turn);
  await loopCaughtUp(20);
  done = true;
  assert.ok(turns >= 1 && turns <= 11, `${turns} turns of 2 ms`);
});
