// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ACR, ACR_MFA, ACR_PHISHING_RESISTANT } from '../../src/authenticators/rules/authentication-context.ts';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  standard,
  type TestClient,
  walk,
} from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { enroll, type SecondFactor, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

// Decisions §11, RFC 9470: an app asks for a class of authentication, and gets tokens that say what happened.

const server = await startServer();
after(() => server.close());
const contract = await newClient(server);
const ENDPOINT_SETS: readonly TestClient[] = [contract, standard(contract)];

/** A person with an authenticator app, in a session that began with the password alone. */
async function inPasswordSession(): Promise<{
  user: { id: string; username: string };
  browser: Agent;
  factor: SecondFactor;
}> {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  return { user, browser, factor: await enroll(server, user) };
}

const asks = (client: TestClient, acr: string, more: Readonly<Record<string, string>> = {}): string =>
  authorizeUrl(client, { scope: 'openid', acr_values: acr, ...more });

/** Follows the redirects of a flow up to the page that asks for a second factor. */
async function toSecondFactor(browser: Agent, address: string): Promise<Answer> {
  const answer = await browser.get(address);
  assert.equal(answer.location?.pathname, '/login/verify', answer.location?.href ?? answer.text);
  return browser.get(answer.location?.href ?? '');
}

const errorOf = ({ location }: Answer) => location?.searchParams.get('error');

/** The tokens of the flow that goes on with this answer, consent included. */
async function tokensAfter(browser: Agent, client: TestClient, answer: Answer) {
  const location = await walk(browser, answer.location?.href ?? '');
  const { status, body } = await redeem(server, client, location?.searchParams.get('code') ?? '');
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

for (const client of ENDPOINT_SETS) {
  const endpointSet = client.endpointSet ?? 'v2';

  test(`${endpointSet}: a session of a password is raised by a code, and the tokens say so, refreshed ones too`, async () => {
    const { user, browser, factor } = await inPasswordSession();
    const before = browser.cookie('tessera_session');
    const page = await toSecondFactor(browser, asks(client, ACR_MFA));
    const wrong = await typeCode(browser, page, '000000');
    assert.equal(wrong.status, 401, wrong.text);
    server.advance(MINUTE);
    const answer = await typeCode(browser, wrong, totpCode(factor, server.now()));
    assert.equal(answer.status, 303, answer.text);
    assert.notEqual(browser.cookie('tessera_session'), before, 'the session that is raised has another secret');
    const tokens = await tokensAfter(browser, client, answer);
    const refreshed = await refresh(server, client, tokens.refresh_token);
    for (const { id_token } of [tokens, refreshed.body]) {
      const { acr, amr } = claimsOf(id_token);
      assert.deepEqual([acr, [...amr].sort()], [ACR_MFA, ['mfa', 'otp', 'pwd']]);
    }
    // The old secret is worth nothing, and the session is still the one session of the person.
    const thief = agent(server.baseUrl);
    thief.setCookie('tessera_session', before ?? '');
    assert.equal((await thief.get('/account')).status, 302);
    const { body } = await admin(server, 'GET', `/users/${user.id}/sessions`);
    assert.equal(body.items.length, 1);
  });

  test(`${endpointSet}: what the person has not set up is unmet_authentication_requirements`, async () => {
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    for (const acr of [ACR_MFA, ACR_PHISHING_RESISTANT]) {
      assert.equal(errorOf(await browser.get(asks(client, acr))), 'unmet_authentication_requirements', acr);
    }
    const { factor: _factor, browser: other } = await inPasswordSession();
    assert.equal(errorOf(await other.get(asks(client, ACR_PHISHING_RESISTANT))), 'unmet_authentication_requirements');
  });

  test(`${endpointSet}: prompt=none shows no page for it`, async () => {
    const { browser } = await inPasswordSession();
    assert.equal(errorOf(await browser.get(asks(client, ACR_MFA, { prompt: 'none' }))), 'login_required');
  });

  test(`${endpointSet}: any of the values will do, one that is not offered is ignored, and an essential claim counts`, async () => {
    const { browser } = await inPasswordSession();
    for (const acr of [`${ACR_MFA} ${ACR}`, 'urn:example:unknown', ACR]) {
      const answer = await browser.get(asks(client, acr));
      assert.equal(answer.location?.pathname, '/consent', acr);
    }
    const claims = JSON.stringify({ id_token: { acr: { essential: true, value: ACR_MFA } } });
    await toSecondFactor(browser, authorizeUrl(client, { scope: 'openid', claims }));
  });
}

test('prompt=login asks for the password and then for the code, and max_age too', async () => {
  const { user, browser } = await inPasswordSession();
  for (const more of [{ prompt: 'login' }, { max_age: '0' }]) {
    const login = await browser.get(asks(contract, ACR_MFA, more));
    assert.equal(login.location?.pathname, '/login');
    const page = await browser.get(login.location?.href ?? '');
    const answer = await browser.submit(page, { identifier: user.username, password: PASSWORD }, '/login');
    // The second factor of the account belongs to the new sign-in: no session exists before it.
    assert.equal(answer.location?.pathname, '/login/verify');
  }
});

test('a person may sign in as another one instead', async () => {
  const { browser } = await inPasswordSession();
  const other = await newUser(server);
  const page = await toSecondFactor(browser, asks(contract, ACR_MFA));
  const login = await browser.submit(page, { action: 'another' }, '/login/verify');
  assert.equal(login.location?.pathname, '/login');
  const form = await browser.get(login.location?.href ?? '');
  const answer = await browser.submit(form, { identifier: other.username, password: PASSWORD }, '/login');
  assert.equal(errorOf(answer), 'unmet_authentication_requirements', 'who has no second factor');
});

const ends: Record<string, (id: string) => Promise<unknown>> = {
  'a ban': (id) => admin(server, 'PUT', `/users/${id}/ban`, {}),
  'a suspension': (id) => admin(server, 'PUT', `/users/${id}/suspension`, {}),
  'a new password': (id) => admin(server, 'PATCH', `/users/${id}`, { password: 'another good password' }),
  'the end of all sessions': async (id) => {
    const { body } = await admin(server, 'GET', `/users/${id}/sessions`);
    for (const { id: sid } of body.items) await admin(server, 'DELETE', `/users/${id}/sessions/${sid}`);
  },
  'a deletion': (id) => admin(server, 'DELETE', `/users/${id}`),
};
for (const [name, end] of Object.entries(ends)) {
  test(`${name} while the page is open leaves nothing to raise`, async () => {
    const { user, browser, factor } = await inPasswordSession();
    const page = await toSecondFactor(browser, asks(contract, ACR_MFA));
    await end(user.id);
    server.advance(MINUTE);
    const answer = await typeCode(browser, page, totpCode(factor, server.now()));
    assert.ok(answer.location === undefined || !answer.location.searchParams.has('code'), String(answer.location));
    assert.equal((await browser.get('/account')).status, 302);
  });
}

test('a step-up is no sign-in: a session that grows too old after it must sign in again', async () => {
  const { browser, factor } = await inPasswordSession();
  const client = await newClient(server);
  const page = await toSecondFactor(browser, asks(client, ACR_MFA, { max_age: '60' }));
  server.advance(50_000);
  const raised = await typeCode(browser, page, totpCode(factor, server.now()));
  assert.equal(raised.location?.pathname, '/consent');
  server.advance(20_000);
  assert.equal((await browser.get(raised.location?.href ?? '')).location?.pathname, '/login');
});
