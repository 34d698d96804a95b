// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstHour, seriesOf } from './rules.ts';

test('the last 24 hours end with the present one', () => {
  assert.equal(firstHour('day', 1000), 977);
  const series = seriesOf([{ span: 1000, type: 'sign_in.succeeded', count: 3 }], 'signIns', 'day', 1000);
  assert.deepEqual([series.length, series.at(-1), series[0]], [24, 3, 0]);
});

test('days are those of UTC, and types of one kind are added up', () => {
  const hour = 24 * 50 + 7;
  assert.equal(firstHour('month', hour), 24 * 21);
  const counts = [
    { span: 50, type: 'token.issued', count: 1 },
    { span: 50, type: 'token.refreshed', count: 2 },
    { span: 50, type: 'sign_in.failed', count: 9 },
    { span: 49, type: 'token.issued', count: 4 },
  ];
  assert.deepEqual(seriesOf(counts, 'tokens', 'month', hour).slice(-2), [4, 3]);
});
