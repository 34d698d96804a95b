// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR, MINUTE } from '../platform/clock.ts';
import { futureTime, pastTime } from './option-parsers.ts';

test('a time, or a duration relative to now', () => {
  const instant = '2030-01-31T12:00:00+01:00';
  assert.deepEqual([pastTime(instant), futureTime(instant)], [instant, instant]);
  for (const [text, span] of Object.entries({ '90m': 90 * MINUTE, '24h': 24 * HOUR, '7d': 7 * DAY })) {
    const before = Date.now();
    const [past, coming] = [Date.parse(pastTime(text)) + span, Date.parse(futureTime(text)) - span];
    const after = Date.now();
    assert.ok(
      [past, coming].every((now) => now >= before && now <= after),
      text,
    );
  }
});

test('anything else is rejected with the expected format', () => {
  for (const text of ['', 'tomorrow', '1w', '-1d', '2030-01-31', '2030-01-31T12:00:00']) {
    assert.throws(() => pastTime(text), /must be a time such as .*, or 90m, 24h or 7d ago/);
    assert.throws(() => futureTime(text), /must be a time such as .*, or 90m, 24h or 7d from now/);
  }
});
