// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Agent, Answer } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newSignedInUser,
  redeem,
  refresh,
  revokeOnPage,
  standard,
  type TestClient,
  tokensFor,
  userinfo,
  walk,
} from '../support/flow.ts';
import { assertStaysHere, codeOf, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// Decisions §10, "No shopping for a set of endpoints" and "Taking access away": consent for one client on two sets of endpoints.

const server = await startServer();
after(() => server.close());
const contract = await newClient(server);
const client = standard(contract);

const ALL = 'openid profile email phone';
const CONTRACT = { scope: 'openid email phone' };
const again = (scope: string) => ({ scope, prompt: 'consent' });

/** The error of an authorization request that may show no page; undefined where it is granted. */
async function silently(browser: Agent, at: TestClient, parameters: Readonly<Record<string, string>>) {
  const { location } = await browser.get(authorizeUrl(at, { prompt: 'none', ...parameters }));
  return location?.searchParams.get('error') ?? undefined;
}

/** Opens the consent page of a request. */
async function openConsent(browser: Agent, at: TestClient, parameters: Readonly<Record<string, string>>) {
  const page = await settle(browser, server, await browser.get(authorizeUrl(at, parameters)));
  assert.match(page.text, /action="\/consent"/);
  return page;
}

const submit = (browser: Agent, page: Answer, allow: readonly string[] = []) =>
  browser.submit(
    page,
    { decision: 'allow', ...Object.fromEntries(allow.map((scope) => [`allow ${scope}`, 'on'])) },
    '/consent',
  );

const NOTE = /You switched this off for the app before/;

describe('a scope that is switched off at one set of endpoints', () => {
  test('is withdrawn from tokens, codes and families of the v2 endpoints in the same commit', async () => {
    const { user, browser } = await newSignedInUser(server);
    const held = await tokensFor(server, contract, user, CONTRACT, { browser });
    const code = codeOf(await browser.get(authorizeUrl(contract, CONTRACT)));
    await walk(browser, authorizeUrl(client, { scope: ALL }), { allow: ['profile', 'email'] });

    assert.ok(!('phone' in (await userinfo(server, held.access_token)).body.user));
    const { body } = await redeem(server, contract, code);
    assert.equal(claimsOf(body.access_token).scope, 'openid email');
    const renewed = await refresh(server, contract, held.refresh_token);
    assert.equal(claimsOf(renewed.body.access_token).scope, 'openid email');
    // It is recorded as declined there: no page, and no scope.
    const later = await tokensFor(server, contract, user, CONTRACT, { browser });
    assert.equal(claimsOf(later.access_token).scope, 'openid email');
  });

  test('is withdrawn from the OIDC endpoints as well, and asked for there no more', async () => {
    const { user, browser } = await newSignedInUser(server);
    const held = await tokensFor(server, client, user, { scope: ALL }, { browser });
    await walk(browser, authorizeUrl(contract, CONTRACT), { allow: ['phone'] });
    const { body } = await userinfo(server, held.access_token, '/oidc/userinfo');
    assert.ok(!('email' in body) && 'name' in body);
    assert.equal((await refresh(server, client, held.refresh_token)).body.scope, 'openid profile phone');
    const later = await tokensFor(server, client, user, { scope: ALL }, { browser });
    assert.equal(later.scope, 'openid profile phone');
  });

  test('is not switched on there by a later decision', async () => {
    const { user, browser } = await newSignedInUser(server);
    const held = await tokensFor(server, client, user, { scope: ALL }, { browser, allow: ['profile', 'email'] });
    await walk(browser, authorizeUrl(contract, CONTRACT));
    assert.equal((await refresh(server, client, held.refresh_token)).body.scope, 'openid profile email');
    const later = await tokensFor(server, client, user, { scope: ALL }, { browser });
    assert.equal(later.scope, 'openid profile email');
  });

  test('is off on the first page of the other endpoints', async () => {
    const { browser } = await newSignedInUser(server);
    await walk(browser, authorizeUrl(client, { scope: ALL }), { allow: ['profile', 'email'] });
    const { text } = await openConsent(browser, contract, CONTRACT);
    const isOn = (scope: string) => new RegExp(`name="allow ${scope}" value="on" checked`).test(text);
    assert.deepEqual([isOn('phone'), isOn('email')], [false, true]);
    assert.doesNotMatch(text, NOTE);
  });
});

describe('profile or email, declined at the OIDC endpoints', () => {
  const declined: Record<string, [Readonly<Record<string, string>>, readonly string[]]> = {
    profile: [{ scope: ALL }, ['email', 'phone']],
    email: [{ scope: ALL }, ['profile', 'phone']],
    'a single claim of the profile': [{ scope: 'openid', claims: '{"userinfo":{"name":null}}' }, []],
  };
  for (const [name, [request, allow]] of Object.entries(declined)) {
    test(`${name}: the contract’s page is shown, says what is always shared, and is remembered again`, async () => {
      const { browser } = await newSignedInUser(server);
      await walk(browser, authorizeUrl(contract, CONTRACT));
      assert.equal(await silently(browser, contract, CONTRACT), undefined);
      await walk(browser, authorizeUrl(client, request), { allow });
      assert.equal(await silently(browser, contract, CONTRACT), 'consent_required');
      const page = await openConsent(browser, contract, CONTRACT);
      assert.match(page.text, NOTE);
      codeOf(await submit(browser, page, ['email', 'phone']));
      assert.equal(await silently(browser, contract, CONTRACT), undefined);
    });
  }

  test('before the contract’s first grant: its page says so as well', async () => {
    const { browser } = await newSignedInUser(server);
    await walk(browser, authorizeUrl(client, { scope: ALL }), { allow: ['phone'] });
    const page = await openConsent(browser, contract, CONTRACT);
    assert.match(page.text, NOTE);
    codeOf(await submit(browser, page, ['phone']));
    assert.equal(await silently(browser, contract, CONTRACT), undefined);
  });

  test('a later decision that allows both at the OIDC endpoints takes the question back', async () => {
    const { browser } = await newSignedInUser(server);
    await walk(browser, authorizeUrl(contract, { scope: 'openid' }));
    await walk(browser, authorizeUrl(client, { scope: ALL }), { allow: ['phone'] });
    await walk(browser, authorizeUrl(client, again(ALL)), { allow: ['profile'] });
    assert.equal(await silently(browser, contract, { scope: 'openid' }), 'consent_required');
    await walk(browser, authorizeUrl(client, again(ALL)), { allow: 'all' });
    assert.equal(await silently(browser, contract, { scope: 'openid' }), undefined);
  });
});

describe('a standard request without openid of which nothing is granted', () => {
  const PHONE = { scope: 'phone' };
  const answered = (target: URL) => [
    target.searchParams.get('error'),
    target.searchParams.get('error_description'),
    target.searchParams.get('state'),
  ];
  const DENIED = ['access_denied', 'User denied the request', 'st4te'];

  test('is a denial, and makes no connection', async () => {
    const { user, browser } = await newSignedInUser(server);
    const page = await openConsent(browser, client, PHONE);
    const trails: string[] = [];
    for (let press = 0; press < 2; press++) {
      const answer = await settle(browser, server, await submit(browser, page));
      assert.deepEqual(answered(answer.location as URL), DENIED);
      trails.push(answer.headers.get('x-request-id') ?? '');
    }
    const { body } = await admin(server, 'GET', `/users/${user.id}/connections`);
    assert.deepEqual(body.items, []);
    const { items } = (await admin(server, 'GET', `/audit-events?type=consent.denied&userId=${user.id}`)).body;
    assert.equal(items.length, 1);
    const { steps } = (await admin(server, 'GET', `/traces/${trails[0]}`)).body;
    const last = steps.find((step: { requestId: string }) => step.requestId === trails[0]);
    assert.deepEqual([last.error, last.outcome], ['access_denied', 'failure']);
    // As after every denial, the person is asked again.
    assert.equal(await silently(browser, client, PHONE), 'consent_required');
    assert.equal((await tokensFor(server, client, user, PHONE, { browser })).scope, 'phone');
  });

  test('takes the scope from what was issued: no token without a scope is made', async () => {
    const { user, browser } = await newSignedInUser(server);
    const held = await tokensFor(server, client, user, PHONE, { browser });
    const code = codeOf(await browser.get(authorizeUrl(client, PHONE)));
    const ofContract = await tokensFor(server, contract, user, CONTRACT, { browser });
    const denied = await walk(browser, authorizeUrl(client, again('phone')), { allow: [] });
    assert.deepEqual(answered(denied), DENIED);
    for (const { status, body } of [
      await redeem(server, client, code),
      await refresh(server, client, held.refresh_token),
    ]) {
      assert.deepEqual([status, body.error], [400, 'invalid_grant']);
    }
    assert.ok(!('phone' in (await userinfo(server, ofContract.access_token)).body.user));
    const { clientId: client_id, clientSecret: client_secret } = client;
    const asked = await fetch(`${server.baseUrl}/oidc/introspect`, {
      method: 'POST',
      body: new URLSearchParams({ token: held.access_token, client_id, client_secret }),
    });
    assert.deepEqual(await asked.json(), { active: false });
    assert.equal(await silently(browser, client, PHONE), 'consent_required');
  });
});

describe('offline_access', () => {
  test('a consent that was given without it does not cover it', async () => {
    const { browser } = await newSignedInUser(server);
    await walk(browser, authorizeUrl(client, { scope: 'openid email' }));
    assert.equal(await silently(browser, client, { scope: 'openid email' }), undefined);
    const OFFLINE = { scope: 'openid email offline_access' };
    assert.equal(await silently(browser, client, OFFLINE), 'consent_required');
    const page = await openConsent(browser, client, OFFLINE);
    assert.match(page.text, /The app stays connected after you sign out here/);
    codeOf(await submit(browser, page, ['email']));
    assert.equal(await silently(browser, client, OFFLINE), undefined);
  });

  test('it changes nothing at the v2 endpoints', async () => {
    const { browser } = await newSignedInUser(server);
    await walk(browser, authorizeUrl(contract, { scope: 'openid email' }));
    assert.equal(await silently(browser, contract, { scope: 'openid email offline_access' }), undefined);
  });
});

describe('taking access away', () => {
  for (const [name, granted, open] of [
    ['the contract’s', contract, client],
    ['the standard', client, contract],
  ] as const) {
    test(`ends an open form of the other endpoints where only ${name} was granted`, async () => {
      const { user, browser } = await newSignedInUser(server);
      const held = await tokensFor(server, granted, user, {}, { browser });
      const page = await openConsent(browser, open, { scope: 'openid phone' });
      await revokeOnPage(browser, granted);
      assert.equal((await userinfo(server, held.access_token, '/oidc/userinfo')).status, 401);
      assertStaysHere(await submit(browser, page, ['phone']), 409);
      const { body } = await admin(server, 'GET', `/users/${user.id}/connections`);
      assert.deepEqual(body.items, []);
    });
  }

  test('ends an open form also where nothing was granted yet', async () => {
    const { user, browser } = await newSignedInUser(server);
    const page = await openConsent(browser, client, { scope: 'openid phone' });
    const path = `/users/${user.id}/connections/${client.clientId}`;
    assert.equal((await admin(server, 'DELETE', path)).status, 204);
    const shownAgain = await submit(browser, page, ['phone']);
    assertStaysHere(shownAgain, 409);
    codeOf(await submit(browser, shownAgain, ['phone']));
  });

  test('the page counts what ended at both sets of endpoints, and an unknown app ends nothing', async () => {
    const { user, browser } = await newSignedInUser(server);
    await tokensFor(server, client, user, {}, { browser });
    await tokensFor(server, contract, user, {}, { browser });
    const unknown = await revokeOnPage(browser, { ...contract, clientId: '1' });
    assert.equal(unknown.status, 200);
    assert.match((await revokeOnPage(browser, contract)).text, /2 sign-ins/);
  });
});

test('a page that did not say what is shared though declined counts no more, and is shown again', async () => {
  const { user, browser } = await newSignedInUser(server);
  await tokensFor(server, contract, user, CONTRACT, { browser });
  const page = await openConsent(browser, contract, again('openid email'));
  await walk(browser, authorizeUrl(client, { scope: ALL }), { allow: ['phone'] });
  const answer = await submit(browser, page, ['email']);
  assertStaysHere(answer, 409);
  assert.match(answer.text, NOTE);
  assert.equal((await submit(browser, answer, ['email'])).location?.searchParams.has('code'), true);
});
