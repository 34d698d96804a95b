// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PER_TOKEN } from '../../src/protocol/preview/preview.ts';
import { tessera } from '../operator/command.ts';
import { allow, newApi, type TestApi } from '../support/api-scopes.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  redeem,
  signedIn,
  standard,
  type TestClient,
  type TestUser,
  tokensFor,
  userinfo,
  walk,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { introspect } from '../support/token-services.ts';

// What the tokens of a person would say in an app: decisions §12.

const server = await startServer();
after(() => server.close());

const call = async (method: string, path: string, body?: unknown) => {
  const answer = await admin(server, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const preview = ({ clientId }: TestClient, { id }: TestUser, scope?: string, more: object = {}) =>
  call('POST', `/clients/${clientId}/preview`, { userId: id, scope, ...more });

let made = 0;
async function joinGroups(client: TestClient, user: TestUser, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const { id } = await call('POST', '/groups', { name: `preview-${++made}` });
    await call('PUT', `/groups/${id}/members/${user.id}`);
    await call('POST', `/clients/${client.clientId}/assignments`, { groupId: id });
  }
}

const comparable = (claims: object): object =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !PER_TOKEN.includes(name)));

const ALL = 'openid profile email details phone social organization.read groups roles';
const ROLES = [{ name: 'viewer', description: null }];

/** Apps whose tokens differ, and the scopes that they ask for. */
const APPS: Readonly<
  Record<string, readonly [settings: Readonly<Record<string, unknown>>, scope: string | undefined]>
> = {
  'every scope': [{ scopes: ALL.split(' '), roles: ROLES }, ALL],
  'the default scope': [{}, undefined],
  'claims of scopes in UserInfo alone': [{ scopes: ALL.split(' '), idTokenClaims: 'requested' }, ALL],
  'other names of claims': [{ scopes: ALL.split(' '), claimNames: { groups: 'teams', roles: 'tasks' } }, ALL],
  'assigned people only': [{ scopes: ALL.split(' '), access: 'assigned', roles: ROLES }, 'openid groups roles'],
  'no openid': [{}, 'profile email'],
};

for (const [name, [settings, scope]] of Object.entries(APPS)) {
  test(`it says what ID token, UserInfo and introspection say: ${name}`, async () => {
    const user = await newUser(server, { phone: '+905551234567', website: 'https://ada.example' });
    const registered = await newClient(server, settings);
    await joinGroups(registered, user, 2);
    await call('POST', `/clients/${registered.clientId}/assignments`, {
      userId: user.id,
      ...('roles' in settings && { role: 'viewer' }),
    });
    const { access, endpoints } = await preview(registered, user, scope);
    assert.equal(access.allowed, true);
    const sets = endpoints.map((one: { endpoints: string }) => one.endpoints);
    assert.deepEqual(sets, ['v2', 'oidc']);

    for (const one of endpoints) {
      const isV2 = one.endpoints === 'v2';
      if (one.error !== null) {
        // The v2 endpoints know no groups and roles.
        assert.ok(isV2 && scope?.includes('groups'), one.errorDescription);
        continue;
      }
      const client = isV2 ? registered : standard(registered);
      const tokens = await tokensFor(server, client, user, { scope: scope ?? 'openid' });
      const info = await userinfo(server, tokens.access_token, isV2 ? '/api/v2/oauth/userinfo' : '/oidc/userinfo');
      const idToken = tokens.id_token === undefined ? null : comparable(claimsOf(tokens.id_token));
      assert.deepEqual(one.idToken, idToken);
      assert.deepEqual(one.userinfo, info.status === 200 ? info.body : null);
      const { body } = await introspect(server, client, tokens.access_token);
      assert.deepEqual(one.introspection, comparable(body));
    }
  });
}

/** Requests for resources and single claims, and whether UserInfo takes their tokens. */
const REQUESTS: Readonly<
  Record<
    string,
    (api: TestApi) => { readonly scope: string; readonly resource?: readonly string[]; readonly claims?: string }
  >
> = {
  'an API alone': ({ resource }) => ({ scope: 'openid email notes.read', resource: [resource] }),
  'an API and UserInfo': ({ resource }) => ({
    scope: 'openid notes.read groups',
    resource: [resource, `${server.baseUrl}/oidc/userinfo`],
  }),
  'scopes of an API, without its resource': () => ({ scope: 'openid notes.read' }),
  'single claims': () => ({
    scope: 'openid',
    claims: JSON.stringify({
      userinfo: { email: null, groups: { essential: true }, unknown: null },
      id_token: { roles: null, preferred_username: null },
    }),
  }),
  'a resource and single claims': ({ resource }) => ({
    scope: 'openid notes.read',
    resource: [resource],
    claims: JSON.stringify({ id_token: { email: null, groups: null } }),
  }),
};

for (const [name, request] of Object.entries(REQUESTS)) {
  test(`it says what the tokens of a request say that names resources or claims: ${name}`, async () => {
    const api = await newApi(server, ['notes.read', 'notes.write']);
    const registered = await newClient(server, { scopes: ALL.split(' '), roles: ROLES, endpoints: ['oidc'] });
    await allow(server, api, registered, ['notes.read', 'notes.write']);
    const user = await newUser(server);
    await joinGroups(registered, user, 2);
    await call('POST', `/clients/${registered.clientId}/assignments`, { userId: user.id, role: 'viewer' });
    const { scope, resource, claims } = request(api);
    const [one] = (await preview(registered, user, scope, { resource, claims })).endpoints;
    assert.deepEqual([one.error, one.ignoredScopes], [null, []]);

    const client = standard(registered);
    const browser = await signedIn(server, user);
    const asked = { scope, ...(claims !== undefined && { claims }) };
    const address = new URL(authorizeUrl(client, asked), server.baseUrl);
    for (const name of resource ?? []) address.searchParams.append('resource', name);
    const code = (await walk(browser, `${address.pathname}${address.search}`)).searchParams.get('code') ?? '';
    const { body: tokens } = await redeem(server, client, code);
    const info = await userinfo(server, tokens.access_token, '/oidc/userinfo');
    const { body } = await introspect(server, client, tokens.access_token);
    assert.deepEqual(one.idToken, comparable(claimsOf(tokens.id_token)));
    assert.deepEqual(one.userinfo, info.status === 200 ? info.body : null);
    assert.deepEqual(one.introspection, comparable(body));
  });
}

test('it says how a request for resources or claims would be refused', async () => {
  const user = await newUser(server);
  const other = await newUser(server);
  const client = await newClient(server, { endpoints: ['oidc'] });
  const refusals = [
    [{ resource: ['https://unknown.example'] }, 'invalid_target', /unknown resource https:/],
    [{ resource: ['nonsense'] }, 'invalid_target', /absolute URI/],
    [{ claims: '{"id_token":' }, 'invalid_request', /claims must be JSON, and at column 13/],
    [{ claims: '{"id_token":{"email":1}}' }, 'invalid_request', /each claim of id_token/],
    [{ claims: JSON.stringify({ id_token: { sub: { value: other.id } } }) }, 'login_required', /not signed in/],
  ] as const;
  for (const [more, error, description] of refusals) {
    const [one] = (await preview(client, user, 'openid', more)).endpoints;
    assert.deepEqual([one.error, one.idToken, one.userinfo, one.introspection], [error, null, null, null]);
    assert.match(one.errorDescription, description);
  }
  const own = { claims: JSON.stringify({ id_token: { sub: { value: user.id } } }) };
  assert.equal((await preview(client, user, 'openid', own)).endpoints[0].error, null);
});

test('the command takes resources and claims, too', async () => {
  const api = await newApi(server, ['notes.read']);
  const client = await newClient(server, { endpoints: ['oidc'] });
  await allow(server, api, client, ['notes.read']);
  const { username } = await newUser(server);
  const options = ['--scope', 'openid notes.read', '--resource', api.resource, '--base-url', server.baseUrl];
  const claims = ['--claims', '{"id_token":{"locale":null}}'];
  const said = await tessera(['client', 'preview', client.clientId, username, ...options, ...claims, '--json'], {
    env: server.environment,
  });
  assert.deepEqual([said.code, said.stderr], [0, '']);
  const [oidc] = JSON.parse(said.stdout).endpoints;
  assert.deepEqual([oidc.introspection.aud, oidc.userinfo, typeof oidc.idToken.locale], [api.resource, null, 'string']);
});

test('scopes that the OIDC endpoints ignore are named, and the error of the v2 endpoints is given', async () => {
  const user = await newUser(server);
  const [v2, oidc] = (await preview(await newClient(server), user, 'openid groups nonsense')).endpoints;
  assert.deepEqual([v2.error, v2.idToken, v2.userinfo, v2.introspection], ['invalid_scope', null, null, null]);
  assert.deepEqual([oidc.error, oidc.scope, oidc.ignoredScopes], [null, 'openid', ['groups', 'nonsense']]);
});

test('it says whether the person may use the app at all', async () => {
  const user = await newUser(server);
  const { access, endpoints } = await preview(await newClient(server, { access: 'assigned' }), user);
  assert.deepEqual([access.allowed, access.obstacles], [false, ['not_assigned']]);
  assert.equal(endpoints[1].idToken.sub, user.id);
});

test('it issues nothing, and is an event with operator and person', async () => {
  const user = await newUser(server);
  const client = await newClient(server);
  await preview(client, user, 'openid');
  const { items } = await call('GET', `/audit-events?userId=${user.id}`);
  const types = items.map(({ type }: { type: string }) => type).filter((type: string) => type !== 'account.created');
  assert.deepEqual(types, ['access.previewed']);
  const event = items.find(({ type }: { type: string }) => type === 'access.previewed');
  assert.equal(event.actor.type, 'admin');
  assert.deepEqual([event.userId, event.clientId], [user.id, client.clientId]);
  assert.deepEqual((await call('GET', `/users/${user.id}/connections`)).items, []);
});

test('it says when the ID token has no claim groups, and what to do', async () => {
  const user = await newUser(server);
  const client = await newClient(server, { scopes: ['openid', 'groups'], groupsClaim: 'all', endpoints: ['oidc'] });
  for (let n = 0; n < 201; n++) {
    const { id } = await call('POST', '/groups', { name: `many-${n}` });
    await call('PUT', `/groups/${id}/members/${user.id}`);
  }
  const [oidc] = (await preview(client, user, 'openid groups')).endpoints;
  assert.deepEqual([oidc.idToken.groups, oidc.userinfo.groups.length], [undefined, 201]);
  const [{ claim, from, message }] = oidc.leftOut;
  assert.deepEqual([claim, from], ['groups', 'id_token']);
  assert.match(message, /no claim groups, .* 200 names or 4096 bytes.*set groupsClaim to assigned/);

  const said = await tessera(
    ['client', 'preview', client.clientId, user.username, '--scope', 'openid groups', '--base-url', server.baseUrl],
    { env: server.environment },
  );
  assert.deepEqual([said.code, said.stderr], [0, '']);
  assert.ok(said.stdout.includes(message));
  assert.ok(said.stdout.startsWith(`${user.username} may use `) && said.stdout.includes(`"iss": "${server.baseUrl}"`));
});
