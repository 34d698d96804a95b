// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { type Body, call, FORM_TYPE, JSON_TYPE, STANDARD, TOKEN, tokenForm, USERINFO } from '../support/api-call.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  signedIn,
  type TestClient,
  type TestUser,
  walk,
} from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

const SPA = 'https://spa.example.com';
const LOCAL = 'http://localhost:5173';
const SECRETIVE = 'https://server.example.com';
const REVOKE = '/oidc/revoke';
let server: TestServer;
let user: TestUser;
let spa: TestClient;
before(async () => {
  server = await startServer({ TESSERA_LIMIT_TOKEN: '40/m', TESSERA_LIMIT_CLIENT_AUTH: '40/m' });
  user = await newUser(server);
  spa = await publicApp([`${SPA}/cb`, `${LOCAL}/cb`, 'com.example.app:/cb', 'http://127.0.0.1/cb']);
  await newClient(server, { redirectUris: [`${SECRETIVE}/cb`] });
});
after(() => server.close());

const publicApp = (redirectUris: readonly string[]) => newClient(server, { type: 'public', redirectUris });

/** What an answer says to browsers. */
function access(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')));
}

const READABLE = { 'access-control-expose-headers': 'WWW-Authenticate, Retry-After, X-Request-Id' };
const readableBy = (origin: string) => ({ ...READABLE, 'access-control-allow-origin': origin });

const preflight = (path: string, origin: string, method = 'POST', more = {}) =>
  call(server, 'OPTIONS', path, {
    origin,
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization,content-type',
    ...more,
  });

const PLACES: readonly [string, string][] = [
  [TOKEN, 'POST'],
  [REVOKE, 'POST'],
  [USERINFO, 'GET, HEAD'],
  [STANDARD, 'GET, HEAD, POST'],
];

describe('HB-04: preflight (Fetch Standard §3.2.2)', () => {
  for (const [path, methods] of PLACES) {
    test(`${path}: 204 for the origins of public apps, which names ${methods}, and no credentials`, async () => {
      for (const origin of [SPA, LOCAL, 'http://127.0.0.1']) {
        const answer = await preflight(path, origin);
        assert.deepEqual([answer.status, answer.text], [204, '']);
        assert.deepEqual(access(answer.headers), {
          ...readableBy(origin),
          'access-control-allow-methods': methods,
          'access-control-allow-headers': answer.headers.get('access-control-allow-headers') ?? '',
          'access-control-max-age': '600',
        });
        assert.equal(answer.headers.get('vary'), 'Origin');
        const allowed = (answer.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ');
        assert.deepEqual(allowed.slice(0, 2), ['authorization', 'content-type']);
        for (const name of ['traceparent', 'tracestate', 'baggage', 'x-request-id', 'sentry-trace'])
          assert.ok(allowed.includes(name), 'what tracing adds to the requests of pages');
        for (const name of ['cookie', '*', 'x-forwarded-for']) assert.ok(!allowed.includes(name));
      }
    });

    test(`${path}: 405 without a word for every other origin`, async () => {
      const others = [
        ...['null', 'https://evil.example', SECRETIVE, 'com.example.app:', 'file://', '*', 'x', `${SPA},${LOCAL}`],
        ...[`${SPA}/`, `${SPA}:443`, `${SPA}:8443`, `${SPA}.evil.example`, `https://evil.example?${SPA}`],
        ...['http://spa.example.com', 'https://SPA.example.com', 'HTTPS://spa.example.com', 'https://example.com'],
        ...['https://a.spa.example.com', 'http://localhost:5174', 'http://localhost', 'http://127.0.0.1:4000'],
        ...['https://spa.example.com%00', "https://spa.example.com' OR 1=1 --", `https://${'a'.repeat(9000)}.example`],
      ];
      for (const origin of others) {
        const answer = await preflight(path, origin);
        assert.equal(answer.status, 405, origin);
        assert.deepEqual(access(answer.headers), {}, origin);
      }
    });
  }

  test('nothing else of the server is open to any page', async () => {
    const closed = [
      '/oidc/introspect',
      '/api/v2/oauth/authorize',
      '/login',
      '/consent',
      '/account',
      '/api/v2/admin/users',
    ];
    for (const path of [...closed, '/health/ready', '/oidc/logout', '/nothing']) {
      for (const origin of [SPA, 'https://evil.example']) {
        const answer = await preflight(path, origin);
        assert.ok(answer.status >= 400, path);
        assert.deepEqual(access(answer.headers), {}, path);
      }
    }
  });

  test('OPTIONS that is no preflight changes nothing', async () => {
    const answer = await call(server, 'OPTIONS', TOKEN, { origin: SPA });
    assert.equal(answer.status, 405);
    assert.deepEqual(access(answer.headers), readableBy(SPA));
    assert.deepEqual(access((await call(server, 'OPTIONS', TOKEN)).headers), {});
  });

  test('discovery and the key set are for every page', async () => {
    for (const path of [
      'openid-configuration',
      'oauth-authorization-server',
      'oauth-protected-resource/oidc/userinfo',
      'jwks.json',
    ]) {
      for (const origin of ['https://evil.example', 'null']) {
        const asked = await preflight(`/.well-known/${path}`, origin, 'GET');
        assert.deepEqual([asked.status, asked.headers.get('access-control-allow-methods')], [204, 'GET, HEAD']);
        const read = await call(server, 'GET', `/.well-known/${path}`, { origin });
        for (const { headers } of [asked, read]) assert.equal(headers.get('access-control-allow-origin'), '*');
        for (const { headers } of [asked, read]) assert.equal(headers.get('access-control-allow-credentials'), null);
      }
    }
  });
});

describe('HB-04: a page reads the answers that it asked for, errors included', () => {
  async function tokens(): Promise<Record<string, string>> {
    const verifier = randomBytes(32).toString('base64url');
    const code_challenge = createHash('sha256').update(verifier).digest('base64url');
    const address = authorizeUrl(spa, { code_challenge, code_challenge_method: 'S256' });
    const code = (await walk(await signedIn(server, user), address)).searchParams.get('code') ?? '';
    const body = { grant_type: 'authorization_code', code, redirect_uri: spa.redirectUri, code_verifier: verifier };
    const answer = await fromPage(JSON.stringify({ ...body, client_id: spa.clientId }), JSON_TYPE);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(access(answer.headers), readableBy(SPA));
    assert.equal(answer.headers.get('vary'), 'Origin');
    return answer.body;
  }
  const fromPage = (body: Body, type = FORM_TYPE, origin = SPA, headers = {}) =>
    call(server, 'POST', TOKEN, { origin, 'content-type': type, ...headers }, body);

  test('token, UserInfo in both shapes, revocation; then the 403 and the 401', async () => {
    const { access_token = '', refresh_token = '' } = await tokens();
    const read = (path: string, token = access_token) =>
      call(server, 'GET', path, { origin: SPA, authorization: `Bearer ${token}` });
    for (const path of [USERINFO, STANDARD]) {
      const answer = await read(path);
      assert.equal(answer.status, 200);
      assert.deepEqual(access(answer.headers), readableBy(SPA));
    }
    await admin(server, 'DELETE', `/users/${user.id}/connections/${spa.clientId}`);
    for (const path of [USERINFO, STANDARD]) {
      for (const [answer, status] of [
        [await read(path), path === USERINFO ? 403 : 401],
        [await read(path, 'x'), 401],
      ] as const) {
        assert.equal(answer.status, status);
        assert.deepEqual(access(answer.headers), readableBy(SPA));
      }
    }
    const form = { token: refresh_token, client_id: spa.clientId };
    const headers = { origin: SPA, 'content-type': FORM_TYPE };
    const ended = await call(server, 'POST', REVOKE, headers, new URLSearchParams(form).toString());
    assert.deepEqual([ended.status, access(ended.headers)], [200, readableBy(SPA)]);
  });

  const refused: [string, number, Body, string][] = [
    ['no body', 400, '', JSON_TYPE],
    ['no JSON', 400, '{', JSON_TYPE],
    ['an unknown client', 401, 'grant_type=refresh_token&refresh_token=x&client_id=1', FORM_TYPE],
    ['another content type', 415, 'x', 'text/plain'],
    ['too large a body', 413, 'x'.repeat(66_000), FORM_TYPE],
  ];
  for (const [name, status, body, type] of refused) {
    test(`${status}: ${name}`, async () => {
      const answer = await fromPage(body, type);
      assert.equal(answer.status, status);
      assert.deepEqual(access(answer.headers), readableBy(SPA));
      assert.deepEqual(access((await fromPage(body, type, 'https://evil.example')).headers), {});
    });
  }

  test('405 and 429', async () => {
    const wrong = await call(server, 'GET', TOKEN, { origin: SPA });
    assert.deepEqual([wrong.status, access(wrong.headers)], [405, readableBy(SPA)]);
    const body = `grant_type=refresh_token&refresh_token=x&client_id=${spa.clientId}`;
    for (let n = 0; n < 40; n++) await fromPage(body);
    const limited = await fromPage(body);
    assert.deepEqual([limited.status, access(limited.headers)], [429, readableBy(SPA)]);
    assert.ok(limited.headers.get('retry-after'));
    server.advance(MINUTE);
  });

  test('the answer of another app, and of one with a secret, is not for the page', async () => {
    const other = await publicApp(['https://other.example.com/cb']);
    const secretive = await newClient(server);
    const body = { grant_type: 'refresh_token', refresh_token: 'x' };
    for (const { clientId, clientSecret = '' } of [other, secretive]) {
      const form = { ...body, client_id: clientId, ...(clientSecret !== '' && { client_secret: clientSecret }) };
      const answer = await tokenForm(server, form, { origin: SPA });
      assert.deepEqual([answer.status, access(answer.headers)], [400, {}]);
    }
  });

  test('without an Origin no header is added', async () => {
    for (const path of [USERINFO, STANDARD, TOKEN]) {
      const { headers } = await call(server, 'GET', path);
      assert.deepEqual(access(headers), {});
      assert.equal(headers.get('vary'), null);
    }
  });
});

describe('which origins are open follows the registrations at once', () => {
  const isOpen = async (origin: string) => (await preflight(TOKEN, origin)).status === 204;

  test('registered, changed, disabled, enabled, deleted', async () => {
    const [first, second] = ['https://one.example.com', 'https://two.example.com'] as const;
    assert.equal(await isOpen(first), false);
    const { clientId } = await publicApp([`${first}/cb`, `${first}/other`]);
    assert.deepEqual([await isOpen(first), await isOpen(second)], [true, false]);
    const path = `/clients/${clientId}`;
    await admin(server, 'PATCH', path, { redirectUris: [`${second}/cb`] });
    assert.deepEqual([await isOpen(first), await isOpen(second)], [false, true]);
    await admin(server, 'PATCH', path, { status: 'disabled' });
    assert.equal(await isOpen(second), false);
    await admin(server, 'PATCH', path, { status: 'active' });
    assert.equal(await isOpen(second), true);
    await admin(server, 'DELETE', path);
    assert.equal(await isOpen(second), false);
  });

  test('what is registered at one origin by two apps stays open until the last is gone', async () => {
    const origin = 'https://shared.example.com';
    const apps = [await publicApp([`${origin}/a`]), await publicApp([`${origin}/b`])];
    for (const { clientId } of apps) {
      assert.equal(await isOpen(origin), true);
      await admin(server, 'DELETE', `/clients/${clientId}`);
    }
    assert.equal(await isOpen(origin), false);
  });
});
