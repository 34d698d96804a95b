// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { carriedPasskeys } from './notice-text.ts';

const SIGN_IN = { notice: 'new device', facts: { passkey: 1 } } as const;

test('a report names the passkeys of the reports before it whose links have ended', () => {
  const ended = { report: { ...SIGN_IN, passkeys: [2] }, isLive: false };
  assert.deepEqual(carriedPasskeys('signed out everywhere', [ended]), [2, 1]);
  assert.deepEqual(carriedPasskeys('new device', [ended]), [2, 1]);
});

test('a sign-in names no passkey of another sign-in whose link still works, and what that one stands for', () => {
  const live = { report: { ...SIGN_IN, passkeys: [2] }, isLive: true };
  assert.deepEqual(carriedPasskeys('new device', [live]), [2]);
  assert.deepEqual(carriedPasskeys('username changed', [live]), [2, 1]);
});

test('all that one message told is named, and what was named first is never pushed out', () => {
  const at = { at: 0, firstAt: 0, count: 1 };
  const events = Array.from(
    { length: 60 },
    (_, n) => ({ notice: 'factor added', facts: { passkey: n }, ...at }) as const,
  );
  const named = carriedPasskeys('factor added', [{ report: { passkeys: [100], events }, isLive: false }]);
  assert.deepEqual([named.length, named[0], named[1]], [50, 100, 0]);
});
