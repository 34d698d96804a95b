// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR, MINUTE } from '../../platform/clock.ts';
import { dueAlgorithms, isDeletable, isOffered, keyStatus, publishedAt, type Scheduled, signerAt } from './schedule.ts';

const key = (kid: string, signsFrom: number, alg = 'RS256'): Scheduled => ({
  kid,
  alg,
  createdAt: signsFrom,
  signsFrom,
});
const T = 100 * DAY;
const [old, next] = [key('old', 0), key('next', T)];
const other = key('other', T + 1, 'ES256');
const keys = [old, next, other];

const cases: [string, number, string, string | undefined, string[]][] = [
  ['the old key signs until the next one does', T - 1, 'RS256', 'old', ['old', 'next', 'other']],
  ['the next key signs from its time on', T, 'RS256', 'next', ['old', 'next', 'other']],
  ['the old key is published for another hour', T + HOUR - 1, 'RS256', 'next', ['old', 'next', 'other']],
  ['and not longer', T + HOUR, 'RS256', 'next', ['next', 'other']],
  ['the last key does not expire', T + 9999 * DAY, 'RS256', 'next', ['next', 'other']],
  ['the first key of an algorithm signs even before its time', 0, 'ES256', 'other', ['old', 'next', 'other']],
  ['an algorithm without keys has no signer', T, 'EdDSA', undefined, ['old', 'next', 'other']],
];
for (const [name, now, alg, signer, published] of cases) {
  test(name, () => {
    assert.equal(signerAt(alg, keys, now)?.kid, signer);
    assert.deepEqual(
      publishedAt(keys, now).map(({ kid }) => kid),
      published,
    );
  });
}

test('a key is published, signs, verifies and expires', () => {
  const states = (of: Scheduled) => [T - 1, T, T + HOUR].map((now) => keyStatus(of, keys, now));
  assert.deepEqual(states(old), ['signs', 'verifies', 'expired']);
  assert.deepEqual(states(next), ['published', 'signs', 'signs']);
});

test('a key is deleted when every session with an ID token of it has ended', () => {
  const end = T + HOUR + 30 * DAY;
  assert.deepEqual([isDeletable(old, keys, end - 1), isDeletable(old, keys, end)], [false, true]);
  assert.equal(isDeletable(next, keys, end * 2), false, 'one that signs is kept');
});

test('the old key signs on when the next one is dropped; without both there is no signer', () => {
  assert.equal(signerAt('RS256', [old, other], T)?.kid, 'old');
  assert.equal(signerAt('RS256', [other], T), undefined);
});

test('an algorithm is due when its newest key is as old as the period', () => {
  assert.deepEqual(dueAlgorithms(keys, T + 30 * DAY - 1, 30 * DAY), []);
  assert.deepEqual(dueAlgorithms(keys, T + 30 * DAY, 30 * DAY), ['RS256']);
  assert.deepEqual(dueAlgorithms(keys, T + 30 * DAY + 1, 30 * DAY), ['RS256', 'ES256']);
});

test('decisions §10: RS256 is always published, others while a client uses them, and 35 minutes longer', () => {
  const nobody = { inUse: new Set<string>(), givenUpAt: new Map<string, number>() };
  assert.equal(isOffered('RS256', nobody, T), true);
  for (const alg of ['ES256', 'EdDSA'] as const) {
    assert.equal(isOffered(alg, nobody, T), false);
    assert.equal(isOffered(alg, { ...nobody, inUse: new Set([alg]) }, T), true);
    const before = { ...nobody, givenUpAt: new Map([[alg, T]]) };
    assert.deepEqual(
      [T, T + 35 * MINUTE - 1, T + 35 * MINUTE].map((now) => isOffered(alg, before, now)),
      [true, true, false],
    );
    assert.equal(isOffered(alg, { ...before, inUse: new Set([alg]) }, T + DAY), true, 'used again');
  }
});
