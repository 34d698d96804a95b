// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Outgoing, type OutgoingAnswer, OutgoingFailed } from '../platform/http/outgoing.ts';
import { breachedPasswords } from './breached-passwords.ts';

// The SHA-1 hash of "password" is 5BAA61E4C9B93F3F0682250B6CF8331B7EE68FD8.
const REST = '1E4C9B93F3F0682250B6CF8331B7EE68FD8';
const OTHER = '0018A45C4D1DEF81644B54AB7F969B88D65';

const answer =
  (body: string, status = 200): Outgoing =>
  async () => ({ status, headers: {}, body: Buffer.from(body) });

const cases: readonly (readonly [title: string, send: Outgoing, included: boolean, counted: string])[] = [
  ['listed', answer(`${OTHER}:3\r\n${REST}:52256179\r\n`), true, 'breached'],
  ['listed last, without a line break', answer(`${OTHER}:3\n${REST}:1`), true, 'breached'],
  ['not listed', answer(`${OTHER}:3\r\n`), false, 'clear'],
  ['listed as padding', answer(`${OTHER}:3\r\n${REST}:0\r\n`), false, 'clear'],
  ['listed in an answer of another status', answer(`${REST}:1\r\n`, 503), false, 'failed'],
  ['asked about in vain', () => Promise.reject(new OutgoingFailed('no answer')), false, 'failed'],
];
for (const [title, send, included, counted] of cases) {
  test(`a password that is ${title} is ${included ? 'rejected' : 'accepted'}, and counted as ${counted}`, async () => {
    const outcomes: string[] = [];
    const urls: string[] = [];
    const observed: Outgoing = (request) => {
      urls.push(request.url);
      assert.equal(request.headers?.['add-padding'], 'true');
      return send(request);
    };
    const breaches = breachedPasswords('https://range.example/', observed, {
      checkedBreaches: (outcome) => outcomes.push(outcome),
    });
    assert.equal(await breaches.includes('password'), included);
    assert.deepEqual([outcomes, urls], [[counted], ['https://range.example/5BAA6']]);
  });
}

test('beyond a number of requests that wait, passwords are accepted unasked', async () => {
  const outcomes: string[] = [];
  const waiting: ((answer: OutgoingAnswer) => void)[] = [];
  const breaches = breachedPasswords('https://range.example/', () => new Promise((done) => waiting.push(done)), {
    checkedBreaches: (outcome) => outcomes.push(outcome),
  });
  const asked = Array.from({ length: 40 }, () => breaches.includes('password'));
  await Promise.all(asked.slice(32));
  assert.deepEqual(outcomes, Array(8).fill('skipped'));
  for (const done of waiting) done({ status: 200, headers: {}, body: Buffer.from(`${REST}:1`) });
  assert.deepEqual((await Promise.all(asked)).filter(Boolean).length, 32);
});

test('nothing is asked where the check is off', async () => {
  const breaches = breachedPasswords(null, () => assert.fail(), { checkedBreaches: assert.fail });
  assert.equal(await breaches.includes('password'), false);
});
