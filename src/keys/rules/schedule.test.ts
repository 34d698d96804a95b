import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR } from '../../platform/clock.ts';
import { dueAlgorithms, isForgotten, keyStatus, publishedAt, type Scheduled, signerAt } from './schedule.ts';

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
  ['until the next one’s moment the old one signs', T - 1, 'RS256', 'old', ['old', 'next', 'other']],
  ['from that very moment the next one does', T, 'RS256', 'next', ['old', 'next', 'other']],
  ['the old one is published for an hour more', T + HOUR - 1, 'RS256', 'next', ['old', 'next', 'other']],
  ['and then no longer', T + HOUR, 'RS256', 'next', ['next', 'other']],
  ['the last one signs for ever', T + 9999 * DAY, 'RS256', 'next', ['next', 'other']],
  ['the first of an algorithm signs also before its moment', 0, 'ES256', 'other', ['old', 'next', 'other']],
  ['an algorithm without keys has none', T, 'EdDSA', undefined, ['old', 'next', 'other']],
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

test('each state has its time', () => {
  const states = (of: Scheduled) => [T - 1, T, T + HOUR].map((now) => keyStatus(of, keys, now));
  assert.deepEqual(states(old), ['signs', 'verifies', 'expired']);
  assert.deepEqual(states(next), ['published', 'signs', 'signs']);
});

test('a key is forgotten when no session can hold an ID token of it', () => {
  const end = T + HOUR + 30 * DAY;
  assert.deepEqual([isForgotten(old, keys, end - 1), isForgotten(old, keys, end)], [false, true]);
  assert.equal(isForgotten(next, keys, end * 2), false, 'one that signs never is');
});

test('without the next one the old one signs on, and without both nobody does', () => {
  assert.equal(signerAt('RS256', [old, other], T)?.kid, 'old');
  assert.equal(signerAt('RS256', [other], T), undefined);
});

test('an algorithm is due when its newest key is as old as the period', () => {
  assert.deepEqual(dueAlgorithms(keys, T + 30 * DAY - 1, 30 * DAY), []);
  assert.deepEqual(dueAlgorithms(keys, T + 30 * DAY, 30 * DAY), ['RS256']);
  assert.deepEqual(dueAlgorithms(keys, T + 30 * DAY + 1, 30 * DAY), ['RS256', 'ES256']);
});
