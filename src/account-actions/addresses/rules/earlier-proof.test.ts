// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isEarlierProof, isReturnProof, isSecondFactor, provedSince } from './earlier-proof.ts';

const GIVEN_UP = 1000;
const NO_PASSWORD = { passwordHash: null, passwordSetAt: null };
const password = (passwordSetAt: number | null) => ({ passwordHash: '$argon2id$', passwordSetAt });

const CASES = [
  ['a password as old as the account', 0, ['pwd'], password(null), true],
  ['a password from before', 999, ['pwd'], password(999), true],
  ['a password of that instant', 1000, ['pwd'], password(1000), false],
  ['a password that the person replaced since', 0, ['pwd'], password(2000), true],
  ['an app from before', 999, ['pwd', 'otp', 'mfa'], password(2000), true],
  ['an app from after', 1001, ['pwd', 'otp', 'mfa'], password(1000), false],
  ['an app from after, beside a password from before', 1001, ['pwd', 'otp', 'mfa'], password(0), true],
  ['a passkey from before', 999, ['pop', 'user', 'mfa'], password(1001), true],
  ['a passkey from after, where a password from before was not used', 1001, ['pop', 'user', 'mfa'], password(0), false],
  [
    'a passkey of which an earlier version did not store when it was set up',
    null,
    ['pop', 'user', 'mfa'],
    password(0),
    false,
  ],
  ['a password of which an earlier version did not store when it was set', null, ['pwd'], password(999), true],
  ['a password that is gone', null, ['pwd'], NO_PASSWORD, false],
  ['a code by mail', null, ['otp'], password(0), false],
] as const;
for (const [name, provedFactorSince, amr, account, expected] of CASES) {
  test(`a proof by ${name} ${expected ? 'counts' : 'does not count'} as one from before the address was given up`, () => {
    assert.equal(isEarlierProof(provedSince({ provedFactorSince, amr }, account), GIVEN_UP), expected);
  });
}

test('a password and a code by mail are no second factor', () => {
  const methods = ['password', 'mail code', 'totp', 'recovery code', 'passkey'] as const;
  assert.deepEqual(methods.filter(isSecondFactor), ['totp', 'recovery code', 'passkey']);
});

const now = Number.POSITIVE_INFINITY;
const kept = [
  { setUpAt: 2000, replacedAt: now },
  { setUpAt: 500, replacedAt: 2000 },
];
const RETURNS = [
  ['a password, of an account that had no second factor', 'password', 0, undefined, true],
  ['a password, of an account whose second factor was removed since', 'password', 0, kept, false],
  ['the second factor of then', 'totp', 500, kept, true],
  ['the one that replaced it', 'totp', 2000, kept, true],
  ['one that was set up after it was removed', 'totp', 3000, kept, false],
  ['a code by mail', 'mail code', null, kept, false],
] as const;
for (const [name, provedBy, provedFactorSince, held, expected] of RETURNS) {
  test(`a person ${expected ? 'goes' : 'does not go'} back to an earlier address with ${name}`, () => {
    const session = { provedBy, provedFactorSince, amr: ['pwd'] };
    assert.equal(isReturnProof(session, password(0), GIVEN_UP, held), expected);
  });
}
