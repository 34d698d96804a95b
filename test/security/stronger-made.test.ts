// store: SQLite, PostgreSQL
/** Nobody acts on somebody who holds a permission that they lack: not by way of what another operator made either. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({
  TESSERA_LIMIT_ADMIN_KEY: 'off',
  TESSERA_LIMIT_USER_CODE: 'off',
  TESSERA_LIMIT_USER_CODE_ADDRESS: 'off',
  TESSERA_LIMIT_DEVICE_ADDRESS: 'off',
  TESSERA_MAILBOX: 'on',
});
after(() => server.close());

async function ok(method: string, path: string, body?: object, key?: string) {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
const statusOf = async (method: string, path: string, body?: object, key?: string) =>
  (await admin(server, method, path, body, key)).status;

let names = 0;
const keyOf = (role: string, more: object = {}, by?: string) =>
  ok('POST', '/admin-keys', { name: role, role, ...more }, by);

/** An operator who acts by the command line. */
async function operator(role: string) {
  const { user, ...browser } = await operatorInBrowser(server);
  await ok('PUT', `/users/${user.id}/roles/${role}`, {});
  return { id: user.id, token: await signInOnCommandLine(server, { user, ...browser }) };
}

/** A former owner who had another address before they made an owner, an owner's key and a provider. */
async function formerOwner() {
  const former = await operatorInBrowser(server);
  const { user } = former;
  const { email } = await ok('GET', `/users/${user.id}`);
  await ok('PUT', `/users/${user.id}/roles/owner`, {});
  await ok('PATCH', `/users/${user.id}`, { email: `moved${++names}@example.com`, emailVerified: true });
  server.advance(60_000);
  const token = await signInOnCommandLine(server, former);
  const owner = await newUser(server, { emailVerified: true });
  await ok('PUT', `/users/${owner.id}/roles/owner`, {}, token);
  const key = await keyOf('owner', {}, token);
  const auditors = await keyOf('auditor', {}, token);
  const provider = { name: `staff${names}`, issuer: 'https://id.example.com', clientId: 'a' };
  const { id: upstream } = await ok('POST', '/upstreams', provider, token);
  server.advance(60_000);
  await ok('DELETE', `/users/${user.id}/roles/owner`);
  const state = async () => ({
    roles: (await ok('GET', `/users/${owner.id}/roles`)).items.length,
    key: (await ok('GET', `/admin-keys/${key.id}`)).status,
    auditors: (await ok('GET', `/admin-keys/${auditors.id}`)).status,
    upstream: (await ok('GET', `/upstreams/${upstream}`)).status,
  });
  return { id: user.id, email, key: key.id, upstream, state };
}

const GIVE_BACK: Readonly<Record<string, (of: { id: string; email: string }, key?: string) => Promise<unknown>>> = {
  'by changing the address': ({ id, email }, key) => ok('PATCH', `/users/${id}`, { email, emailVerified: true }, key),
};

for (const [how, giveBack] of Object.entries(GIVE_BACK)) {
  test(`who gives a former owner the earlier address ${how} ends what they could end, and leaves the rest`, async () => {
    const former = await formerOwner();
    const { adminKey } = await keyOf('admin');
    await giveBack(former, adminKey);
    const left = { roles: 1, key: 'active', auditors: 'revoked', upstream: 'active' };
    assert.deepEqual(await former.state(), left);
    const { items } = await ok('GET', `/audit-events?type=account.updated&userId=${former.id}`);
    const { left: listed } = items.find(({ details }: { details: object }) => 'left' in details)?.details ?? {};
    assert.deepEqual(listed?.adminKeys, [former.key], JSON.stringify(items));
    assert.deepEqual(listed.upstreams, [{ upstreamId: former.upstream, acts: ['registered'] }]);
  });

  test(`an owner who gives a former owner the earlier address ${how} ends all of it`, async () => {
    const former = await formerOwner();
    await giveBack(former);
    assert.deepEqual(await former.state(), { roles: 0, key: 'revoked', auditors: 'revoked', upstream: 'disabled' });
  });
}

test('who ends what a colleague made takes nobody stronger out of an organization or a group', async () => {
  const { id: organization } = await ok('POST', '/organizations', { name: 'acme', domain: 'acme.example' });
  const { id: group } = await ok('POST', '/groups', { name: 'crew' });
  const colleague = await operator('admin');
  const [owner, plain] = [await newUser(server), await newUser(server)];
  for (const { id } of [owner, plain]) {
    await ok('PUT', `/organizations/${organization}/members/${id}`, {}, colleague.token);
    await ok('PUT', `/groups/${group}/members/${id}`, undefined, colleague.token);
  }
  await ok('PUT', `/users/${owner.id}/roles/owner`, {});
  const { adminKey } = await keyOf('admin');
  assert.equal(await statusOf('DELETE', `/groups/${group}/members/${owner.id}`, undefined, adminKey), 403);
  await ok('DELETE', `/users/${colleague.id}/roles/admin?endMade=true`, undefined, adminKey);
  const membersOf = async (path: string) =>
    (await ok('GET', path)).items.map(({ userId, id }: { userId?: string; id?: string }) => userId ?? id);
  assert.deepEqual(await membersOf(`/groups/${group}/members`), [owner.id]);
  assert.equal(await statusOf('GET', `/organizations/${organization}/members/${owner.id}`), 200);
  assert.equal(await statusOf('GET', `/organizations/${organization}/members/${plain.id}`), 404);
});

test('who ends a key of an organization takes no owner of the installation out of its groups', async () => {
  const { id: organizationId } = await ok('POST', '/organizations', { name: 'beta', domain: 'beta.example' });
  const [chief, made] = [await keyOf('owner', { organizationId }), await keyOf('admin', { organizationId })];
  const { id: group } = await ok('POST', '/groups', { name: 'crew', organizationId }, made.adminKey);
  const owner = await newUser(server);
  await ok('PUT', `/organizations/${organizationId}/members/${owner.id}`, {});
  await ok('PUT', `/groups/${group}/members/${owner.id}`, undefined, made.adminKey);
  await ok('PUT', `/users/${owner.id}/roles/owner`, {});
  await ok('DELETE', `/admin-keys/${made.id}?endMade=true`, undefined, chief.adminKey);
  assert.equal((await ok('GET', `/groups/${group}/members`)).items.length, 1);
});

test('who ends what a former owner made leaves the providers that they may not disable', async () => {
  const former = await operator('owner');
  const provider = { name: 'partners', issuer: 'https://id.example.com', clientId: 'a' };
  const { id } = await ok('POST', '/upstreams', provider, former.token);
  await ok('PUT', `/users/${former.id}/roles/support`, {});
  await ok('DELETE', `/users/${former.id}/roles/owner`);
  const { adminKey } = await keyOf('admin');
  assert.equal(await statusOf('POST', `/upstreams/${id}/disable`, {}, adminKey), 403);
  await ok('DELETE', `/users/${former.id}/roles/support?endMade=true`, undefined, adminKey);
  assert.equal((await ok('GET', `/upstreams/${id}`)).status, 'active');
});
