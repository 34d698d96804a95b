import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClockBehind } from '../../../platform/clock.ts';
import { type Chain, rotation } from './rotation.ts';

const fresh: Chain = { leafJti: 'a', predecessorJti: null, rotatedAt: null };
const rotated: Chain = { leafJti: 'c', predecessorJti: 'b', rotatedAt: 1_000_000 };

const cases: [string, Chain, string, number, string][] = [
  ['the first token rotates', fresh, 'a', 1_000_000, 'rotate'],
  ['the leaf rotates', rotated, 'c', 1_000_000, 'rotate'],
  ['the leaf rotates long after', rotated, 'c', 9_000_000, 'rotate'],
  ['the predecessor repeats at once', rotated, 'b', 1_000_000, 'repeat'],
  ['the predecessor repeats in the last millisecond of grace', rotated, 'b', 1_029_999, 'repeat'],
  ['the predecessor is reuse when grace has ended', rotated, 'b', 1_030_000, 'reuse'],
  ['an older token is reuse also inside grace', rotated, 'a', 1_000_001, 'reuse'],
  ['a token that the family never had is reuse', fresh, 'x', 1_000_000, 'reuse'],
];
for (const [name, chain, jti, now, expected] of cases) {
  test(name, () => assert.equal(rotation(chain, jti, now), expected));
}

test('where the rotation lies in the future beyond a minute, no token of the family is judged', () => {
  for (const jti of ['a', 'b', 'x']) {
    assert.throws(() => rotation(rotated, jti, 939_999), ClockBehind);
    assert.ok(rotation(rotated, jti, 940_000));
  }
  assert.equal(rotation(rotated, 'c', 940_000), 'rotate');
});
