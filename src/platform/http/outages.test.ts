// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { watchOutages } from './outages.ts';

test('the end of an outage is logged without any request, and each refused request is counted', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let now = Date.parse('2026-03-01T12:00:00Z');
  let refused = 0;
  const lines: string[] = [];
  const meter = {
    refusedForStore() {
      refused++;
    },
  };
  const outages = watchOutages(
    () => now,
    meter,
    ({ message }) => lines.push(message),
  );
  assert.equal(outages.lasts(), false);
  for (let request = 0; request < 500; request++) outages.failed(new Error('no connection'), true);
  outages.failed(new Error('no connection'), false);
  assert.ok(outages.lasts());
  assert.deepEqual([lines.length, refused], [1, 500]);
  for (let second = 0; second < 31; second++) {
    now += 1000;
    t.mock.timers.tick(1000);
  }
  assert.equal(outages.lasts(), false);
  assert.deepEqual(lines.slice(1), ['the store is available again']);
  outages.stop();
});
