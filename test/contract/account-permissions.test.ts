// store: SQLite, PostgreSQL with --all
/** Decisions §2: a person takes single permissions away from a connected app; everything that was issued answers without them at once. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, formOf } from '../support/agent.ts';
import { allow, newApi } from '../support/api-scopes.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  standard,
  type TestClient,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { introspect } from '../support/token-services.ts';

const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
after(() => server.close());

const SCOPE = 'openid email details phone social';
const PERSON = { website: 'https://ada.example', phone: '+905551234567' };
const words = ({ text }: Answer): string => text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');
const pageOf = ({ clientId }: TestClient) => `/account/connections/${clientId}`;

/** The switches of the page that are on, as a browser sends them, without these. */
async function takeAway(browser: Agent, client: TestClient, off: readonly string[]): Promise<Answer> {
  const page = await browser.get(pageOf(client));
  const names = [...page.text.matchAll(/name="allow ([^"]+)"/g)].map(([, name]) => name ?? '');
  for (const scope of off) assert.ok(names.includes(scope), `${scope} of ${names}`);
  const on = names.filter((name) => !off.includes(name)).map((name) => [`allow ${name}`, 'on'] as const);
  return browser.submit(page, Object.fromEntries(on), pageOf(client));
}

async function person() {
  const user = await newUser(server, PERSON);
  return { user, browser: await signedIn(server, user) };
}

test('a permission that is taken away is in no answer from then on: UserInfo, introspection, refresh, a code', async () => {
  const { user, browser } = await person();
  const client = await newClient(server, { name: 'Acme Notes' });
  const tokens = await tokensFor(server, client, user, { scope: SCOPE }, { browser });
  const code = await codeFor(server, client, user, { scope: SCOPE }, { browser });
  assert.equal((await userinfo(server, tokens.access_token)).body.user.phone, PERSON.phone);
  const answer = await takeAway(browser, client, ['phone', 'details']);
  assert.equal(answer.status, 200);
  assert.match(
    words(answer),
    /Acme Notes no longer sees: Website, location and birth date · Phone\. It has to ask you/,
  );
  const kept = 'openid email social';
  const { body } = await userinfo(server, tokens.access_token);
  assert.deepEqual(['phone' in body.user, 'website' in body.user, 'email' in body.user], [false, false, true]);
  assert.equal((await introspect(server, client, tokens.access_token)).body.scope, kept);
  const renewed = await refresh(server, client, tokens.refresh_token);
  assert.equal(claimsOf(renewed.body.access_token).scope, kept);
  const redeemed = await redeem(server, client, code);
  assert.equal(claimsOf(redeemed.body.access_token).scope, kept);
  const { items } = (await admin(server, 'GET', `/users/${user.id}/connections`)).body;
  assert.deepEqual(items[0].declinedScopes.toSorted(), ['details', 'phone']);
  assert.match(words(await browser.get('/account/activity')), /You changed what Acme Notes may see\./);
  const events = await admin(server, 'GET', `/audit-events?userId=${user.id}&type=consent.narrowed`);
  assert.equal(events.body.items.length, 1);
  assert.equal(events.body.items[0].details.scopes, 'details phone');
});

test('at both sets of endpoints; a later request is answered without a page and without it', async () => {
  const { user, browser } = await person();
  const client = await newClient(server);
  const v2 = await tokensFor(server, client, user, { scope: SCOPE }, { browser });
  const oidc = await tokensFor(server, standard(client), user, { scope: SCOPE }, { browser });
  await takeAway(browser, client, ['phone']);
  assert.equal('phone' in (await userinfo(server, v2.access_token)).body.user, false);
  const standardInfo = await userinfo(server, oidc.access_token, '/oidc/userinfo');
  assert.equal('phone_number' in standardInfo.body, false);
  assert.equal(standardInfo.body.website, PERSON.website);
  const again = await browser.get(authorizeUrl(client, { scope: SCOPE }));
  assert.ok(again.location?.searchParams.has('code'), String(again.location));
  const later = await redeem(server, client, again.location?.searchParams.get('code') ?? '');
  assert.equal(claimsOf(later.body.access_token).scope, 'openid email details social');
});

test('the scope of an API is taken away by itself, and its tokens say so', async () => {
  const { user, browser } = await person();
  const api = await newApi(server, ['orders.read', 'orders.write']);
  const client = standard(await newClient(server));
  await allow(server, api, client, ['orders.read', 'orders.write']);
  const scope = 'openid orders.read orders.write';
  const tokens = await tokensFor(server, client, user, { scope }, { browser });
  const page = await browser.get(pageOf(client));
  const [, id = ''] = /<label for="scope-(\d+)"><span class="name"><bdi>Words for orders\.write/.exec(page.text) ?? [];
  assert.equal((await takeAway(browser, client, [id])).status, 200);
  assert.equal((await introspect(server, client, tokens.access_token)).body.scope, 'openid orders.read');
  const renewed = await refresh(server, client, tokens.refresh_token);
  assert.equal(claimsOf(renewed.body.access_token).scope, 'openid orders.read');
});

test('what is not on the page cannot be taken; nothing switched off changes nothing; another person’s form does nothing', async () => {
  const { user, browser } = await person();
  const client = await newClient(server);
  const tokens = await tokensFor(server, client, user, { scope: 'openid phone' }, { browser });
  const page = await browser.get(pageOf(client));
  const none = await browser.submit(page, { 'allow phone': 'on' }, pageOf(client));
  assert.equal(none.status, 400);
  assert.match(words(none), /switch off at least one permission/);
  const made = { shown: 'openid email profile 1', 'allow phone': 'on' };
  assert.equal((await browser.submit(page, made, pageOf(client))).status, 400);
  const other = await person();
  const { hidden } = formOf(page.text, pageOf(client));
  const foreign = await other.browser.post(pageOf(client), hidden);
  assert.notEqual(foreign.status, 200);
  assert.equal((await userinfo(server, tokens.access_token)).body.user.phone, PERSON.phone);
  const unknown = await other.browser.get(pageOf(client));
  assert.equal(unknown.location?.pathname, '/account/connections', 'an app without access has no page');
});
