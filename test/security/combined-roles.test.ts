// store: SQLite, PostgreSQL with --all
/** Decisions §12: roles of several places, or several credentials of one person, add up to no more than each of them is. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({
  TESSERA_LIMIT_ADMIN_KEY: 'off',
  TESSERA_LIMIT_USER_CODE: 'off',
  TESSERA_LIMIT_USER_CODE_ADDRESS: 'off',
  TESSERA_LIMIT_DEVICE_ADDRESS: 'off',
});
after(() => server.close());

async function ok(method: string, path: string, body?: object, key?: string) {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

const status = async (method: string, path: string, body?: object, key?: string) =>
  (await admin(server, method, path, body, key)).status;

let count = 0;
const newOrganization = async (): Promise<string> =>
  (await ok('POST', '/organizations', { name: `combined-${++count}`, domain: 'combined.example' })).id;
const app = (fields: object = {}) => ({ name: 'App', redirectUris: ['https://app.example.com/cb'], ...fields });

/** A person, signed in with the command line. */
async function person() {
  const operator = await operatorInBrowser(server);
  const { id } = operator.user;
  return { id, credential: await signInOnCommandLine(server, operator) };
}

// One after the other: each sign-in moves the clock on.
const [auditing, developing] = [await person(), await person()];

const give = (id: string, role: string, fields: object = {}) => ok('PUT', `/users/${id}/roles/${role}`, fields);

describe('an auditor of the installation who is admin of an organization', async () => {
  const [own, other] = [await newOrganization(), await newOrganization()];
  const { id, credential } = auditing;
  await ok('PUT', `/organizations/${own}/members/${id}`, { role: 'ADMIN' });
  await give(id, 'auditor');
  const member = await newUser(server, { password: undefined });
  await ok('PUT', `/organizations/${own}/members/${member.id}`, {});
  const stranger = await newUser(server, { password: undefined });
  const { clientId } = await ok('POST', '/clients', app({ organizationId: own, access: 'assigned' }));
  const assignments = `/clients/${clientId}/assignments`;

  test('acts on its members', async () => {
    await ok('PUT', `/organizations/${own}/members/${member.id}`, {}, credential);
    await ok('POST', assignments, { userId: member.id }, credential);
    await ok('POST', assignments, { organizationId: own }, credential);
  });

  test('puts nobody else into it', async () => {
    assert.equal(await status('GET', `/users/${stranger.id}`, undefined, credential), 200);
    assert.equal(await status('PUT', `/organizations/${own}/members/${stranger.id}`, {}, credential), 403);
    assert.equal(await status('GET', `/organizations/${own}/members/${stranger.id}`), 404);
  });

  test('lets nobody else use its apps', async () => {
    const foreign = (await ok('POST', '/groups', { name: 'crew', organizationId: other })).id;
    const general = (await ok('POST', '/groups', { name: 'staff' })).id;
    const before = (await ok('GET', assignments)).items.length;
    for (const to of [{ userId: stranger.id }, { groupId: foreign }, { groupId: general }, { organizationId: other }]) {
      assert.equal(await status('POST', assignments, to, credential), 403, JSON.stringify(to));
    }
    assert.equal((await ok('GET', assignments)).items.length, before);
  });
});

test('a developer of the installation registers no app in an organization, as if there was none', async () => {
  const organizationId = await newOrganization();
  const developer = (await ok('POST', '/admin-keys', { name: 'developer', role: 'developer' })).adminKey;
  const [real, none] = await Promise.all(
    [organizationId, '1234567'].map((id) => admin(server, 'POST', '/clients', app({ organizationId: id }), developer)),
  );
  assert.deepEqual([real?.status, none?.status], [404, 404]);
  assert.equal(
    real?.body.error_description.replace(organizationId, ''),
    none?.body.error_description.replace('1234567', ''),
  );
  assert.equal((await ok('POST', '/clients', app(), developer)).organizationId, null);
});

describe('the developer of an app', async () => {
  const { id, credential } = developing;
  await give(id, 'developer');
  const { clientId } = await ok('POST', '/clients', app({ consent: 'operator' }), credential);
  await give(id, 'admin');
  const fields = { name: 'mine', role: 'admin' };
  const mine = (await ok('POST', '/admin-keys', fields, credential)).adminKey;
  const approve = (client: string, key: string) =>
    status('PUT', `/clients/${client}/consent-approval`, { scopes: ['openid'] }, key);

  test('approves it by no key that they made, nor by one that was made with that', async () => {
    const next = (await ok('POST', '/admin-keys', fields, mine)).adminKey;
    for (const key of [credential, mine, next]) assert.equal(await approve(clientId, key), 409);
    const another = (await ok('POST', '/admin-keys', fields)).adminKey;
    assert.equal(await approve(clientId, another), 200);
  });

  test('does not approve what they registered by a key', async () => {
    const developer = (await ok('POST', '/admin-keys', { name: 'builds', role: 'developer' }, credential)).adminKey;
    const built = await ok('POST', '/clients', app({ consent: 'operator' }), developer);
    assert.equal(await approve(built.clientId, credential), 409);
  });
});

test("an app is nobody's own where its maker reaches it by more than the role developer", async () => {
  const organizationId = await newOrganization();
  const { id, credential } = await person();
  await give(id, 'developer');
  await ok('PUT', `/organizations/${organizationId}/members/${id}`, { role: 'ADMIN' });
  assert.equal((await ok('POST', '/clients', app({ organizationId }), credential)).developerId, null);
  assert.equal((await ok('POST', '/clients', app(), credential)).developerId, id);
});

describe('an admin key of an organization', () => {
  test('does not take back the invitation of an owner, and does its own', async () => {
    const organizationId = await newOrganization();
    const key = async (role: string) =>
      (await ok('POST', '/admin-keys', { name: role, role, organizationId })).adminKey;
    const [owners, admins] = [await key('owner'), await key('admin')];
    const invite = (role: string) =>
      ok('POST', '/invitations', { organizationId, role, email: `${role}@combined.example` }, owners);
    const [owner, member] = [await invite('OWNER'), await invite('MEMBER')];
    const revoke = (id: string, by: string) => status('DELETE', `/invitations/${id}`, undefined, by);
    assert.equal(await revoke(owner.id, admins), 403);
    assert.equal(await revoke(member.id, admins), 204);
    assert.equal(await revoke(owner.id, owners), 204);
  });

  test('invites in the name of the person who made it, and of nobody else', async () => {
    const organizationId = await newOrganization();
    const { id, credential } = await person();
    await ok('PUT', `/organizations/${organizationId}/members/${id}`, { role: 'OWNER' });
    const made = { name: 'admin', role: 'admin', organizationId };
    const foreign = (await ok('POST', '/admin-keys', made)).adminKey;
    const own = (await ok('POST', '/admin-keys', made, credential)).adminKey;
    const asked = { organizationId, role: 'MEMBER', inviterId: id };
    assert.equal(await status('POST', '/invitations', asked, foreign), 403);
    const nobody = await newUser(server, { password: undefined });
    assert.equal(await status('POST', '/invitations', { ...asked, inviterId: nobody.id }, foreign), 403);
    const read = async (link: string) => (await fetch(link)).text();
    assert.match(await read((await ok('POST', '/invitations', asked, own)).link), /invites you to join/);
    assert.match(
      await read((await ok('POST', '/invitations', asked)).link),
      /You are invited to join .* in the name of/s,
    );
  });
});
