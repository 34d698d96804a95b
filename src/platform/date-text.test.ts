import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateText } from './date-text.ts';

test('dates are as British English writes them', () => {
  const british = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' });
  for (let month = 0; month < 12; month++) {
    for (const [year, day] of [
      [1850, 1],
      [1969, 28],
      [2026, 31],
      [9998, 9],
    ] as const) {
      const instant = Date.UTC(year, month, day, 23, 59, 59, 999);
      assert.equal(dateText(instant), british.format(instant));
    }
  }
});
