import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR, MINUTE } from '../platform/clock.ts';
import { comingMoment, pastMoment } from './moments.ts';

test('an instant stands for itself, 90m, 24h and 7d for how far off it is', () => {
  const instant = '2030-01-31T12:00:00+01:00';
  assert.deepEqual([pastMoment(instant), comingMoment(instant)], [instant, instant]);
  for (const [text, span] of Object.entries({ '90m': 90 * MINUTE, '24h': 24 * HOUR, '7d': 7 * DAY })) {
    const before = Date.now();
    const [past, coming] = [Date.parse(pastMoment(text)) + span, Date.parse(comingMoment(text)) - span];
    const after = Date.now();
    assert.ok(
      [past, coming].every((now) => now >= before && now <= after),
      text,
    );
  }
});

test('anything else is refused, with what it must be', () => {
  for (const text of ['', 'tomorrow', '1w', '-1d', '2030-01-31', '2030-01-31T12:00:00']) {
    assert.throws(() => pastMoment(text), /must be an instant such as .*, or 90m, 24h or 7d ago/);
    assert.throws(() => comingMoment(text), /must be an instant such as .*, or 90m, 24h or 7d from now/);
  }
});
