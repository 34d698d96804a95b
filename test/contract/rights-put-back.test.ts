// store: SQLite, PostgreSQL
/** What others gave, and a thief changed or took away, is there again as it was when the thief's key or account ends with what it made. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newClient, newUser, standard, type TestUser, tokensFor, userinfo } from '../support/flow.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { newestMail } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
after(() => server.close());
const { signedInWith, reportLink, press } = takenBack(server);

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
let count = 0;
interface Key {
  readonly id: string;
  readonly adminKey: string;
}
const newKey = (key?: string): Promise<Key> => call('POST', '/admin-keys', { name: 'a key', role: 'owner' }, key);
const newOrganization = async (): Promise<string> =>
  (await call('POST', '/organizations', { name: `back-${++count}`, domain: `back-${count}.example` })).id;
const newApp = async () =>
  standard(
    await newClient(server, {
      access: 'assigned',
      roles: ['reader', 'writer'].map((name) => ({ name, description: name })),
    }),
  );
const endWithMade = async ({ id }: Key) => {
  server.advance(MINUTE);
  return (await call('DELETE', `/admin-keys/${id}?endMade=true`)).made;
};
const rolesOf = async ({ id }: TestUser): Promise<string[]> =>
  (await call('GET', `/users/${id}/roles`)).items
    .map(({ role, expiresAt, madeBy }: Record<string, string | null>) => [role, expiresAt, madeBy].join(' '))
    .sort();
const roleIn = async (organizationId: string, { id }: TestUser): Promise<string | null | undefined> => {
  const { status, body } = await admin(server, 'GET', `/organizations/${organizationId}/members/${id}`);
  return status === 404 ? undefined : body.role;
};
const assigned = async ({ clientId }: { clientId: string }): Promise<string[]> =>
  (await call('GET', `/clients/${clientId}/assignments`)).items.map(
    ({ userId, role }: Record<string, string | null>) => `${userId} ${role}`,
  );
const inDays = (days: number): string => new Date(server.now() + days * DAY).toISOString();
const people = (number: number): Promise<TestUser[]> =>
  Promise.all(Array.from({ length: number }, () => newUser(server)));

const keeper = await newUser(server, { password: undefined });
await call('PUT', `/users/${keeper.id}/roles/owner`, {});

test('roles that a stolen key took away, gave again, shortened or lengthened are as they were', async () => {
  const [honest, thief] = [await newKey(), await newKey()];
  const [taken, swapped, shorter, longer, none] = (await people(5)) as [
    TestUser,
    TestUser,
    TestUser,
    TestUser,
    TestUser,
  ];
  const end = inDays(20);
  for (const { id } of [taken, swapped, shorter]) await call('PUT', `/users/${id}/roles/admin`, {}, honest.adminKey);
  await call('PUT', `/users/${longer.id}/roles/admin`, { expiresAt: end }, honest.adminKey);
  const before = await Promise.all([taken, swapped, shorter, longer].map(rolesOf));
  server.advance(MINUTE);
  await call('DELETE', `/users/${taken.id}/roles/admin`, undefined, thief.adminKey);
  await call('DELETE', `/users/${swapped.id}/roles/admin`, undefined, thief.adminKey);
  await call('PUT', `/users/${swapped.id}/roles/owner`, {}, thief.adminKey);
  await call('PUT', `/users/${swapped.id}/roles/admin`, { expiresAt: inDays(3) }, thief.adminKey);
  await call('PUT', `/users/${shorter.id}/roles/admin`, { expiresAt: inDays(1) }, thief.adminKey);
  await call('PUT', `/users/${longer.id}/roles/admin`, {}, thief.adminKey);
  await call('PUT', `/users/${none.id}/roles/admin`, {}, thief.adminKey);

  const made = await endWithMade(thief);
  assert.deepEqual(await Promise.all([taken, swapped, shorter, longer].map(rolesOf)), before);
  assert.deepEqual(await rolesOf(none), []);
  const put = made.putBack.map(({ userId, role, expiresAt }: Record<string, string>) =>
    [userId, role, expiresAt].join(),
  );
  const expected = [taken, swapped, shorter].map(({ id }) => [id, 'admin', null].join());
  assert.deepEqual(put.sort(), [...expected, [longer.id, 'admin', end].join()].sort());
  const { items } = await call('GET', `/audit-events?type=operator.role_granted&userId=${taken.id}&order=desc`);
  assert.equal(items[0].details.putBack, true);
});

test('what another operator decided since, what has ended, and what a thief had given is not put back', async () => {
  const [honest, thief] = [await newKey(), await newKey()];
  const second = await newKey(thief.adminKey);
  const [decided, ended, stolen, passed] = (await people(4)) as [TestUser, TestUser, TestUser, TestUser];
  await call('PUT', `/users/${decided.id}/roles/auditor`, {}, honest.adminKey);
  await call('PUT', `/users/${ended.id}/roles/auditor`, { expiresAt: inDays(1) }, honest.adminKey);
  await call('PUT', `/users/${stolen.id}/roles/auditor`, {}, thief.adminKey);
  await call('PUT', `/users/${passed.id}/roles/auditor`, {}, thief.adminKey);
  for (const { id } of [decided, ended, stolen]) {
    await call('DELETE', `/users/${id}/roles/auditor`, undefined, second.adminKey);
  }
  await call('DELETE', `/users/${passed.id}/roles/auditor`, undefined, honest.adminKey);
  await call('PUT', `/users/${decided.id}/roles/auditor`, {}, honest.adminKey);
  await call('DELETE', `/users/${decided.id}/roles/auditor`, undefined, honest.adminKey);
  server.advance(2 * DAY);
  const made = await endWithMade(thief);
  assert.deepEqual(made.putBack, []);
  for (const one of [decided, ended, stolen]) assert.deepEqual(await rolesOf(one), []);
  // Nor with the end of who took it away.
  assert.deepEqual((await endWithMade(honest)).putBack, []);
  assert.deepEqual(await rolesOf(passed), []);
});

test('an end that is repeated leaves what was given since', async () => {
  const [honest, thief] = [await newKey(), await operatorInBrowser(server, { emailVerified: true })];
  await call('PUT', `/users/${thief.user.id}/roles/owner`, {});
  const [bob] = (await people(1)) as [TestUser];
  await call('PUT', `/users/${bob.id}/roles/admin`, {}, honest.adminKey);
  server.advance(MINUTE);
  const stolen = await signInOnCommandLine(server, thief);
  await call('DELETE', `/users/${bob.id}/roles/admin`, undefined, stolen);
  const bar = `/users/${thief.user.id}/suspension`;
  assert.equal((await call('PUT', `${bar}?endMade=true`, { reason: 'stolen' })).made.putBack.length, 1);
  await call('DELETE', `/users/${bob.id}/roles/admin`);
  assert.deepEqual((await call('PUT', `${bar}?endMade=true`, { reason: 'again' })).made?.putBack ?? [], []);
  assert.deepEqual(await rolesOf(bob), []);
});

test('memberships that a stolen key raised, lowered, ended or moved are as they were', async () => {
  const [honest, thief] = [await newKey(), await newKey()];
  const [first, other] = [await newOrganization(), await newOrganization()];
  const [raised, lowered, removed, moved, left] = (await people(5)) as [
    TestUser,
    TestUser,
    TestUser,
    TestUser,
    TestUser,
  ];
  const all = [raised, lowered, removed, moved, left];
  const member = (organizationId: string, { id }: TestUser) => `/organizations/${organizationId}/members/${id}`;
  for (const one of all) await call('PUT', member(first, one), { role: 'ADMIN' }, honest.adminKey);
  server.advance(MINUTE);
  await call('PUT', member(first, raised), { role: 'OWNER' }, thief.adminKey);
  await call('PUT', member(first, lowered), { role: 'MEMBER' }, thief.adminKey);
  for (const one of [removed, moved, left]) {
    await call('DELETE', member(first, one), undefined, thief.adminKey);
  }
  await call('PUT', member(other, moved), { role: 'ADMIN' }, thief.adminKey);
  await call('PUT', member(other, left), { role: 'MEMBER' }, honest.adminKey);

  const made = await endWithMade(thief);
  assert.equal(made.putBack.length, 4);
  for (const one of [raised, lowered, removed, moved]) assert.equal(await roleIn(first, one), 'ADMIN');
  assert.equal(await roleIn(other, moved), undefined);
  assert.deepEqual([await roleIn(first, left), await roleIn(other, left)], [undefined, 'MEMBER']);
  // They are the other key's again.
  await endWithMade(honest);
  for (const one of [raised, lowered, removed, moved]) assert.equal(await roleIn(first, one), undefined);
});

test('assignments that a stolen key changed or took away are as they were, and tokens live on where only the role had changed', async () => {
  const [honest, thief, app] = [await newKey(), await newKey(), await newApp()];
  const [changed, removed, again, given] = (await people(4)) as [TestUser, TestUser, TestUser, TestUser];
  const path = `/clients/${app.clientId}/assignments`;
  const ids: string[] = [];
  for (const { id: userId } of [changed, removed, again]) {
    ids.push((await call('POST', path, { userId, role: 'reader' }, honest.adminKey)).id);
  }
  server.advance(MINUTE);
  await call('PATCH', `${path}/${ids[0]}`, { role: 'writer' }, thief.adminKey);
  const tokens = await tokensFor(server, app, changed);
  const early = await tokensFor(server, app, removed);
  for (const id of ids.slice(1)) await call('DELETE', `${path}/${id}`, undefined, thief.adminKey);
  await call('POST', path, { userId: again.id, role: 'reader' }, thief.adminKey);
  await call('POST', path, { userId: given.id, role: 'reader' }, thief.adminKey);

  const made = await endWithMade(thief);
  assert.equal(made.putBack.length, 3);
  const expected = [changed, removed, again].map(({ id }) => `${id} reader`);
  assert.deepEqual((await assigned(app)).sort(), expected.sort());
  assert.equal((await userinfo(server, tokens.access_token, '/oidc/userinfo')).status, 200);
  assert.notEqual(
    (await userinfo(server, early.access_token, '/oidc/userinfo')).status,
    200,
    'what was issued before stays ended',
  );
  await tokensFor(server, app, removed);
  await endWithMade(honest);
  assert.deepEqual(await assigned(app), []);
});

test('a role that a stolen key took away very often is as it was before the first time', async () => {
  const [honest, thief, [bob]] = [await newKey(), await newKey(), (await people(1)) as [TestUser]];
  const path = `/users/${bob.id}/roles/auditor`;
  await call('PUT', path, { expiresAt: inDays(9) }, honest.adminKey);
  const before = await rolesOf(bob);
  for (let times = 0; times < 30; times += 1) {
    await call('DELETE', path, undefined, thief.adminKey);
    await call('PUT', path, {}, thief.adminKey);
  }
  await endWithMade(thief);
  assert.deepEqual(await rolesOf(bob), before);
});

test('of very many assignments that a stolen key took away, each is there again', async () => {
  const [thief, app] = [await newKey(), await newApp()];
  const path = `/clients/${app.clientId}/assignments`;
  const organizationId = await newOrganization();
  const roles = Array.from({ length: 12 }, (_, index) => ({ name: `role-${index}`, description: 'a role' }));
  await call('PATCH', `/clients/${app.clientId}`, { roles });
  const groups = await Promise.all(
    Array.from({ length: 4 }, async () => (await call('POST', '/groups', { name: `many-${++count}` })).id),
  );
  const to = [...groups.map((groupId) => ({ groupId })), { organizationId }];
  for (const one of to) {
    for (const { name } of roles) await call('POST', path, { ...one, role: name });
  }
  const held = async (): Promise<string[]> => {
    const found: string[] = [];
    for (let after: string | undefined; ; ) {
      const page = await call('GET', `${path}?limit=200${after === undefined ? '' : `&cursor=${after}`}`);
      found.push(
        ...page.items.map((one: Record<string, string>) => [one.groupId, one.organizationId, one.role].join()),
      );
      after = page.nextCursor ?? undefined;
      if (after === undefined) return found.sort();
    }
  };
  const before = await held();
  assert.equal(before.length, 60);
  const ids: string[] = [];
  for (const { id } of (await call('GET', `${path}?limit=200`)).items) ids.push(id);
  for (const id of ids) await call('DELETE', `${path}/${id}`, undefined, thief.adminKey);
  for (const { id } of (await call('GET', `${path}?limit=200`)).items) {
    await call('DELETE', `${path}/${id}`, undefined, thief.adminKey);
  }
  assert.deepEqual(await held(), []);
  const made = await endWithMade(thief);
  assert.equal(made.hasMorePutBack, true);
  assert.deepEqual(await held(), before);
});

test('an owner whom a stolen key removed is owner again, and the one whom it made does not stay to be the last', async () => {
  const [thief, [alice, mallory]] = [await newKey(), (await people(2)) as [TestUser, TestUser]];
  await call('PUT', `/users/${alice.id}/roles/owner`, {});
  const own = await newKey();
  server.advance(MINUTE);
  await call('PUT', `/users/${mallory.id}/roles/owner`, {}, thief.adminKey);
  for (const { id } of [alice, keeper]) await call('DELETE', `/users/${id}/roles/owner`, undefined, thief.adminKey);
  await endWithMade(thief);
  assert.equal((await rolesOf(alice)).length, 1);
  assert.deepEqual(await rolesOf(mallory), []);
  await call('DELETE', `/admin-keys/${own.id}`);
});

test('who was made more by a thief keeps what they made by what they had before', async () => {
  const [honest, thief, organizationId] = [await newKey(), await newKey(), await newOrganization()];
  const bob = await operatorInBrowser(server, { emailVerified: true });
  const [eve] = (await people(1)) as [TestUser];
  const path = `/organizations/${organizationId}/members`;
  await call('PUT', `${path}/${bob.user.id}`, { role: 'ADMIN' }, honest.adminKey);
  await call('PUT', `${path}/${eve.id}`, { role: 'ADMIN' }, honest.adminKey);
  server.advance(MINUTE);
  await call('PUT', `${path}/${bob.user.id}`, { role: 'OWNER' }, thief.adminKey);
  server.advance(MINUTE);
  const own = await signInOnCommandLine(server, bob);
  const [carol] = (await people(1)) as [TestUser];
  await call('PUT', `${path}/${carol.id}`, { role: 'ADMIN' });
  await call('PUT', `${path}/${carol.id}`, { role: 'MEMBER' }, own);
  const made = await endWithMade(thief);
  assert.equal(await roleIn(organizationId, bob.user), 'ADMIN');
  assert.equal(await roleIn(organizationId, carol), 'MEMBER', 'an admin may do so');
  assert.equal(made.putBack.length, 1);
});

test('a report of the person whose account was stolen puts back what was taken away with it, and says so', async () => {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${operator.user.id}/roles/admin`, {});
  const { email } = await call('GET', `/users/${operator.user.id}`);
  const [early, late] = (await people(2)) as [TestUser, TestUser];
  for (const { id } of [early, late]) await call('PUT', `/users/${id}/roles/auditor`, {});
  server.advance(MINUTE);
  await call('DELETE', `/users/${early.id}/roles/auditor`, undefined, await signInOnCommandLine(server, operator));
  server.advance(9 * DAY);
  const thief = { ...operator, browser: await signedInWith({ user: operator.user, email }, operator.factor) };
  server.advance(MINUTE);
  await call('DELETE', `/users/${late.id}/roles/auditor`, undefined, await signInOnCommandLine(server, thief));
  assert.equal(await press(await reportLink(email)), 200);
  assert.deepEqual(await rolesOf(early), []);
  assert.equal((await rolesOf(late)).length, 1);
  const { text } = await newestMail(server, email, 'recovery');
  assert.match(text, /A role, a membership or an assignment of somebody else .* is as it was before/);
});
