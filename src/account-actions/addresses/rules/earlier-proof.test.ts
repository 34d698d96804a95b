// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEarlierProof, isSecondFactor, type SetUpTimes } from './earlier-proof.ts';

const NONE: SetUpTimes = { password: null, totp: null, passkeys: [] };
const GIVEN_UP = 1000;

const CASES = [
  ['a password as old as the account', 'password', 0, { password: 0 }, true],
  ['a password from before', 'password', 999, { password: 999 }, true],
  ['a password of that instant', 'password', 1000, { password: 1000 }, false],
  ['a password that the person replaced since', 'password', 0, { password: 2000 }, true],
  ['a password that is gone', 'password', 0, {}, false],
  ['an app from before', 'totp', 999, { totp: 999, password: 2000 }, true],
  ['an app from after', 'totp', 1001, { totp: 1001, password: 0 }, false],
  ['an app that was replaced', 'totp', 999, { totp: 1001 }, false],
  ['a passkey from before, beside one from after', 'passkey', 999, { passkeys: [999, 1001] }, true],
  ['a passkey from after, beside one from before', 'passkey', 1001, { passkeys: [999, 1001] }, false],
  ['a passkey that was removed', 'passkey', 998, { passkeys: [999] }, false],
  ['a passkey from after that was removed', 'passkey', 1001, { passkeys: [999] }, false],
  ['recovery codes from before', 'recovery code', 999, {}, true],
  ['recovery codes from after', 'recovery code', 1000, { totp: 0 }, false],
  ['a passkey of which an earlier version did not store when it was set up', 'passkey', null, { passkeys: [0] }, false],
  ['a code by mail', 'mail code', null, { password: 0, totp: 0, passkeys: [0] }, false],
] as const;
for (const [name, method, factorSince, times, expected] of CASES) {
  test(`a proof by ${name} ${expected ? 'counts' : 'does not count'} as one from before the address was given up`, () => {
    assert.equal(isEarlierProof({ method, factorSince }, { ...NONE, ...times }, GIVEN_UP), expected);
  });
}

test('a password and a code by mail are no second factor', () => {
  const methods = ['password', 'mail code', 'totp', 'recovery code', 'passkey'] as const;
  assert.deepEqual(methods.filter(isSecondFactor), ['totp', 'recovery code', 'passkey']);
});
