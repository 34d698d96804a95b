// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  signedIn,
  type TestUser,
  walk,
} from '../support/flow.ts';
import { assertStaysHere, codeOf, countRows, HOUR, parametersOf, query, restart, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// Decisions §3, AZ-16: the pending request lives on the server, bound to the browser that began it, for an hour.

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server);

/** The page that a request leads to. */
const open = async (browser: Agent, parameters: Readonly<Record<string, string>> = {}, app = client) =>
  settle(browser, server, await browser.get(authorizeUrl(app, parameters)));

const credentials = (who: TestUser) => ({ identifier: who.username, password: PASSWORD });
const handleOf = (page: Answer, action: string): string => formOf(page.text, action).hidden['request'] ?? '';

test('AZ-16: tabs that began side by side each end at their own client with their own state', async () => {
  const browser = agent(server.baseUrl);
  const other = await newClient(server, { redirectUris: ['https://other.example.com/cb'] });
  const signedInUser = await newUser(server);
  const [first, second, third] = [
    await open(browser, { state: 'first', scope: 'email' }),
    await open(browser, { state: 'second' }, other),
    await open(browser, { state: 'third', scope: 'phone', prompt: 'consent' }),
  ];
  // The sign-ins interleave with the consents: each tab goes on where it was.
  const consent1 = await settle(browser, server, await browser.submit(first, credentials(signedInUser)));
  const consent2 = await settle(browser, server, await browser.submit(second, credentials(signedInUser)));
  const end1 = await browser.submit(consent1, { decision: 'allow', 'allow email': 'on' }, '/consent');
  const consent3 = await settle(browser, server, await browser.submit(third, credentials(signedInUser)));
  const end2 = await browser.submit(consent2, { decision: 'deny' }, '/consent');
  const end3 = await browser.submit(consent3, { decision: 'allow' }, '/consent');

  assert.equal(parametersOf(end1.location)['state'], 'first');
  const tokens = await redeem(server, client, codeOf(end1));
  assert.equal(claimsOf(tokens.body.access_token).scope, 'openid email');
  assert.equal(end2.location?.host, 'other.example.com');
  assert.deepEqual(
    [parametersOf(end2.location)['state'], parametersOf(end2.location)['error']],
    ['second', 'access_denied'],
  );
  assert.equal(parametersOf(end3.location)['state'], 'third');
  codeOf(end3);
});

test('AZ-16: a tab that waits at the sign-in page goes on by itself once another tab signed in', async () => {
  const browser = agent(server.baseUrl);
  const waiting = await browser.get(authorizeUrl(client, { state: 'waits' }));
  await browser.submit(await open(browser, { state: 'signs in' }), credentials(await newUser(server)));
  const reloaded = await browser.get(waiting.location?.href ?? '');
  assert.equal(reloaded.status, 302);
  assert.equal(reloaded.location?.pathname, '/consent');
});

test('AZ-16: another browser can do nothing with a handle, signed in or not', async () => {
  const browser = await signedIn(server, user);
  const page = await open(browser, { prompt: 'consent' });
  const form = formOf(page.text, '/consent');
  const codes = await countRows(server, 'authorization_code');
  for (const thief of [
    agent(server.baseUrl),
    await signedIn(server, await newUser(server)),
    await signedIn(server, user),
  ]) {
    for (const path of ['/login', '/signup', '/consent']) {
      assertStaysHere(await thief.get(`${path}?request=${form.hidden['request']}`), 400);
      assertStaysHere(await thief.post(path, { ...form.hidden, decision: 'allow', ...credentials(user) }), 400);
    }
  }
  assert.equal(await countRows(server, 'authorization_code'), codes);
  codeOf(await browser.submit(page, { decision: 'allow' }, '/consent'));
});

test('AZ-16: a handle that is missing, altered or made up leads to a page', async () => {
  const browser = await signedIn(server, user);
  const page = await open(browser, { prompt: 'consent' });
  const handle = handleOf(page, '/consent');
  for (const bad of [
    '',
    handle.slice(1),
    `${handle}A`,
    handle.toUpperCase(),
    'x',
    '0',
    '../x',
    '\0',
    'A'.repeat(5000),
  ]) {
    assertStaysHere(await browser.get(`/consent?request=${encodeURIComponent(bad)}`), 400);
    assertStaysHere(await browser.submit(page, { request: bad, decision: 'allow' }, '/consent'), 400);
    if (bad !== '') assertStaysHere(await browser.get(`/login?request=${encodeURIComponent(bad)}`), 400);
  }
  assertStaysHere(await browser.get('/consent'), 400);
});

test('decisions §3: an hour after it began a request is gone, one moment before it is not', async () => {
  const browser = agent(server.baseUrl);
  const signedInUser = await newUser(server);
  const early = await open(browser);
  server.advance(HOUR - 1);
  const consent = await settle(browser, server, await browser.submit(early, credentials(signedInUser)));
  assert.match(consent.text, /action="\/consent"/);
  server.advance(1);
  assertStaysHere(await browser.submit(consent, { decision: 'allow' }, '/consent'), 400);
  assertStaysHere(await browser.get(`/consent?request=${handleOf(consent, '/consent')}`), 400);
  assertStaysHere(await browser.submit(early, credentials(signedInUser)), 400);
});

test('AZ-09, AZ-16: what a form adds changes nothing about the request that it belongs to', async () => {
  const signedInUser = await newUser(server);
  const browser = agent(server.baseUrl);
  const poison = {
    redirect_uri: 'https://evil.example/',
    client_id: '1',
    response_type: 'token',
    response_mode: 'fragment',
    scope: 'openid phone details',
    state: 'other',
    nonce: 'other',
    prompt: 'none',
    code_challenge: '',
    user_id: '1',
    'allow phone': 'on',
    'allow details': 'on',
    'allow openid': 'on',
  };
  const login = await open(browser, { scope: 'openid email', nonce: 'n', state: 's' });
  const consent = await settle(
    browser,
    server,
    await browser.submit(login, { ...poison, ...credentials(signedInUser) }),
  );
  const end = await browser.submit(consent, { ...poison, decision: 'allow', 'allow email': 'on' }, '/consent');
  assert.ok(end.location?.href.startsWith(`${client.redirectUri}?`), `${end.location}`);
  assert.equal(parametersOf(end.location)['state'], 's');
  const { body } = await redeem(server, client, codeOf(end));
  assert.equal(claimsOf(body.access_token).scope, 'openid email');
  assert.equal(claimsOf(body.access_token).sub, signedInUser.id);
  assert.equal(claimsOf(body.id_token).nonce, 'n');
});

test('AZ-09, AZ-16: with any hidden field or cookie changed or left out the flow ends in no code', async () => {
  const signedInUser = await newUser(server);
  const names = ['tessera_browser', 'tessera_session'];
  const spoil = (text: string) => [...text].reverse().join('');
  const begin = async () => {
    const browser = await signedIn(server, signedInUser);
    return { browser, consent: await open(browser, { prompt: 'consent' }) };
  };
  const codes = await countRows(server, 'authorization_code');
  const { hidden } = formOf((await begin()).consent.text, '/consent');
  // These two are also sent as they stood on another page of this very person.
  const own = ['form_token', 'request'];
  for (const name of own) assert.ok(hidden[name] !== undefined, name);
  for (const [name, right] of Object.entries(hidden)) {
    for (const value of ['', spoil(right), ...(own.includes(name) ? [right] : [])]) {
      const { browser, consent } = await begin();
      const answer = await browser.submit(consent, { [name]: value, decision: 'allow' }, '/consent');
      assert.equal(answer.location?.searchParams.has('code') ?? false, false, `${name}=${value}`);
    }
  }
  const other = await signedIn(server, await newUser(server));
  for (const name of names) {
    for (const change of [spoil, () => '', () => other.cookie(name) ?? '']) {
      const { browser, consent } = await begin();
      browser.setCookie(name, change(browser.cookie(name) ?? ''));
      const answer = await browser.submit(consent, { decision: 'allow' }, '/consent');
      assert.equal(answer.location?.searchParams.has('code') ?? false, false, `${name}, ${change}`);
    }
  }
  assert.equal(await countRows(server, 'authorization_code'), codes);
});

test('AZ-16: neither the handle nor the code of a request is stored in clear', async () => {
  const browser = await signedIn(server, user);
  const page = await open(browser, { prompt: 'consent' });
  const code = codeOf(await browser.submit(page, { decision: 'allow' }, '/consent'));
  const stored = JSON.stringify([
    await query(server, 'SELECT * FROM interaction'),
    await query(server, 'SELECT hash FROM authorization_code'),
    await query(server, 'SELECT hash FROM browser_session'),
    await query(server, 'SELECT browser_hash FROM known_browser'),
    await query(server, 'SELECT details FROM audit_event'),
  ]);
  const secrets = {
    handle: handleOf(page, '/consent'),
    code,
    session: browser.cookie('tessera_session') ?? '',
    browser: browser.cookie('tessera_browser') ?? '',
  };
  for (const [name, secret] of Object.entries(secrets)) {
    assert.ok(secret.length >= 43, name);
    assert.ok(!stored.includes(secret), `the ${name} is stored as it is`);
  }
});

test('AZ-16: a client that was disabled, changed or deleted meanwhile gets no answer', async () => {
  for (const change of ['disabled', 'disabled and enabled', 'deleted'] as const) {
    const app = await newClient(server);
    const browser = await signedIn(server, user);
    const page = await open(browser, {}, app);
    if (change === 'deleted') {
      assert.equal((await admin(server, 'DELETE', `/clients/${app.clientId}`)).status, 204);
    } else {
      await admin(server, 'PATCH', `/clients/${app.clientId}`, { status: 'disabled' });
      if (change !== 'disabled') await admin(server, 'PATCH', `/clients/${app.clientId}`, { status: 'active' });
    }
    assertStaysHere(await browser.submit(page, { decision: 'allow' }, '/consent'), 400);
    assertStaysHere(await browser.submit(page, { decision: 'deny' }, '/consent'), 400);
  }
});

test('AZ-16: a redirect URI that was taken from the registration meanwhile gets no answer', async () => {
  const app = await newClient(server, { redirectUris: ['https://app.example.com/old', 'https://app.example.com/new'] });
  const browser = await signedIn(server, user);
  const page = await open(browser, {}, app);
  await admin(server, 'PATCH', `/clients/${app.clientId}`, { redirectUris: ['https://app.example.com/new'] });
  for (const decision of ['allow', 'deny']) {
    assertStaysHere(await browser.submit(page, { decision }, '/consent'), 400);
  }
});

test('a request survives a restart of the server', async () => {
  const browser = agent(server.baseUrl);
  const signedInUser = await newUser(server);
  const toLogin = (await browser.get(authorizeUrl(client, { state: 'lives on' }))).location?.href ?? '';
  await restart(server);
  const toConsent = await browser.submit(await browser.get(toLogin), credentials(signedInUser));
  await restart(server);
  const consent = await browser.get(toConsent.location?.href ?? '');
  const end = await browser.submit(consent, { decision: 'allow' }, '/consent');
  assert.equal(parametersOf(end.location)['state'], 'lives on');
  assert.equal((await redeem(server, client, codeOf(end))).status, 200);
  assert.ok(await walk(browser, authorizeUrl(client)));
});
