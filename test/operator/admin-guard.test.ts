// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createAdminKey } from '../../src/account-actions/makers/admin-keys.ts';
import { cookieName } from '../support/agent.ts';
import { admin, type JsonAnswer, newClient, newUser, signedIn, tokensFor } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { ADMIN_KEY, startServer } from '../support/server.ts';
import { type AdminRoute, adminRouteTable } from './admin-routes.ts';

const CALLS = [
  'POST /users',
  'GET /users',
  'GET /users/:id',
  'PATCH /users/:id',
  'DELETE /users/:id',
  'PUT /users/:id/ban',
  'DELETE /users/:id/ban',
  'PUT /users/:id/suspension',
  'DELETE /users/:id/suspension',
  'DELETE /users/:id/deletion',
  'PUT /users/:id/deletion',
  'PUT /users/:id/picture',
  'DELETE /users/:id/picture',
  'POST /users/:id/recovery-link',
  'GET /users/:id/connections',
  'DELETE /users/:id/connections/:clientId',
  'GET /users/:id/sessions',
  'DELETE /users/:id/sessions',
  'DELETE /users/:id/sessions/:sessionId',
  'POST /clients',
  'GET /clients',
  'GET /clients/:clientId',
  'PATCH /clients/:clientId',
  'DELETE /clients/:clientId',
  'PUT /clients/:clientId/picture',
  'DELETE /clients/:clientId/picture',
  'POST /clients/:clientId/secrets',
  'DELETE /clients/:clientId/secrets/:id',
  'GET /clients/:clientId/allowed-clients',
  'GET /clients/:clientId/allowed-clients/:allowedClientId',
  'PUT /clients/:clientId/allowed-clients/:allowedClientId',
  'DELETE /clients/:clientId/allowed-clients/:allowedClientId',
  'GET /clients/:clientId/api-scopes',
  'POST /clients/:clientId/scope-requests',
  'GET /clients/:clientId/scope-requests',
  'DELETE /clients/:clientId/scope-requests/:id',
  'POST /clients/:clientId/scope-requests/:id/approve',
  'POST /clients/:clientId/scope-requests/:id/decline',
  'GET /scope-requests',
  'GET /clients/:clientId/trace-steps',
  'PUT /clients/:clientId/consent-approval',
  'DELETE /clients/:clientId/consent-approval',
  'PUT /clients/:clientId/acceptance',
  'DELETE /clients/:clientId/acceptance',
  'DELETE /clients/:clientId/self-registration',
  'POST /initial-access-tokens',
  'GET /initial-access-tokens',
  'DELETE /initial-access-tokens/:id',
  'GET /unregistered-clients',
  'POST /upstreams',
  'GET /upstreams',
  'GET /upstreams/:id',
  'PATCH /upstreams/:id',
  'POST /upstreams/:id/disable',
  'POST /upstreams/:id/enable',
  'POST /upstreams/:id/test',
  'DELETE /upstreams/:id',
  'POST /upstreams/:id/preview',
  'GET /organizations/:id/only-upstream',
  'PUT /organizations/:id/only-upstream',
  'GET /blocked-domains',
  'PUT /blocked-domains/:domain',
  'DELETE /blocked-domains/:domain',
  'GET /clients/:clientId/assignments',
  'POST /clients/:clientId/assignments',
  'GET /clients/:clientId/assignments/:id',
  'PATCH /clients/:clientId/assignments/:id',
  'DELETE /clients/:clientId/assignments/:id',
  'GET /clients/:clientId/access/:userId',
  'POST /clients/:clientId/preview',
  'POST /groups',
  'GET /groups',
  'GET /groups/:id',
  'PATCH /groups/:id',
  'DELETE /groups/:id',
  'GET /groups/:id/members',
  'PUT /groups/:id/members/:userId',
  'DELETE /groups/:id/members/:userId',
  'GET /users/:id/groups',
  'GET /users/:id/last-sign-ins',
  'DELETE /organizations/:id',
  'POST /organizations',
  'GET /organizations',
  'POST /end-weaker-access',
  'GET /organizations/:id',
  'PATCH /organizations/:id',
  'GET /traces/:id',
  'GET /organizations/:id/members/:userId',
  'PUT /organizations/:id/members/:userId',
  'DELETE /organizations/:id/members/:userId',
  'GET /audit-events',
  'POST /invitations',
  'GET /invitations',
  'DELETE /invitations/:id',
  'GET /mail',
  'POST /users/:id/recovery',
  'GET /users/:id/factors',
  'DELETE /users/:id/factors/:factorId',
  'GET /users/:id/identities',
  'DELETE /users/:id/identities/:identityId',
  'POST /users/:id/unlock',
  'POST /users/:id/email-verification',
  'DELETE /held-usernames/:username',
  'GET /trace-steps',
  'GET /operators',
  'GET /users/:id/roles',
  'PUT /users/:id/roles/:role',
  'DELETE /users/:id/roles/:role',
  'POST /admin-keys',
  'GET /admin-keys',
  'GET /admin-keys/:id',
  'DELETE /admin-keys/:id',
];

let clientSecret: string;
let clientId: string;

// Every route is tried with every credential that is not an admin key.
const server = await startServer({ TESSERA_LIMIT_ADMIN_KEY: 'off' });
after(() => server.close());
const routes = await adminRouteTable();
const [client, user] = [await newClient(server), await newUser(server)];
const browser = await signedIn(server, user);
const tokens = await tokensFor(server, client, user, { scope: 'openid email' }, { browser });
({ clientSecret, clientId } = client);
const sessionCookie = browser.cookie('tessera_session') ?? '';
const userId = user.id;
assert.match(sessionCookie, /^\S{43}$/);

async function call({ method, url }: AdminRoute, headers: Readonly<Record<string, string>>): Promise<JsonAnswer> {
  const path = url.replace(':clientId', clientId).replace(/:(id|userId)/g, userId);
  const body = ['POST', 'PUT', 'PATCH'].includes(method) ? '{"__proto__": 1, broken' : null;
  const response = await fetch(server.baseUrl + path, {
    method,
    headers: { ...(body !== null && { 'content-type': 'application/json' }), ...headers },
    body,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

test('decisions §7: the admin API is these calls', () => {
  assert.deepEqual(
    routes.map(({ method, url }) => `${method} ${url.slice('/api/v2/admin'.length)}`).sort(),
    [...CALLS].sort(),
  );
});

test('AD-01, AD-03: no route answers any other credential than an admin key, and none reads a body before it', async () => {
  const basic = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const credentials: [string, Record<string, string>][] = [
    ['nothing', {}],
    ['an empty key', { authorization: 'Bearer ' }],
    ['another scheme', { authorization: `Basic ${basic}` }],
    ['the key as Basic', { authorization: `Basic ${Buffer.from(`admin:${ADMIN_KEY}`).toString('base64')}` }],
    ['the key in another header', { 'x-api-key': ADMIN_KEY, cookie: `admin=${ADMIN_KEY}` }],
    ['two keys in one', { authorization: `Bearer ${ADMIN_KEY} ${ADMIN_KEY}` }],
    ['a key with one letter more', { authorization: `Bearer ${ADMIN_KEY}a` }],
    ['a key with one letter less', { authorization: `Bearer ${ADMIN_KEY.slice(0, -1)}` }],
    ['a key in another case', { authorization: `Bearer ${ADMIN_KEY.toUpperCase()}` }],
    ['an unknown key', { authorization: `Bearer tak_${'A'.repeat(43)}` }],
    ['an access token', { authorization: `Bearer ${tokens.access_token}` }],
    ['a refresh token', { authorization: `Bearer ${tokens.refresh_token}` }],
    ['an ID token', { authorization: `Bearer ${tokens.id_token}` }],
    ['a client secret', { authorization: `Bearer ${clientSecret}` }],
    ['a session’s secret', { authorization: `Bearer ${sessionCookie}` }],
    ['a session cookie', { cookie: `${cookieName(server.baseUrl, 'tessera_session')}=${sessionCookie}` }],
  ];
  for (const [what, headers] of credentials) {
    for (const route of routes) {
      const answer = await call(route, headers);
      const where = `${route.method} ${route.url} with ${what}`;
      assert.equal(answer.status, 401, where);
      assert.equal(answer.body.error, 'invalid_token', where);
      assert.deepEqual(Object.keys(answer.body), ['error', 'error_description'], where);
      assert.match(answer.headers.get('www-authenticate') ?? '', /^Bearer realm="tessera"/, where);
      assert.equal(answer.headers.get('cache-control'), 'no-store', where);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/, where);
    }
  }
  assert.equal((await admin(server, 'GET', `/users/${userId}`)).status, 200, 'and nothing was done');
});

/** Every name under which a request could say who acts or whom it is about. */
const naming = (id: string): Record<string, string> =>
  Object.fromEntries(
    ['id', 'userId', 'user_id', 'accountId', 'account_id', 'clientId', 'client_id', 'sub', 'actor', 'actorId'].map(
      (name) => [name, id],
    ),
  );

test('AD-03: an actor named in the body, the query or a header is ignored', async () => {
  for (const { method, url } of routes) {
    const path = url.replace(':clientId', clientId).replace(/:(id|userId|sessionId)/g, userId);
    const response = await fetch(`${server.baseUrl}${path}?${new URLSearchParams(naming(userId))}`, {
      method,
      headers: {
        ...{ 'x-user-id': userId, 'x-forwarded-user': 'root', 'x-remote-user': 'root', 'remote-user': 'root' },
        ...(!['GET', 'DELETE'].includes(method) && { 'content-type': 'application/json' }),
      },
      ...(!['GET', 'DELETE'].includes(method) && { body: JSON.stringify({ ...naming(userId), role: 'OWNER' }) }),
    });
    assert.equal(response.status, 401, `${method} ${url}`);
    await response.text();
  }
  const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
  const { key, adminKey } = await withData(server, (core) =>
    createAdminKey({ ...core, operator: undefined }, { name: 'ops' }, origin),
  );
  const response = await fetch(`${server.baseUrl}/api/v2/admin/users/${userId}?${new URLSearchParams(naming('1'))}`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json', 'x-user-id': '1' },
    body: JSON.stringify({ about: 'by a key of its own' }),
  });
  assert.equal(response.status, 200, await response.text());
  const events = (await admin(server, 'GET', `/audit-events?userId=${userId}&type=account.updated`)).body.items;
  assert.deepEqual(events.at(-1).actor, { type: 'admin', id: key.id });
});

test('AD-02: the object in the path is the one that changes, whatever else the request names', async () => {
  const [one, other] = [await newUser(server), await newUser(server)];
  const [app, otherApp] = [await newClient(server), await newClient(server)];
  const seen = () =>
    Promise.all([`/users/${other.id}`, `/clients/${otherApp.clientId}`].map((path) => admin(server, 'GET', path)));
  const before = (await seen()).map(({ body }) => body);
  const query = new URLSearchParams({ ...naming(other.id), clientId: otherApp.clientId });
  for (const [method, path, body] of [
    ['PATCH', `/users/${one.id}`, { about: 'changed' }],
    ['PUT', `/users/${one.id}/ban`, {}],
    ['DELETE', `/users/${one.id}/ban`, undefined],
    ['PATCH', `/clients/${app.clientId}`, { description: 'changed' }],
    ['POST', `/clients/${app.clientId}/secrets`, {}],
    ['DELETE', `/users/${one.id}`, undefined],
    ['DELETE', `/clients/${app.clientId}`, undefined],
  ] as const) {
    const named = await admin(server, method, `${path}?${query}`, body);
    // Where a parameter is read, others are refused.
    const done = named.status === 400 ? await admin(server, method, path, body) : named;
    assert.ok([200, 201, 204].includes(done.status), `${method} ${path}: ${done.status}`);
    if (body === undefined) continue;
    const inBody = await admin(server, method, path, { ...body, id: other.id });
    assert.deepEqual([inBody.status, inBody.body.error], [400, 'invalid_request'], `${method} ${path}`);
  }
  assert.deepEqual(
    (await seen()).map(({ body }) => body),
    before,
  );
});

test('RFC 6750 §2.3: an admin key in the address is no key', async () => {
  for (const name of ['access_token', 'key', 'token', 'api_key']) {
    const response = await fetch(`${server.baseUrl}/api/v2/admin/users?${name}=${ADMIN_KEY}`);
    assert.equal(response.status, 401, name);
  }
});

test('RFC 9110 §11.1: the scheme is written in any letter case', async () => {
  const headers = { authorization: `bEARER ${ADMIN_KEY}` };
  assert.equal((await fetch(`${server.baseUrl}/api/v2/admin/users`, { headers })).status, 200);
});

test('a missing key is told how to get one; a wrong one does not come back in the answer', async () => {
  const missing = await call({ method: 'GET', url: '/api/v2/admin/users' }, {});
  assert.match(missing.body.error_description, /tessera admin-key create/);
  assert.equal(
    missing.headers.get('www-authenticate'),
    `Bearer realm="tessera", resource_metadata="${server.baseUrl}/.well-known/oauth-protected-resource/api/v2/admin"`,
  );
  const wrong = await call({ method: 'GET', url: '/api/v2/admin/users' }, { authorization: 'Bearer canary-8361' });
  assert.match(wrong.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
  assert.ok(!JSON.stringify(wrong.body).includes('canary-8361'));
});

test('decisions §4: an admin key opens nothing but the admin API', async () => {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` };
  assert.equal((await fetch(`${server.baseUrl}/api/v2/oauth/userinfo`, { headers })).status, 401);
});

test('decisions §4: unknown addresses are 404 and wrong methods 405, with what the address answers', async () => {
  for (const path of ['/nothing', '/users/', '/Users', '/users/1/ban/2', '/keys']) {
    assert.equal((await admin(server, 'GET', path)).status, 404, path);
  }
  const wrong = await admin(server, 'PUT', '/users');
  assert.equal(wrong.status, 405);
  assert.equal(wrong.headers.get('allow'), 'GET, HEAD, POST');
});

test('decisions §7: what cannot be an id, and the id of another kind of thing, are 404 not_found', async () => {
  const ids = [
    '0',
    '-1',
    '01',
    '1.0',
    '1e3',
    'abc',
    '9223372036854775808',
    '99999999999999999999',
    '%00',
    "1'--",
    '１',
  ];
  // A route that reads a file alone refuses JSON before anything else.
  const readsFile = ({ method, url }: AdminRoute) => method === 'PUT' && url.endsWith('/picture');
  // A domain has no id.
  const hasId = ({ url }: AdminRoute) => url.replace('/:domain', '').includes(':');
  for (const route of routes.filter((one) => hasId(one) && !readsFile(one))) {
    for (const id of ids) {
      const path = route.url.replace(/:\w+/g, () => encodeURIComponent(id)).slice('/api/v2/admin'.length);
      const body = ['POST', 'PUT', 'PATCH'].includes(route.method) ? {} : undefined;
      const answer = await admin(server, route.method, path, body);
      assert.equal(answer.status, 404, `${route.method} ${path} ${JSON.stringify(answer.body)}`);
      assert.equal(answer.body.error, 'not_found', path);
    }
  }
  for (const path of [`/users/${clientId}`, `/clients/${userId}`, `/organizations/${userId}`]) {
    const answer = await admin(server, 'GET', path);
    assert.equal(answer.status, 404, path);
    assert.equal(answer.body.error, 'not_found', path);
  }
});
