// store: SQLite, PostgreSQL
/** RFC 8707: whom no operator chose takes no name of an API from an operator, and learns nothing of apps that they do not see. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import { signInOnCommandLine } from '../support/command-line.ts';
import { newOperator } from '../support/console.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newSignedInUser,
  redeem,
  refresh,
  standard,
  type TestClient,
  walk,
} from '../support/flow.ts';
import { settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { asClient, introspect } from '../support/token-services.ts';

const server = await startServer({ TESSERA_DEVELOPERS: 'anyone' });
after(() => server.close());

/** The token of a developer by the policy alone. */
async function byPolicy(): Promise<string> {
  const found = await newOperator(server, 'developer');
  const token = await signInOnCommandLine(server, { user: found, ...found });
  assert.equal((await admin(server, 'DELETE', `/users/${found.id}/roles/developer`)).status, 200);
  return token;
}

const SCOPES = [{ name: 'vault.open', descriptions: { en: 'Open the vault' } }];
const register = (resource: string, token?: string) =>
  admin(
    server,
    'POST',
    '/clients',
    { name: 'API', resource, resourceScopes: SCOPES, redirectUris: ['https://a.example/cb'] },
    token,
  );
const read = async (clientId: string) => (await admin(server, 'GET', `/clients/${clientId}`)).body;

test('an operator gets the name of an API that a stranger’s app holds, in any spelling, and it is on record', async () => {
  const held = await register('https://api.company.example/v1', await byPolicy());
  assert.equal(held.status, 201);
  const own = await register('https://API.company.example/v1');
  assert.equal(own.status, 201, JSON.stringify(own.body));
  const { resource, resourceScopes } = await read(held.body.clientId);
  assert.deepEqual([resource, resourceScopes], [null, null]);
  const { items } = (await admin(server, 'GET', `/audit-events?clientId=${held.body.clientId}&type=client.updated`))
    .body;
  assert.deepEqual(items[0]?.details.fields.sort(), ['resource', 'resourceScopes']);
});

test('by a change as well; once it is accepted, an app keeps its name', async () => {
  const token = await byPolicy();
  const [held, accepted] = [
    await register('https://one.example/', token),
    await register('https://two.example/', token),
  ];
  assert.equal((await admin(server, 'PUT', `/clients/${accepted.body.clientId}/acceptance`)).status, 200);
  const { clientId } = (await register('https://three.example/')).body;
  const take = (resource: string) => admin(server, 'PATCH', `/clients/${clientId}`, { resource });
  assert.equal((await take('https://one.example/')).status, 200);
  assert.equal((await read(held.body.clientId)).resource, null);
  const refused = await take('https://two.example/');
  assert.equal(refused.status, 409);
  assert.ok(refused.body.error_description.includes(accepted.body.clientId));
});

test('a stranger takes no name from anybody, and is told of no app that they do not see', async () => {
  const [token, other] = [await byPolicy(), await byPolicy()];
  const ofOperator = (await register('https://secret.example/')).body.clientId;
  const own = (await register('https://mine.example/', token)).body.clientId;
  for (const [resource, by] of [
    ['https://secret.example/', token],
    ['https://mine.example/', other],
  ] as const) {
    const { status, body } = await register(resource, by);
    assert.equal(status, 409);
    assert.equal(/\d{5,}/.test(body.error_description), false, body.error_description);
  }
  const again = await register('https://mine.example/', token);
  assert.ok(again.status === 409 && again.body.error_description.includes(own));
  assert.deepEqual(
    [(await read(ofOperator)).resource, (await read(own)).resource],
    ['https://secret.example/', 'https://mine.example/'],
  );
});

/** How an API loses its name. */
const ENDINGS: Readonly<Record<string, (clientId: string, resource: string) => Promise<unknown>>> = {
  'is deleted': (clientId) => admin(server, 'DELETE', `/clients/${clientId}`),
  'gets another name': (clientId, resource) =>
    admin(server, 'PATCH', `/clients/${clientId}`, { resource: `${resource}/old` }),
  'is a stranger’s': async () => undefined,
};

const atResource = (app: TestClient, resource: string, more = {}) =>
  authorizeUrl(app, { scope: 'openid email', resource, ...more });
const codeAt = async (browser: Agent, app: TestClient, resource: string): Promise<string> =>
  (await walk(browser, atResource(app, resource))).searchParams.get('code') ?? '';
const isActive = async (api: TestClient, token: string): Promise<boolean> =>
  (await introspect(server, api, token)).body.active;

for (const [what, lose] of Object.entries(ENDINGS)) {
  test(`where an API ${what}, nothing that was granted for it is for the next one of that name`, async () => {
    const resource = `https://${what.replaceAll(/[^a-z]/g, '-')}.example/v1`;
    const { clientId, clientSecret } = (
      await register(resource, what === 'is a stranger’s' ? await byPolicy() : undefined)
    ).body;
    const former: TestClient = { clientId, clientSecret, redirectUri: '' };
    const app = standard(await newClient(server));
    const machine = await newClient(server, { grantTypes: ['client_credentials'] });
    const { user, browser } = await newSignedInUser(server);
    const tokens = (await redeem(server, app, await codeAt(browser, app, resource))).body;
    const form = { grant_type: 'client_credentials', resource };
    const own = (await asClient(server, '/oidc/token', machine, form)).body.access_token;
    const code = await codeAt(browser, app, resource);
    const waiting = await newSignedInUser(server);
    const page = await settle(waiting.browser, server, await waiting.browser.get(atResource(app, resource)));
    assert.deepEqual([await isActive(former, tokens.access_token), await isActive(former, own)], [true, true]);

    await lose(clientId, resource);
    const next = await newClient(server, { resource, grantTypes: ['client_credentials'] });
    assert.deepEqual([await isActive(next, tokens.access_token), await isActive(next, own)], [false, false]);
    assert.equal(await isActive(app, tokens.access_token), true, 'for its own client');
    for (const refused of [await refresh(server, app, tokens.refresh_token), await redeem(server, app, code)]) {
      assert.deepEqual([refused.status, refused.body.error], [400, 'invalid_target']);
    }
    const silent = await browser.get(atResource(app, resource, { prompt: 'none' }));
    assert.equal(silent.location?.searchParams.get('error'), 'consent_required');
    const listed = async () =>
      (await admin(server, 'GET', `/users/${user.id}/connections`)).body.items.flatMap(
        (one: { resources: { resource: string }[] }) => one.resources.map((api) => api.resource),
      );
    assert.deepEqual(await listed(), []);
    // A page that named the former one is shown again.
    assert.equal(
      (await waiting.browser.submit(page, { decision: 'allow', 'allow email': 'on' }, '/consent')).status,
      409,
    );

    const again = (await redeem(server, app, await codeAt(browser, app, resource))).body;
    assert.deepEqual(
      [await isActive(next, again.access_token), await isActive(next, tokens.access_token)],
      [true, false],
    );
    assert.equal((await refresh(server, app, again.refresh_token)).status, 200);
    assert.deepEqual(await listed(), [resource]);
  });
}

test('an API that has its name again has what was granted for it again', async () => {
  const resource = 'https://again.example/';
  const api = await newClient(server, { resource, grantTypes: ['client_credentials'] });
  const app = standard(await newClient(server));
  const { browser } = await newSignedInUser(server);
  const tokens = (await redeem(server, app, await codeAt(browser, app, resource))).body;
  const set = (name: string | null) => admin(server, 'PATCH', `/clients/${api.clientId}`, { resource: name });
  for (const name of [null, resource]) assert.equal((await set(name)).status, 200);
  assert.equal(await isActive(api, tokens.access_token), true);
  assert.equal((await refresh(server, app, tokens.refresh_token)).status, 200);
});
