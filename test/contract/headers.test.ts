// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { cookieStyle } from '../../src/web/browser/browser.ts';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  PASSWORD,
  signedIn,
  type TestClient,
  type TestUser,
  tokensFor,
  walk,
} from '../support/flow.ts';
import { type ProxiedServer, type RawAnswer, send, sendBytes, startBehind } from '../support/listening.ts';
import { settle } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

// HB-01 to HB-03, SE-02, SE-08, decisions §7: what stands in the header of every answer.

const BASE = 'https://id.example.com';
let server: TestServer;
let secure: ProxiedServer;
let client: TestClient;
let user: TestUser;
let browser: Agent;
before(async () => {
  server = await startServer();
  secure = await startBehind(BASE);
  client = await newClient(server);
  user = await newUser(server);
  browser = await signedIn(server, user);
});
after(() => Promise.all([server.close(), secure.close()]));

interface Asked {
  readonly path: string;
  readonly status: number;
  readonly method?: string;
  readonly accept?: string;
  readonly form?: string;
  readonly type?: string;
}

const FORM = 'application/x-www-form-urlencoded';
const html = 'text/html';
const answers = (): readonly Asked[] => [
  { path: '/login', status: 200, accept: html },
  { path: '/signup', status: 200, accept: html },
  { path: '/login?request=unknown', status: 400, accept: html },
  { path: '/consent', status: 400, accept: html },
  { path: '/account', status: 302, accept: html },
  { path: '/account/connections', status: 302, accept: html },
  { path: '/account/organization', status: 302, accept: html },
  { path: '/account/security', status: 302, accept: html },
  { path: '/account/data', status: 302, accept: html },
  { path: '/account/sessions', status: 302, accept: html },
  { path: '/account/picture', method: 'POST', status: 303, accept: html, form: 'action=remove' },
  { path: '/avatars/1.svg', status: 404 },
  { path: '/app-pictures/1/a.png', status: 404 },
  { path: '/', status: 200, accept: html },
  { path: '/api', status: 200, accept: html },
  { path: '/api/nothing', status: 404, accept: html },
  { path: '/login', method: 'POST', status: 400, accept: html, form: 'identifier=a&password=b' },
  { path: '/login', method: 'POST', status: 415, accept: html, form: 'a=b', type: 'text/plain' },
  { path: '/login', method: 'DELETE', status: 405 },
  { path: '/api/v2/oauth/authorize', status: 400, accept: html },
  { path: '/api/v2/oauth/authorize', status: 400, accept: 'application/json' },
  { path: authorizeUrl(client), status: 302, accept: html },
  { path: authorizeUrl(client, { scope: 'bogus' }), status: 302, accept: html },
  { path: `/login?${'x'.repeat(17_000)}`, status: 414, accept: html },
  { path: '/api/v2/oauth/authorize', method: 'POST', status: 400, accept: html, form: 'client_id=1' },
  { path: '/api/v2/oauth/authorize', method: 'PUT', status: 405 },
  { path: authorizeUrl(client, { scope: 'bogus', response_mode: 'form_post' }), status: 200, accept: html },
  { path: '/continue', status: 400, accept: html },
  { path: '/api/v2/oauth/token', method: 'POST', status: 415, form: 'a=b', type: 'text/plain' },
  { path: '/api/v2/oauth/token', method: 'POST', status: 401, form: 'grant_type=authorization_code' },
  { path: '/api/v2/oauth/token', status: 405 },
  { path: '/oidc/revoke', method: 'POST', status: 401, form: 'token=x' },
  { path: '/oidc/revoke', status: 405 },
  { path: '/oidc/introspect', method: 'POST', status: 401, form: 'token=x' },
  { path: '/oidc/introspect', status: 405 },
  { path: '/api/v2/oauth/userinfo', status: 401 },
  { path: '/api/v2/admin/users', status: 401 },
  { path: '/api/v9/oauth/authorize', status: 404 },
  { path: '/nothing/here', status: 404 },
  { path: '/.git/config', status: 404 },
  { path: '/health/live', status: 200 },
  { path: '/health/ready', status: 200 },
];

/** Decisions §10: an app may run the flow in a popup, so its steps leave the opener alone. */
const isInFlow = ({ method, path }: Asked): boolean =>
  method !== 'PUT' && /^\/(api\/v2\/oauth\/authorize|continue|consent|login\?request=)/.test(path);

function assertCommonHeaders({ headers, text }: RawAnswer, asked: Asked, what: string): void {
  assert.equal(headers['x-content-type-options'], 'nosniff', what);
  assert.equal(headers['referrer-policy'], 'no-referrer', what);
  assert.equal(headers['cross-origin-opener-policy'], isInFlow(asked) ? 'unsafe-none' : 'same-origin', what);
  for (const banner of ['server', 'x-powered-by', 'via']) assert.equal(headers[banner], undefined, what);
  for (const name of Object.keys(headers)) assert.doesNotMatch(name, /^access-control-allow-credentials$/, what);
  const type = headers['content-type'] ?? '';
  if (text !== '') assert.match(type, /^(application\/json(; charset=utf-8)?|text\/[a-z]+; charset=utf-8)$/, what);
}

function assertPolicy(policy: string | string[] | undefined, what: string): Map<string, string> {
  assert.ok(typeof policy === 'string', `${what}: no policy, or several`);
  const directives = new Map(policy.split('; ').map((part) => [part.split(' ')[0] ?? '', part] as const));
  for (const name of ['default-src', 'object-src', 'base-uri', 'frame-ancestors']) {
    assert.equal(directives.get(name), `${name} 'none'`, `${what}: ${policy}`);
  }
  assert.equal(directives.get('script-src'), "script-src 'self'", what);
  assert.doesNotMatch(policy, /unsafe-|\*|http:\/\/\*/, what);
  return directives;
}

test('HB-02, HB-03, HB-01: the headers of every answer, success or error, page or JSON', async () => {
  for (const asked of answers()) {
    const { path, status, method = 'GET', accept = '*/*', form, type = FORM } = asked;
    for (const [base, port] of [
      [server.baseUrl, Number(new URL(server.baseUrl).port)],
      [BASE, secure.port],
    ] as const) {
      if (base === BASE && path.includes('client_id=')) continue;
      const headers = { accept, ...(form !== undefined && { 'content-type': type }) };
      const answer = await send(port, method, path, headers, form);
      const what = `${base} ${method} ${path.slice(0, 60)} (${accept})`;
      assert.equal(answer.status, status, `${what}: ${answer.text.slice(0, 300)}`);
      assertCommonHeaders(answer, asked, what);
      assert.equal(answer.headers['cache-control'], 'no-store', what);
      if (answer.headers['content-type']?.startsWith('text/html')) {
        assertPolicy(answer.headers['content-security-policy'], what);
      }
      const hsts = /^max-age=(\d+); includeSubDomains/.exec(answer.headers['strict-transport-security'] ?? '');
      // Decisions §7: none on an http base URL; HB-02: a year at least on https.
      if (base === BASE) assert.ok(Number(hsts?.[1]) >= 31_536_000, what);
      else assert.equal(answer.headers['strict-transport-security'], undefined, what);
    }
  }
});

test('HB-02: what never becomes a request is answered with the same care', async () => {
  const port = Number(new URL(server.baseUrl).port);
  for (const bytes of [
    'GET /login HTTP/1.1\r\nConnection: close\r\n\r\n',
    'NONSENSE\r\n\r\n',
    'GET /login HTTP/1.1\r\nHost: a\r\nBad Header: x\r\n\r\n',
    'POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde',
    `GET /${'x'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
  ]) {
    const answer = await sendBytes(port, bytes);
    assert.match(answer, /^HTTP\/1\.1 4\d\d /, JSON.stringify(bytes.slice(0, 60)));
    assert.match(answer, /\r\nx-content-type-options: nosniff\r\n/i, JSON.stringify(bytes.slice(0, 60)));
    assert.doesNotMatch(answer, /^location:/im);
  }
});

test('decisions §10: every step of a flow keeps the opener of a popup, and no other page does', async () => {
  const policyOf = ({ headers }: Answer) => headers.get('cross-origin-opener-policy');
  const steps: Answer[] = [];
  const step = (answer: Answer): Answer => {
    steps.push(answer);
    return answer;
  };
  const cold = agent(server.baseUrl);
  const follow = (answer: Answer) => cold.get(answer.location?.href ?? '');
  const somebody = await newUser(server);
  const login = step(await follow(step(await cold.get(authorizeUrl(client, { response_mode: 'form_post' })))));
  step(await cold.submit(login, { identifier: somebody.username, password: 'not the password' }));
  step(await cold.get(/href="([^"]*\/signup\?request=[^"]*)"/.exec(login.text)?.[1] ?? ''));
  const consent = step(
    await follow(step(await cold.submit(login, { identifier: somebody.username, password: PASSWORD }))),
  );
  const again = step(await follow(step(await cold.submit(consent, {}, '/logout'))));
  step(await cold.submit(again, { identifier: somebody.username, password: PASSWORD }));
  const form = step(await cold.submit(consent, { decision: 'allow' }, '/consent'));
  assert.match(form.text, /name="code"/);
  step(await cold.get('/consent?request=unknown'));
  step(await cold.get(`${authorizeUrl(client)}&x=${'x'.repeat(17_000)}`));
  assert.deepEqual(
    steps.map(policyOf),
    steps.map(() => 'unsafe-none'),
  );
  for (const path of ['/login', '/signup', ...OWN_PAGES, '/oidc/logout']) {
    assert.equal(policyOf(await cold.get(path)), 'same-origin', path);
  }
});

const OWN_PAGES = ['', '/profile', '/security', '/data', '/connections', '/sessions'].map((page) => `/account${page}`);

test('HB-03: pages and JSON about a person are never stored, and a sign-out clears what was', async () => {
  const signedInUser = await newUser(server);
  const own = await signedIn(server, signedInUser);
  for (const path of [...OWN_PAGES, '/playground', authorizeUrl(client), '/login']) {
    assert.equal((await own.get(path)).headers.get('cache-control'), 'no-store', path);
  }
  const tokens = await tokensFor(server, client, signedInUser, {}, { browser: own });
  for (const [path, key] of [
    ['/api/v2/oauth/userinfo', tokens.access_token],
    ['/oidc/userinfo', tokens.access_token],
  ] as const) {
    const answer = await fetch(server.baseUrl + path, { headers: { authorization: `Bearer ${key}` } });
    assert.deepEqual([answer.status, answer.headers.get('cache-control')], [200, 'no-store'], path);
  }
  const user = await admin(server, 'GET', `/users/${signedInUser.id}`);
  assert.equal(user.headers.get('cache-control'), 'no-store');
  for (const action of ['/logout', '/account/sign-out-everywhere']) {
    const leaving = await signedIn(server, signedInUser);
    const answer = await leaving.submit(await leaving.get('/account/security'), {}, action);
    assert.match(answer.headers.get('clear-site-data') ?? '', /"cache"/, action);
    assert.equal(leaving.cookie('tessera_session'), undefined);
  }
});

test('HB-01: the policy of every page, with the app as the only other end of a form', async () => {
  const cold = agent(server.baseUrl);
  const login = await settle(cold, server, await cold.get(authorizeUrl(client, { prompt: 'consent' })));
  const toConsent = await cold.submit(login, { identifier: user.username, password: PASSWORD });
  const consent = await settle(cold, server, toConsent);
  for (const page of [login, consent]) {
    const policy = assertPolicy(page.headers.get('content-security-policy') ?? undefined, page.text.slice(0, 200));
    // The app may send the browser on to another host of its own, and browsers check the whole chain.
    assert.match(policy.get('form-action') ?? '', /^form-action 'self' https:(\/\/app\.example\.com)?$/);
  }
  const others = ['/', '/signup', '/playground', '/oidc/logout', '/api', '/api/users', '/nothing/here'];
  for (const path of ['/login', ...others, ...OWN_PAGES, '/consent', '/api/v2/oauth/authorize']) {
    const page = await (path === '/login' ? agent(server.baseUrl) : browser).get(path);
    const policy = assertPolicy(page.headers.get('content-security-policy') ?? undefined, path);
    assert.equal(policy.get('form-action'), "form-action 'self'", path);
    // Nothing in the page needs more than the policy allows, and nothing comes from elsewhere.
    assert.doesNotMatch(page.text, /<script(?![^>]*\ssrc=)|\son[a-z]+="|\sstyle="|<style|javascript:/i, path);
    for (const [, address] of page.text.matchAll(/\s(?:src|href|action)="([^"]*)"/g)) {
      assert.match(address ?? '', /^(\/(?!\/)|#|data:,$)/, `${path}: ${address}`);
    }
  }
});

const cookiesOf = (answer: RawAnswer) =>
  (answer.headers['set-cookie'] ?? []).map((line) => {
    const [pair = '', ...attributes] = line.split('; ');
    return { name: pair.split('=')[0] ?? '', value: pair.split('=')[1] ?? '', attributes };
  });

/** A whole sign-in over a bare connection, and all the cookies that it set. */
async function cookiesOfSignIn(port: number, baseUrl: string, headers: Readonly<Record<string, string>> = {}) {
  const at = { baseUrl: `http://127.0.0.1:${port}` } as TestServer;
  const signedInUser = await newUser(at);
  const page = await send(port, 'GET', '/login', { ...headers, accept: html });
  const first = cookiesOf(page);
  const form_token = /name="form_token" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  const body = new URLSearchParams({ form_token, identifier: signedInUser.username, password: PASSWORD }).toString();
  const answer = await send(
    port,
    'POST',
    '/login',
    {
      ...headers,
      'content-type': FORM,
      origin: new URL(baseUrl).origin,
      cookie: first.map(({ name, value }) => `${name}=${value}`).join('; '),
    },
    body,
  );
  assert.deepEqual([answer.status, answer.headers.location], [303, '/account'], answer.text.slice(0, 300));
  return [...first, ...cookiesOf(answer)];
}

test('SE-02, decisions §7: cookies on an http base URL', async () => {
  const cookies = await cookiesOfSignIn(Number(new URL(server.baseUrl).port), server.baseUrl);
  const { browser, known, session: sessionName } = cookieStyle(server.baseUrl);
  assert.deepEqual(cookies.map(({ name }) => name).sort(), [browser, known, sessionName]);
  for (const { attributes, value } of cookies) {
    for (const attribute of ['Path=/', 'HttpOnly', 'SameSite=Lax'])
      assert.ok(attributes.includes(attribute), attribute);
    assert.ok(!attributes.includes('Secure') && !attributes.some((attribute) => attribute.startsWith('Domain')));
    assert.match(value, /^[A-Za-z0-9_-]{43,}$/, '256 random bits');
  }
  const session = cookies.find(({ name }) => name === sessionName);
  assert.ok(session?.attributes.includes(`Max-Age=${30 * 24 * 60 * 60}`));
});

test('SE-02, decisions §7: cookies on an https base URL', async () => {
  const cookies = await cookiesOfSignIn(secure.port, BASE);
  assert.deepEqual(cookies.map(({ name }) => name).sort(), [
    '__Host-tessera_browser',
    '__Host-tessera_known',
    '__Host-tessera_session',
  ]);
  for (const { attributes } of cookies) {
    for (const attribute of ['Path=/', 'HttpOnly', 'SameSite=Lax', 'Secure']) {
      assert.ok(attributes.includes(attribute), attribute);
    }
    assert.ok(!attributes.some((attribute) => attribute.startsWith('Domain')));
  }
});

const lies: Record<string, Readonly<Record<string, string>>> = {
  host: { host: 'evil.example' },
  'a host with a port': { host: 'evil.example:99' },
  'X-Forwarded-*': {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'http',
    'x-forwarded-port': '99',
    'x-forwarded-prefix': '/evil',
    'x-forwarded-for': '192.0.2.66, not an address',
  },
  forwarded: { forwarded: 'for="[::1]:x";host=evil.example;proto=http' },
  'other proxies’ headers': {
    'x-original-url': '/evil',
    'x-rewrite-url': '/evil',
    'x-real-ip': '192.0.2.66',
    'x-host': 'evil.example',
    'true-client-ip': '192.0.2.66',
  },
};
for (const [name, headers] of Object.entries(lies)) {
  test(`SE-08: ${name} changes no link, no cookie and no issuer`, async () => {
    for (const [base, port] of [
      [server.baseUrl, Number(new URL(server.baseUrl).port)],
      [BASE, secure.port],
    ] as const) {
      const at = { baseUrl: `http://127.0.0.1:${port}` } as TestServer;
      const page = await send(port, 'GET', '/login', { ...headers, accept: html });
      assert.equal(page.status, 200);
      const app = await newClient(at);
      const refusal = await send(port, 'GET', authorizeUrl(app, { scope: 'bogus' }), headers);
      assert.equal(new URL(refusal.headers.location ?? '').searchParams.get('iss'), base);
      const pending = await send(port, 'GET', authorizeUrl(app), headers);
      const location = new URL(pending.headers.location ?? '', base);
      assert.deepEqual([location.origin, location.pathname], [base, '/login']);
      for (const answer of [page, refusal, pending]) {
        assert.doesNotMatch(JSON.stringify([answer.headers, answer.text]), /evil/);
      }
      const cookies = await cookiesOfSignIn(port, base, headers);
      const { browser, known, session } = cookieStyle(base);
      assert.deepEqual(cookies.map((cookie) => cookie.name).sort(), [browser, known, session].sort());
    }
  });
}

test('SE-08: an address that the client names itself gives no count of its own', async () => {
  const { port } = new URL(server.baseUrl);
  const at = await newUser(server);
  for (let guess = 0; guess < 12; guess++) {
    const named = agent(`http://localhost:${port}`);
    const headers = { 'x-forwarded-for': `198.51.100.${guess}`, forwarded: `for=198.51.100.${guess}` };
    await named.post('/login', {}, headers);
    const page = await named.get('/login', headers);
    const form_token = /name="form_token" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
    await named.post('/login', { form_token, identifier: at.username, password: 'wrong' }, headers);
  }
  const events = await admin(server, 'GET', `/audit-events?userId=${at.id}&limit=100`);
  const addresses = new Set((events.body.items as { type: string; address: string }[]).map(({ address }) => address));
  for (const address of addresses) assert.doesNotMatch(address, /^198\.51\.100\./);
});

test('HB-06: nothing that a request carries can add a header to an answer', async () => {
  await walk(browser, authorizeUrl(client));
  for (const state of ['a\r\nX-Injected: 1', 'a\nX-Injected: 1', '\u560d\u560aX-Injected: 1', 'a\0b']) {
    const answer = await browser.get(authorizeUrl(client, { state }));
    assert.equal(answer.status, 302);
    assert.equal(answer.headers.get('x-injected'), null);
    assert.doesNotMatch(answer.headers.get('location') ?? '', /[\r\n\0]/);
  }
});
