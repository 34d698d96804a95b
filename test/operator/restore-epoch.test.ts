import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertInvalidGrant, assertInvalidToken } from '../support/api-call.ts';
import { admin, authorizeUrl, newClient, newUser, refresh, signedIn, tokensFor, userinfo } from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { tessera } from './command.ts';

const server = await startServer();
after(() => server.close());
// The command goes by the clock of the machine.
server.advance(Date.now() - server.now());

test('ST-08: a new epoch ends all that was issued before, in one commit on either database, and consents remain', async () => {
  const user = await newUser(server);
  const client = await newClient(server);
  const browser = await signedIn(server, user);
  const tokens = await tokensFor(server, client, user, {}, { browser });
  const run = await tessera(['restore', '--new-epoch', '--json'], { env: server.environment });
  assert.equal(run.code, 0, run.stderr);
  server.advance(Math.max(0, Date.now() - server.now()));

  assertInvalidToken(await userinfo(server, tokens.access_token));
  assertInvalidGrant(await refresh(server, client, tokens.refresh_token));
  assert.equal((await browser.get('/account')).location?.pathname, '/login');
  const again = await signedIn(server, user);
  const answer = await again.get(authorizeUrl(client));
  assert.equal(answer.location?.origin, new URL(client.redirectUri).origin, 'no consent is asked for');
  const { body } = await admin(server, 'GET', '/audit-events?type=data.restored');
  assert.deepEqual([body.items.length, body.items[0].details.ended, body.items[0].details.backupAt], [1, true, null]);
});
