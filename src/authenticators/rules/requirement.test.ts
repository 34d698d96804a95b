import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ACR, ACR_MFA, ACR_PHISHING_RESISTANT, authenticationContext, type Method } from './authentication-context.ts';
import { requiredAcr, type StepUp, stepUpTo } from './requirement.ts';

const required: [requested: readonly string[] | null, policies: readonly (string | null)[], acr: string | null][] = [
  [null, [], null],
  [null, [null, null], null],
  [[ACR], [], ACR],
  // OpenID Connect Core 1.0 §3.1.2.1: any of the values will do.
  [[ACR_PHISHING_RESISTANT, ACR_MFA], [], ACR_MFA],
  [[ACR], [null, ACR_MFA], ACR_MFA],
  [[ACR_PHISHING_RESISTANT], [ACR_MFA], ACR_PHISHING_RESISTANT],
  [null, [ACR_MFA, ACR_PHISHING_RESISTANT], ACR_PHISHING_RESISTANT],
];
for (const [requested, policies, acr] of required) {
  test(`a request for ${requested?.join(' or ') ?? 'any class'} where ${policies.join(' and ') || 'nothing'} is required requires ${acr}`, () =>
    assert.equal(requiredAcr(requested, policies), acr));
}

const MET: StepUp = { kind: 'met' };
const SIGN_IN: StepUp = { kind: 'sign in' };
const NONE: StepUp = { kind: 'unreachable' };
const prove = (...methods: Method[]): StepUp => ({ kind: 'prove', methods });
type Kind = 'password' | 'totp' | 'passkey';
const steps: [acr: string | null, used: readonly Method[], has: readonly Kind[], step: StepUp][] = [
  [null, ['mail code'], [], MET],
  [ACR, ['password'], ['password'], MET],
  [ACR, ['passkey'], ['passkey'], MET],
  [ACR, ['mail code'], ['password'], SIGN_IN],
  [ACR, ['mail code'], ['passkey'], prove('passkey')],
  [ACR, ['mail code'], [], NONE],
  [ACR_MFA, ['password', 'totp'], ['password', 'totp'], MET],
  [ACR_MFA, ['passkey'], ['passkey'], MET],
  [ACR_MFA, ['password'], ['password'], NONE],
  [ACR_MFA, ['password'], ['password', 'totp'], prove('totp', 'recovery code')],
  [ACR_MFA, ['password'], ['password', 'totp', 'passkey'], prove('passkey', 'totp', 'recovery code')],
  [ACR_MFA, ['mail code', 'totp'], ['password', 'totp'], SIGN_IN],
  [ACR_MFA, ['mail code'], ['totp'], NONE],
  [ACR_PHISHING_RESISTANT, ['password', 'totp'], ['password', 'totp'], NONE],
  [ACR_PHISHING_RESISTANT, ['password', 'totp'], ['password', 'totp', 'passkey'], prove('passkey')],
];
for (const [acr, used, has, step] of steps) {
  const kinds = has.map((kind) => ({ kind }));
  test(`after ${used.join(' and ')}, somebody with ${has.join(', ') || 'no factor'} meets ${acr}: ${JSON.stringify(step)}`, () =>
    assert.deepEqual(stepUpTo(acr, authenticationContext(used), kinds), step));
}
