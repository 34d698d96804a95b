// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tessera } from '../operator/command.ts';
import { admin, codeFor, newClient, newUser, type TestClient, type TestUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// Whether a person may use an app, as what, and why: decisions §12.

const server = await startServer();
after(() => server.close());

const ROLES = [
  { name: 'viewer', description: null },
  { name: 'editor', description: null },
];

const call = async (method: string, path: string, body?: unknown) => {
  const answer = await admin(server, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const accessOf = ({ clientId }: TestClient, { id }: TestUser) => call('GET', `/clients/${clientId}/access/${id}`);
const assign = async ({ clientId }: TestClient, whom: object): Promise<string> =>
  (await call('POST', `/clients/${clientId}/assignments`, whom)).id;

test('an app that is open to everyone may be used without an assignment', async () => {
  const user = await newUser(server);
  const client = await newClient(server);
  assert.deepEqual(await accessOf(client, user), {
    ...{ clientId: client.clientId, userId: user.id, allowed: true, access: 'everyone' },
    ...{ roles: [], assignments: [], obstacles: [] },
  });
});

test('every assignment that reaches the person is named, with the role that it gives', async () => {
  const user = await newUser(server);
  const client = await newClient(server, { access: 'assigned', roles: ROLES });
  const none = await accessOf(client, user);
  assert.deepEqual([none.allowed, none.obstacles], [false, ['not_assigned']]);

  const organization = await call('POST', '/organizations', { name: 'why-org', domain: 'why.example' });
  await call('PUT', `/organizations/${organization.id}/members/${user.id}`, {});
  const group = await call('POST', '/groups', { name: 'readers', organizationId: organization.id });
  await call('PUT', `/groups/${group.id}/members/${user.id}`);
  const others = await call('POST', '/groups', { name: 'why-others' });
  await assign(client, { groupId: others.id, role: 'editor' });
  const personal = await assign(client, { userId: user.id });
  const byGroup = await assign(client, { groupId: group.id, role: 'viewer' });
  const byOrganization = await assign(client, { organizationId: organization.id, role: 'viewer' });

  const found = await accessOf(client, user);
  assert.deepEqual([found.allowed, found.roles, found.obstacles], [true, ['viewer'], []]);
  const ids = { userId: null, groupId: null, organizationId: null };
  assert.deepEqual(found.assignments, [
    { ...ids, id: personal, userId: user.id, name: null, role: null },
    { ...ids, id: byGroup, groupId: group.id, name: 'why-org/readers', role: 'viewer' },
    { ...ids, id: byOrganization, organizationId: organization.id, name: 'why-org', role: 'viewer' },
  ]);
});

/** What keeps a person from an app: how it comes, and how it goes. */
const OBSTACLES: Readonly<Record<string, (client: TestClient, user: TestUser) => readonly [Change, Change]>> = {
  account_banned: (_client, { id }) => [
    ['PUT', `/users/${id}/ban`, {}],
    ['DELETE', `/users/${id}/ban`],
  ],
  account_suspended: (_client, { id }) => [
    ['PUT', `/users/${id}/suspension`, {}],
    ['DELETE', `/users/${id}/suspension`],
  ],
  client_disabled: ({ clientId }) => [
    ['PATCH', `/clients/${clientId}`, { status: 'disabled' }],
    ['PATCH', `/clients/${clientId}`, { status: 'active' }],
  ],
  client_without_sign_in: ({ clientId }) => [
    ['PATCH', `/clients/${clientId}`, { grantTypes: ['client_credentials'] }],
    ['PATCH', `/clients/${clientId}`, { grantTypes: ['authorization_code'] }],
  ],
  not_assigned: ({ clientId }) => [
    ['PATCH', `/clients/${clientId}`, { access: 'assigned' }],
    ['PATCH', `/clients/${clientId}`, { access: 'everyone' }],
  ],
};
type Change = readonly [method: string, path: string, body?: object];

for (const [obstacle, changes] of Object.entries(OBSTACLES)) {
  test(`${obstacle} keeps a person from an app while it lasts`, async () => {
    const user = await newUser(server);
    const client = await newClient(server);
    const [comes, goes] = changes(client, user);
    await call(...comes);
    const found = await accessOf(client, user);
    assert.deepEqual([found.allowed, found.obstacles], [false, [obstacle]]);
    await call(...goes);
    assert.deepEqual((await accessOf(client, user)).obstacles, []);
    await codeFor(server, client, user);
  });
}

test('unknown apps and users are not found', async () => {
  const user = await newUser(server);
  const client = await newClient(server);
  const unknown = '1';
  assert.equal((await admin(server, 'GET', `/clients/${unknown}/access/${user.id}`)).status, 404);
  assert.equal((await admin(server, 'GET', `/clients/${client.clientId}/access/${unknown}`)).status, 404);
});

test('tessera client access says it in sentences', async () => {
  const user = await newUser(server);
  const { clientId } = await newClient(server, { name: 'Figures', access: 'assigned', roles: ROLES });
  const said = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await tessera(['client', 'access', ...args], { env: server.environment });
    assert.deepEqual([code, stderr], [0, '']);
    return stdout.replaceAll(clientId, 'ID').replaceAll(user.username, 'ada');
  };
  const group = await call('POST', '/groups', { name: 'why-analysts' });
  await call('POST', `/clients/${clientId}/assignments`, { groupId: group.id, role: 'viewer' });
  assert.equal(
    await said(clientId),
    'Figures (ID) is open to the people, groups and organizations that are assigned to it.\nAssigned:\n  group why-analysts, in the role viewer\n',
  );
  await call('PUT', `/users/${user.id}/ban`, {});
  assert.equal(
    await said(clientId, user.username),
    [
      'ada may not use Figures (ID).',
      '  The account is banned. Lift the ban: tessera user unban ada',
      '  The app is open to assigned people only, and no assignment reaches ada. Assign one: tessera client assign ID --user ada',
      '',
    ].join('\n'),
  );
  await call('DELETE', `/users/${user.id}/ban`);
  await call('PUT', `/groups/${group.id}/members/${user.id}`);
  assert.equal(
    await said(clientId, user.username),
    [
      'ada may use Figures (ID), in the role viewer.',
      '  ada is in the group why-analysts, which is assigned, in the role viewer.',
      '',
    ].join('\n'),
  );
  const { allowed, roles } = JSON.parse(await said(clientId, user.username, '--json'));
  assert.deepEqual([allowed, roles], [true, ['viewer']]);
});
