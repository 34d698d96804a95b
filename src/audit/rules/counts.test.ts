// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR } from '../../platform/clock.ts';
import { countsOf } from './counts.ts';

const event = (type: string, at: number, fields = {}) => ({
  ...{ id: '1', at, type, outcome: 'success', clientId: '7', details: '{}' },
  ...fields,
});

test('events of an hour are added up by type, and those of another hour apart', () => {
  const counts = countsOf([
    event('sign_in.succeeded', 10 * HOUR),
    event('sign_in.succeeded', 11 * HOUR - 1),
    event('sign_in.succeeded', 11 * HOUR),
  ]);
  assert.deepEqual(
    counts.map(({ hour, count }) => [hour, count]),
    [
      [10, 2],
      [11, 1],
    ],
  );
});

test('what is refused is counted by reason and app, what is not by neither', () => {
  const counts = countsOf([
    event('token.refused', 0, { details: '{"reason":"expired"}' }),
    event('token.refused', 0, { details: '{"reason":"expired"}', clientId: '8' }),
    event('token.refused', 0, { details: '{}', clientId: null }),
    event('token.issued', 0, { details: '{"reason":"x"}' }),
  ]);
  assert.deepEqual(
    counts.map(({ reason, clientId, count }) => [reason, clientId, count]),
    [
      ['expired', '7', 1],
      ['expired', '8', 1],
      ['', '0', 1],
      ['', '0', 1],
    ],
  );
});

test('other events are not counted', () => {
  assert.deepEqual(countsOf([event('consent.granted', 0)]), []);
});
