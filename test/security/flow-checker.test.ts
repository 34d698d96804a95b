// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnyAnswer, forbidden } from '../support/flow-checker.ts';

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' };
const token = (claims: object): string => `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;
const GOOD = { iat: 1, exp: 1801, scope: 'openid email' };
const tokens = (claims: object, more: object = { id_token: 'x' }): Partial<AnyAnswer> => ({
  text: JSON.stringify({ access_token: token(claims), token_type: 'Bearer', expires_in: 1800, ...more }),
});
const refused = { status: 400, text: '{}' };

const CASES: readonly (readonly [about: string, answer: Partial<AnyAnswer>, problem: RegExp | undefined])[] = [
  ['a form answered by 303', { path: '/login', status: 303 }, undefined],
  ['a form answered by 302', { path: '/login', status: 302 }, /by 302/],
  ['a form answered by 307', { path: '/consent', status: 307 }, /by 307/],
  ['a form answered by 308', { path: '/anything', status: 308 }, /by 308/],
  ['a GET answered by 302', { method: 'GET', path: '/api/v2/oauth/authorize', status: 302 }, undefined],
  ['tokens', tokens(GOOD), undefined],
  ['tokens of a client', tokens({ iat: 1, exp: 1801 }, {}), undefined],
  ['a refusal', refused, undefined],
  ['a refusal that may be cached', { ...refused, headers: { ...JSON_HEADERS, 'cache-control': 'private' } }, /private/],
  ['a refusal without a word about caches', { ...refused, headers: { 'content-type': 'application/json' } }, /cache/],
  ['a page', { ...refused, headers: { ...JSON_HEADERS, 'content-type': 'text/html' } }, /text\/html/],
  ['another token_type', tokens(GOOD, { id_token: 'x', token_type: 'bearer' }), /token_type/],
  ['another expires_in', tokens(GOOD, { id_token: 'x', expires_in: 1799 }), /expires_in/],
  ['another lifetime', tokens({ ...GOOD, exp: 1802 }), /1801/],
  ['no ID token with openid', tokens(GOOD, {}), /id_token/],
  ['an ID token without openid', tokens({ ...GOOD, scope: 'email' }), /id_token/],
];

for (const [about, answer, problem] of CASES) {
  test(`every answer is looked at: ${about}`, () => {
    const whole = {
      method: 'POST',
      path: '/api/v2/oauth/token',
      status: 200,
      headers: JSON_HEADERS,
      text: '',
      ...answer,
    };
    if (problem === undefined) assert.equal(forbidden(whole), undefined);
    else assert.match(forbidden(whole) ?? 'nothing was noticed', problem);
  });
}
