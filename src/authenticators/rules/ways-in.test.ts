// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Factor } from './factors.ts';
import { type WayIn, type WaysInState, waysIn, waysInWithout } from './ways-in.ts';

const state = (kinds: string, changes: Partial<WaysInState> = {}): WaysInState => ({
  factors: kinds === '' ? [] : kinds.split(' ').map((kind) => ({ kind: kind as 'password' })),
  recoveryCodes: 0,
  mailAvailable: true,
  codeRequired: false,
  ...changes,
});

const cases: [title: string, state: WaysInState, ways: readonly WayIn[]][] = [
  ['nothing but mail', state(''), ['mail']],
  ['nothing, and no mail', state('', { mailAvailable: false }), []],
  ['a password', state('password'), ['password', 'mail']],
  ['a password and an app', state('password totp'), ['password', 'mail and authenticator app']],
  [
    'a password, an app and codes',
    state('password totp', { recoveryCodes: 3 }),
    ['password', 'mail and authenticator app', 'mail and recovery code'],
  ],
  ['a passkey', state('passkey'), ['passkey', 'mail']],
  ['a passkey where mail alone is not enough', state('passkey', { codeRequired: true }), ['passkey']],
  [
    'a passkey and codes where mail alone is not enough',
    state('passkey', { codeRequired: true, recoveryCodes: 1 }),
    ['passkey', 'mail and recovery code'],
  ],
  ['an app alone does not sign in', state('totp', { mailAvailable: false }), []],
];
for (const [title, given, ways] of cases) {
  test(`the ways into an account with ${title}: ${ways.join(', ') || 'none'}`, () =>
    assert.deepEqual(waysIn(given), ways));
}

const removals: [WaysInState, Factor['kind'], readonly WayIn[]][] = [
  [state('passkey', { mailAvailable: false }), 'passkey', []],
  [state('passkey'), 'passkey', ['mail']],
  [state('passkey', { codeRequired: true }), 'passkey', []],
  [state('password passkey', { mailAvailable: false }), 'password', ['passkey']],
];
for (const [given, removed, ways] of removals) {
  const kinds = given.factors.map(({ kind }) => kind).join(' and ');
  test(`of ${kinds}, without ${removed}: ${ways.join(', ') || 'none'}`, () =>
    assert.deepEqual(waysInWithout(given, removed), ways));
}

test('without the authenticator app there is a way in wherever there was one', () => {
  for (const [title, given, ways] of cases) {
    assert.equal(waysInWithout(given, 'totp').length > 0, ways.length > 0, title);
  }
});
