// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../exchange.ts';
import {
  currentTokens,
  isResponseTo,
  newPlaygroundSession,
  nextAction,
  type PlaygroundSession,
  reachedSteps,
  responseStatus,
  withNewAttempt,
} from './progress.ts';

const exchange = (status: number, body: unknown = {}): Exchange => ({
  request: '',
  answer: `HTTP/1.1 ${status} X\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(body)}`,
  began: 0,
  ended: 0,
});
const attempt = { state: 's', nonce: 'n', verifier: 'v' };
const start = newPlaygroundSession({ endpoints: 'v2', clientId: '1', clientSecret: 'x', expiresAt: 0 }, attempt);
const callback = { request: '', iss: 'https://id.example.com', code: 'c', error: null, description: null };
const ok = exchange(200);
const rejected = exchange(400);

const cases: readonly (readonly [
  name: string,
  done: Partial<PlaygroundSession>,
  action: string | null,
  step: string,
])[] = [
  ['not authorized yet: only the browser can go on', {}, null, 'authorize'],
  ['a code', { callback }, 'tokens', 'code'],
  ['an error in place of the code', { callback: { ...callback, code: null } }, 'again', 'code'],
  ['tokens', { callback, tokens: ok }, 'userinfo', 'tokens'],
  ['a rejected code', { callback, tokens: rejected }, 'again', 'tokens'],
  ['UserInfo', { callback, tokens: ok, userinfo: ok }, 'refresh', 'userinfo'],
  ['rejected by UserInfo', { callback, tokens: ok, userinfo: rejected }, 'again', 'userinfo'],
  ['refreshed', { callback, tokens: ok, userinfo: ok, refresh: ok }, 'revoke', 'refresh'],
  ['a rejected refresh', { callback, tokens: ok, userinfo: ok, refresh: rejected }, 'again', 'refresh'],
  [
    'revoked',
    { callback, tokens: ok, userinfo: ok, refresh: ok, revoke: { act: ok, userinfo: rejected, refresh: rejected } },
    'again',
    'revoke',
  ],
];
for (const [name, done, action, step] of cases) {
  test(`${name}: the next action is ${action}, the last step is ${step}`, () => {
    assert.equal(nextAction({ ...start, ...done }), action);
    assert.equal(reachedSteps({ ...start, ...done }).at(-1), step);
  });
}

test('a new attempt keeps the app and forgets the exchanges', () => {
  const next = { state: 't', nonce: 'o', verifier: 'w' };
  assert.deepEqual(withNewAttempt({ ...start, callback, tokens: ok, accountId: '2' }, next), {
    ...start,
    attempt: next,
  });
});

test('RFC 6749 §10.12, RFC 9207 §2.4: a response needs the state of the session and the issuer', () => {
  const issuer = callback.iss;
  for (const [response, expected] of [
    [{ state: 's', iss: issuer }, true],
    [{ state: 'other', iss: issuer }, false],
    [{ state: 's', iss: 'https://evil.example' }, false],
    [{ state: 's' }, false],
    [{ iss: issuer }, false],
  ] as const) {
    assert.equal(isResponseTo(start, response, issuer), expected, JSON.stringify(response));
  }
});

test('the current tokens are those of the last successful token response', () => {
  const [first, second] = [{ access_token: 'a' }, { access_token: 'b' }];
  assert.equal(currentTokens(start), undefined);
  assert.equal(currentTokens({ ...start, tokens: rejected }), undefined);
  assert.deepEqual(currentTokens({ ...start, tokens: exchange(200, first) }), first);
  assert.deepEqual(currentTokens({ ...start, tokens: exchange(200, first), refresh: exchange(200, second) }), second);
  assert.deepEqual(currentTokens({ ...start, tokens: exchange(200, first), refresh: rejected }), first);
  assert.equal(responseStatus({ ...ok, answer: '' }), 0);
});
