// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEarlierProof, isSecondFactor, type SetUpTimes } from './earlier-proof.ts';

const NONE: SetUpTimes = { password: null, totp: null, passkeys: [], recoveryCodes: [] };
const GIVEN_UP = 1000;

const CASES = [
  ['a password as old as the account', 'password', { password: 0 }, true],
  ['a password from before', 'password', { password: 999 }, true],
  ['a password of that instant', 'password', { password: 1000 }, false],
  ['a password that is gone', 'password', {}, false],
  ['an app from before', 'totp', { totp: 999, password: 2000 }, true],
  ['an app from after', 'totp', { totp: 1001, password: 0 }, false],
  ['a passkey from before', 'passkey', { passkeys: [999] }, true],
  ['one of two passkeys from after', 'passkey', { passkeys: [999, 1001] }, false],
  ['no passkey', 'passkey', {}, false],
  ['recovery codes from before', 'recovery code', { recoveryCodes: [999] }, true],
  ['recovery codes from after', 'recovery code', { recoveryCodes: [1000], totp: 0 }, false],
  ['a code by mail', 'mail code', { password: 0, totp: 0, passkeys: [0], recoveryCodes: [0] }, false],
] as const;
for (const [name, method, times, expected] of CASES) {
  test(`a proof by ${name} ${expected ? 'counts' : 'does not count'} as one from before the address was given up`, () => {
    assert.equal(isEarlierProof(method, { ...NONE, ...times }, GIVEN_UP), expected);
  });
}

test('a password and a code by mail are no second factor', () => {
  const methods = ['password', 'mail code', 'totp', 'recovery code', 'passkey'] as const;
  assert.deepEqual(methods.filter(isSecondFactor), ['totp', 'recovery code', 'passkey']);
});
