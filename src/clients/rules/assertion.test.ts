// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateAssertion } from './assertion.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const seconds = NOW / 1000;
const expected = { clientId: '1', audiences: ['https://id.example'], now: NOW };
const validated = (times: Readonly<Record<string, unknown>>) =>
  validateAssertion({ iss: '1', sub: '1', aud: 'https://id.example', jti: 'x', ...times }, expected);

// RFC 7519 §2: "non-integer values can be represented". What is stored is a whole number, and never too early.
const remembered: [name: string, times: Readonly<Record<string, unknown>>, milliseconds: number][] = [
  ['whole seconds', { exp: seconds + 60 }, 90_000],
  ['half a second', { exp: seconds + 60.5 }, 90_500],
  ['finer than a millisecond', { exp: seconds + 60.0001 }, 90_001],
  ['past, within the skew', { exp: seconds - 29.9995 }, 1],
  ['iat and nbf with fractions', { exp: seconds + 60, iat: seconds + 29.5, nbf: seconds - 0.25 }, 90_000],
];
for (const [name, times, milliseconds] of remembered) {
  test(`RFC 7523 §3: an assertion is remembered until it has expired: ${name}`, () => {
    assert.deepEqual(validated(times), { jti: 'x', expiresAt: NOW + milliseconds });
  });
}

const NO_EXP = 'the assertion has no exp';
const TOO_LATE = 'the assertion expires too late';
const INCONSISTENT = 'the assertion has times that make no sense';
const rejected: [name: string, times: Readonly<Record<string, unknown>>, reason: string][] = [
  ['exp NaN', { exp: Number.NaN }, NO_EXP],
  ['exp infinite', { exp: Number.POSITIVE_INFINITY }, NO_EXP],
  ['exp zero', { exp: 0 }, NO_EXP],
  ['exp negative', { exp: -1.5 }, NO_EXP],
  ['exp a text', { exp: String(seconds + 60) }, NO_EXP],
  ['exp whose milliseconds are infinite', { exp: 1e308 }, TOO_LATE],
  ['exp beyond whole numbers', { exp: 2 ** 60 }, TOO_LATE],
  ['exp in the instant of its end', { exp: seconds - 30 }, 'the assertion has expired'],
  ['iat NaN', { exp: seconds + 60, iat: Number.NaN }, INCONSISTENT],
  ['iat after exp by a fraction', { exp: seconds + 20, iat: seconds + 20.001 }, INCONSISTENT],
  ['nbf negative', { exp: seconds + 60, nbf: -1 }, INCONSISTENT],
  ['nbf of the future by a fraction', { exp: seconds + 60, nbf: seconds + 30.001 }, 'the assertion is of the future'],
];
for (const [name, times, reason] of rejected) {
  test(`RFC 7523 §3: an assertion is rejected: ${name}`, () => {
    assert.deepEqual(validated(times), { reason });
  });
}
