// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { admin, type JsonAnswer, newClient, newUser, tokensFor, userinfo } from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { columnNames, refuseBadBodies, refuses } from './refusals.ts';

const server = await startServer();
after(() => server.close());

const api = (method: string, path: string, body?: unknown): Promise<JsonAnswer> => admin(server, method, path, body);
const newOrganization = async (name: string): Promise<string> =>
  (await api('POST', '/organizations', { name, domain: `${name}.example` })).body.id;

test('POST and GET organizations: 201 with its id, shown with its members', async () => {
  const answer = await api('POST', '/organizations', { name: 'acme-1', domain: 'Acme.Example' });
  assert.equal(answer.status, 201);
  const createdAt = new Date(server.now()).toISOString();
  const { id } = answer.body;
  assert.match(id, /^[1-9]\d{15,18}$/);
  assert.deepEqual(answer.body, { id, name: 'acme-1', domain: 'acme.example', createdAt, requireSecondFactor: false });
  assert.deepEqual((await api('GET', `/organizations/${id}`)).body, { ...answer.body, members: [] });
  const listed = (await api('GET', '/organizations')).body;
  assert.deepEqual(listed, { items: [answer.body], nextCursor: null });
});

test('409 conflict: the slug is taken; in other letters it is no slug at all', async () => {
  await newOrganization('taken');
  const again = await api('POST', '/organizations', { name: 'taken', domain: 'other.example' });
  assert.deepEqual([again.status, again.body.error], [409, 'conflict']);
  assert.match(again.body.error_description, /^name is taken.*Choose another/);
  for (const name of ['TAKEN', 'Taken']) {
    await refuses(server, ['POST', '/organizations', { name, domain: 'other.example' }], 'name', /a-z/);
  }
  assert.equal((await api('POST', '/organizations', { name: 'second', domain: 'taken.example' })).status, 201);
});

test('400 invalid_request names the field and the remedy; unknown fields and columns are refused by name', async () => {
  const good = { name: 'fine', domain: 'fine.example' };
  const bad = {
    name: ['', 'a', 'x'.repeat(49), '-ab', 'ab-', 'a_b', 'a b', 'ä-b', null, 5],
    domain: ['', 'example', 'https://a.example', 'a..example', '-a.example', 'a.example/', 'a.example:80', null, 5],
  };
  for (const [field, values] of Object.entries(bad)) {
    for (const value of values) {
      await refuses(server, ['POST', '/organizations', { ...good, [field]: value }], field, / must be /);
    }
    await refuses(server, ['POST', '/organizations', { ...good, [field]: undefined }], field, /is missing/);
  }
  const names = [...columnNames('organization'), ...columnNames('membership'), 'members', 'owner'];
  for (const name of names.filter((column) => !Object.hasOwn(good, column))) {
    await refuses(server, ['POST', '/organizations', { ...good, [name]: 'x' }], name, /is not a field here/);
  }
  await refuseBadBodies(server, 'POST /organizations');
});

test('PUT and DELETE members: role or none, one organisation at most, shown at UserInfo in the next request', async () => {
  const [first, second] = [await newOrganization('first-org'), await newOrganization('second-org')];
  const [client, user] = [await newClient(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user, { scope: 'openid organization.read' });
  const shown = async () => (await userinfo(server, tokens.access_token)).body.user.organization;
  assert.equal(await shown(), null);
  const path = `/organizations/${first}/members/${user.id}`;
  for (const role of ['OWNER', 'ADMIN', 'MEMBER', null]) {
    const answer = await api('PUT', path, { role });
    assert.deepEqual([answer.status, answer.body], [200, { organizationId: first, userId: user.id, role }]);
    assert.deepEqual(await shown(), { id: first, name: 'first-org', role, domain: 'first-org.example' });
  }
  await api('PUT', path, { role: 'ADMIN' });
  assert.deepEqual((await api('GET', `/organizations/${first}`)).body.members, [
    { userId: user.id, username: user.username, role: 'ADMIN' },
  ]);
  const elsewhere = await api('PUT', `/organizations/${second}/members/${user.id}`, { role: 'OWNER' });
  assert.deepEqual([elsewhere.status, elsewhere.body.error], [409, 'conflict']);
  assert.match(elsewhere.body.error_description, /in another organization\. Remove the user from it first/);
  assert.equal((await shown()).role, 'ADMIN');
  const foreign = await api('DELETE', `/organizations/${second}/members/${user.id}`);
  assert.deepEqual([foreign.status, foreign.body.error], [404, 'not_found'], 'AD-02: not a member of that one');
  const removed = await api('DELETE', path);
  assert.deepEqual([removed.status, removed.body], [204, undefined]);
  assert.equal(await shown(), null);
  assert.equal((await api('DELETE', path)).status, 404);
  assert.equal((await api('PUT', `/organizations/${second}/members/${user.id}`)).body.role, null);
});

test('members: unknown users, organisations, roles and fields', async () => {
  const [id, user] = [await newOrganization('strict'), await newUser(server)];
  for (const path of [`/organizations/${id}/members/1`, `/organizations/1/members/${user.id}`]) {
    const answer = await api('PUT', path, {});
    assert.deepEqual([answer.status, answer.body.error], [404, 'not_found'], path);
  }
  const path = `/organizations/${id}/members/${user.id}`;
  for (const role of ['owner', 'ROOT', '', 5, ['OWNER']]) {
    await refuses(server, ['PUT', path, { role }], 'role', /one of OWNER, ADMIN, MEMBER, or null/);
  }
  for (const name of ['organizationId', 'userId', 'account_id', 'organization_id']) {
    await refuses(server, ['PUT', path, { role: 'OWNER', [name]: '1' }], name, /is not a field here/);
  }
  await refuseBadBodies(server, `PUT ${path}`);
  assert.deepEqual((await api('GET', `/organizations/${id}`)).body.members, []);
});

test('a deleted account is a member of nothing', async () => {
  const [id, user] = [await newOrganization('leavers'), await newUser(server)];
  await api('PUT', `/organizations/${id}/members/${user.id}`, { role: 'MEMBER' });
  await api('DELETE', `/users/${user.id}`);
  assert.deepEqual((await api('GET', `/organizations/${id}`)).body.members, []);
});
