// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watch } from './watch.ts';

test('a process that does not answer for a minute hangs; one that answers at times does not', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const [works, slow, hangs] = [{ unanswered: 0 }, { unanswered: 0 }, { unanswered: 0 }];
  const killed: unknown[] = [];
  const stop = watch(
    () => [works, slow, hangs],
    (one) => {
      if (one === works || (one === slow && one.unanswered === 5)) one.unanswered = -1;
    },
    (one) => killed.push(one),
  );
  t.mock.timers.tick(60_000);
  assert.deepEqual(killed, []);
  t.mock.timers.tick(10_000);
  assert.equal(killed.length, 1);
  assert.equal(killed[0], hangs);
  stop();
  t.mock.timers.tick(60_000);
  assert.equal(killed.length, 1);
});
