// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { insertRequest, listRequests } from '../../src/account-actions/recovery/request-store.ts';
import { beginEpoch } from '../../src/admin/recovery.ts';
import { insertMail, listMailOf } from '../../src/mail/store.ts';
import { assertInvalidGrant, assertInvalidToken } from '../support/api-call.ts';
import { admin, authorizeUrl, newClient, newUser, refresh, signedIn, tokensFor, userinfo } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { openOwnStore } from '../support/own-store.ts';
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
  const begin = () => tessera(['restore', '--new-epoch', '--yes', '--json'], { env: server.environment });

  const refused = await begin();
  assert.match(refused.stderr, /Another process uses this database.*Stop every node.*Nothing was changed/);
  assert.equal((await userinfo(server, tokens.access_token)).status, 200);

  await server.restart(async () => {
    const run = await begin();
    assert.equal(run.code, 0, run.stderr);
    server.advance(Math.max(0, Date.now() - server.now()));
  });

  assertInvalidToken(await userinfo(server, tokens.access_token));
  assertInvalidGrant(await refresh(server, client, tokens.refresh_token));
  assert.equal((await browser.get('/account')).location?.pathname, '/login');
  assert.deepEqual(await query(server, 'SELECT browser_hash FROM known_browser'), [], 'no browser is known any more');
  const again = await signedIn(server, user);
  const answer = await again.get(authorizeUrl(client));
  assert.equal(answer.location?.origin, new URL(client.redirectUri).origin, 'no consent is asked for');
  const { body } = await admin(server, 'GET', '/audit-events?type=data.restored');
  assert.deepEqual([body.items.length, body.items[0].details.ended, body.items[0].details.backupAt], [1, true, null]);
});

test('a new epoch sends no invitation that it removed, and nothing that was only asked for; other messages wait on', async () => {
  const { database, dispose } = await openOwnStore();
  const message = {
    ...{ messageId: 'a', accountId: null, recipient: 'ada@example.com', challengeHash: null, sealed: 'x' },
    ...{ status: 'waiting' as const, createdAt: 1, expiresAt: 1e6, problem: null },
  } as const;
  await database.commit(function* ask() {
    yield* insertMail({ ...message, kind: 'invitation' });
    yield* insertMail({ ...message, messageId: 'b', kind: 'address changed' });
    yield* insertRequest({ id: 'r', purpose: 'recovery', sealed: 'x', now: 1 });
  });
  const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
  const restored = { backupAt: null, missing: null, continueAfter: undefined, origin };
  await database.commit(() => beginEpoch({ secret: Buffer.alloc(32, 1), at: 2 }, restored));
  const kinds = async (status: string) => {
    const found = await database.read(() => listMailOf({ status, before: '9223372036854775807', limit: 10 }));
    return found.map(({ kind }) => kind);
  };
  assert.deepEqual([await kinds('waiting'), await kinds('expired')], [['address changed'], ['invitation']]);
  assert.deepEqual(await database.read(() => listRequests({ now: 1e6, limit: 10 })), []);
  await dispose();
});
