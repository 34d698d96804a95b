// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import { assertRefused, call, REVOKED, STANDARD, USERINFO } from '../support/api-call.ts';
import { admin, newClient, newUser, tokensFor } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const user = await newUser(server);

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

for (const alg of ['RS256', 'ES256', 'EdDSA']) {
  test(`OpenID Connect Core 1.0 §5.3.2: UserInfo signed with ${alg}, for the client alone`, async () => {
    const client = await newClient(server, { userinfoSignedResponseAlg: alg });
    const tokens = await tokensFor(server, client, user, { scope: 'openid email' });
    const keys = createRemoteJWKSet(new URL(`${server.baseUrl}/.well-known/jwks.json`));
    for (const method of ['GET', 'POST']) {
      const answer = await call(server, method, STANDARD, bearer(tokens.access_token));
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get('content-type'), 'application/jwt');
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      const check = { issuer: server.baseUrl, audience: client.clientId, algorithms: [alg] };
      const { payload } = await jwtVerify(answer.text, keys, check);
      assert.deepEqual([payload.sub, payload['email']], [user.id, `${user.username}@example.com`]);
      assert.equal(payload.iat, Math.floor(server.now() / 1000));
      assert.equal(payload.exp, undefined);
      assert.equal(decodeProtectedHeader(answer.text).typ, 'JWT');
    }
  });
}

test('the contract’s UserInfo stays JSON, and so does the other without the registration', async () => {
  const client = await newClient(server, { userinfoSignedResponseAlg: 'RS256' });
  const tokens = await tokensFor(server, client, user);
  const contract = await call(server, 'GET', USERINFO, bearer(tokens.access_token));
  assert.match(contract.headers.get('content-type') ?? '', /^application\/json\b/);
  await admin(server, 'PATCH', `/clients/${client.clientId}`, { userinfoSignedResponseAlg: null });
  const plain = await call(server, 'GET', STANDARD, bearer(tokens.access_token));
  assert.match(plain.headers.get('content-type') ?? '', /^application\/json\b/);
  assert.deepEqual([plain.body.sub, 'iss' in plain.body, 'aud' in plain.body], [user.id, false, false]);
});

test('a stock library takes the signed answer, and its signature', async () => {
  const client = await newClient(server, { userinfoSignedResponseAlg: 'ES256' });
  const tokens = await tokensFor(server, client, user);
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(server.baseUrl);
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const of = { client_id: client.clientId, userinfo_signed_response_alg: 'ES256' };
  const answer = await oauth.userInfoRequest(as, of, tokens.access_token, insecure);
  const claims = await oauth.processUserInfoResponse(as, of, user.id, answer);
  assert.equal(claims.sub, user.id);
  await oauth.validateApplicationLevelSignature(as, answer, insecure);
  assert.deepEqual(as['userinfo_signing_alg_values_supported'], ['RS256', 'ES256', 'EdDSA']);
});

test('errors are JSON, and the verdict is the same', async () => {
  const client = await newClient(server, { userinfoSignedResponseAlg: 'RS256' });
  const tokens = await tokensFor(server, client, user);
  assertRefused(await call(server, 'GET', STANDARD, bearer('x')), 401, 'invalid_token');
  await admin(server, 'DELETE', `/users/${user.id}/connections/${client.clientId}`);
  const answer = await call(server, 'GET', STANDARD, bearer(tokens.access_token));
  assertRefused(answer, 401, 'invalid_token', REVOKED);
});

test('JW-10: a signed UserInfo answer is no token here', async () => {
  const client = await newClient(server, {
    userinfoSignedResponseAlg: 'RS256',
    idTokenSignedResponseAlg: 'RS256',
    postLogoutRedirectUris: ['https://app.example.com/bye'],
  });
  const tokens = await tokensFor(server, client, user);
  const { text } = await call(server, 'GET', STANDARD, bearer(tokens.access_token));
  for (const path of [STANDARD, USERINFO]) {
    assertRefused(await call(server, 'GET', path, bearer(text)), 401, 'invalid_token');
  }
  const form = { grant_type: 'refresh_token', refresh_token: text };
  const body = new URLSearchParams({ ...form, client_id: client.clientId, client_secret: client.clientSecret });
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  assertRefused(await call(server, 'POST', '/api/v2/oauth/token', headers, body.toString()), 400, 'invalid_grant');
});
