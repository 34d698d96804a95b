// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
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
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { codeOf, query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { introspect } from '../support/token-services.ts';

// Decisions §12: the claims groups and roles.

const server = await startServer();
after(() => server.close());

const SCOPE = { scope: 'openid groups roles' };
const ROLES = [
  { name: 'viewer', description: 'May look' },
  { name: 'editor', description: null },
];

const call = async (method: string, path: string, body?: unknown) => {
  const answer = await admin(server, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

let made = 0;
async function newGroup(name: string, user: TestUser, organizationId: string | null = null): Promise<string> {
  const { id } = await call('POST', '/groups', { name, organizationId });
  await call('PUT', `/groups/${id}/members/${user.id}`);
  return id;
}

const newApp = async (more: object = {}) =>
  standard(await newClient(server, { roles: ROLES, scopes: ['openid', 'groups', 'roles'], ...more }));
const assign = ({ clientId }: TestClient, whom: object) => call('POST', `/clients/${clientId}/assignments`, whom);

/** What ID token, UserInfo and introspection say of a person. */
async function said(client: TestClient, tokens: { readonly access_token: string; readonly id_token: string }) {
  const info = (await userinfo(server, tokens.access_token, '/oidc/userinfo')).body;
  const active = (await introspect(server, client, tokens.access_token)).body;
  return [claimsOf(tokens.id_token), info, active];
}

async function assertSaid(client: TestClient, tokens: Parameters<typeof said>[1], expected: object): Promise<void> {
  for (const claims of await said(client, tokens)) {
    for (const [name, value] of Object.entries(expected)) assert.deepEqual(claims[name], value, name);
  }
}

test('they name the groups that are assigned to the app, and the roles of the person in it', async () => {
  const user = await newUser(server);
  const client = await newApp();
  const { id: organizationId } = await call('POST', '/organizations', { name: `org-${++made}`, domain: 'org.example' });
  await call('PUT', `/organizations/${organizationId}/members/${user.id}`, { role: 'MEMBER' });
  const analysts = await newGroup('analysts', user);
  const admins = await newGroup('admins', user, organizationId);
  await newGroup('others', user);
  await assign(client, { groupId: analysts, role: 'viewer' });
  await assign(client, { groupId: admins });
  const { id: personal } = await assign(client, { userId: user.id, role: 'editor' });

  const tokens = await tokensFor(server, client, user, SCOPE);
  assert.equal(tokens.scope, 'openid groups roles');
  const groups = ['analysts', `org-${made}/admins`];
  await assertSaid(client, tokens, { groups, roles: ['editor', 'viewer'] });

  // Losing a role or a group ends nothing: what holds now is said from now on.
  await call('DELETE', `/clients/${client.clientId}/assignments/${personal}`);
  await call('DELETE', `/groups/${analysts}/members/${user.id}`);
  const info = (await userinfo(server, tokens.access_token, '/oidc/userinfo')).body;
  assert.deepEqual([info.groups, info.roles], [[`org-${made}/admins`], []]);
  const { body } = await refresh(server, client, tokens.refresh_token);
  await assertSaid(client, body, { groups: [`org-${made}/admins`], roles: [] });
});

test('groupsClaim all names every group of the person, and claimNames renames the claims', async () => {
  const user = await newUser(server);
  const client = await newApp({
    groupsClaim: 'all',
    claimNames: { groups: 'teams', roles: 'https://example.com/roles' },
  });
  await newGroup('cooks', user);
  const tokens = await tokensFor(server, client, user, SCOPE);
  const expected = { teams: ['cooks'], 'https://example.com/roles': [], groups: undefined, roles: undefined };
  await assertSaid(client, tokens, expected);
});

test('groupsClaim all of an app of an organization names no group that its operators may not read, unless it is assigned', async () => {
  const { id: organizationId } = await call('POST', '/organizations', { name: 'lab', domain: 'lab.example' });
  const user = await newUser(server);
  await call('PUT', `/organizations/${organizationId}/members/${user.id}`, { role: 'MEMBER' });
  await newGroup('staff', user, organizationId);
  const secret = await newGroup('inquiry', user);
  const { adminKey } = await call('POST', '/admin-keys', { name: 'lab', role: 'admin', organizationId });
  const asAdmin = (method: string, path: string, body?: object) => admin(server, method, path, body, adminKey);
  const settings = { organizationId, consent: 'operator', groupsClaim: 'all', scopes: ['openid', 'groups', 'roles'] };
  const redirectUri = 'https://app.example.com/callback';
  const made = await asAdmin('POST', '/clients', { name: 'Lab book', redirectUris: [redirectUri], ...settings });
  const client = standard({ ...made.body, redirectUri });
  const approval = { scopes: settings.scopes, organizationId };
  assert.equal((await asAdmin('PUT', `/clients/${client.clientId}/consent-approval`, approval)).status, 200);
  assert.equal((await asAdmin('GET', `/groups/${secret}`)).status, 404);

  // No page is shown.
  const browser = await signedIn(server, user);
  const { location } = await browser.get(authorizeUrl(client, SCOPE));
  const tokens = (await redeem(server, client, location?.searchParams.get('code') ?? '')).body;
  await assertSaid(client, tokens, { groups: ['lab/staff'] });

  assert.equal((await asAdmin('POST', `/clients/${client.clientId}/assignments`, { groupId: secret })).status, 404);
  await assign(client, { groupId: secret });
  const { body } = await refresh(server, client, tokens.refresh_token);
  await assertSaid(client, body, { groups: ['inquiry', 'lab/staff'] });
});

test('a scope that the person switches off gives no claim', async () => {
  const user = await newUser(server);
  const client = await newApp({ groupsClaim: 'all' });
  await newGroup('gardeners', user);
  const tokens = await tokensFor(server, client, user, SCOPE, { allow: ['roles'] });
  assert.equal(tokens.scope, 'openid roles');
  await assertSaid(client, tokens, { groups: undefined, roles: [] });
});

test('where the app is open to assigned people only, they have no switch, and the page says so', async () => {
  const user = await newUser(server);
  const client = await newApp({ access: 'assigned' });
  const groupId = await newGroup('guards', user);
  await assign(client, { groupId });
  const browser = await signedIn(server, user);
  const { location } = await browser.get(authorizeUrl(client, SCOPE));
  const page = await browser.get(`${location?.pathname}${location?.search}`);
  assert.doesNotMatch(page.text, /name="allow groups"/);
  assert.match(page.text, /guards/);
  const answer = await redeem(server, client, codeOf(await browser.submit(page, { decision: 'allow' }, '/consent')));
  await assertSaid(client, answer.body, { groups: ['guards'], roles: [] });
});

test('they need a registration that names them, and the v2 endpoints do not know them', async () => {
  const unnamed = await newClient(server);
  const user = await newUser(server);
  const tokens = await tokensFor(server, standard(unnamed), user, SCOPE);
  assert.equal(tokens.scope, 'openid');
  const named = await newClient(server, { scopes: ['openid', 'groups'] });
  const browser = await signedIn(server, user);
  for (const client of [unnamed, named]) {
    const { location } = await browser.get(authorizeUrl(client, { scope: 'openid groups' }));
    assert.equal(location?.searchParams.get('error'), 'invalid_scope');
  }
});

/** Adds groups with the person in them, beside the API, which would take long for so many. */
async function manyGroups(user: TestUser, count: number): Promise<void> {
  const first = 1000 + made;
  made += count;
  const groups = Array.from({ length: count }, (_, n) => `(${first + n}, 'many-${first + n}', 'Many', 'local', 0, 0)`);
  const members = Array.from({ length: count }, (_, n) => `(${first + n}, ${user.id}, 0)`);
  await query(
    server,
    `INSERT INTO user_group (id, name, display_name, source, created_at, updated_at) VALUES ${groups.join(', ')}`,
  );
  await query(server, `INSERT INTO group_member (group_id, account_id, added_at) VALUES ${members.join(', ')}`);
}

/** What the trace of an answer says of its own request. */
async function traced({ headers }: { readonly headers: Headers }) {
  const id = headers.get('x-request-id');
  const { steps } = await call('GET', `/traces/${id}`);
  return steps.find(({ requestId }: { requestId: string }) => requestId === id);
}

const NOT_IN_ID_TOKEN =
  'The ID token has no claim groups, which would be longer than 200 names or 4096 bytes. UserInfo and introspection have it.';
const ASSIGN_GROUPS =
  'Assign the groups that the app needs to it, and set groupsClaim to assigned: the claim then has only these.';

test('of more than 200 groups the ID token has none, UserInfo has all, and trace and record say what to do', async () => {
  const user = await newUser(server);
  const client = await newApp({ groupsClaim: 'all' });
  await manyGroups(user, 201);
  const recorded = async () => (await call('GET', `/clients/${client.clientId}`)).claimsLeftOut;
  assert.equal(await recorded(), null);

  const answer = await redeem(server, client, await codeFor(server, client, user, SCOPE));
  const [idToken, info] = await said(client, answer.body);
  assert.equal(idToken.groups, undefined);
  assert.deepEqual(idToken.roles, []);
  assert.equal(info.groups.length, 201);
  const step = await traced(answer);
  assert.deepEqual([step.outcome, step.reason, step.remedy], ['success', NOT_IN_ID_TOKEN, ASSIGN_GROUPS]);
  const { at, ...left } = await recorded();
  assert.deepEqual(left, { claim: 'groups', from: 'id_token', message: `${NOT_IN_ID_TOKEN} ${ASSIGN_GROUPS}` });
  assert.equal(new Date(at).getTime(), server.now());

  const refreshed = await refresh(server, client, answer.body.refresh_token);
  assert.equal(refreshed.status, 200);
  assert.equal((await traced(refreshed)).reason, NOT_IN_ID_TOKEN);
});

test('of more than 1000 groups UserInfo has the first 1000, and trace and record say so', async () => {
  const user = await newUser(server);
  const client = await newApp({ groupsClaim: 'all', idTokenClaims: 'requested' });
  await manyGroups(user, 1001);
  const tokens = await tokensFor(server, client, user, SCOPE);
  const info = await userinfo(server, tokens.access_token, '/oidc/userinfo');
  assert.equal(info.body.groups.length, 1000);
  const reason = 'UserInfo and introspection have only the first 1000 groups, by name: the person is in more.';
  const step = await traced(info);
  assert.deepEqual([step.reason, step.remedy], [reason, ASSIGN_GROUPS]);
  const { claim, from, message } = (await call('GET', `/clients/${client.clientId}`)).claimsLeftOut;
  assert.deepEqual([claim, from, message], ['groups', 'userinfo', `${reason} ${ASSIGN_GROUPS}`]);
});

test('an app whose ID token has no claims of scopes lacks nothing that is too long', async () => {
  const user = await newUser(server);
  const client = await newApp({ groupsClaim: 'all', idTokenClaims: 'requested' });
  await manyGroups(user, 201);
  await tokensFor(server, client, user, SCOPE);
  assert.equal((await call('GET', `/clients/${client.clientId}`)).claimsLeftOut, null);
});

test('a resource server that is another app sees neither by introspection', async () => {
  const user = await newUser(server);
  const api = await newClient(server, { resource: 'https://api.example.com/groups' });
  const client = await newApp({ groupsClaim: 'all' });
  await newGroup('sailors', user);
  const tokens = await tokensFor(server, client, user, { ...SCOPE, resource: 'https://api.example.com/groups' });
  const { body } = await introspect(server, api, tokens.access_token);
  assert.deepEqual([body.active, body.groups, body.roles], [true, undefined, undefined]);
});

test('what was switched off stays off while the app is open to assigned people only, and is asked again afterwards', async () => {
  const user = await newUser(server);
  const client = await newApp({ groupsClaim: 'all' });
  await newGroup('painters', user);
  const browser = await signedIn(server, user);
  await tokensFor(server, client, user, SCOPE, { allow: [], browser });
  await assign(client, { userId: user.id });
  await call('PATCH', `/clients/${client.clientId}`, { access: 'assigned' });
  await tokensFor(server, client, user, SCOPE, { browser });
  await call('PATCH', `/clients/${client.clientId}`, { access: 'everyone' });
  const silent = await browser.get(authorizeUrl(client, { ...SCOPE, prompt: 'none' }));
  assert.equal(silent.location?.searchParams.get('error'), 'consent_required');
});

test('a change to groupsClaim all ends what was issued, and is consented to and approved anew', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  await newGroup('hr-case', user);
  const asking = await newApp();
  const tokens = await tokensFor(server, asking, user, SCOPE, { browser });
  assert.deepEqual((await userinfo(server, tokens.access_token, '/oidc/userinfo')).body.groups, []);
  const patch = (client: TestClient, groupsClaim: string) =>
    call('PATCH', `/clients/${client.clientId}`, { groupsClaim });
  await patch(asking, 'all');
  assert.equal((await userinfo(server, tokens.access_token, '/oidc/userinfo')).status, 401);
  assert.equal((await refresh(server, asking, tokens.refresh_token)).body.error, 'invalid_grant');
  const silent = await browser.get(authorizeUrl(asking, { ...SCOPE, prompt: 'none' }));
  assert.equal(silent.location?.searchParams.get('error'), 'consent_required');
  const allowed = await tokensFor(server, asking, user, SCOPE, { browser });
  const info = (await userinfo(server, allowed.access_token, '/oidc/userinfo')).body;
  assert.deepEqual(info.groups, ['hr-case']);
  // Less is no reason to ask.
  await patch(asking, 'assigned');
  assert.deepEqual((await userinfo(server, allowed.access_token, '/oidc/userinfo')).body.groups, []);

  const approved = await newApp({ consent: 'operator', redirectUris: ['https://app.example/callback'] });
  await call('PUT', `/clients/${approved.clientId}/consent-approval`, { scopes: ['openid', 'groups'] });
  assert.equal((await patch(approved, 'all')).consentApproval, null);
});
