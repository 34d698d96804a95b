import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACR, authenticationContext } from './authentication-context.ts';

const contexts: [amr: readonly string[], acr: string | null][] = [
  [['pwd'], ACR],
  [['pwd', 'otp', 'mfa'], ACR],
  [['hwk'], null],
  [[], null],
];
for (const [amr, acr] of contexts) {
  test(`OpenID Connect Core 1.0 §2: the class of ${JSON.stringify(amr)} is ${acr}`, () =>
    assert.deepEqual(authenticationContext(amr), { amr, acr }));
}
