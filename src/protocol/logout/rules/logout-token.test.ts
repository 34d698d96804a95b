// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logoutClaims, logoutTokenAlg } from './logout-token.ts';

const issuer = 'https://id.example.com';
const common = {
  iss: issuer,
  aud: '1',
  sub: '7',
  iat: 1000,
  exp: 1120,
  jti: 'jti',
  events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
};
for (const [name, sid, expected] of [
  ['one session', 'this', { ...common, sid: 'this' }],
  ['every session: no sid', null, common],
] as const) {
  test(`Back-Channel Logout §2.4: ${name}`, () => {
    assert.deepEqual(logoutClaims({ issuer, clientId: '1', accountId: '7', sid }, 'jti', 1_000_999), expected);
  });
}

test('decisions §10: logout tokens have the registered asymmetric algorithm, else RS256', () => {
  const algs = [null, 'HS256', 'RS256', 'ES256', 'EdDSA'] as const;
  assert.deepEqual(algs.map(logoutTokenAlg), ['RS256', 'RS256', 'RS256', 'ES256', 'EdDSA']);
});
