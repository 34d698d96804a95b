// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, test } from 'node:test';
import { agent, cookiesFor } from '../support/agent.ts';
import { authorizeUrl, newClient, newUser, PASSWORD, signedIn, walk } from '../support/flow.ts';
import { codeOf, countRows, settle } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// AZ-17, HB-07: one method, one address, and no way that is less guarded.

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const browser = await signedIn(server, await newUser(server));
await walk(browser, authorizeUrl(client));

interface RawAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A request as it is written: `fetch` would tidy the address and refuse some methods. */
const raw = (method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(server.baseUrl);
    const cookie = cookiesFor(server.baseUrl, browser);
    const sent = request({ host: '127.0.0.1', port, method, path, headers: { cookie, ...headers } }, (answer) => {
      let text = '';
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
    });
    sent.on('error', reject);
    sent.end();
  });

const TABLES = ['authorization_code', 'interaction', 'consent_grant', 'browser_session', 'audit_event'];
const rows = () => Promise.all(TABLES.map((table) => countRows(server, table)));

for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY']) {
  test(`AZ-17: ${method} is 405 and changes nothing`, async () => {
    const before = await rows();
    for (const headers of [{}, { origin: 'https://evil.example', 'access-control-request-method': 'GET' }]) {
      const answer = await raw(method, authorizeUrl(client), headers);
      assert.equal(answer.status, 405);
      assert.equal(answer.headers['allow'], 'GET, HEAD, POST');
      assert.equal(answer.headers['location'], undefined);
      assert.equal(answer.headers['set-cookie'], undefined);
      for (const name of Object.keys(answer.headers)) assert.doesNotMatch(name, /^access-control-/);
      assert.equal(JSON.parse(answer.text).error, 'invalid_request');
    }
    assert.deepEqual(await rows(), before);
  });
}

test('HB-07: a header or a parameter cannot turn one method into another', async () => {
  const before = await rows();
  for (const name of ['x-http-method-override', 'x-http-method', 'x-method-override']) {
    const answer = await raw('POST', `${authorizeUrl(client)}&_method=GET`, { [name]: 'GET' });
    // The parameters of a POST are in its body, not in its address.
    assert.deepEqual([answer.status, answer.headers['location']], [400, undefined]);
    assert.equal((await raw('PUT', authorizeUrl(client), { [name]: 'GET' })).status, 405);
  }
  assert.deepEqual(await rows(), before);
});

test('AZ-17: no answer of the endpoint may be read by another site', async () => {
  for (const address of [authorizeUrl(client), authorizeUrl(client, { scope: 'bogus' }), '/api/v2/oauth/authorize']) {
    for (const origin of ['https://app.example.com', 'https://evil.example', 'null', server.baseUrl]) {
      const answer = await browser.get(address, { origin });
      for (const name of answer.headers.keys()) assert.doesNotMatch(name, /^access-control-/);
    }
  }
});

test('HB-07, decisions §9: another spelling of the address is 404 in JSON', async () => {
  const query = authorizeUrl(client).slice('/api/v2/oauth/authorize'.length);
  const before = await rows();
  for (const path of [
    '/api/v2/oauth/authorize/',
    '/api/v2/oauth//authorize',
    '//api/v2/oauth/authorize',
    '/API/v2/oauth/authorize',
    '/api/V2/oauth/authorize',
    '/api/v2/oauth/Authorize',
    '/api/v2/oauth/authorize.html',
    '/api/v2/oauth/authorize%00',
    '/api/v2/oauth/authorize;x=1',
    '/api/v2/oauth/x/../authorize',
    '/api/v2/oauth/./authorize',
    '/api/v2/oauth/%2e/authorize',
    '/api/v1/oauth/authorize',
    '/api/v3/oauth/authorize',
    '/api/v2.0/oauth/authorize',
    '/api/oauth/authorize',
    '/oauth/authorize',
  ]) {
    const answer = await raw('GET', path + query);
    assert.equal(answer.status, 404, path);
    assert.equal(answer.headers['location'], undefined, path);
    assert.equal(JSON.parse(answer.text).error, 'invalid_request', path);
  }
  assert.deepEqual(await rows(), before);
});

test('decisions §3: 302 in answer to a GET, 303 in answer to a POST, at every step', async () => {
  const user = await newUser(server);
  const cold = agent(server.baseUrl);
  const toLogin = await cold.get(authorizeUrl(client));
  assert.equal(toLogin.status, 302);
  const toConsent = await cold.submit(await settle(cold, server, toLogin), {
    identifier: user.username,
    password: PASSWORD,
  });
  assert.deepEqual([toConsent.status, toConsent.location?.pathname], [303, '/consent']);
  const allowed = await cold.submit(await settle(cold, server, toConsent), { decision: 'allow' }, '/consent');
  assert.equal(allowed.status, 303);
  codeOf(allowed);
  const direct = await cold.get(authorizeUrl(client));
  assert.equal(direct.status, 302);
  codeOf(direct);
  const again = await settle(cold, server, await cold.get(authorizeUrl(client, { prompt: 'consent' })));
  const denied = await cold.submit(again, { decision: 'deny' }, '/consent');
  assert.deepEqual([denied.status, denied.location?.searchParams.get('error')], [303, 'access_denied']);
  // A sign-in after which there is nothing to ask ends at the client at once.
  const login = await settle(cold, server, await cold.get(authorizeUrl(client, { prompt: 'login' })));
  const straight = await cold.submit(login, { identifier: user.username, password: PASSWORD });
  assert.equal(straight.status, 303);
  codeOf(straight);
});
