// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateText } from './date-text.ts';

test('a date is that of UTC, with the name of its month', () => {
  assert.equal(dateText(Date.UTC(2026, 2, 1)), '1 March 2026');
  assert.equal(dateText(Date.UTC(2026, 11, 31, 23, 59, 59, 999)), '31 December 2026');
  assert.equal(dateText(Date.UTC(1969, 8, 28)), '28 September 1969');
});
