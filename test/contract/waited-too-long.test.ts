// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { assertInvalidGrant } from '../support/api-call.ts';
import { newClient, newUser, refresh, tokensFor, userinfo } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

/** After this time, a second use of a refresh token ends what was issued with it. */
const LATE = 5 * 60_000;

let waited = 0;
const server = await startServer({}, 1, undefined, { waited: () => waited });
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server);

/** A refresh whose caller closes the connection after it has sent the request. */
async function givenUp(token: string): Promise<void> {
  const socket = connect(Number(new URL(server.baseUrl).port), '127.0.0.1');
  const closed = once(socket, 'close');
  socket.resume();
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: token,
    client_id: client.clientId,
    client_secret: client.clientSecret ?? '',
  }).toString();
  socket.end(
    'POST /api/v2/oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n' +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  );
  await closed;
}

test('a refresh that waited in the service past its deadline is neither a use nor a reuse', async () => {
  const first = await tokensFor(server, client, user);
  waited = 5000;
  const refused = await refresh(server, client, first.refresh_token);
  assert.equal(refused.status, 503);
  assert.equal(refused.body.error, 'temporarily_unavailable');
  assert.ok(Number(refused.headers.get('retry-after')) >= 1);
  waited = 0;
  server.advance(LATE);
  const second = await refresh(server, client, first.refresh_token);
  assert.equal(second.status, 200);

  // Its app has gone on with the new token. One that is begun keeps the rule.
  server.advance(LATE);
  waited = 5000;
  assert.equal((await refresh(server, client, first.refresh_token)).status, 503);
  waited = 0;
  assert.equal((await userinfo(server, second.body.access_token)).status, 200);
  waited = 4999;
  assertInvalidGrant(await refresh(server, client, first.refresh_token));
  waited = 0;
  assert.equal((await userinfo(server, second.body.access_token)).status, 401);
});

test('a refresh that waited, and whose caller has gone meanwhile, is not begun', async () => {
  const { refresh_token: token } = await tokensFor(server, client, user);
  waited = 1000;
  await givenUp(token);
  server.advance(LATE);
  assert.equal((await refresh(server, client, token)).status, 200, 'its caller is there');
  waited = 0;
});
