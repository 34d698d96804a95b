// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cameThrough } from './came-through.ts';

const there = [
  { sid: 'one', upstreamId: 'staff', at: 100 },
  { sid: 'one', upstreamId: 'home', at: 200 },
  { sid: 'two', upstreamId: 'staff', at: 100 },
];

for (const [name, sid, authTime, amr, expected] of [
  ['the sign-in itself', 'one', 100, ['upstream', 'upstream:pwd'], true],
  ['a second factor here is added to it', 'two', 150, ['upstream', 'otp'], true],
  ['a later one through another provider', 'one', 200, ['upstream'], false],
  ['the one before that', 'one', 199, ['upstream'], true],
  ['a later one with a password', 'two', 300, ['pwd'], false],
  ['a session that never was there', 'three', 300, ['upstream'], false],
  ['one before it', 'two', 99, ['upstream'], false],
  ['a method there that is named alike', 'two', 100, ['pwd', 'upstream:upstream'], false],
] as const) {
  test(`through the provider: ${name}`, () => {
    assert.equal(cameThrough('staff', there, { sid, authTime, amr }), expected);
  });
}
