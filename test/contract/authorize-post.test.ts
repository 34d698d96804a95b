// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { cookieStyle } from '../../src/web/browser/browser.ts';
import { type Answer, agent } from '../support/agent.ts';
import { authorizeUrl, newClient, newUser, PASSWORD, redeem, signedIn, walk } from '../support/flow.ts';
import { assertErrorRedirect, assertStaysHere, codeOf, countRows, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// OpenID Connect Core 1.0 §3.1.2.1: an authorization request by POST is one by GET, sent another way.

const PATH = '/api/v2/oauth/authorize';
const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const browser = await signedIn(server, await newUser(server));
await walk(browser, authorizeUrl(client));

const fields = (parameters: Readonly<Record<string, string>> = {}): Record<string, string> =>
  Object.fromEntries(new URL(authorizeUrl(client, parameters), server.baseUrl).searchParams);

/** A form of the client's own site: SameSite=Lax keeps the cookies at home. */
async function postFromApp(form: Readonly<Record<string, string>>, to = PATH): Promise<Answer> {
  const bare = agent(server.baseUrl);
  const answer = await bare.post(to, form, { origin: 'https://app.example.com', 'sec-fetch-site': 'cross-site' });
  // What the answer sets is kept beside what the browser has.
  for (const name of ['tessera_browser', 'tessera_session']) assert.equal(bare.cookie(name), undefined, name);
  for (const line of answer.headers.getSetCookie()) {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    assert.match(line, /HttpOnly; SameSite=Lax/);
    browser.setCookie(name, value);
  }
  return answer;
}

const begunCookies = (answer: Answer): string[] =>
  answer.headers.getSetCookie().map((line) => line.split('=', 1)[0] ?? '');

test('a POST of another site is answered by 303 to a page of ours, which knows who is signed in', async () => {
  const before = browser.cookie('tessera_browser');
  const answer = await postFromApp(fields());
  assert.deepEqual([answer.status, answer.location?.pathname], [303, '/continue']);
  const arrived = await browser.get(answer.location?.href ?? '');
  assert.equal(arrived.status, 302);
  assert.equal((await redeem(server, client, codeOf(arrived))).status, 200);
  assert.equal(browser.cookie('tessera_browser'), before, 'the browser is who it was, and its other tabs go on');
  const [name = ''] = begunCookies(answer);
  assert.match(name, /^tessera_begun_/);
  assert.equal(browser.cookie(name), undefined, 'nothing is left behind for each request');
});

test('the way on is bound to the browser, and works again after a reload', async () => {
  const answer = await postFromApp(fields({ prompt: 'consent' }));
  const address = answer.location?.href ?? '';
  assertStaysHere(await agent(server.baseUrl).get(address), 400);
  assertStaysHere(await (await signedIn(server, await newUser(server))).get(address), 400);
  for (let visit = 0; visit < 2; visit++) {
    assert.equal((await browser.get(address)).location?.pathname, '/consent');
  }
});

test('a browser that comes for the first time signs in and arrives', async () => {
  const user = await newUser(server);
  const cold = agent(server.baseUrl);
  const page = await settle(cold, server, await cold.post(PATH, fields()));
  const consent = await settle(
    cold,
    server,
    await cold.submit(page, { identifier: user.username, password: PASSWORD }),
  );
  codeOf(await cold.submit(consent, { decision: 'allow' }, '/consent'));
});

test('prompt=none shows no page: a code, or login_required', async () => {
  const answer = await postFromApp(fields({ prompt: 'none' }));
  codeOf(await browser.get(answer.location?.href ?? ''));
  const cold = agent(server.baseUrl);
  const anonymous = await cold.get((await cold.post(PATH, fields({ prompt: 'none' }))).location?.href ?? '');
  assertErrorRedirect(anonymous, { error: 'login_required', state: 'st4te', to: client.redirectUri }, server);
});

test('AZ-10: errors are those of a GET, by 303', async () => {
  for (const [error, parameters] of [
    ['invalid_scope', { scope: 'bogus' }],
    ['invalid_request', { response_type: 'token' }],
    ['invalid_request', { max_age: '-1' }],
    ['request_not_supported', { request: 'x' }],
  ] as const) {
    const answer = await browser.post(PATH, fields(parameters));
    assertErrorRedirect(answer, { error, status: 303, state: 'st4te', to: client.redirectUri }, server);
  }
});

test('AZ-01: without a certain client and redirect URI nothing is redirected', async () => {
  const good = fields();
  const { client_id: _, ...noClient } = good;
  const { redirect_uri: __, ...noTarget } = good;
  for (const form of [{}, noClient, noTarget, { ...good, redirect_uri: `${client.redirectUri}/x` }]) {
    assertStaysHere(await browser.post(PATH, form), 400);
    const json = await browser.post(PATH, form, { accept: 'application/json' });
    assertStaysHere(json, 400);
    assert.equal(JSON.parse(json.text).error, 'invalid_request');
  }
});

test('AZ-10: a known parameter in the address is refused with any body; unknown ones are ignored', async () => {
  const before = await countRows(server, 'interaction');
  for (const name of ['client_id', 'redirect_uri', 'state', 'scope', 'prompt', 'claims', 'response_mode']) {
    const good = fields()[name] ?? '';
    for (const value of [good, 'other', '']) {
      const answer = await browser.post(`${PATH}?${name}=${encodeURIComponent(value)}`, fields());
      assertStaysHere(answer, 400);
      assert.match(answer.text, new RegExp(`${name} stands in the address of a POST`));
    }
  }
  assert.equal(await countRows(server, 'interaction'), before);
  assert.equal((await postFromApp(fields(), `${PATH}?utm_source=x&utm_source=y`)).location?.pathname, '/continue');
});

test('a repeated parameter in the body is invalid_request', async () => {
  const body = `${new URLSearchParams(fields())}&response_type=code`;
  const response = await fetch(server.baseUrl + PATH, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body,
  });
  assert.equal(response.status, 303);
  assert.equal(new URL(response.headers.get('location') ?? '').searchParams.get('error'), 'invalid_request');
});

test('a body that is no form is 415, and one without anything is a page', async () => {
  const json = await browser.post(PATH, fields(), { 'content-type': 'application/json' });
  assertStaysHere(json, 415);
  const empty = await fetch(server.baseUrl + PATH, { method: 'POST', redirect: 'manual' });
  assert.equal(empty.status, 400);
});

test('AZ-07: a state of 2 KiB comes back by form_post, and one that is too large to keep with its refusal', async () => {
  const state = 'x'.repeat(2048);
  const answer = await postFromApp(fields({ state, response_mode: 'form_post' }));
  const page = await browser.get(answer.location?.href ?? '');
  assert.equal(page.status, 200);
  assert.ok(page.text.includes(`name="state" value="${state}"`));
  const long = 'x'.repeat(16 * 1024 + 1);
  const refused = await browser.post(PATH, fields({ state: long, response_mode: 'form_post' }));
  assert.match(refused.text, /name="error" value="invalid_request"/);
  assert.ok(refused.text.includes(`name="state" value="${long}"`));
});

test('of the cookies of requests that were begun by POST a browser keeps the last twenty', async () => {
  const { browser: identity, startedPrefix } = cookieStyle(server.baseUrl);
  const names = Array.from({ length: 23 }, (_, index) => startedPrefix + String(index).padStart(8, '0'));
  const cookie = [identity, ...names].map((name) => `${name}=${'A'.repeat(43)}`).join('; ');
  const response = await fetch(`${server.baseUrl}/login`, { headers: { cookie } });
  const ended = response.headers.getSetCookie().filter((line) => /Max-Age=0|Expires=Thu, 01 Jan 1970/.test(line));
  assert.deepEqual(
    ended.map((line) => line.split('=', 1)[0]),
    names.slice(0, 3),
  );
});
