// store: SQLite, PostgreSQL
/**
 * The scopes of two APIs of one app × the ways in which one is taken away × what holds it: nothing of it works once the call has returned,
 * nothing else ends, and nothing revives when it is given back. Decisions §12.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import { allow, described, newApi, type TestApi } from '../support/api-scopes.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  codeFor,
  newClient,
  newSignedInUser,
  redeem,
  refresh,
  standard,
  type TestClient,
  type TestUser,
  type Tokens,
  tokensFor,
} from '../support/flow.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { introspect } from '../support/token-services.ts';

const server = spread(await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' }, SEVERAL));
after(() => server.close());

interface World {
  readonly notes: TestApi;
  readonly bills: TestApi;
  readonly app: TestClient;
  readonly user: TestUser;
  readonly browser: Agent;
}

const ALL = 'openid notes.read notes.write bills.read';

async function makeWorld(): Promise<World> {
  const notes = await newApi(server, ['notes.read', 'notes.write']);
  const bills = await newApi(server, ['bills.read']);
  const app = standard(
    await newClient(server, { grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'] }),
  );
  await allow(server, notes, app, ['notes.read', 'notes.write']);
  await allow(server, bills, app, ['bills.read']);
  return { notes, bills, app, ...(await newSignedInUser(server)) };
}

const patch = (client: TestClient, fields: object) =>
  admin(server, 'PATCH', `/clients/${client.clientId}`, fields).then(({ status, body }) =>
    assert.equal(status, 200, JSON.stringify(body)),
  );
const both = ['notes.read', 'notes.write'];

/** The ways to take `notes.write` away, each with the way to give it back. */
const ways: readonly (readonly [name: string, take: (w: World) => Promise<void>, give: (w: World) => Promise<void>])[] =
  [
    [
      'the API lets the app request it no more',
      ({ notes, app }) => allow(server, notes, app, ['notes.read']),
      ({ notes, app }) => allow(server, notes, app, both),
    ],
    [
      'the API declares it no more',
      ({ notes }) => patch(notes, { resourceScopes: described(['notes.read']) }),
      async ({ notes, app }) => {
        await patch(notes, { resourceScopes: described(both) });
        await allow(server, notes, app, both);
      },
    ],
  ];

const scopeAt = async (client: TestClient, token: string): Promise<string | undefined> =>
  (await introspect(server, client, token)).body.scope;

/** What each side hears of an access token. */
async function heard({ notes, bills, app }: World, token: string) {
  return [await scopeAt(app, token), await scopeAt(notes, token), await scopeAt(bills, token)];
}
const WITH = ['openid bills.read notes.read notes.write', 'notes.read notes.write', 'bills.read'];
const WITHOUT = ['openid bills.read notes.read', 'notes.read', 'bills.read'];

async function ownToken(app: TestClient): Promise<string> {
  const body = new URLSearchParams({ client_id: app.clientId, client_secret: app.clientSecret });
  body.set('grant_type', 'client_credentials');
  body.set('scope', 'notes.read notes.write bills.read');
  const answer = await fetch(`${server.baseUrl}/oidc/token`, { method: 'POST', body });
  return ((await answer.json()) as Tokens).access_token;
}

const errorOf = async (browser: Agent, address: string) =>
  (await browser.get(address)).location?.searchParams.get('error');

describe('a scope that is there', () => {
  test('is heard of by the app and its API, in a token of a person and of the app itself', async () => {
    const world = await makeWorld();
    const { app, user, browser } = world;
    const tokens = await tokensFor(server, app, user, { scope: ALL }, { browser });
    assert.deepEqual(await heard(world, tokens.access_token), WITH);
    assert.equal(await scopeAt(app, tokens.refresh_token), WITH[0]);
    const own = await heard(world, await ownToken(app));
    assert.deepEqual(own, ['bills.read notes.read notes.write', ...WITH.slice(1)]);
  });
});

for (const [name, take, give] of ways) {
  describe(name, () => {
    test('tokens, codes and refreshes are without it at once, and keep everything else', async () => {
      const world = await makeWorld();
      const { app, user, browser } = world;
      const tokens = await tokensFor(server, app, user, { scope: ALL }, { browser });
      const own = await ownToken(app);
      const code = await codeFor(server, app, user, { scope: ALL }, { browser });
      await take(world);
      const check = async () => {
        assert.deepEqual(await heard(world, tokens.access_token), WITHOUT);
        assert.deepEqual(await heard(world, own), ['bills.read notes.read', ...WITHOUT.slice(1)]);
        assert.equal(await scopeAt(app, tokens.refresh_token), WITHOUT[0]);
      };
      await check();
      const redeemed = (await redeem(server, app, code)).body;
      assert.deepEqual([redeemed.scope, claimsOf(redeemed.access_token).scope], [WITHOUT[0], WITHOUT[0]]);
      // Given back, it is another scope: what was issued before stays without.
      await give(world);
      await check();
      assert.deepEqual(await heard(world, redeemed.access_token), WITHOUT);
      const refreshed = (await refresh(server, app, tokens.refresh_token)).body;
      assert.deepEqual([refreshed.scope, claimsOf(refreshed.access_token).scope], [WITHOUT[0], WITHOUT[0]]);
      const wider = await refresh(server, app, refreshed.refresh_token, { scope: 'notes.write' });
      assert.deepEqual([wider.status, wider.body.error], [400, 'invalid_scope']);
    });

    test('an open consent form gives it to nobody, and given back it is asked about again', async () => {
      const world = await makeWorld();
      const { app, user, browser } = world;
      const { location } = await browser.get(authorizeUrl(app, { scope: ALL }));
      const page = await browser.get(`${location?.pathname}${location?.search}`);
      await take(world);
      await give(world);
      const switches = [...page.text.matchAll(/name="(allow [a-z0-9.]+)"/g)].map(([, of]) => [of, 'on']);
      const answer = await browser.submit(page, { ...Object.fromEntries(switches), decision: 'allow' }, '/consent');
      assert.deepEqual([answer.status, answer.location], [400, undefined]);

      await tokensFor(server, app, user, { scope: ALL }, { browser });
      assert.equal(await errorOf(browser, authorizeUrl(app, { scope: ALL, prompt: 'none' })), null);
      await take(world);
      assert.equal(await errorOf(browser, authorizeUrl(app, { scope: ALL, prompt: 'none' })), null);
      await give(world);
      assert.equal(await errorOf(browser, authorizeUrl(app, { scope: ALL, prompt: 'none' })), 'consent_required');
      const tokens = await tokensFor(server, app, user, { scope: ALL }, { browser });
      assert.deepEqual(await heard(world, tokens.access_token), WITH);
    });

    test('a token that had it alone is none any more, and its refresh is invalid_grant', async () => {
      const world = await makeWorld();
      const { app, notes, user, browser } = world;
      const tokens = await tokensFor(server, app, user, { scope: 'notes.write' }, { browser });
      const code = await codeFor(server, app, user, { scope: 'notes.write' }, { browser });
      await take(world);
      for (const client of [app, notes]) {
        assert.deepEqual((await introspect(server, client, tokens.access_token)).body, { active: false });
      }
      const answers = [await refresh(server, app, tokens.refresh_token), await redeem(server, app, code)];
      for (const { status, body } of answers) assert.deepEqual([status, body.error], [400, 'invalid_grant']);
    });
  });
}

test('without the API, its scopes are in nothing, and those of the other API stay', async () => {
  const world = await makeWorld();
  const { app, bills, notes, user, browser } = world;
  const tokens = await tokensFor(server, app, user, { scope: ALL }, { browser });
  await admin(server, 'DELETE', `/clients/${notes.clientId}`);
  assert.deepEqual(
    [await scopeAt(app, tokens.access_token), await scopeAt(bills, tokens.access_token)],
    ['openid bills.read', 'bills.read'],
  );
});

test('a name that two APIs have is that of the API whose switch was left on', async () => {
  const world = await makeWorld();
  const { app, bills, notes, browser } = world;
  await patch(bills, { resourceScopes: described(['bills.read', 'notes.read']) });
  await allow(server, bills, app, ['bills.read', 'notes.read']);
  const resources = new URLSearchParams([notes, bills].map(({ resource }) => ['resource', resource]));
  const { location } = await browser.get(`${authorizeUrl(app, { scope: 'notes.read' })}&${resources}`);
  const page = await browser.get(`${location?.pathname}${location?.search}`);
  const [first = ''] = [...page.text.matchAll(/name="(allow [0-9]+)"/g)].map(([, of]) => of);
  const answer = await browser.submit(page, { [first]: 'on', decision: 'allow' }, '/consent');
  const tokens = (await redeem(server, app, answer.location?.searchParams.get('code') ?? '')).body;
  const seen = [await scopeAt(notes, tokens.access_token), await scopeAt(bills, tokens.access_token)];
  assert.deepEqual(seen, ['notes.read', undefined]);
});
