// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { signInOnCommandLine } from '../support/command-line.ts';
import { act, newOperator, open } from '../support/console.ts';
import { admin, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// The console's pages about roles of people and keys of programs: decisions §12, §13.

const server = await startServer();
after(() => server.close());
const owner = await newOperator(server, 'owner');
const rolesOf = async (id: string): Promise<readonly string[]> =>
  (await admin(server, 'GET', `/users/${id}/roles`)).body.items.map(({ role }: { readonly role: string }) => role);
const titleOf = (text: string): string => /<h1>(.*?)<\/h1>/s.exec(text)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? '';
/** The key that a page shows. */
const keyIn = (text: string): string => /<code>(tak_[\w-]+)<\/code>/.exec(text)?.[1] ?? '';
const ask = async (key: string) =>
  (await fetch(`${server.baseUrl}/api/v2/admin/users`, { headers: { authorization: `Bearer ${key}` } })).status;

test('a role is given to a person who is named, until a day, and taken away', async () => {
  const user = await newUser(server);
  const given = await act(
    server,
    owner,
    '/console/operators/grant',
    { member: user.username },
    { role: 'auditor', until: '2099-12-31' },
  );
  assert.match(titleOf(given.text), /is auditor/);
  assert.deepEqual(await rolesOf(user.id), ['auditor']);
  const list = (await owner.browser.get('/console/operators')).text;
  assert.ok(list.includes(user.username) && list.includes('2099'));
  const taken = await act(server, owner, '/console/operators/revoke', { user: user.id, held: 'auditor' });
  assert.match(titleOf(taken.text), /is no longer auditor/);
  assert.deepEqual(await rolesOf(user.id), []);
});

test('a wrong role or end is said at its field', async () => {
  const user = await newUser(server);
  for (const [typed, field] of [
    [{ role: 'emperor' }, 'role'],
    [{ role: 'support', until: '2001-01-01' }, 'until'],
    [{ role: 'support', until: 'soon' }, 'until'],
  ] as const) {
    const page = await act(server, owner, '/console/operators/grant', { user: user.id }, typed);
    assert.equal(page.status, 400);
    assert.match(page.text, new RegExp(`class="problem" id="${field}-note"`), JSON.stringify(typed));
  }
  assert.deepEqual(await rolesOf(user.id), []);
});

test('the last owner keeps the role', async () => {
  const page = await act(server, owner, '/console/operators/revoke', { user: owner.id, held: 'owner' });
  assert.equal(page.status, 409);
  assert.match(page.text, /last owner cannot go/);
  assert.deepEqual(await rolesOf(owner.id), ['owner']);
});

test('an admin gives no more than they hold, and takes nothing away from an owner', async () => {
  const [admins, user] = [await newOperator(server, 'admin'), await newUser(server)];
  const page = await open(server, admins, `/console/operators/grant?user=${user.id}`);
  assert.ok(page.text.includes('value="admin"') && !page.text.includes('value="owner"'));
  assert.equal((await admins.browser.submit(page, { role: 'owner' }, '/console/operators/grant')).status, 403);
  assert.doesNotMatch((await admins.browser.get('/console/operators')).text, new RegExp(`user=${owner.id}`));
  const refused = await open(server, admins, `/console/operators/revoke?user=${owner.id}&held=owner`);
  if (refused.status === 200) {
    assert.equal((await admins.browser.submit(refused, {}, '/console/operators/revoke')).status, 403);
  } else assert.equal(refused.status, 403);
  assert.deepEqual(await rolesOf(owner.id), ['owner']);
});

test('a role in an organization is given from its page', async () => {
  const organization = (await admin(server, 'POST', '/organizations', { name: 'roles-here', domain: 'r.example' }))
    .body;
  const user = await newUser(server);
  const about = { member: user.username, organization: organization.id };
  const given = await act(server, owner, '/console/operators/grant', about, { role: 'auditor' });
  assert.match(titleOf(given.text), /is auditor/);
  assert.match((await owner.browser.get(`/console/organizations/${organization.id}/roles`)).text, /auditor/);
  const { items } = (await admin(server, 'GET', `/users/${user.id}/roles`)).body;
  assert.equal(items[0]?.organizationId, organization.id);
});

test('what an operator made is named before the role goes, and ends with it where that is chosen', async () => {
  const maker = await newOperator(server, 'admin');
  const made = await act(server, maker, '/console/keys/new', {}, { name: 'Made <here>', role: 'auditor' });
  const key = keyIn(made.text);
  assert.equal(await ask(key), 200);
  const page = await open(server, owner, `/console/operators/revoke?user=${maker.id}&held=admin`);
  assert.match(page.text, /Made &lt;here&gt;/);
  await owner.browser.submit(page, { made: 'end' }, '/console/operators/revoke');
  assert.equal(await ask(key), 401);
});

/** The text of a page on one line, without its elements and the marks around names. */
const readable = (page: string): string => page.replaceAll(/<[^>]*>|[\u2066-\u2069]/g, '').replaceAll(/\s+/g, ' ');

test('what an operator closed is named before the role goes and after, and an app that is disabled then', async () => {
  const maker = await newOperator(server, 'admin');
  const fields = { name: 'Ledger', redirectUris: ['https://app.example/cb'], access: 'everyone' };
  const { clientId } = (await admin(server, 'POST', '/clients', fields)).body;
  const token = await signInOnCommandLine(server, { ...maker, user: maker });
  const change = { access: 'assigned', redirectUris: ['https://evil.example/cb'] };
  assert.equal((await admin(server, 'PATCH', `/clients/${clientId}`, change, token)).status, 200);
  const page = await open(server, owner, `/console/operators/revoke?user=${maker.id}&held=admin`);
  const answer = await owner.browser.submit(page, { made: 'end' }, '/console/operators/revoke');
  for (const text of [page.text, answer.text].map(readable)) {
    assert.match(text, /settings of the app Ledger changed \(redirect URIs\), which disables the app/);
    assert.match(text, /This stays as it is now, because it was closed,/);
    assert.match(text, /settings of the app Ledger changed \(who may use it, redirect URIs\)\./);
  }
  assert.equal((await admin(server, 'GET', `/clients/${clientId}`)).body.status, 'disabled');
  for (const path of ['', '/try']) {
    assert.equal((await owner.browser.get(`/console/apps/${clientId}${path}`)).status, 200);
  }
});

test('the page that takes a role of an organization away names nothing that was made by another role', async () => {
  const organization = await admin(server, 'POST', '/organizations', { name: 'one-of-many', domain: 'many.example' });
  const [organizationId, lead] = [organization.body.id, await newOperator(server, 'developer')];
  await admin(server, 'PUT', `/organizations/${organizationId}/members/${lead.id}`, { role: 'OWNER' });
  const former = await newOperator(server, 'owner');
  await act(server, former, '/console/keys/new', {}, { name: 'of-everything', role: 'auditor' });
  await admin(server, 'DELETE', `/users/${former.id}/roles/owner`);
  await admin(server, 'PUT', `/users/${former.id}/roles/auditor`, { organizationId });
  const about = new URLSearchParams({ user: former.id, held: 'auditor', organization: organizationId });
  const page = await open(server, lead, `/console/operators/revoke?${about}`);
  assert.equal(page.status, 200, page.text);
  assert.doesNotMatch(page.text, /of-everything/);
});

test('a key is shown once, is on its page without itself, and does nothing once it is revoked', async () => {
  const made = await act(server, owner, '/console/keys/new', {}, { name: 'Importer', role: 'auditor' });
  const key = keyIn(made.text);
  assert.equal(await ask(key), 200);
  const id = /\/console\/keys\/(\d+)"/.exec(made.text)?.[1] ?? '';
  const page = (await owner.browser.get(`/console/keys/${id}`)).text;
  assert.ok(page.includes('Importer') && page.includes('auditor') && !page.includes(key));
  assert.ok(page.includes(`/console/keys/${id}/made`));
  assert.match((await owner.browser.get(`/console/keys/${id}/made`)).text, /It made nothing that still counts/);
  assert.ok((await owner.browser.get('/console/keys')).text.includes('Importer'));
  const done = await act(server, owner, '/console/keys/revoke', { id });
  assert.match(titleOf(done.text), /is revoked/);
  assert.equal(await ask(key), 401);
  assert.match((await owner.browser.get(`/console/keys/${id}`)).text, /Revoked/);
  const { body } = await admin(server, 'GET', `/audit-events?actorId=${owner.id}&type=admin_key.revoked`);
  assert.equal(body.items[0]?.details.actorRole, 'owner');
});

test('a key in the place of another has its name and role filled in, and both work', async () => {
  const first = await act(server, owner, '/console/keys/new', {}, { name: 'Old one', role: 'support' });
  const id = /\/console\/keys\/(\d+)"/.exec(first.text)?.[1] ?? '';
  const page = await open(server, owner, `/console/keys/new?like=${id}`);
  assert.match(page.text, /value="Old one"/);
  assert.match(page.text, /value="support" selected/);
  const second = await owner.browser.submit(page, { name: 'Old one', role: 'support' }, '/console/keys/new');
  for (const text of [first.text, second.text]) assert.equal(await ask(keyIn(text)), 200);
});

test('what was made with a key stands on a page of its own, the newest of each kind', async () => {
  const made = await act(server, owner, '/console/keys/new', {}, { name: 'Maker', role: 'owner' });
  const [key, id] = [keyIn(made.text), /\/console\/keys\/(\d+)"/.exec(made.text)?.[1] ?? ''];
  const call = async (method: string, path: string, body?: object) => {
    const answer = await admin(server, method, path, body, key);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  };
  const [person, user] = [await newUser(server), await newUser(server)];
  const child = await call('POST', '/admin-keys', { name: 'Child of it', role: 'auditor' });
  await call('PUT', `/users/${person.id}/roles/support`, { expiresAt: '2099-12-31T00:00:00Z' });
  const app = await call('POST', '/clients', { name: 'Made App', redirectUris: ['https://made.example/cb'] });
  await call('PATCH', `/clients/${app.clientId}`, { redirectUris: ['https://other.example/cb'], access: 'assigned' });
  await call('POST', `/clients/${app.clientId}/assignments`, { userId: user.id });
  const group = await call('POST', '/groups', { name: 'made-group', displayName: 'Made Group' });
  await call('PUT', `/groups/${group.id}/members/${user.id}`);
  await call('PATCH', `/groups/${group.id}`, { name: 'renamed-group' });
  const organization = await call('POST', '/organizations', { name: 'made-place', domain: 'made.example' });
  await call('PUT', `/organizations/${organization.id}/members/${user.id}`, { role: 'MEMBER' });
  await call('PUT', `/organizations/${organization.id}/members/${person.id}`, { role: 'ADMIN' });
  await call('PATCH', `/organizations/${organization.id}`, { requireSecondFactor: true });
  await call('PATCH', `/organizations/${organization.id}`, { requireSecondFactor: false });
  const upstream = { name: 'made-staff', issuer: 'https://made-id.example', clientId: 'tessera', displayName: 'Staff' };
  await call('POST', '/upstreams', upstream);
  for (let index = 1; index <= 6; index++) {
    await call('POST', '/users', {
      username: `made-${index}`,
      email: `made-${index}@example.com`,
      displayName: 'Made',
    });
  }
  const { text } = await owner.browser.get(`/console/keys/${id}/made`);
  const shown = text.replaceAll(/<[^>]+>|[\u2066-\u2069]/g, '');
  assert.ok(text.includes(`/console/keys/${child.id}"`));
  for (const row of [
    'Child of it key, auditor',
    `${person.username} support, until`,
    `${person.username} admin in made-place`,
    'Made App registered',
    'Made App changed: ',
    `${user.username} assigned to the app Made App`,
    `${user.username} in the group Made Group`,
    `${user.username} in the organization made-place`,
    'made-6 created',
    'Staff registered',
    'made-place changed: the second factor',
    'Made Group changed: the name',
  ]) {
    assert.ok(shown.includes(row), `${row}: ${shown}`);
  }
  assert.match(shown, /made-2 created/);
  assert.doesNotMatch(shown, /made-1 created/);
  assert.match(shown, /There is more than is listed here\. See everything it did/);
});

test('who may not look people up finds their IDs in what was made', async () => {
  const organization = (await admin(server, 'POST', '/organizations', { name: 'ids-here', domain: 'i.example' })).body;
  const lead = await newOperator(server, 'developer');
  await admin(server, 'PUT', `/organizations/${organization.id}/members/${lead.id}`, { role: 'ADMIN' });
  const input = { name: 'Of the place', role: 'admin', organizationId: organization.id };
  const { id, adminKey } = (await admin(server, 'POST', '/admin-keys', input)).body;
  const user = await newUser(server);
  await admin(server, 'PUT', `/organizations/${organization.id}/members/${user.id}`, { role: 'MEMBER' });
  const group = await admin(server, 'POST', '/groups', { name: 'ids', organizationId: organization.id }, adminKey);
  await admin(server, 'PUT', `/groups/${group.body.id}/members/${user.id}`, {}, adminKey);
  const { text } = await lead.browser.get(`/console/keys/${id}/made`);
  assert.match(text, new RegExp(`${user.id}.*in the group`));
  assert.ok(!text.includes(user.username));
});

test('of a key outside of an operator’s reach nothing is told', async () => {
  const organization = (await admin(server, 'POST', '/organizations', { name: 'keys-here', domain: 'k.example' })).body;
  const lead = await newOperator(server, 'developer');
  await admin(server, 'PUT', `/organizations/${organization.id}/members/${lead.id}`, { role: 'ADMIN' });
  const { body } = await admin(server, 'POST', '/admin-keys', { name: 'Foreign key', role: 'auditor' });
  for (const path of ['', '/made']) {
    assert.equal((await lead.browser.get(`/console/keys/${body.id}${path}`)).status, 404);
  }
  assert.doesNotMatch((await lead.browser.get('/console/keys')).text, /Foreign key/);
  const like = `/console/keys/new?organization=${organization.id}&like=`;
  const [foreign, none] = [await open(server, lead, like + body.id), await open(server, lead, `${like}1`)];
  assert.equal(foreign.status, none.status);
  assert.doesNotMatch(foreign.text, /Foreign key/);
  assert.equal((await open(server, lead, '/console/keys/new')).status, 403);
  const own = await open(server, lead, `/console/keys/new?organization=${organization.id}`);
  const made = await lead.browser.submit(own, { name: 'Own key', role: 'auditor' }, '/console/keys/new');
  assert.equal(made.status, 200, made.text);
  assert.match((await lead.browser.get('/console/keys')).text, /Own key/);
});

test('an auditor reads who operates, and changes nothing', async () => {
  const auditor = await newOperator(server, 'auditor');
  const list = (await auditor.browser.get('/console/operators')).text;
  assert.doesNotMatch(list, /operators\/(grant|revoke)/);
  assert.equal((await auditor.browser.get(`/console/operators/grant?user=${owner.id}`)).status, 403);
  assert.equal((await auditor.browser.get('/console/keys/new')).status, 403);
});
