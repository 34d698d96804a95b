// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formOf } from '../support/agent.ts';
import {
  type JsonAnswer,
  newClient,
  newSignedInUser,
  newUser,
  revokeOnPage,
  signedIn,
  type TestClient,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { query, withoutTable } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

const PAGE = '/account/connections';
const alive = (answer: JsonAnswer) => assert.equal(answer.status, 200, JSON.stringify(answer.body));

/** The apps that a page of connected apps lists. */
const offered = (html: string): string[] => [...html.matchAll(/<a id="app-(\d+)"/g)].map(([, id]) => id ?? '').sort();

test('CN-05: the page lists every app with access and no other, and shows nothing internal', async () => {
  const { user, browser } = await newSignedInUser(server);
  const clients: TestClient[] = [];
  for (let n = 0; n < 4; n++) clients.push(await newClient(server, { name: `Listed ${n}` }));
  const connected: string[] = [];
  for (const client of clients.slice(0, 3)) {
    await tokensFor(server, client, user, { scope: 'openid email' }, { browser });
    connected.push(client.clientId);
    const page = await browser.get(PAGE);
    assert.deepEqual(offered(page.text), connected.toSorted());
  }
  const page = await browser.get(PAGE);
  for (const n of [0, 1, 2]) assert.ok(page.text.includes(`Listed ${n}`));
  assert.ok(!page.text.includes('Listed 3'), 'an app that was never allowed');
  const tables = ['client_secret', 'consent_grant', 'token_family', 'browser_session', 'client'];
  const rows = await Promise.all(tables.map((table) => query(server, `SELECT * FROM ${table}`)));
  const internal = rows
    .flat()
    .flatMap((row) =>
      ['hash', 'generation', 'account_generation', 'client_generation', 'consent_epoch', 'leaf_jti', 'sid'].flatMap(
        (name) => (typeof row[name] === 'string' && row[name].length > 8 ? [row[name]] : []),
      ),
    );
  assert.ok(internal.length > 10, `${internal.length}`);
  for (const text of [...internal, ...clients.map(({ clientSecret }) => clientSecret)]) {
    assert.ok(!page.text.includes(text), `the page shows ${text}`);
  }
  await revokeOnPage(browser, { ...clients[1], clientId: connected[1] ?? '' } as TestClient);
  assert.deepEqual(offered((await browser.get(PAGE)).text), [connected[0], connected[2]].sort());
});

test('CN-09: a person takes away access to their own account alone, and doing so twice is harmless', async () => {
  const client = await newClient(server);
  const [owner, other] = [await newUser(server), await newUser(server)];
  const own = await signedIn(server, owner);
  const tokens = await tokensFor(server, client, owner, {}, { browser: own });
  const stranger = await signedIn(server, other);
  const mine = await newClient(server);
  const others = await tokensFor(server, mine, other, {}, { browser: stranger });
  const { hidden } = formOf((await stranger.get(PAGE)).text, PAGE);
  const names = { account_id: owner.id, user_id: owner.id, userId: owner.id, sub: owner.id, grant_id: '1' };
  const answer = await stranger.post(`${PAGE}?userId=${owner.id}`, { ...hidden, ...names, client_id: client.clientId });
  assert.equal(answer.status, 200, 'there was nothing to take away');
  alive(await userinfo(server, tokens.access_token));
  // Nor with the form that the owner was shown.
  const shown = formOf((await own.get(PAGE)).text, PAGE).hidden;
  await stranger.post(PAGE, { ...shown, client_id: client.clientId });
  alive(await userinfo(server, tokens.access_token));

  const page = await own.get(PAGE);
  for (let time = 0; time < 2; time++) {
    assert.equal((await own.submit(page, { client_id: client.clientId }, PAGE)).status, 200);
    assert.equal((await userinfo(server, tokens.access_token)).status, 403);
  }
  alive(await userinfo(server, others.access_token));
});

test('CN-09: a revocation that cannot be stored is told as a fault, and has not happened', async () => {
  const client = await newClient(server);
  const { user, browser } = await newSignedInUser(server);
  const tokens = await tokensFor(server, client, user, {}, { browser });
  const page = await browser.get(PAGE);
  await withoutTable(server, 'audit_event', async () => {
    const answer = await browser.submit(page, { client_id: client.clientId }, PAGE);
    assert.equal(answer.status, 500);
  });
  alive(await userinfo(server, tokens.access_token));
  assert.equal((await browser.submit(page, { client_id: client.clientId }, PAGE)).status, 200);
  assert.equal((await userinfo(server, tokens.access_token)).status, 403);
});
