// store: SQLite
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { assertNothingPresentable } from '../contract/presentable.ts';
import { assertRefused, call, tokenForm, USERINFO } from '../support/api-call.ts';
import { newClient, newUser, refresh, tokensFor } from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { introspect, revoke } from '../support/token-services.ts';

// These are about the file, whatever database the others run on.
delete process.env['TESSERA_TEST_POSTGRES'];

const server = await startServer({
  TESSERA_LIMIT_ADMIN_KEY: 'off',
  TESSERA_MAILBOX: 'on',
});
after(() => server.close());

test('CD-10, ST-01: the bytes of the database and of its journals hold nothing that could be presented', () =>
  assertNothingPresentable(server, async ({ dataDir }) => {
    const files = readdirSync(dataDir).filter((name) => name.startsWith('tessera.db'));
    assert.ok(files.length > 0);
    return Buffer.concat(files.map((name) => readFileSync(join(dataDir, name))));
  }));

test('a read-only file is 503 with Retry-After; reads still work, and nothing is consumed', async () => {
  const client = await newClient(server);
  const tokens = await tokensFor(server, client, await newUser(server));
  const page = 'https://spa.example.com';
  const spa = await newClient(server, { type: 'public', redirectUris: [`${page}/cb`] });
  const fromPage = { grant_type: 'refresh_token', refresh_token: 'x', client_id: spa.clientId };
  const lock = new DatabaseSync(join(server.dataDir, 'tessera.db'));
  try {
    lock.exec('BEGIN IMMEDIATE');
    const inBrowser = tokenForm(server, fromPage, { origin: page });
    const waiting = [refresh(server, client, tokens.refresh_token), revoke(server, client, tokens.refresh_token)];
    const me = await call(server, 'GET', USERINFO, { authorization: `Bearer ${tokens.access_token}` });
    assert.equal(me.status, 200);
    assert.equal((await introspect(server, client, tokens.access_token)).body.active, true);
    // RFC 7009 §2.2.1: after a 503 the token is as good as before.
    for (const answer of waiting) assertRefused(await answer, 503, 'temporarily_unavailable');
    // HB-04: a page can read that it has to wait.
    const unavailable = await inBrowser;
    assertRefused(unavailable, 503, 'temporarily_unavailable');
    assert.equal(unavailable.headers.get('access-control-allow-origin'), page);
    assert.match(unavailable.headers.get('access-control-expose-headers') ?? '', /Retry-After/);
  } finally {
    lock.close();
  }
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 200);
});
