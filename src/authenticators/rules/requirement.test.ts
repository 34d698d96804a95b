// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE } from '../../platform/clock.ts';
import { ACR, ACR_MFA, ACR_PHISHING_RESISTANT, authenticationContext, type Method } from './authentication-context.ts';
import { enrollmentFor, requiredAcr, type StepUp, stepUpTo } from './requirement.ts';

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

const PROVE_BY_APP = prove('totp', 'recovery code');
const enrollments: [acr: string, has: readonly Kind[], provedBy: Method, passkeys: boolean, step: StepUp][] = [
  [ACR_MFA, ['password'], 'password', true, { kind: 'enroll', factors: ['totp', 'passkey'] }],
  [ACR_MFA, ['password'], 'password', false, { kind: 'enroll', factors: ['totp'] }],
  [ACR_MFA, [], 'mail code', true, { kind: 'enroll', factors: ['passkey'] }],
  [ACR_MFA, [], 'mail code', false, NONE],
  [ACR_PHISHING_RESISTANT, ['password'], 'password', true, { kind: 'enroll', factors: ['passkey'] }],
  [ACR_PHISHING_RESISTANT, ['password'], 'password', false, NONE],
  // SE-09: the strongest factor that was set up before the session began.
  [ACR_PHISHING_RESISTANT, ['password', 'totp'], 'totp', true, { kind: 'enroll', factors: ['passkey'] }],
  [ACR_PHISHING_RESISTANT, ['password', 'totp'], 'password', true, PROVE_BY_APP],
  [ACR_MFA, ['password'], 'mail code', true, SIGN_IN],
];
for (const [acr, has, provedBy, passkeys, step] of enrollments) {
  const factors = has.map((kind) => ({ kind, createdAt: 0 }));
  test(`for ${acr}, with ${has.join(', ') || 'no factor'}, proved by ${provedBy}, ${passkeys ? 'with' : 'without'} passkeys: ${JSON.stringify(step)}`, () =>
    assert.deepEqual(
      enrollmentFor(acr, { authTime: 1, provedAt: 1, provedBy, provedFactorSince: 0 }, factors, { passkeys, now: 2 }),
      step,
    ));
}

test('a proof that is ten minutes old is asked for again before a factor is set up', () => {
  const session = { authTime: 1, provedAt: 1, provedBy: 'password', provedFactorSince: 0 } as const;
  const factors = [{ kind: 'password', createdAt: 0 }] as const;
  const at = (now: number) => enrollmentFor(ACR_MFA, session, factors, { passkeys: true, now }).kind;
  assert.deepEqual([at(10 * MINUTE), at(10 * MINUTE + 1)], ['enroll', 'sign in']);
});
