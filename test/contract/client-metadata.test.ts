// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import { call } from '../support/api-call.ts';
import { appKey, proofOf } from '../support/assertion.ts';
import { answerDevice, newDeviceClient, poll, startDevice } from '../support/devices.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newSignedInUser,
  refresh,
  revokeOnPage,
  standard,
  tokensFor,
  userinfo,
  walk,
} from '../support/flow.ts';
import { startReceiver, tokenOf, verifyLogoutToken } from '../support/logout-receiver.ts';
import {
  documentOf,
  type MetadataApp,
  type Publish,
  REDIRECT_URI,
  startPublisher,
} from '../support/metadata-publisher.ts';
import { HOUR, MINUTE, query } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { introspect } from '../support/token-services.ts';

// draft-ietf-oauth-client-id-metadata-document-03, decisions §15: an app that nobody registered identifies itself by a URL.

const OPEN = {
  TESSERA_CLIENT_METADATA: 'open',
  TESSERA_LIMIT_METADATA_ADDRESS: 'off',
  TESSERA_LIMIT_METADATA_HOST: 'off',
  TESSERA_LIMIT_CLIENT_AUTH: 'off',
};
const server = await startServer(OPEN);
after(() => server.close());
const publisher = await startPublisher();
after(() => publisher.close());
const USERINFO = '/oidc/userinfo';

const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
let made = 0;

/** An app with a document of its own. */
const newApp = (change: Readonly<Record<string, unknown>> = {}, headers: Readonly<Record<string, string>> = {}) =>
  publisher.app(`/app-${++made}.json`, change, headers);

const ask = (browser: Agent, app: MetadataApp, parameters: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  browser.get(authorizeUrl(app, { scope: 'openid', ...PKCE, ...parameters }));

/** The page to which an answer leads. */
async function shown(browser: Agent, answer: Answer): Promise<Answer> {
  return answer.location === undefined ? answer : browser.get(answer.location.href);
}

const post = (at: Pick<TestServer, 'baseUrl'>, form: Readonly<Record<string, string>>, path = '/oidc/token') =>
  call(at, 'POST', path, {}, new URLSearchParams(form));

const redeemAt = (
  at: Pick<TestServer, 'baseUrl'>,
  app: MetadataApp,
  code: string,
  more: Readonly<Record<string, string>> = {},
) =>
  post(at, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: app.redirectUri,
    client_id: app.clientId,
    code_verifier: VERIFIER,
    ...more,
  });

/** A person allows the app. */
async function connected(app: MetadataApp = newApp(), scope = 'openid', at = server) {
  const { user, browser } = await newSignedInUser(at);
  const target = await walk(browser, authorizeUrl(app, { scope, ...PKCE }), { user });
  const code = target.searchParams.get('code');
  assert.ok(code !== null, target.href);
  const { status, body } = await redeemAt(at, app, code);
  assert.equal(status, 200, JSON.stringify(body));
  return { app, user, browser, tokens: body };
}

const renew = (app: MetadataApp, refreshToken: string) =>
  post(server, { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: app.clientId });

const recordOf = async (app: MetadataApp) => {
  const [row] = await query(server, 'SELECT id, name FROM client WHERE metadata_url = ?', app.clientId);
  return row && { id: String(row['id']), name: String(row['name']) };
};

async function idOf(app: MetadataApp): Promise<string> {
  const record = await recordOf(app);
  assert.ok(record !== undefined);
  return record.id;
}

describe('an app that nobody registered', () => {
  test('nothing is on record before a person has consented, and not after a denial', async () => {
    const app = newApp();
    const stranger = agent(server.baseUrl);
    assert.equal((await ask(stranger, app)).status, 302);
    assert.equal(await recordOf(app), undefined);
    const { user, browser } = await newSignedInUser(server);
    const denied = await walk(browser, authorizeUrl(app, { scope: 'openid', ...PKCE }), { user, decision: 'deny' });
    assert.equal(denied.searchParams.get('error'), 'access_denied');
    assert.equal(await recordOf(app), undefined);
    await connected(app);
    assert.equal((await recordOf(app))?.name, 'An agent');
  });

  test('§8.5: the page says that it is not registered, where it is published, and where the person goes on', async () => {
    const app = newApp({ client_name: 'Claude' });
    const { browser } = await newSignedInUser(server);
    const page = await shown(browser, await ask(browser, app));
    assert.match(page.text, /This app is not registered here/);
    assert.match(page.text, /Published at[\s\S]*127\.0\.0\.1/);
    assert.match(page.text, /Sends you to[\s\S]*app\.example\.com/);
    assert.doesNotMatch(page.text, /It runs on your own device/);
    const registered = await shown(browser, await browser.get(authorizeUrl(standard(await newClient(server)))));
    assert.doesNotMatch(registered.text, /not registered here/);
  });

  test('an app on the own device alone is warned of', async () => {
    const app = {
      ...newApp({ redirect_uris: ['http://127.0.0.1/callback'] }),
      redirectUri: 'http://127.0.0.1:4567/callback',
    };
    const { browser } = await newSignedInUser(server);
    assert.match((await shown(browser, await ask(browser, app))).text, /It runs on your own device/);
  });

  test('RFC 8252 §8.6: so is an app with other addresses, where the answer goes to the own device', async () => {
    const app = newApp({ redirect_uris: ['http://127.0.0.1/callback', REDIRECT_URI] });
    const { browser } = await newSignedInUser(server);
    assert.doesNotMatch((await shown(browser, await ask(browser, app))).text, /It runs on your own device/);
    const local = { ...app, redirectUri: 'http://127.0.0.1:4567/callback' };
    assert.match((await shown(browser, await ask(browser, local))).text, /It runs on your own device/);
  });

  test('a name that no page can show is replaced by the host', async () => {
    const app = newApp({ client_name: 'Acme\u202e' });
    const { browser } = await newSignedInUser(server);
    const page = await shown(browser, await ask(browser, app));
    assert.match(page.text, /<strong><bdi>127\.0\.0\.1<\/bdi><\/strong>|127\.0\.0\.1/);
    assert.doesNotMatch(page.text, /\u202e/);
  });

  test('the page comes each time, and prompt=none gets consent_required', async () => {
    const { app, browser } = await connected();
    assert.match((await ask(browser, app)).location?.pathname ?? '', /consent/);
    const silent = await ask(browser, app, { prompt: 'none' });
    assert.equal(silent.location?.searchParams.get('error'), 'consent_required');
  });

  test('on the wire its client_id is the URL: aud, client_id, introspection, hints, logout', async () => {
    const receiver = await startReceiver();
    after(() => receiver.close());
    const api = await newClient(server, { resource: `https://api-${made}.example` });
    const app = newApp({
      backchannel_logout_uri: receiver.uri,
      post_logout_redirect_uris: ['https://app.example.com/bye'],
    });
    const { user, browser } = await newSignedInUser(server);
    const target = await walk(
      browser,
      authorizeUrl(app, { scope: 'openid', resource: `https://api-${made - 1}.example`, ...PKCE }),
      { user },
    );
    const { body: tokens } = await redeemAt(server, app, target.searchParams.get('code') ?? '');
    assert.equal(claimsOf(tokens.id_token).aud, app.clientId);
    assert.equal(claimsOf(tokens.access_token).client_id, app.clientId);
    const { body: active } = await introspect(server, api, tokens.access_token);
    assert.deepEqual([active.active, active.client_id], [true, app.clientId]);
    const hinted = await ask(browser, app, { id_token_hint: tokens.id_token });
    assert.match(hinted.location?.pathname ?? '', /consent/);
    const bye = 'https://app.example.com/bye';
    const query = new URLSearchParams({ id_token_hint: tokens.id_token, post_logout_redirect_uri: bye });
    const out = await browser.get(`/oidc/logout?${query}`);
    assert.equal(out.location?.href, bye);
    await server.deliverNotices();
    const { payload } = await verifyLogoutToken(server, tokenOf(receiver.received[0]), {
      clientId: app.clientId,
      alg: 'RS256',
    });
    assert.equal(payload.sub, user.id);
  });

  test('its number is no client_id, and the v2 endpoints know neither', async () => {
    const { app, browser, tokens } = await connected();
    const id = await idOf(app);
    for (const client of [
      { ...app, clientId: id },
      { ...app, endpointSet: 'v2' as const },
    ]) {
      assert.equal((await browser.get(authorizeUrl(client, { scope: 'openid', ...PKCE }))).status, 400);
    }
    const body = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    assert.equal((await post(server, { ...body, client_id: id })).status, 401);
    assert.equal((await post(server, { ...body, client_id: app.clientId }, '/api/v2/oauth/token')).status, 400);
    assert.equal((await renew(app, tokens.refresh_token)).status, 200);
  });

  test('§8.2: with private_key_jwt its keys are asked for, and nothing else will do', async () => {
    const key = await appKey('ES256', 'one');
    const app = newApp({ token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [key.jwk] } });
    const { user, browser } = await newSignedInUser(server);
    const code = async () =>
      (await walk(browser, authorizeUrl(app, { scope: 'openid', ...PKCE }), { user })).searchParams.get('code') ?? '';
    assert.equal((await redeemAt(server, app, await code())).status, 401);
    const proof = await proofOf(server, app.clientId, key);
    assert.equal((await redeemAt(server, app, await code(), proof)).status, 200);
    const another = await proofOf(server, app.clientId, await appKey('ES256', 'one'));
    assert.equal((await redeemAt(server, app, await code(), another)).status, 401);
  });

  test('the person takes it away, and an operator deletes or disables it, as any other app', async () => {
    const away = await connected();
    const id = await idOf(away.app);
    await revokeOnPage(away.browser, { ...away.app, clientId: id });
    assert.equal((await userinfo(server, away.tokens.access_token, USERINFO)).status, 401);
    assert.equal((await renew(away.app, away.tokens.refresh_token)).status, 400);
    const off = await connected();
    const disabled = await idOf(off.app);
    await admin(server, 'PATCH', `/clients/${disabled}`, { status: 'disabled' });
    assert.equal((await userinfo(server, off.tokens.access_token, USERINFO)).status, 401);
    assert.equal((await ask(off.browser, off.app)).status, 400);
  });
});

const { browser: visitor } = await newSignedInUser(server);

describe('the client_id', () => {
  const honest = newApp();
  const port = new URL(publisher.origin).port;
  for (const [what, url] of [
    ['http on another host', 'http://app.example/client.json'],
    ['no path', publisher.origin],
    ['a fragment', `${honest.clientId}#x`],
    ['a user name', honest.clientId.replace('//', '//me@')],
    ['a dot segment', `${publisher.origin}/./app-1.json`],
    ['an encoded dot segment', `${publisher.origin}/x/%2e%2E/app-1.json`],
    ['upper case in the scheme', honest.clientId.replace('http', 'HTTP')],
    ['a host in upper case', `http://LOCALHOST:${port}/app-1.json`],
    ['a host in another spelling', `http://127.1:${port}/app-1.json`],
    ['a long one', `${publisher.origin}/${'x'.repeat(600)}`],
    ['another spelling of the published one', `${honest.clientId}?`],
  ] as const) {
    test(`§3: ${what} is refused, and nothing is redirected`, async () => {
      const before = [...publisher.visits.values()].reduce((sum, count) => sum + count, 0);
      const answer = await ask(visitor, { ...honest, clientId: url });
      assert.equal(answer.status, 400, answer.text.slice(0, 300));
      const asked = [...publisher.visits.values()].reduce((sum, count) => sum + count, 0) - before;
      assert.ok(asked <= (url.endsWith('?') ? 1 : 0), 'it was fetched');
    });
  }
  test('its honest twin is accepted', async () => assert.equal((await ask(visitor, honest)).status, 302));
});

/** Tricks of a metadata server; each is refused, and nothing is on record. */
const TRICKS: Readonly<Record<string, (url: string) => Publish>> = {
  'a redirect to the honest document': () => (_request, response) =>
    response.writeHead(302, { location: `${publisher.origin}/honest.json` }).end(),
  'the document of another client': () => json(documentOf(`${publisher.origin}/honest.json`)),
  'no client_id': (url) => json({ ...documentOf(url), client_id: undefined }),
  'a client_secret': (url) => json(documentOf(url, { client_secret: 'x' })),
  'a secret by its method': (url) => json(documentOf(url, { token_endpoint_auth_method: 'client_secret_basic' })),
  'no redirect URIs': (url) => json(documentOf(url, { redirect_uris: [] })),
  'a script as redirect URI': (url) => json(documentOf(url, { redirect_uris: [REDIRECT_URI, 'javascript:alert(1)'] })),
  'an http redirect URI': (url) => json(documentOf(url, { redirect_uris: ['http://app.example.com/callback'] })),
  'keys that are private': (url) =>
    json(documentOf(url, { jwks: { keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'x', d: 'd' }] } })),
  'private_key_jwt without keys': (url) => json(documentOf(url, { token_endpoint_auth_method: 'private_key_jwt' })),
  'the implicit flow': (url) => json(documentOf(url, { response_types: ['token'] })),
  'a status of 404': (url) => json(documentOf(url), 404),
  'a status of 500': (url) => json(documentOf(url), 500),
  'a status of 206': (url) => json(documentOf(url), 206),
  HTML: (url) => (_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(JSON.stringify(documentOf(url))),
  'text that is no JSON': () => (_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end('{'),
  'a list': () => json([]),
  'a huge document': (url) => json(documentOf(url, { padding: 'x'.repeat(6000) })),
  'a document without an end': () => (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(' '.repeat(64 * 1024));
  },
  'a connection that is cut': () => (request) => request.socket.destroy(),
};

const json =
  (document: unknown, status = 200): Publish =>
  (_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document));

describe('a hostile metadata server', () => {
  publisher.app('/honest.json');
  for (const [trick, answerOf] of Object.entries(TRICKS)) {
    test(`${trick}: refused with a page, and the honest twin is accepted`, async () => {
      const { browser } = await newSignedInUser(server);
      const path = `/trick-${++made}.json`;
      const app: MetadataApp = { ...newApp(), clientId: publisher.publish(path, answerOf(publisher.origin + path)) };
      const refused = await ask(browser, app);
      assert.equal(refused.status, 400, refused.text.slice(0, 300));
      assert.equal(await recordOf(app), undefined);
      // A failure is not asked for again for a while, and then the document may be valid.
      await ask(browser, app);
      assert.equal(publisher.visits.get(path), 1);
      publisher.publish(path, json(documentOf(publisher.origin + path)));
      server.advance(31_000);
      assert.equal((await ask(browser, app)).status, 302);
    });
  }

  test('a redirect URI that is not in the document is never redirected to', async () => {
    const { browser } = await newSignedInUser(server);
    const app = newApp();
    for (const redirectUri of [
      `${REDIRECT_URI}/`,
      'https://app.example.com/CALLBACK',
      'https://evil.example/callback',
    ]) {
      assert.equal((await ask(browser, { ...app, redirectUri })).status, 400);
    }
    assert.equal((await ask(browser, app)).status, 302);
  });

  test('a key set of another host, the name of another app, a logo: text without a picture', async () => {
    const { browser } = await newSignedInUser(server);
    const page = await shown(browser, await ask(browser, newApp({ logo_uri: 'https://evil.example/logo.png' })));
    assert.doesNotMatch(page.text, /evil\.example/);
  });
});

describe('a document that changes', () => {
  test('§5.2: a copy is used as long as its headers say, within 5 minutes and a day', async () => {
    for (const [header, fresh, stale] of [
      ['no-store', 4 * MINUTE, 6 * MINUTE],
      ['max-age=1', 4 * MINUTE, 6 * MINUTE],
      ['max-age=7200', 119 * MINUTE, 121 * MINUTE],
      ['max-age=99999999', 23 * HOUR, 25 * HOUR],
      [undefined, 59 * MINUTE, 61 * MINUTE],
    ] as const) {
      const app = newApp({}, header === undefined ? {} : { 'cache-control': header });
      const path = new URL(app.clientId).pathname;
      const stranger = agent(server.baseUrl);
      await ask(stranger, app);
      server.advance(fresh);
      await ask(stranger, app);
      assert.equal(publisher.visits.get(path), 1, header ?? 'no header');
      server.advance(stale - fresh);
      await ask(stranger, app);
      assert.equal(publisher.visits.get(path), 2, header ?? 'no header');
    }
  });

  test('under a consent: the page is shown again, and what was shown is not allowed', async () => {
    const app = newApp({}, { 'cache-control': 'no-store' });
    const { browser } = await newSignedInUser(server);
    const page = await shown(browser, await ask(browser, app));
    publisher.app(new URL(app.clientId).pathname, { client_name: 'Another agent' });
    server.advance(6 * MINUTE);
    const again = await browser.submit(page, { decision: 'allow' }, '/consent');
    assert.equal(again.status, 409, again.text.slice(0, 300));
    assert.match(again.text, /Another agent/);
    assert.equal(await recordOf(app), undefined);
    const allowed = await browser.submit(again, { decision: 'allow' }, '/consent');
    assert.ok(allowed.location?.searchParams.has('code'), allowed.text);
  });

  test('gone: no new codes, and no refresh; back again: both, for nothing was ended', async () => {
    const { app, browser, tokens } = await connected(newApp({}, { 'cache-control': 'no-store' }));
    const path = new URL(app.clientId).pathname;
    publisher.publish(path, json({}, 410));
    server.advance(6 * MINUTE);
    assert.equal((await ask(browser, app)).status, 400);
    const refused = await renew(app, tokens.refresh_token);
    assert.deepEqual([refused.status, refused.body.error], [401, 'invalid_client']);
    assert.equal((await userinfo(server, tokens.access_token, USERINFO)).status, 200);
    publisher.app(path);
    server.advance(MINUTE);
    assert.equal((await renew(app, tokens.refresh_token)).status, 200);
    assert.equal((await ask(browser, app)).status, 302);
  });

  test('out of reach for the moment: the refresh may be tried again', async () => {
    const { app, tokens } = await connected(newApp({}, { 'cache-control': 'no-store' }));
    const path = new URL(app.clientId).pathname;
    publisher.publish(path, (request) => request.socket.destroy());
    server.advance(6 * MINUTE);
    const refused = await renew(app, tokens.refresh_token);
    assert.deepEqual([refused.status, refused.body.error], [503, 'temporarily_unavailable']);
    publisher.app(path);
    server.advance(MINUTE);
    assert.equal((await renew(app, tokens.refresh_token)).status, 200);
  });

  test('§8.4: another way to authenticate ends what was issued', async () => {
    const { app, tokens } = await connected(newApp({}, { 'cache-control': 'no-store' }));
    const key = await appKey('ES256', 'one');
    publisher.app(new URL(app.clientId).pathname, {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [key.jwk] },
    });
    server.advance(6 * MINUTE);
    assert.equal((await renew(app, tokens.refresh_token)).status, 401);
    assert.equal((await userinfo(server, tokens.access_token, USERINFO)).status, 401);
  });
});

test('the connections page tells it from registered apps and devices, and ends one or all', async () => {
  const { app, browser, user, tokens } = await connected(newApp({ client_name: 'My agent' }));
  const registered = standard(await newClient(server, { name: 'Registered' }));
  const held = await tokensFor(server, registered, user, {}, { browser });
  const device = await newDeviceClient(server, { name: 'Television', redirectUris: undefined });
  const waiting = await startDevice(server, device);
  await answerDevice(server, browser, waiting);
  const page = await browser.get('/account/connections');
  const rows = page.text.split('<a id="app-').slice(1);
  const rowOf = (name: string) => rows.find((row) => row.includes(name)) ?? '';
  assert.match(rowOf('My agent'), /Not registered here/);
  assert.match(rowOf('Television'), /Device or command line/);
  assert.doesNotMatch(rowOf('Registered'), /Not registered here|Device or command line/);
  assert.match(page.text, /Take away all access/);
  const ended = await browser.submit(page, { all: 'yes' }, '/account/connections');
  assert.match(ended.text, /No app has access to your account/);
  assert.equal((await userinfo(server, tokens.access_token, USERINFO)).status, 401);
  assert.equal((await userinfo(server, held.access_token, USERINFO)).status, 401);
  assert.equal((await renew(app, tokens.refresh_token)).status, 400);
  assert.equal((await poll(server, device, waiting)).status, 400);
});

describe('what an operator decides', () => {
  test('an accepted app passes for a registered one, until its document says something else', async () => {
    const { app, browser, tokens } = await connected(newApp({}, { 'cache-control': 'no-store' }));
    const id = await idOf(app);
    const listed = async () =>
      (await admin(server, 'GET', '/unregistered-clients?limit=100')).body.items.some(
        ({ clientId }: { clientId: string }) => clientId === id,
      );
    assert.equal(await listed(), true);
    assert.equal((await admin(server, 'PUT', `/clients/${id}/acceptance`)).status, 200);
    assert.equal(await listed(), false);
    // The consent from before is remembered now.
    assert.ok((await ask(browser, app)).location?.searchParams.has('code'));
    publisher.app(new URL(app.clientId).pathname, { redirect_uris: [REDIRECT_URI, 'https://evil.example/callback'] });
    server.advance(6 * MINUTE);
    assert.match((await shown(browser, await ask(browser, app))).text, /not registered here/);
    assert.equal(await listed(), true);
    assert.equal((await renew(app, tokens.refresh_token)).status, 200);
  });

  test('an acceptance is withdrawn, and is for no other app', async () => {
    const { app, browser } = await connected();
    const id = await idOf(app);
    await admin(server, 'PUT', `/clients/${id}/acceptance`);
    assert.equal((await admin(server, 'DELETE', `/clients/${id}/acceptance`)).status, 204);
    assert.match((await ask(browser, app)).location?.pathname ?? '', /consent/);
    const { clientId } = await newClient(server);
    assert.equal((await admin(server, 'PUT', `/clients/${clientId}/acceptance`)).status, 409);
  });

  test('what the document says is not changed by the API', async () => {
    const { app } = await connected();
    const id = await idOf(app);
    const refused = await admin(server, 'PATCH', `/clients/${id}`, { redirectUris: ['https://other.example/cb'] });
    assert.equal(refused.status, 409);
    assert.match(refused.body.error_description, /redirectUris .*metadata document/);
    assert.equal((await admin(server, 'PATCH', `/clients/${id}`, { description: 'seen' })).status, 200);
  });

  test('blocking a domain ends everything issued to its apps at once, and for good', async () => {
    const other = await startServer(OPEN);
    try {
      const { app, browser, user, tokens } = await connected(newApp(), 'openid', other);
      const pending = await shown(browser, await ask(browser, app));
      // An address is no domain: the record is given one.
      await query(other, "UPDATE client SET metadata_host = 'apps.example.net' WHERE metadata_url = ?", app.clientId);
      assert.equal((await admin(other, 'PUT', '/blocked-domains/example.net')).status, 200);
      assert.equal((await userinfo(other, tokens.access_token, USERINFO)).status, 200);
      assert.equal((await admin(other, 'PUT', '/blocked-domains/.example.net')).status, 200);
      assert.equal((await userinfo(other, tokens.access_token, USERINFO)).status, 401);
      const late = await browser.submit(pending, { decision: 'allow' }, '/consent');
      assert.equal(late.location?.searchParams.has('code') ?? false, false);
      assert.equal((await admin(other, 'DELETE', '/blocked-domains/.example.net')).status, 204);
      assert.equal((await admin(other, 'DELETE', '/blocked-domains/.example.net')).status, 404);
      assert.equal((await userinfo(other, tokens.access_token, USERINFO)).status, 401);
      assert.ok(user);
    } finally {
      await other.close();
    }
  });

  test('a blocked domain ends its apps whether they are accepted or not, and after their acceptance has ended', async () => {
    const other = await startServer(OPEN);
    try {
      const local = publisher.origin.replace('127.0.0.1', 'localhost');
      const path = `/accepted-${++made}.json`;
      publisher.publish(path, json(documentOf(local + path)));
      const app: MetadataApp = { ...newApp(), clientId: local + path };
      const { browser, tokens } = await connected(app, 'openid', other);
      const [row] = await query(other, 'SELECT id FROM client WHERE metadata_url = ?', app.clientId);
      const acceptance = `/clients/${row?.['id']}/acceptance`;
      assert.equal((await admin(other, 'PUT', acceptance)).status, 200);
      assert.equal((await admin(other, 'PUT', '/blocked-domains/localhost')).status, 200);
      const assertRefused = async () => {
        assert.equal((await ask(browser, app)).status, 400);
        assert.equal((await userinfo(other, tokens.access_token, USERINFO)).status, 401);
        assert.equal((await refresh(other, app, tokens.refresh_token)).status, 401);
      };
      await assertRefused();
      assert.equal((await admin(other, 'DELETE', acceptance)).status, 204);
      await assertRefused();
    } finally {
      await other.close();
    }
  });

  test('a blocked domain gets no page, whatever is kept of its documents', async () => {
    const other = await startServer(OPEN);
    try {
      const local = publisher.origin.replace('127.0.0.1', 'localhost');
      const path = `/blocked-${++made}.json`;
      publisher.publish(path, json(documentOf(local + path)));
      const app: MetadataApp = { ...newApp(), clientId: local + path };
      const { browser, tokens } = await connected(app, 'openid', other);
      const page = await shown(browser, await ask(browser, app));
      assert.equal((await admin(other, 'PUT', '/blocked-domains/localhost')).status, 200);
      assert.equal((await ask(browser, app)).status, 400);
      assert.equal((await browser.submit(page, { decision: 'allow' }, '/consent')).status, 400);
      assert.equal((await userinfo(other, tokens.access_token, USERINFO)).status, 401);
      assert.equal((await refresh(other, app, tokens.refresh_token)).status, 401);
    } finally {
      await other.close();
    }
  });
});

describe('the setting', () => {
  test('off: no document is read, and discovery says so', async () => {
    const off = await startServer();
    try {
      const app = newApp();
      const { browser } = await newSignedInUser(off);
      assert.equal((await ask(browser, app)).status, 400);
      assert.equal(publisher.visits.get(new URL(app.clientId).pathname), undefined);
      const said = async (at: TestServer) =>
        (await call(at, 'GET', '/.well-known/openid-configuration')).body.client_id_metadata_document_supported;
      assert.deepEqual([await said(off), await said(server)], [false, true]);
    } finally {
      await off.close();
    }
  });

  test('listed: by the exact domain', async () => {
    const listed = await startServer({
      ...OPEN,
      TESSERA_CLIENT_METADATA: 'listed',
      TESSERA_CLIENT_METADATA_DOMAINS: 'localhost,.example.com',
    });
    try {
      const { browser } = await newSignedInUser(listed);
      const app = newApp();
      assert.equal((await ask(browser, app)).status, 400);
      const local = publisher.origin.replace('127.0.0.1', 'localhost');
      const path = `/listed-${++made}.json`;
      publisher.publish(path, json(documentOf(local + path)));
      assert.equal((await ask(browser, { ...app, clientId: local + path })).status, 302);
    } finally {
      await listed.close();
    }
  });
});

describe('strangers', () => {
  test('a flood of made-up apps leaves no row of an app, no open connection, and counts that end', async () => {
    const limited = await startServer({ TESSERA_CLIENT_METADATA: 'open', TESSERA_LIMIT_METADATA_ADDRESS: '20/m' });
    try {
      const rows = async () => Number((await query(limited, 'SELECT count(*) AS n FROM client'))[0]?.['n']);
      const before = await rows();
      const visited = () => [...publisher.visits.keys()].filter((path) => path.startsWith('/flood')).length;
      const stranger = agent(limited.baseUrl);
      const wave = async (first: number) => {
        const numbers = Array.from({ length: 60 }, (_, index) => first + index);
        return Promise.all(
          numbers.map(async (number) => {
            const app = publisher.app(`/flood-${number}.json`);
            return (await stranger.get(authorizeUrl(app, { scope: 'openid', ...PKCE }))).status;
          }),
        );
      };
      const answers = [...(await wave(0)), ...(await wave(60)), ...(await wave(120))];
      assert.ok(visited() <= 20, `${visited()} documents were fetched`);
      assert.equal(answers.filter((status) => status === 302).length, visited());
      assert.equal(await rows(), before);
      assert.equal(await publisher.connections(), 0);
      const counts = await query(limited, "SELECT bucket FROM rate_count WHERE bucket LIKE 'metadata%'");
      assert.ok(counts.length <= 3, JSON.stringify(counts));
    } finally {
      await limited.close();
    }
  });

  test('requests for one document at the same time are one, and a host gets two at a time at most', async () => {
    let open = 0;
    let most = 0;
    const release = Promise.withResolvers<void>();
    const held = (path: string) =>
      publisher.publish(path, async (_request, response) => {
        most = Math.max(most, ++open);
        await release.promise;
        open--;
        json(documentOf(publisher.origin + path))(_request, response);
      });
    const urls = ['/held-1.json', '/held-2.json', '/held-3.json', '/held-1.json'].map(held);
    const asked = urls.map((clientId) => ask(agent(server.baseUrl), { ...newApp(), clientId }));
    // One of the three documents is refused while the others are under way.
    assert.equal((await Promise.race(asked)).status, 400);
    release.resolve();
    await Promise.all(asked);
    const visits = ['/held-1.json', '/held-2.json', '/held-3.json'].map((path) => publisher.visits.get(path) ?? 0);
    // A request that comes after the release may fetch the one that was refused.
    assert.ok(most <= 2 && Math.max(...visits) === 1, `${most} at a time: ${visits}`);
  });

  test('two people allow a new app at the same time: one record, and both are connected', async () => {
    const app = newApp();
    const people = [await newSignedInUser(server), await newSignedInUser(server)];
    const pages = await Promise.all(people.map(async ({ browser }) => shown(browser, await ask(browser, app))));
    const answers = await Promise.all(
      people.map(({ browser }, index) => browser.submit(pages[index] as Answer, { decision: 'allow' }, '/consent')),
    );
    for (const [index, answer] of answers.entries()) {
      // The one who came second may have to look at the page again.
      const browser = people[index]?.browser as Agent;
      const last = answer.status === 409 ? await browser.submit(answer, { decision: 'allow' }, '/consent') : answer;
      assert.ok(last.location?.searchParams.has('code'), last.text.slice(0, 300));
    }
    assert.equal((await query(server, 'SELECT id FROM client WHERE metadata_url = ?', app.clientId)).length, 1);
  });
});
