// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ACR,
  ACR_MFA,
  ACR_PHISHING_RESISTANT,
  authenticationContext,
  type Method,
  meetsAcr,
} from './authentication-context.ts';

const contexts: [methods: readonly Method[], amr: readonly string[], acr: string | null][] = [
  [['password'], ['pwd'], ACR],
  [['password', 'totp'], ['pwd', 'otp', 'mfa'], ACR_MFA],
  [['password', 'recovery code'], ['pwd', 'mfa'], ACR_MFA],
  [['passkey'], ['pop', 'user', 'mfa'], ACR_PHISHING_RESISTANT],
  [['password', 'passkey'], ['pwd', 'pop', 'user', 'mfa'], ACR_PHISHING_RESISTANT],
  [['mail code'], ['otp'], null],
  [['mail code', 'totp'], ['otp'], null],
  [[], [], null],
];
for (const [methods, amr, acr] of contexts) {
  test(`OpenID Connect Core 1.0 §2: the class of ${methods.join(' and ') || 'nothing'} is ${acr}`, () =>
    assert.deepEqual(authenticationContext(methods), { amr, acr }));
}

test('a class is met by itself and by the stronger ones, and an unknown one by none', () => {
  assert.deepEqual(
    [ACR, ACR_MFA, ACR_PHISHING_RESISTANT].map((acr) => meetsAcr(acr, ACR_MFA)),
    [false, true, true],
  );
  assert.equal(meetsAcr(null, ACR), false);
  assert.equal(meetsAcr('other', 'other'), false);
});
