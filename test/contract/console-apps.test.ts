// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent, formOf } from '../support/agent.ts';
import { act, newOperator, open } from '../support/console.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser,
  redeem,
  signedIn,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// The console's pages about apps: decisions §13.

const server = await startServer();
after(() => server.close());
const owner = await newOperator(server, 'owner');
const record = async (clientId: string) => (await admin(server, 'GET', `/clients/${clientId}`)).body;
const titleOf = (text: string): string => /<h1>(.*?)<\/h1>/s.exec(text)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? '';
const create = async (fields: Readonly<Record<string, string>>) => {
  const page = await open(server, owner, '/console/apps/new');
  return owner.browser.submit(page, fields, '/console/apps/new');
};
const createdId = (text: string): string => /CLIENT_ID=(\d+)/.exec(text)?.[1] ?? '';

test('an app is registered by its kind, with a secret that is shown once and works', async () => {
  const created = await create({
    kind: 'web',
    name: 'Acme Notes',
    uris: 'https://notes.example/callback',
    resource: '',
  });
  assert.equal(created.status, 200, created.text);
  assert.match(titleOf(created.text), /Acme Notes is registered/);
  const clientSecret = /CLIENT_SECRET=(tcs_[\w-]{43})/.exec(created.text)?.[1] ?? '';
  const clientId = createdId(created.text);
  const page = await owner.browser.get(`/console/apps/${clientId}`);
  assert.ok(page.text.includes('https://notes.example/callback') && !page.text.includes(clientSecret));
  assert.ok(page.text.includes(`ISSUER=${server.baseUrl}`) && page.text.includes(`CLIENT_ID=${clientId}`));
  const client = { clientId, clientSecret, redirectUri: 'https://notes.example/callback' };
  const user = await newUser(server);
  assert.equal((await redeem(server, client, await codeFor(server, client, user))).status, 200);
});

test('each kind has the registration that it needs', async () => {
  const kinds = {
    page: { type: 'public', requirePkce: true },
    native: { type: 'public', requirePkce: true },
    service: { type: 'confidential', grantTypes: ['client_credentials'] },
    device: { type: 'public', redirectUris: [] },
    api: { resource: 'https://api.example/notes' },
  };
  for (const [kind, expected] of Object.entries(kinds)) {
    const uris = kind === 'page' || kind === 'native' ? 'http://127.0.0.1/callback' : '';
    const created = await create({
      kind,
      name: `App ${kind}`,
      uris,
      resource: kind === 'api' ? 'https://api.example/notes' : '',
    });
    assert.equal(created.status, 200, created.text);
    const stored = await record(createdId(created.text));
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(stored[name], value, `${kind} ${name}`);
  }
});

test('what is wrong with a registration is said at its field, and what was typed stays', async () => {
  const wrong = await create({ kind: 'web', name: 'Kept name', uris: 'http://not.example/<b>', resource: '' });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /class="problem" id="uris-note"/);
  assert.ok(wrong.text.includes('value="Kept name"') && !wrong.text.includes('<b>'));
  assert.equal((await create({ kind: 'else', name: 'Kept', uris: '', resource: '' })).status, 400);
  assert.match(
    (await create({ kind: 'web', name: '', uris: 'https://a.example/cb', resource: '' })).text,
    /class="problem" id="name-note"/,
  );
});

test('apps are found by a part of the name and by the client ID', async () => {
  const app = await newClient(server, { name: 'Çalışma Defteri' });
  for (const q of ['Çalışma', 'defteri', 'Defter']) {
    assert.ok((await owner.browser.get(`/console/apps?q=${encodeURIComponent(q)}`)).text.includes(app.clientId), q);
  }
  const byId = await owner.browser.get(`/console/apps?q=${app.clientId}`);
  assert.equal(byId.location?.pathname, `/console/apps/${app.clientId}`);
  assert.match((await owner.browser.get('/console/apps?q=%25')).text, /No results for <bdi>%</);
});

test('a redirect URI is added from the refused request itself', async () => {
  const app = await newClient(server, { redirectUris: ['https://notes.example/callback'] });
  const wrong = authorizeUrl(app, { redirect_uri: 'https://notes.example/callbak' });
  const refused = await agent(server.baseUrl).get(wrong);
  const explained = await owner.browser.get(`/console/explain?id=${refused.headers.get('x-request-id')}`);
  const link = /href="([^"]*redirect-uris[^"]*)"/.exec(explained.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  const page = await open(server, owner, link);
  const uris = /<textarea[^>]*>\n([^<]*)</.exec(page.text)?.[1] ?? '';
  assert.equal(uris, 'https://notes.example/callback\nhttps://notes.example/callbak');
  const saved = await owner.browser.submit(page, { uris }, '/console/apps/redirect-uris');
  assert.match(titleOf(saved.text), /are saved/);
  assert.deepEqual((await record(app.clientId)).redirectUris, uris.split('\n'));
  assert.notEqual((await agent(server.baseUrl).get(wrong)).status, 400);
});

test('a stale page changes nothing, and shows both versions, also where both changes are of one millisecond', async () => {
  const app = await newClient(server, { redirectUris: ['https://one.example/cb'] });
  const page = await open(server, owner, `/console/apps/redirect-uris?app=${app.clientId}`);
  await admin(server, 'PATCH', `/clients/${app.clientId}`, { redirectUris: ['https://two.example/cb'] });
  const stale = await owner.browser.submit(page, { uris: 'https://three.example/cb' }, '/console/apps/redirect-uris');
  assert.equal(stale.status, 409);
  assert.ok(stale.text.includes('https://two.example/cb') && stale.text.includes('https://three.example/cb'));
  assert.deepEqual((await record(app.clientId)).redirectUris, ['https://two.example/cb']);
  const again = await owner.browser.submit(stale, { uris: 'https://three.example/cb' }, '/console/apps/redirect-uris');
  assert.equal(again.status, 200);
  assert.deepEqual((await record(app.clientId)).redirectUris, ['https://three.example/cb']);
});

test('a new secret works beside the previous one, which can be ended at once', async () => {
  const app = await newClient(server);
  const user = await newUser(server);
  const done = await act(server, owner, '/console/apps/rotate-secret', { app: app.clientId }, { overlap: '3600' });
  const clientSecret = /CLIENT_SECRET=(tcs_[\w-]{43})/.exec(done.text)?.[1] ?? '';
  for (const client of [app, { ...app, clientSecret }]) {
    assert.equal((await redeem(server, client, await codeFor(server, client, user))).status, 200);
  }
  const [{ id }] = (await record(app.clientId)).secrets;
  const about = { app: app.clientId, secret: id };
  assert.match(titleOf((await act(server, owner, '/console/apps/end-secret', about)).text), /has ended/);
  assert.equal((await redeem(server, app, await codeFor(server, app, user))).status, 401);
  const only = (await record(app.clientId)).secrets[0].id;
  const refused = await act(server, owner, '/console/apps/end-secret', { ...about, secret: only });
  assert.equal(refused.status, 409);
  assert.match(refused.text, /only secret/);
});

test('a disabled app has lost everything with the answer', async () => {
  const app = await newClient(server);
  const user = await newUser(server);
  const tokens = await tokensFor(server, app, user);
  const done = await act(server, owner, '/console/apps/disable', { app: app.clientId });
  assert.match(titleOf(done.text), /is disabled/);
  assert.ok((await userinfo(server, tokens.access_token)).status >= 400);
  await act(server, owner, '/console/apps/enable', { app: app.clientId });
  assert.equal((await record(app.clientId)).status, 'active');
  assert.ok((await userinfo(server, tokens.access_token)).status >= 400, 'nothing revives');
});

test('an app is deleted once its name is typed, with its tokens, and the page says before what ends', async () => {
  const user = await newUser(server);
  const app = await newClient(server, { name: 'Short-lived' });
  const { access_token: token } = await tokensFor(server, app, user);
  const about = { app: app.clientId };
  assert.match((await open(server, owner, `/console/apps/${app.clientId}`)).text, /apps\/delete\?app=/);
  const page = await open(server, owner, `/console/apps/delete?app=${app.clientId}`);
  assert.match(page.text, /every code and token of it[\s\S]*What people allowed it/);
  const wrong = await act(server, owner, '/console/apps/delete', about, { typed: 'short-lived' });
  assert.deepEqual([wrong.status, (await userinfo(server, token)).status], [400, 200]);
  const deleted = await act(server, owner, '/console/apps/delete', about, { typed: 'Short-lived' });
  assert.equal(deleted.status, 200, deleted.text);
  assert.equal(titleOf(deleted.text), 'Short-lived is deleted');
  assert.equal((await userinfo(server, token)).status, 401);
  assert.equal((await admin(server, 'GET', `/clients/${app.clientId}`)).status, 404);
});

test('a developer sees and changes the apps that they made, and no other', async () => {
  const developer = await newOperator(server, 'developer');
  const page = await open(server, developer, '/console/apps/new');
  const created = await developer.browser.submit(
    page,
    { kind: 'web', name: 'Own app', uris: 'https://own.example/cb', resource: '' },
    '/console/apps/new',
  );
  const own = createdId(created.text);
  const other = await newClient(server, { name: 'Other app' });
  const list = (await developer.browser.get('/console/apps')).text;
  assert.ok(list.includes(own) && !list.includes(other.clientId));
  assert.equal((await developer.browser.get(`/console/apps/${other.clientId}`)).status, 404);
  assert.equal((await open(server, developer, `/console/apps/disable?app=${other.clientId}`)).status, 404);
  assert.ok(!(await developer.browser.get('/console/apps?q=Other')).text.includes(other.clientId));
  // An ID that exists is answered like one that does not.
  for (const id of [other.clientId, '1']) {
    assert.equal((await developer.browser.get(`/console/apps?q=${id}`)).status, 200, id);
  }
  assert.equal((await act(server, developer, '/console/apps/disable', { app: own })).status, 200);
  assert.equal((await act(server, developer, '/console/apps/enable', { app: own })).status, 200);
  assert.equal((await act(server, owner, '/console/apps/disable', { app: own })).status, 200);
  const { text } = await developer.browser.get(`/console/apps/${own}`);
  assert.match(text, /Another operator disabled it/);
  assert.doesNotMatch(text, /\/console\/apps\/enable/);
  const refused = await act(server, developer, '/console/apps/enable', { app: own });
  assert.deepEqual([refused.status, (await record(own)).status], [403, 'disabled']);
  assert.match(refused.text, /apps\.assign/);
  assert.doesNotMatch(list, /\/console\/people"/);
  // Also where something is wrong with the form itself.
  const { hidden } = formOf(page.text, '/console/apps/new');
  for (const [name, fields] of Object.entries({ 'rotate-secret': { overlap: 'x' }, 'end-secret': { secret: 'x' } })) {
    const answer = await developer.browser.post(`/console/apps/${name}`, { ...hidden, app: other.clientId, ...fields });
    assert.deepEqual([answer.status, answer.text.includes('Other app')], [404, false], name);
  }
});

test('a search with control characters is one without them', async () => {
  for (const path of ['people', 'apps', 'groups']) {
    for (const q of ['%00', 'a%00b%1F'])
      assert.equal((await owner.browser.get(`/console/${path}?q=${q}`)).status, 200, `${path} ${q}`);
  }
});

test('an auditor reads apps, and changes none', async () => {
  const auditor = await newOperator(server, 'auditor');
  const app = await newClient(server);
  const page = await auditor.browser.get(`/console/apps/${app.clientId}`);
  assert.equal(page.status, 200);
  assert.doesNotMatch(page.text, /\/console\/apps\/(disable|rotate-secret|redirect-uris)/);
  const answer = await auditor.browser.get(`/console/apps/disable?app=${app.clientId}`);
  assert.equal(answer.status, 403);
  assert.match(answer.text, /apps\.manage/);
});

test('the app that is a part of Tessera is not changed', async () => {
  const answer = await open(server, owner, '/console/apps/disable?app=1000');
  assert.equal(answer.status, 409);
});

test('each act on an app is on record, with who did it and in which role', async () => {
  const { body } = await admin(server, 'GET', `/audit-events?actorId=${owner.id}&limit=200&type=client`);
  const types = new Set(body.items.map(({ type }: { type: string }) => type));
  for (const type of ['created', 'updated', 'disabled', 'enabled', 'secret_added', 'secret_ended']) {
    assert.ok(types.has(`client.${type}`), type);
  }
  for (const { details } of body.items) assert.equal(details.actorRole, 'owner');
});

test('who is not an operator sees none of it', async () => {
  const browser = await signedIn(server, await newUser(server));
  for (const address of ['/console/apps', '/console/apps/new']) assert.equal((await browser.get(address)).status, 403);
});
