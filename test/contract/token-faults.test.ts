// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertRefused, call, tokenBytes, USERINFO } from '../support/api-call.ts';
import { codeFor, newClient, newUser, redeem, refresh, tokensFor } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server);
let tokens = await tokensFor(server, client, user);
const code = await codeFor(server, client, user);

test('an internal error is 500 server_error with a correlation id and nothing else, and nothing is consumed', async () => {
  // TK-11: the audit record cannot be written, so neither code nor refresh token may be spent.
  await query(server, 'ALTER TABLE audit_event RENAME TO elsewhere');
  for (const answer of [
    await redeem(server, client, code),
    await refresh(server, client, tokens.refresh_token),
    await redeem(server, client, 'unknown'),
    await redeem(server, { ...client, clientSecret: 'wrong' }, code),
  ]) {
    assertRefused(answer, 500, 'server_error');
    assert.match(answer.body.error_description, /^[A-Za-z ]+\. Correlation id: [0-9a-f-]{36}$/);
  }
  await query(server, 'ALTER TABLE elsewhere RENAME TO audit_event');
  assert.equal((await redeem(server, client, code)).status, 200);
  const renewed = await refresh(server, client, tokens.refresh_token);
  assert.equal(renewed.status, 200);
  tokens = renewed.body;
});

test('a fault at UserInfo is 500 in the same way', async () => {
  await query(server, 'ALTER TABLE key_set RENAME TO elsewhere');
  const answer = await call(server, 'GET', USERINFO, { authorization: `Bearer ${tokens.access_token}` });
  assertRefused(answer, 500, 'server_error');
  assert.doesNotMatch(answer.text, /key_set|\brelation\b|sqlite|postgres|select|column|\.ts/i);
  await query(server, 'ALTER TABLE elsewhere RENAME TO key_set');
  const again = await call(server, 'GET', USERINFO, { authorization: `Bearer ${tokens.access_token}` });
  assert.equal(again.status, 200);
});

test('a token endpoint that answers before it reads the database is not disturbed', async () => {
  await query(server, 'ALTER TABLE client RENAME TO elsewhere');
  assertRefused(await tokenBytes(server, '{'), 400, 'invalid_request');
  assertRefused(await redeem(server, client, code), 500, 'server_error');
  await query(server, 'ALTER TABLE elsewhere RENAME TO client');
});
