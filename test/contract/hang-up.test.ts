// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser, refresh, tokensFor, userinfo } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_LIMIT_PENDING_ADDRESS: '5/m' });
after(() => server.close());

/** Sends a request and resets the connection as soon as it has left. */
function sendAndReset(request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(server.baseUrl).port) });
    socket.on('error', reject);
    socket.write(request, () => {
      socket.resetAndDestroy();
      resolve();
    });
  });
}

test('decisions §4: a reuse by a caller that hangs up kills the family all the same', async () => {
  const client = await newClient(server);
  const tokens = await tokensFor(server, client, await newUser(server));
  const second = await refresh(server, client, tokens.refresh_token);
  await refresh(server, client, second.body.refresh_token);
  const body = JSON.stringify({
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token,
    client_id: client.clientId,
    client_secret: client.clientSecret,
  });
  await sendAndReset(
    `POST /api/v2/oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  // The answer goes nowhere, so its effect is asked for until it is there.
  let found: unknown[] = [];
  for (let attempt = 0; attempt < 2000 && found.length === 0; attempt++) {
    found = (await admin(server, 'GET', `/audit-events?type=token.refresh_reused&clientId=${client.clientId}`)).body
      .items;
  }
  assert.equal(found.length, 1);
  assert.equal((await userinfo(server, tokens.access_token)).status, 401);
});

test('AV-03: pending requests from one address are limited, and the client is told', async () => {
  const client = await newClient(server);
  const locations: string[] = [];
  for (let count = 0; count < 6; count++) {
    server.advance(count === 0 ? 61_000 : 0);
    locations.push((await agent(server.baseUrl).get(authorizeUrl(client))).location?.href ?? '');
  }
  for (const location of locations.slice(0, 5)) assert.match(location, /\/login\?request=/);
  const last = new URL(locations[5] ?? '');
  assert.equal(last.origin, 'https://app.example.com');
  assert.equal(last.searchParams.get('error'), 'temporarily_unavailable');
  assert.equal(last.searchParams.get('state'), 'st4te');
  assert.equal(last.searchParams.get('iss'), server.baseUrl);
});
