// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Agent, Answer } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  redeem,
  refresh,
  revokeOnPage,
  signedIn,
  type TestClient,
  type TestUser,
  userinfo,
} from '../support/flow.ts';
import { assertErrorRedirect, codeOf, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// Decisions §2, CN-04: granted and declined are both remembered, and only what is new is asked.

const server = await startServer();
after(() => server.close());

const OPTIONAL = ['email', 'details', 'phone', 'social', 'organization.read'];

interface Visit {
  readonly client: TestClient;
  readonly browser: Agent;
  readonly user: TestUser;
}

async function visit(fields: Readonly<Record<string, unknown>> = {}): Promise<Visit> {
  const user = await newUser(server);
  return { client: await newClient(server, fields), user, browser: await signedIn(server, user) };
}

/** The scopes that a consent page asks about. */
const askedOn = (page: Answer): string[] => {
  assert.match(page.text, /action="\/consent"/);
  return [...page.text.matchAll(/name="allow ([a-z.]+)"/g)].map((match) => match[1] ?? '');
};

const ask = async ({ browser, client }: Visit, scope: string, more: Readonly<Record<string, string>> = {}) =>
  settle(browser, server, await browser.get(authorizeUrl(client, { scope, ...more })));

const decide = ({ browser }: Visit, page: Answer, allow: readonly string[], decision = 'allow') =>
  browser.submit(page, { decision, ...Object.fromEntries(allow.map((scope) => [`allow ${scope}`, 'on'])) }, '/consent');

const tokensOf = async ({ client }: Visit, answer: Answer) => {
  const { status, body } = await redeem(server, client, codeOf(answer));
  assert.equal(status, 200);
  return body;
};

const grantedBy = async (at: Visit, answer: Answer): Promise<string> =>
  claimsOf((await tokensOf(at, answer)).access_token).scope;

async function assertAnswered(at: Visit, scope: string, granted: string): Promise<void> {
  assert.equal(await grantedBy(at, await ask(at, scope)), granted, `${scope} without a page`);
}

for (const off of OPTIONAL) {
  test(`decisions §2: ${off} can be switched off by itself, and stays off`, async () => {
    const at = await visit();
    const scope = ['openid', ...OPTIONAL].join(' ');
    const page = await ask(at, scope);
    assert.deepEqual(askedOn(page), OPTIONAL);
    const on = OPTIONAL.filter((name) => name !== off);
    const granted = ['openid', ...on].join(' ');
    const tokens = await tokensOf(at, await decide(at, page, on));
    assert.equal(claimsOf(tokens.access_token).scope, granted);
    await assertAnswered(at, scope, granted);
    await assertAnswered(at, off, 'openid');
    await assertAnswered(at, `openid ${on[0]} ${off}`, `openid ${on[0]}`);
    await assertAnswered(at, '', 'openid');
    const refreshed = await refresh(server, at.client, tokens.refresh_token);
    assert.equal(claimsOf(refreshed.body.access_token).scope, granted);
  });
}

test('decisions §2: openid is always granted, profile and offline_access are taken and have no switch', async () => {
  const at = await visit();
  const page = await ask(at, 'email profile offline_access');
  assert.deepEqual(askedOn(page), ['email']);
  const scopes = (await grantedBy(at, await decide(at, page, []))).split(' ').sort();
  assert.deepEqual(scopes, ['offline_access', 'openid', 'profile']);
  const first = await visit();
  const bare = await ask(first, '');
  assert.deepEqual(askedOn(bare), [], 'a first consent is asked for also without optional scopes');
  assert.equal(await grantedBy(first, await decide(first, bare, [])), 'openid');
  await assertAnswered(first, 'openid', 'openid');
});

test('decisions §2: only new scopes are asked, and what was decided before stands', async () => {
  const at = await visit();
  await decide(at, await ask(at, 'openid email phone'), ['email']);
  const page = await ask(at, 'openid email phone social details');
  assert.deepEqual(askedOn(page), ['details', 'social']);
  assert.equal(await grantedBy(at, await decide(at, page, ['social'])), 'openid email social');
  await assertAnswered(at, 'openid email phone details social', 'openid email social');
  // What was not on the page cannot be switched on through it.
  const third = await ask(at, 'openid phone organization.read');
  assert.deepEqual(askedOn(third), ['organization.read']);
  assert.equal(
    await grantedBy(at, await decide(at, third, ['phone', 'organization.read'])),
    'openid organization.read',
  );
});

test('decisions §2: refusing new scopes leaves the old grant as it was', async () => {
  const at = await visit();
  const old = await tokensOf(at, await decide(at, await ask(at, 'openid email'), ['email']));
  const denied = await decide(at, await ask(at, 'openid email phone'), ['phone'], 'deny');
  assertErrorRedirect(
    denied,
    {
      error: 'access_denied',
      description: 'User denied the request',
      status: 303,
      state: 'st4te',
      to: at.client.redirectUri,
    },
    server,
  );
  assert.equal((await userinfo(server, old.access_token)).status, 200);
  await assertAnswered(at, 'openid email', 'openid email');
  assert.deepEqual(askedOn(await ask(at, 'openid email phone')), ['phone'], 'a refusal is no decision about a scope');
});

test('CN-01: a refusal of a first request leaves no grant', async () => {
  const at = await visit();
  await decide(at, await ask(at, 'openid email'), ['email'], 'deny');
  const connections = await admin(server, 'GET', `/users/${at.user.id}/connections`);
  assert.deepEqual(connections.body.items, []);
  assert.deepEqual(askedOn(await ask(at, 'openid email')), ['email']);
});

test('decisions §2: prompt=consent always shows the page, with everything on it, and can change a decision', async () => {
  const at = await visit();
  const scope = 'openid email phone';
  const before = await tokensOf(at, await decide(at, await ask(at, scope), ['email']));
  const page = await ask(at, scope, { prompt: 'consent' });
  assert.deepEqual(askedOn(page), ['email', 'phone']);
  assert.equal(await grantedBy(at, await decide(at, page, ['phone'])), 'openid phone');
  await assertAnswered(at, scope, 'openid phone');
  // What was taken away is taken from tokens that were issued; what was granted is not added to them.
  const old = await userinfo(server, before.access_token);
  assert.equal(old.status, 200);
  assert.ok(!('email' in old.body.user) && !('phone' in old.body.user));
  const refreshed = await refresh(server, at.client, before.refresh_token);
  assert.equal(claimsOf(refreshed.body.access_token).scope, 'openid');
  // A refusal alters nothing.
  await decide(at, await ask(at, scope, { prompt: 'consent' }), [], 'deny');
  await assertAnswered(at, scope, 'openid phone');
});

test('decisions §2: a grant of more leaves tokens of before as they are', async () => {
  const at = await visit();
  const before = await tokensOf(at, await decide(at, await ask(at, 'openid'), []));
  await decide(at, await ask(at, 'openid email'), ['email']);
  const old = await userinfo(server, before.access_token);
  assert.ok(!('email' in old.body.user));
  const refreshed = await refresh(server, at.client, before.refresh_token);
  assert.equal(claimsOf(refreshed.body.access_token).scope, 'openid');
});

test('decisions §2, CN-07: after a revocation the page always comes, and only new tokens work', async () => {
  const at = await visit();
  const first = await tokensOf(at, await decide(at, await ask(at, 'openid email phone'), ['email']));
  assert.equal((await revokeOnPage(at.browser, at.client)).status, 200);
  const page = await ask(at, 'openid email phone');
  assert.deepEqual(askedOn(page), ['email', 'phone'], 'what was declined is asked again too');
  // All of it in the same millisecond.
  const second = await tokensOf(at, await decide(at, page, ['phone']));
  const dead = await userinfo(server, first.access_token);
  assert.deepEqual([dead.status, dead.body.error_description], [403, 'Access revoked by user']);
  assert.equal((await userinfo(server, second.access_token)).status, 200);
  await revokeOnPage(at.browser, at.client);
  assert.deepEqual(askedOn(await ask(at, 'openid')), []);
});

const changes: Record<string, { before?: Record<string, unknown>; change: Record<string, unknown>; asks: boolean }> = {
  'another owner': { before: { owner: 'Acme' }, change: { owner: 'Evil Inc' }, asks: true },
  'an owner for the first time': { change: { owner: 'Acme' }, asks: true },
  'no owner any more': { before: { owner: 'Acme' }, change: { owner: null }, asks: true },
  'another redirect URI': { change: { redirectUris: ['https://app.example.com/new'] }, asks: true },
  'one more redirect URI': {
    change: { redirectUris: ['https://app.example.com/callback', 'https://app.example.com/new'] },
    asks: true,
  },
  'the same redirect URI': { change: { redirectUris: ['https://app.example.com/callback'] }, asks: false },
  'another description': { change: { description: 'New words' }, asks: false },
};
for (const [name, { before: fields, change, asks }] of Object.entries(changes)) {
  test(`CN-04: ${name} ${asks ? 'asks anew' : 'asks nothing'}`, async () => {
    const at = await visit(fields);
    await decide(at, await ask(at, 'openid email phone'), ['email']);
    const answer = await admin(server, 'PATCH', `/clients/${at.client.clientId}`, change);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const now = { ...at, client: { ...at.client, redirectUri: answer.body.redirectUris.at(-1) as string } };
    if (!asks) return assertAnswered(now, 'openid email phone', 'openid email');
    const page = await ask(now, 'openid email phone');
    assert.deepEqual(askedOn(page), ['email', 'phone']);
    await decide(now, page, ['phone']);
    await assertAnswered(now, 'openid email phone', 'openid phone');
  });
}

test('decisions §2: a client registered with scopes gets those and no others, with a remembered consent too', async () => {
  const at = await visit({ scopes: ['openid', 'email'] });
  const page = await ask(at, 'openid email');
  assert.deepEqual(askedOn(page), ['email']);
  assert.equal(await grantedBy(at, await decide(at, page, ['email', 'phone', 'details'])), 'openid email');
  const refused = await ask(at, 'openid email phone');
  assertErrorRedirect(refused, { error: 'invalid_scope', state: 'st4te', to: at.client.redirectUri }, server);
  await admin(server, 'PATCH', `/clients/${at.client.clientId}`, { scopes: ['openid', 'email', 'phone'] });
  assert.deepEqual(askedOn(await ask(at, 'openid email phone')), ['phone']);
  await admin(server, 'PATCH', `/clients/${at.client.clientId}`, { scopes: ['openid'] });
  const narrowed = await ask(at, 'openid email');
  assertErrorRedirect(narrowed, { error: 'invalid_scope', state: 'st4te', to: at.client.redirectUri }, server);
});

test('CN-04: what one person decided is nothing to another, nor to another app', async () => {
  const at = await visit();
  await decide(at, await ask(at, 'openid email'), ['email']);
  const signedInUser = { ...at, browser: await signedIn(server, await newUser(server)) };
  assert.deepEqual(askedOn(await ask(signedInUser, 'openid email')), ['email']);
  const app = { ...at, client: await newClient(server) };
  assert.deepEqual(askedOn(await ask(app, 'openid email')), ['email']);
});
