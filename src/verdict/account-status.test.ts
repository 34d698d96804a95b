// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AccountStatus, accountStatus } from './rules.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const active = { bannedAt: null, bannedUntil: null, suspendedAt: null };

const cases: readonly (readonly [title: string, restrictions: object, status: AccountStatus])[] = [
  ['no restriction', {}, 'active'],
  ['a permanent ban', { bannedAt: now }, 'banned'],
  ['a ban until a millisecond from now', { bannedAt: 0, bannedUntil: now + 1 }, 'banned'],
  ['a ban until now', { bannedAt: 0, bannedUntil: now }, 'active'],
  ['a suspension', { suspendedAt: 0 }, 'suspended'],
  ['a ban and a suspension', { bannedAt: 0, suspendedAt: 0 }, 'banned'],
  ['a ban that has ended and a suspension', { bannedAt: 0, bannedUntil: now, suspendedAt: 0 }, 'suspended'],
];

for (const [title, restrictions, status] of cases) {
  test(`the status of an account with ${title} is ${status}`, () => {
    assert.equal(accountStatus({ ...active, ...restrictions }, now), status);
  });
}
