// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent, cookiesFor } from '../support/agent.ts';
import { authorizeUrl, newClient, newUser, PASSWORD, signedIn, standard, tokensFor, walk } from '../support/flow.ts';
import { everyRow } from '../support/outcome.ts';
import { ADMIN_KEY } from '../support/server.ts';
import { startRouted } from './routes.ts';

// RFC 9110 §9.1, §9.3.2: HEAD is answered where GET is, as scanners of mail and of links send it; and it changes nothing.

const server = await startRouted({ TESSERA_MAILBOX: 'on', TESSERA_TRACE_RETENTION: 'off', TESSERA_PLAYGROUND: 'on' });
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server);
const browser = await signedIn(server, user);
await walk(browser, authorizeUrl(client));
await tokensFor(server, client, user);
// The first who asks for the key set has its key made.
await fetch(`${server.baseUrl}/.well-known/jwks.json`);
const pending = await browser.get(authorizeUrl(client, { prompt: 'login', scope: 'openid email' }));

const routes = [...new Set(server.routes.filter(({ method }) => method === 'GET').map(({ url }) => url))];
const ids: Readonly<Record<string, string>> = { clientId: client.clientId, userId: user.id, id: user.id };

/** The address of a route for this person, with what a form or a link would add. */
const addressOf = (url: string): string =>
  url.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? '1') +
  (url.includes('/api/') ? '' : pending.location?.search);

const cookiesOf = (from: Agent): string => cookiesFor(server.baseUrl, from);
const cookie = cookiesOf(browser);

async function send(method: string, url: string, accept: string): Promise<Response> {
  const headers = { accept, cookie, ...(url.startsWith('/api/v2/admin') && { authorization: `Bearer ${ADMIN_KEY}` }) };
  return fetch(server.baseUrl + addressOf(url), { method, headers, redirect: 'manual' });
}

/** All rows. The number of this node is leased anew from time to time. */
async function everything(): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const [table, rows] of Object.entries(await everyRow(server)))
    if (!/^sqlite_|node/.test(table)) found[table] = rows.map((row) => JSON.stringify(row)).sort();
  return found;
}

test('HEAD of every route that GET has changes no row and sets no cookie', async () => {
  assert.ok(routes.length > 60, `${routes.length}`);
  const before = await everything();
  for (const url of routes) {
    for (const accept of ['text/html', 'application/json']) {
      const answer = await send('HEAD', url, accept);
      assert.equal(await answer.text(), '', url);
      assert.deepEqual(answer.headers.getSetCookie(), [], url);
      assert.equal(answer.headers.get('clear-site-data'), null, url);
      assert.ok(answer.status !== 405 && answer.status < 500, `${url}: ${answer.status}`);
    }
  }
  assert.deepEqual(await everything(), before);
});

test('HEAD without cookies sets none, and has the status of GET', async () => {
  for (const url of routes) {
    const headers = { accept: 'text/html' };
    const [head, get] = [
      await fetch(server.baseUrl + addressOf(url), { method: 'HEAD', headers, redirect: 'manual' }),
      await fetch(server.baseUrl + addressOf(url), { headers, redirect: 'manual' }),
    ];
    await get.text();
    assert.equal(head.status, get.status, url);
    assert.deepEqual(head.headers.getSetCookie(), [], url);
  }
});

test('AV-01: guesses at an admin key are counted, also by HEAD', async () => {
  const guess = (method: string) =>
    fetch(`${server.baseUrl}/api/v2/admin/users/${user.id}`, { method, headers: { authorization: 'Bearer guess' } });
  for (let guesses = 0; guesses < 20; guesses++) assert.equal((await guess('HEAD')).status, 401);
  const answer = await guess('GET');
  await answer.text();
  assert.equal(answer.status, 429);
});

test('HEAD of a page whose request would get its code now issues and tells none', async () => {
  const other = agent(server.baseUrl);
  const { location } = await other.get(authorizeUrl(client));
  await other.submit(await other.get('/login'), { identifier: user.username, password: PASSWORD });
  const before = await everyRow(server);
  for (const path of ['/login', '/consent', '/continue']) {
    const answer = await fetch(`${server.baseUrl}${path}${location?.search}`, {
      ...{ method: 'HEAD', headers: { accept: 'text/html', cookie: cookiesOf(other) }, redirect: 'manual' },
    });
    assert.deepEqual([answer.status, answer.headers.get('location')], [200, null], path);
  }
  assert.deepEqual(await everyRow(server), before);
  const { location: target } = await other.get(`/continue${location?.search}`);
  assert.ok(target?.searchParams.has('code'), `${target}`);
});

/** Sends HEAD as a browser with these cookies would. */
const headAs = (from: Agent, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(server.baseUrl + path, {
    ...{ method: 'HEAD', redirect: 'manual', headers: { accept: 'text/html', cookie: cookiesOf(from), ...headers } },
  });

test('HEAD at the authorization endpoint stores no request and issues no code, and tells of neither', async () => {
  const visitors = { 'signed in, with consent': browser, 'signed out': agent(server.baseUrl) };
  const requests = {
    'which GET would answer with a code or a page': authorizeUrl(client, { scope: 'openid email' }),
    'at the OIDC endpoint': authorizeUrl(standard(client)),
  };
  for (const [who, visitor] of Object.entries(visitors)) {
    for (const [what, address] of Object.entries(requests)) {
      const before = await everyRow(server);
      const answer = await headAs(visitor, address);
      assert.deepEqual([answer.status, answer.headers.get('location')], [200, null], `${who}, ${what}`);
      assert.deepEqual(answer.headers.getSetCookie(), []);
      assert.deepEqual(await everyRow(server), before, `${who}, ${what}`);
    }
  }
});

test('HEAD at the authorization endpoint has the status of GET where the request is refused', async () => {
  const refused = {
    'an unknown client': authorizeUrl({ ...client, clientId: '1' }),
    'an unregistered redirect URI': authorizeUrl(client, { redirect_uri: 'https://evil.example/' }),
    'an unknown scope, by a redirect': authorizeUrl(client, { scope: 'bogus' }),
    'prompt=none without a session, by a redirect': authorizeUrl(client, { prompt: 'none' }),
  };
  for (const [what, address] of Object.entries(refused)) {
    const before = await everyRow(server);
    const head = await headAs(agent(server.baseUrl), address);
    assert.deepEqual(await everyRow(server), before, what);
    const get = await fetch(server.baseUrl + address, { headers: { accept: 'text/html' }, redirect: 'manual' });
    await get.text();
    assert.deepEqual([head.status, head.headers.get('location')], [get.status, get.headers.get('location')], what);
  }
});

test('HEAD at /oidc/logout ends no session, also with the ID token of this session', async () => {
  const leaving = await signedIn(server, user);
  const { id_token } = await tokensFor(server, standard(client), user, {}, { browser: leaving });
  const before = await everyRow(server);
  const answer = await headAs(leaving, `/oidc/logout?id_token_hint=${id_token}`);
  assert.ok(answer.status < 400, `${answer.status}`);
  assert.deepEqual([answer.headers.getSetCookie(), answer.headers.get('clear-site-data')], [[], null]);
  assert.deepEqual(await everyRow(server), before);
  assert.equal((await leaving.get('/account')).status, 200);
  await leaving.get(`/oidc/logout?id_token_hint=${id_token}`);
  assert.equal((await leaving.get('/account')).status, 302, 'GET ends it');
});

test('HEAD at UserInfo answers for a token and changes no row', async () => {
  const { access_token } = await tokensFor(server, client, user);
  const before = await everyRow(server);
  for (let times = 0; times < 3; times++) {
    const headers = { accept: 'application/json', authorization: `Bearer ${access_token}` };
    const answer = await fetch(`${server.baseUrl}/api/v2/oauth/userinfo`, { method: 'HEAD', headers });
    assert.equal(answer.status, 200);
  }
  assert.deepEqual(await everyRow(server), before);
});
