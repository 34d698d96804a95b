// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { act, newOperator, open } from '../support/console.ts';
import { admin, newClient, newUser, tokensFor, userinfo } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// The console's pages about groups: decisions §12, §13.

const server = await startServer();
after(() => server.close());
const owner = await newOperator(server, 'owner');
let names = 0;
const newGroup = async (fields: Readonly<Record<string, unknown>> = {}): Promise<string> =>
  (await admin(server, 'POST', '/groups', { name: `group-${++names}`, ...fields })).body.id;
const members = async (id: string): Promise<readonly string[]> =>
  (await admin(server, 'GET', `/groups/${id}/members`)).body.items.map(({ userId }: { userId: string }) => userId);
const titleOf = (text: string): string => /<h1>(.*?)<\/h1>/s.exec(text)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? '';

test('a group is found by a part of its name, and shows its members', async () => {
  const id = await newGroup({ displayName: 'Night <shift>' });
  const user = await newUser(server);
  await admin(server, 'PUT', `/groups/${id}/members/${user.id}`);
  assert.ok((await owner.browser.get('/console/groups?q=Night')).text.includes(`/console/groups/${id}"`));
  const page = (await owner.browser.get(`/console/groups/${id}`)).text;
  assert.ok(page.includes(user.username) && page.includes('Night &lt;shift&gt;') && !page.includes('<shift>'));
  for (const address of ['/console/groups/1', '/console/groups/x']) {
    assert.equal((await owner.browser.get(address)).status, 404, address);
  }
});

test('a person is added by username, address or ID, and who is not found is said', async () => {
  const id = await newGroup();
  const user = await newUser(server);
  for (const member of [user.username, `${user.username}@example.com`, user.id]) {
    const done = await act(server, owner, '/console/groups/add-member', { id, member });
    assert.match(titleOf(done.text), /is in/);
  }
  assert.deepEqual(await members(id), [user.id]);
  const unknown = await open(server, owner, `/console/groups/add-member?id=${id}&member=%3Cb%3Enobody`);
  assert.equal(unknown.status, 404);
  assert.ok(unknown.text.includes('&lt;b&gt;nobody'));
});

test('who is removed has lost the app that only the group opened, with the answer', async () => {
  const id = await newGroup();
  const user = await newUser(server);
  const app = await newClient(server, { access: 'assigned' });
  await admin(server, 'POST', `/clients/${app.clientId}/assignments`, { groupId: id });
  await admin(server, 'PUT', `/groups/${id}/members/${user.id}`);
  const tokens = await tokensFor(server, app, user);
  const done = await act(server, owner, '/console/groups/remove-member', { id, user: user.id });
  assert.match(done.text, /ended with it: 1/);
  assert.deepEqual(await members(id), []);
  assert.ok((await userinfo(server, tokens.access_token)).status >= 400);
  const again = await open(server, owner, `/console/groups/remove-member?id=${id}&user=${user.id}`);
  assert.equal((await owner.browser.submit(again, {}, '/console/groups/remove-member')).status, 404);
});

test('a role of an organization reaches its groups and members alone', async () => {
  const organization = (await admin(server, 'POST', '/organizations', { name: 'engines', domain: 'engines.example' }))
    .body;
  const [own, other] = [await newGroup({ organizationId: organization.id }), await newGroup()];
  const lead = await newOperator(server, 'developer');
  const member = await newUser(server);
  const stranger = await newUser(server);
  for (const [{ id }, role] of [
    [lead, 'ADMIN'],
    [member, 'MEMBER'],
  ] as const) {
    await admin(server, 'PUT', `/organizations/${organization.id}/members/${id}`, { role });
  }
  const list = (await lead.browser.get('/console/groups')).text;
  assert.ok(list.includes(own) && !list.includes(other));
  assert.equal((await lead.browser.get(`/console/groups/${other}`)).status, 404);
  const find = (name: string) => open(server, lead, `/console/groups/add-member?id=${own}&member=${name}`);
  assert.equal((await find(stranger.username)).status, 404);
  const page = await find(member.username);
  assert.equal((await lead.browser.submit(page, {}, '/console/groups/add-member')).status, 200);
  const forged = await lead.browser.submit(page, { user: stranger.id }, '/console/groups/add-member');
  assert.equal(forged.status, 404);
  assert.deepEqual(await members(own), [member.id]);
});

test('an auditor reads groups, and changes none', async () => {
  const auditor = await newOperator(server, 'auditor');
  const id = await newGroup();
  assert.doesNotMatch((await auditor.browser.get(`/console/groups/${id}`)).text, /add-member/);
  assert.equal((await auditor.browser.get(`/console/groups/add-member?id=${id}&member=x`)).status, 403);
});

test('adding and removing is on record, with who did it and in which role', async () => {
  for (const type of ['group.member_added', 'group.member_removed']) {
    const { body } = await admin(server, 'GET', `/audit-events?actorId=${owner.id}&type=${type}`);
    assert.equal(body.items[0]?.details.actorRole, 'owner', type);
  }
});
