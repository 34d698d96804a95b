// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { act, newOperator, open } from '../support/console.ts';
import { admin, newClient, newUser, tokensFor, userinfo } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// The console's pages about organizations: decisions §12, §13.

const server = await startServer();
after(() => server.close());
const owner = await newOperator(server, 'owner');
let names = 0;
const PATH = '/console/organizations';
const newOrganization = async (): Promise<{ readonly id: string; readonly name: string }> =>
  (await admin(server, 'POST', '/organizations', { name: `org-${++names}`, domain: `org-${names}.example` })).body;
const roleIn = async (id: string, user: string): Promise<string | null | undefined> =>
  (await admin(server, 'GET', `/organizations/${id}`)).body.members.find(
    (member: { readonly userId: string }) => member.userId === user,
  )?.role;
const titleOf = (text: string): string => /<h1>(.*?)<\/h1>/s.exec(text)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? '';

test('an organization is made, found by a part of its name or domain, and shown', async () => {
  const done = await act(server, owner, `${PATH}/create`, {}, { name: 'engine-works', domain: 'works.example' });
  assert.match(titleOf(done.text), /engine-works is made/);
  for (const q of ['engine', 'works.example']) {
    assert.match((await owner.browser.get(`${PATH}?q=${q}`)).text, /engine-works/, q);
  }
  assert.match((await owner.browser.get(`${PATH}?q=nowhere`)).text, /No results for <bdi>nowhere</);
  assert.equal((await owner.browser.get(`${PATH}/1`)).status, 404);
});

test('what is wrong with a new organization is said at its field, and nothing typed is lost', async () => {
  const { name } = await newOrganization();
  for (const [typed, field] of [
    [{ name, domain: 'other.example' }, 'name'],
    [{ name: 'Not A Slug', domain: 'other.example' }, 'name'],
    [{ name: 'a-slug', domain: 'no domain' }, 'domain'],
  ] as const) {
    const page = await act(server, owner, `${PATH}/create`, {}, typed);
    assert.ok([400, 409].includes(page.status));
    assert.match(page.text, new RegExp(`class="problem" id="${field}-note"`));
    assert.ok(page.text.includes(`value="${typed.domain}"`));
  }
});

test('a person is added by what they are called, gets another role, and is removed with the apps it opened', async () => {
  const [{ id }, user] = [await newOrganization(), await newUser(server)];
  const app = await newClient(server, { access: 'assigned' });
  await admin(server, 'POST', `/clients/${app.clientId}/assignments`, { organizationId: id });
  await act(server, owner, `${PATH}/member`, { id, member: user.username }, { role: 'MEMBER' });
  assert.equal(await roleIn(id, user.id), 'MEMBER');
  const tokens = await tokensFor(server, app, user);
  await act(server, owner, `${PATH}/member`, { id, user: user.id }, { role: 'ADMIN' });
  assert.equal(await roleIn(id, user.id), 'ADMIN');
  assert.match((await owner.browser.get(`${PATH}/${id}`)).text, new RegExp(user.username));
  const done = await act(server, owner, `${PATH}/remove-member`, { id, user: user.id });
  assert.match(done.text, /ended with it: 1/);
  assert.equal(await roleIn(id, user.id), undefined);
  assert.ok((await userinfo(server, tokens.access_token)).status >= 400);
});

test('a person of another organization is not moved', async () => {
  const [first, second, user] = [await newOrganization(), await newOrganization(), await newUser(server)];
  await admin(server, 'PUT', `/organizations/${first.id}/members/${user.id}`, { role: 'MEMBER' });
  const page = await act(server, owner, `${PATH}/member`, { id: second.id, user: user.id }, { role: 'MEMBER' });
  assert.equal(page.status, 409);
  assert.match(page.text, /in another organization/);
});

test('groups and apps of an organization are on its pages, and no others', async () => {
  const { id } = await newOrganization();
  const group = (await admin(server, 'POST', '/groups', { name: 'inside', organizationId: id })).body;
  await admin(server, 'POST', '/groups', { name: 'outside' });
  await newClient(server, { name: 'Inside App', organizationId: id });
  await newClient(server, { name: 'Outside App' });
  const groups = (await owner.browser.get(`${PATH}/${id}/groups`)).text;
  assert.ok(groups.includes(`/console/groups/${group.id}"`) && !groups.includes('outside'));
  const apps = (await owner.browser.get(`${PATH}/${id}/apps`)).text;
  assert.ok(apps.includes('Inside App') && !apps.includes('Outside App'));
});

test('an organization is deleted by who types its name', async () => {
  const { id, name } = await newOrganization();
  const wrong = await act(server, owner, `${PATH}/delete`, { id }, { typed: 'another' });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /class="problem" id="typed-note"/);
  const done = await act(server, owner, `${PATH}/delete`, { id }, { typed: name });
  assert.match(titleOf(done.text), /is deleted/);
  assert.equal((await admin(server, 'GET', `/organizations/${id}`)).status, 404);
});

test('an owner of an organization sees it alone, and gives no more than they hold', async () => {
  const [own, other] = [await newOrganization(), await newOrganization()];
  const lead = await newOperator(server, 'developer');
  const member = await newUser(server);
  const stranger = await newUser(server);
  await admin(server, 'PUT', `/organizations/${own.id}/members/${lead.id}`, { role: 'ADMIN' });
  await admin(server, 'PUT', `/organizations/${own.id}/members/${member.id}`, { role: 'MEMBER' });
  const list = (await lead.browser.get(PATH)).text;
  assert.ok(list.includes(own.name) && !list.includes(other.name) && !list.includes(`${PATH}/create`));
  assert.equal((await lead.browser.get(`${PATH}/${other.id}`)).status, 404);
  const page = await open(server, lead, `${PATH}/member?id=${own.id}&user=${member.id}`);
  assert.ok(page.text.includes('value="ADMIN"') && !page.text.includes('value="OWNER"'));
  assert.equal((await lead.browser.submit(page, { role: 'OWNER' }, `${PATH}/member`)).status, 403);
  assert.equal((await open(server, lead, `${PATH}/member?id=${own.id}&member=${stranger.username}`)).status, 404);
  assert.equal((await lead.browser.submit(page, { user: stranger.id }, `${PATH}/member`)).status, 404);
  assert.equal((await lead.browser.submit(page, { id: other.id }, `${PATH}/member`)).status, 404);
  assert.equal(await roleIn(own.id, member.id), 'MEMBER');
  assert.equal((await open(server, lead, `${PATH}/delete?id=${own.id}`)).status, 403);
});

test('the second factor of members is required from the page of an owner', async () => {
  const { id } = await newOrganization();
  await act(server, owner, `${PATH}/requirement`, { id }, { required: 'yes' });
  assert.equal((await admin(server, 'GET', `/organizations/${id}`)).body.requireSecondFactor, true);
  const { body } = await admin(server, 'GET', `/audit-events?actorId=${owner.id}&type=organization.updated`);
  assert.equal(body.items[0]?.details.actorRole, 'owner');
});
