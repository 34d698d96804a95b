// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE } from '../../platform/clock.ts';
import type { Method } from './authentication-context.ts';
import { type Factor, isProofIn, needsProof, proofAsked, secondFactors } from './factors.ts';

const NOW = 1_000 * MINUTE;
const SIGNED_IN = 900 * MINUTE;
const password: Factor = { kind: 'password', createdAt: 0 };
const totp: Factor = { kind: 'totp', createdAt: 10 };
const passkey: Factor = { kind: 'passkey', createdAt: 20 };
const since = (factor: Factor): Factor => ({ ...factor, createdAt: SIGNED_IN + 1 });

// Decisions §11: the strongest factor enrolled before this session.
const asked: [title: string, factors: readonly Factor[], method: Method][] = [
  ['nothing', [], 'mail code'],
  ['a password', [password], 'password'],
  ['a password and an authenticator app', [password, totp], 'totp'],
  ['a passkey and all else', [password, totp, passkey], 'passkey'],
  ['an authenticator app that was added in this session', [password, since(totp)], 'password'],
  ['a passkey that was added in this session', [password, totp, since(passkey)], 'totp'],
];
for (const [title, factors, method] of asked) {
  test(`somebody who has ${title} is asked for ${method}`, () =>
    assert.equal(proofAsked(factors, { authTime: SIGNED_IN }), method));
}

const proofs: [title: string, factors: readonly Factor[], provedBy: Method, minutes: number, needed: boolean][] = [
  ['the password, just now', [password], 'password', 0, false],
  ['the password, nine minutes ago', [password], 'password', 9, false],
  ['the password, ten minutes ago', [password], 'password', 10, true],
  ['the password, where there is an authenticator app', [password, totp], 'password', 0, true],
  ['a recovery code, where there is an authenticator app', [password, totp], 'recovery code', 0, false],
  ['a one-time password, where there is a passkey', [totp, passkey], 'totp', 0, true],
  ['a passkey', [password, totp, passkey], 'passkey', 9, false],
  ['a mail code, where there is a password', [password], 'mail code', 0, true],
  ['a mail code, where there is nothing else', [], 'mail code', 9, false],
];
for (const [title, factors, provedBy, minutes, needed] of proofs) {
  test(`a proof by ${title} ${needed ? 'is not enough' : 'is enough'}`, () => {
    const session = { authTime: SIGNED_IN, provedAt: NOW - minutes * MINUTE, provedBy, provedFactorSince: 10 };
    assert.equal(needsProof(factors, session, NOW), needed);
  });
}

const uses: [method: Method, factorSince: number | null, counts: boolean][] = [
  ['passkey', SIGNED_IN - 1, true],
  ['passkey', SIGNED_IN, false],
  ['totp', SIGNED_IN + 1, false],
  ['recovery code', SIGNED_IN + 1, false],
  ['passkey', null, true],
  ['upstream', SIGNED_IN, false],
  // Every change of it replaces all sessions.
  ['password', SIGNED_IN + 1, true],
  ['mail code', null, true],
];
for (const [method, factorSince, counts] of uses) {
  const age = factorSince === null ? 'of unknown age' : factorSince < SIGNED_IN ? 'from before' : 'set up since';
  test(`in a session, ${method} ${age} ${counts ? 'is' : 'is not'} a proof`, () => {
    assert.equal(isProofIn({ authTime: SIGNED_IN }, { method, factorSince }), counts);
    const session = { authTime: SIGNED_IN, provedAt: NOW, provedBy: method, provedFactorSince: factorSince };
    const isEnough = method !== 'mail code' && method !== 'password' && counts;
    assert.equal(needsProof([password, totp], session, NOW), !isEnough);
  });
}

const seconds: [used: readonly Method[], factors: readonly Factor[], asked: readonly Method[]][] = [
  [['password'], [password], []],
  [['password'], [password, passkey], []],
  [['password'], [password, totp], ['totp', 'recovery code']],
  [['password'], [password, totp, passkey], ['passkey', 'totp', 'recovery code']],
  [['passkey'], [password, totp, passkey], []],
  [['mail code'], [totp], ['totp', 'recovery code']],
  [['password', 'totp'], [password, totp], []],
];
for (const [used, factors, methods] of seconds) {
  const kinds = factors.map(({ kind }) => kind).join(', ');
  test(`after ${used.join(' and ')}, somebody with ${kinds} is asked for ${methods.join(' or ') || 'nothing'}`, () =>
    assert.deepEqual(secondFactors(used, factors), methods));
}
