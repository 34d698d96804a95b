// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { jwtVerify } from 'jose';
import {
  claimsOf,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  revokeOnPage,
  signedIn,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server);

test('contract §1: authorize, consent, exchange, UserInfo, refresh, revoke', async () => {
  const browser = await signedIn(server, user);
  const code = await codeFor(server, client, user, { scope: 'openid email', nonce: 'n1' }, { browser });
  const first = await redeem(server, client, code);
  assert.equal(first.status, 200);
  assert.deepEqual(Object.keys(first.body).sort(), [
    'access_token',
    'expires_in',
    'id_token',
    'refresh_token',
    'token_type',
  ]);
  assert.equal(first.body.token_type, 'Bearer');
  assert.equal(first.body.expires_in, 1800);

  const idToken = await jwtVerify(first.body.id_token, new TextEncoder().encode(client.clientSecret), {
    issuer: server.baseUrl,
    audience: client.clientId,
    currentDate: new Date(server.now()),
  });
  assert.equal(idToken.payload['nonce'], 'n1');

  const me = await userinfo(server, first.body.access_token);
  assert.equal(me.status, 200);
  assert.equal(me.body.id, user.id);
  assert.equal(me.body.user.email.domain, 'example.com');

  const second = await refresh(server, client, first.body.refresh_token);
  assert.equal(second.status, 200);
  assert.notEqual(second.body.refresh_token, first.body.refresh_token);
  assert.equal(claimsOf(second.body.access_token).scope, 'openid email');

  const page = await revokeOnPage(browser, client);
  assert.equal(page.status, 200);
  for (const token of [first.body.access_token, second.body.access_token]) {
    const answer = await userinfo(server, token);
    assert.equal(answer.status, 403);
    assert.equal(answer.body.error, 'access_denied');
    assert.equal(answer.body.error_description, 'Access revoked by user');
  }
  const refused = await refresh(server, client, second.body.refresh_token);
  assert.equal(refused.status, 403);
  assert.equal(refused.body.error_description, 'Access revoked by user');
});

test('tokens live on over a restart', async () => {
  const tokens = await tokensFor(server, client, user);
  await server.restart();
  assert.equal((await userinfo(server, tokens.access_token)).status, 200);
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 200);
});
