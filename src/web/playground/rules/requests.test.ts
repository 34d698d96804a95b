// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newPlaygroundSession } from './progress.ts';
import { authorizationParameters, curl, exchangeRequest, refreshRequest, userInfoRequest } from './requests.ts';

const BASE = 'https://id.example.com';
// RFC 7636, appendix B.
const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const attempt = { state: 's', nonce: 'n', verifier };
const session = newPlaygroundSession({ endpoints: 'v2', clientId: '1', clientSecret: 'secret', expiresAt: 0 }, attempt);
const standard = { ...session, endpoints: 'oidc' } as const;

test('RFC 7636 §4.2: the request carries the challenge, the exchange carries the verifier', () => {
  const parameters = authorizationParameters(session, BASE);
  assert.equal(parameters.code_challenge, 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
  assert.ok(!Object.values(parameters).includes(verifier));
  assert.deepEqual(JSON.parse(exchangeRequest(session, 'c', BASE).body ?? ''), {
    grant_type: 'authorization_code',
    code: 'c',
    client_id: '1',
    client_secret: 'secret',
    redirect_uri: `${BASE}/playground/callback`,
    code_verifier: verifier,
  });
});

test('RFC 6749 §2.3.1: at the OIDC endpoints the app sends a form, and its secret in Basic', () => {
  assert.equal(authorizationParameters(standard, BASE).scope, 'openid profile email phone');
  const { path, headers, body } = exchangeRequest(standard, 'c', BASE);
  assert.equal(path, '/oidc/token');
  assert.equal(headers['Authorization'], `Basic ${Buffer.from('1:secret').toString('base64')}`);
  assert.deepEqual(Object.fromEntries(new URLSearchParams(body)), {
    grant_type: 'authorization_code',
    code: 'c',
    redirect_uri: `${BASE}/playground/callback`,
    code_verifier: verifier,
  });
  assert.match(curl(userInfoRequest(standard, 'a.b.c'), BASE), /^curl -s 'https:\/\/id\.example\.com\/oidc\/userinfo'/);
});

test('a request as a curl command', () => {
  for (const [request, expected] of [
    [
      userInfoRequest(session, 'a.b.c'),
      /^curl -s 'https:\/\/id\.example\.com\/api\/v2\/oauth\/userinfo' \\\n {2}-H 'Authorization: Bearer a\.b\.c'$/,
    ],
    [refreshRequest(session, 'r'), /-H 'Content-Type: application\/json' \\\n {2}-d '\{"grant_type":"refresh_token",/],
  ] as const) {
    assert.match(curl(request, BASE), expected);
  }
});
