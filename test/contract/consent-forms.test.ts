// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent, cookiesFor, formOf } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newSignedInUser,
  newUser,
  PASSWORD,
  redeem,
  type TestUser,
  walk,
} from '../support/flow.ts';
import { assertErrorRedirect, assertStaysHere, codeOf, countRows, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// CN-01, CN-08: a grant is made by an approving POST of the person who saw the page, for what it showed, and by nothing
// else.

const server = await startServer();
after(() => server.close());
const client = await newClient(server);

interface Shown {
  readonly browser: Agent;
  readonly user: TestUser;
  readonly page: Answer;
  readonly form: { readonly action: string; readonly hidden: Readonly<Record<string, string>> };
}

async function shown(parameters: Readonly<Record<string, string>> = { scope: 'openid email' }): Promise<Shown> {
  const { user, browser } = await newSignedInUser(server);
  const page = await settle(browser, server, await browser.get(authorizeUrl(client, parameters)));
  return { browser, user, page, form: formOf(page.text, '/consent') };
}

const rows = () => Promise.all(['consent_grant', 'authorization_code'].map((table) => countRows(server, table)));
const ALLOW = { decision: 'allow', 'allow email': 'on' };

/** Sends the form and asserts that no grant, no code and no redirect to the client came of it. */
async function assertNothing(send: () => Promise<Answer>, status?: number): Promise<Answer> {
  const before = await rows();
  const answer = await send();
  assert.deepEqual(await rows(), before);
  assert.ok(!answer.location?.href.startsWith(client.redirectUri), `${answer.location}`);
  if (status !== undefined) assertStaysHere(answer, status);
  return answer;
}

test('CN-01: a GET or a HEAD of the form grants nothing', async () => {
  const { browser, form } = await shown();
  const query = new URLSearchParams({ ...form.hidden, ...ALLOW });
  await assertNothing(() => browser.get(`/consent?${query}`), 200);
  await assertNothing(() => browser.get(authorizeUrl(client, ALLOW)));
  const cookie = cookiesFor(server.baseUrl, browser);
  const before = await rows();
  for (const address of [`/consent?${query}`, authorizeUrl(client, ALLOW)]) {
    const answer = await fetch(server.baseUrl + address, { method: 'HEAD', headers: { cookie }, redirect: 'manual' });
    assert.deepEqual([answer.status, answer.headers.get('location')], [200, null], address);
  }
  assert.deepEqual(await rows(), before);
});

const tamperings: Record<string, (hidden: Readonly<Record<string, string>>) => Promise<Record<string, string>>> = {
  'without its token': async ({ request = '' }) => ({ request }),
  'with an empty token': async ({ request = '' }) => ({ request, form_token: '' }),
  'with an altered token': async ({ request = '', form_token = '' }) => ({
    request,
    form_token: (form_token.startsWith('A') ? 'B' : 'A') + form_token.slice(1),
  }),
};
/** Where a form that was shown to another person leads. */
async function freshPage(browser: Agent, refused: Answer): Promise<Answer> {
  assert.match(refused.text, /This page was opened for another account, so nothing was changed\./);
  const [, address = ''] = /href="(\/continue\?request=[^"]+)"/.exec(refused.text) ?? [];
  return settle(browser, server, await browser.get(address));
}

test("CN-01: the form with another browser's token for its own request grants nothing, and leads to the page anew", async () => {
  const { browser, form, user } = await shown();
  const form_token = (await shown()).form.hidden['form_token'] ?? '';
  const { request = '' } = form.hidden;
  const refused = await assertNothing(() => browser.post('/consent', { request, form_token, ...ALLOW }), 400);
  assert.ok(refused.text.includes(user.username), 'the page says who is signed in');
  codeOf(await browser.submit(await freshPage(browser, refused), ALLOW, '/consent'));
});

for (const [name, tamper] of Object.entries(tamperings)) {
  test(`CN-01: the form ${name} grants nothing, and shows the page anew`, async () => {
    const { browser, form, page } = await shown();
    const fields = await tamper(form.hidden);
    const again = await assertNothing(() => browser.post('/consent', { ...fields, ...ALLOW }), 409);
    // The person can still decide, on the page that came.
    codeOf(await browser.submit(again, ALLOW, '/consent'));
    assert.ok(page);
  });
}

test('CN-01: the token of one request does not fit another of the same person', async () => {
  const { browser, form } = await shown();
  const other = await settle(browser, server, await browser.get(authorizeUrl(client, { scope: 'openid phone' })));
  const request = formOf(other.text, '/consent').hidden['request'] ?? '';
  const token = form.hidden['form_token'] ?? '';
  await assertNothing(() => browser.post('/consent', { ...ALLOW, request, form_token: token }), 409);
});

test("CN-01: the token of another form of the page is not the consent's", async () => {
  const { browser, page, form } = await shown();
  const token = formOf(page.text, '/logout').hidden['form_token'] ?? '';
  await assertNothing(() => browser.post('/consent', { ...form.hidden, ...ALLOW, form_token: token }), 409);
});

for (const decision of [undefined, '', 'ALLOW', 'yes', 'allow deny', 'true']) {
  test(`CN-01: decision=${decision ?? '(absent)'} grants nothing`, async () => {
    const { browser, page } = await shown();
    const fields = { 'allow email': 'on', ...(decision !== undefined && { decision }) };
    await assertNothing(() => browser.submit(page, fields, '/consent'), 409);
  });
}

test('CN-01, CN-04: a page that was overtaken by another decision or registration grants nothing it did not show', async () => {
  const { browser, page, user } = await shown({ scope: 'openid email phone' });
  await walk(browser, authorizeUrl(client, { scope: 'openid email' }), { allow: [] });
  const before = await rows();
  const stale = await browser.submit(page, { ...ALLOW, 'allow phone': 'on' }, '/consent');
  assertStaysHere(stale, 409);
  assert.deepEqual(await rows(), before);
  const switches = [...stale.text.matchAll(/name="allow ([a-z.]+)"/g)].map((match) => match[1]);
  assert.deepEqual(switches, ['phone'], 'the page shows what is open now');
  const tokens = await redeem(server, client, codeOf(await browser.submit(stale, ALLOW, '/consent')));
  assert.equal(tokens.status, 200);
  const { body } = await admin(server, 'GET', `/users/${user.id}/connections`);
  assert.deepEqual(body.items[0].scopes, ['openid']);
});

test('CN-08, SE-11: what was shown to one person cannot be sent after another signed in', async () => {
  const { browser, page, form } = await shown();
  const second = await newUser(server);
  const login = await browser.submit(page, {}, '/logout');
  assert.equal(login.location?.pathname, '/login');
  const toConsent = await browser.submit(await settle(browser, server, login), {
    identifier: second.username,
    password: PASSWORD,
  });
  assert.equal(toConsent.location?.pathname, '/consent');
  const refused = await assertNothing(() => browser.post('/consent', { ...form.hidden, ...ALLOW }), 400);
  assert.ok(refused.text.includes(second.username), 'the page is the signed-in user’s');
  await assertNothing(() => browser.post('/consent', { ...form.hidden, decision: 'deny' }), 400);
  const again = await freshPage(browser, refused);
  const tokens = await redeem(server, client, codeOf(await browser.submit(again, ALLOW, '/consent')));
  const claims = JSON.parse(Buffer.from(tokens.body.access_token.split('.')[1], 'base64url').toString());
  assert.equal(claims.sub, second.id);
});

test('CN-08, SE-11: after a sign-out the form leads to the sign-in, and grants nothing', async () => {
  const { browser, page, form } = await shown();
  await browser.submit(page, {}, '/logout');
  const answer = await assertNothing(() => browser.post('/consent', { ...form.hidden, ...ALLOW }));
  assert.deepEqual([answer.status, answer.location?.pathname], [303, '/login']);
  const denied = await assertNothing(() => browser.post('/consent', { ...form.hidden, decision: 'deny' }));
  assert.deepEqual([denied.status, denied.location?.pathname], [303, '/login']);
});

test("SE-11: one person's finished form gives nothing to the next one in the same browser", async () => {
  const { browser, page, form } = await shown();
  const code = codeOf(await browser.submit(page, ALLOW, '/consent'));
  // The code is still unspent: the client never came for it.
  const account = await browser.get('/account');
  await browser.submit(account, {}, '/logout');
  const second = await newUser(server);
  const login = await browser.submit(await browser.get('/login'), { identifier: second.username, password: PASSWORD });
  assert.equal(login.status, 303);
  for (const answer of [
    await browser.post('/consent', { ...form.hidden, ...ALLOW }),
    await browser.get(`/consent?request=${form.hidden['request']}`),
    await browser.get(`/login?request=${form.hidden['request']}`),
  ]) {
    assert.ok(!`${answer.location} ${answer.text}`.includes(code), "the first person's code is sent once more");
  }
});

const events: Record<string, { act: (user: TestUser) => Promise<unknown>; message?: string }> = {
  banned: { act: (user) => admin(server, 'PUT', `/users/${user.id}/ban`, {}), message: 'Account banned' },
  suspended: {
    act: (user) => admin(server, 'PUT', `/users/${user.id}/suspension`, {}),
    message: 'Account is suspended',
  },
  'given a new password': {
    act: (user) => admin(server, 'PATCH', `/users/${user.id}`, { password: 'another passphrase' }),
  },
  deleted: { act: (user) => admin(server, 'DELETE', `/users/${user.id}`) },
};
for (const [event, { act, message }] of Object.entries(events)) {
  test(`SE-03, decisions §3: no form of a user who was ${event} meanwhile grants anything`, async () => {
    const { browser, page, user } = await shown();
    await act(user);
    const before = await rows();
    const answer = await browser.submit(page, ALLOW, '/consent');
    if (event !== 'deleted') assert.deepEqual(await rows(), before);
    if (message === undefined) {
      assert.deepEqual([answer.status, answer.location?.pathname], [303, '/login']);
    } else {
      const to = client.redirectUri;
      const expected = { error: 'access_denied', description: message, status: 303, state: 'st4te', to } as const;
      assertErrorRedirect(answer, expected, server);
    }
  });
}

test('CN-01: without a session there is no consent page', async () => {
  const browser = agent(server.baseUrl);
  const pending = await browser.get(authorizeUrl(client));
  const answer = await browser.get(`/consent${pending.location?.search}`);
  assert.deepEqual([answer.status, answer.location?.pathname], [302, '/login']);
});

test('decisions §2: what is pressed in one tab is not what another tab allowed', async () => {
  const client = await newClient(server);
  const { browser } = await newSignedInUser(server);
  const open = () => browser.get(authorizeUrl(client, { scope: 'openid email phone' }));
  const pages = [];
  for (let tab = 0; tab < 3; tab++) pages.push(await browser.get((await open()).location?.href ?? ''));
  const [first, second, third] = pages;
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const on = { 'allow email': 'on', 'allow phone': 'on' };
  const allowed = await browser.submit(first, { decision: 'allow', ...on }, '/consent');
  assert.ok(allowed.location?.searchParams.get('code'));
  const denied = await browser.submit(second, { decision: 'deny', ...on }, '/consent');
  assert.equal(denied.location?.searchParams.get('error'), 'access_denied');
  assert.equal(denied.location?.searchParams.get('error_description'), 'User denied the request');
  const fewer = await browser.submit(third, { decision: 'allow', 'allow email': 'on' }, '/consent');
  const answer = await redeem(server, client, fewer.location?.searchParams.get('code') ?? '');
  assert.equal(claimsOf(answer.body.access_token).scope, 'openid email');
});
