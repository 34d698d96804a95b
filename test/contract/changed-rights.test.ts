// store: SQLite, PostgreSQL
/** What others gave, and a thief changed, holds as far as it did before and does now when the thief's key or account ends with what it made. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newClient, newUser, signedIn, standard, type TestUser, tokensFor, userinfo } from '../support/flow.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { newestMail } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';
import { RECOVERED, takenBack } from '../support/taken-back.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
after(() => server.close());
const { press, recoverAt, reportLink, signedInWith } = takenBack(server);

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

/** What an ended key had changed of the rights of others: `as before` or `lost`. */
const changed = (made: { readonly changedRights: readonly Record<string, string | boolean>[] }): string[] =>
  made.changedRights.map(({ userId, role, asBefore }) => `${userId} ${role} ${asBefore ? 'as before' : 'lost'}`).sort();

test('roles that a stolen key raised are as they were; those that it took away or shortened are listed', async () => {
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
  const before = await rolesOf(longer);
  server.advance(MINUTE);
  await call('DELETE', `/users/${taken.id}/roles/admin`, undefined, thief.adminKey);
  await call('DELETE', `/users/${swapped.id}/roles/admin`, undefined, thief.adminKey);
  await call('PUT', `/users/${swapped.id}/roles/owner`, {}, thief.adminKey);
  await call('PUT', `/users/${swapped.id}/roles/admin`, { expiresAt: inDays(3) }, thief.adminKey);
  const soon = inDays(1);
  await call('PUT', `/users/${shorter.id}/roles/admin`, { expiresAt: soon }, thief.adminKey);
  await call('PUT', `/users/${longer.id}/roles/admin`, {}, thief.adminKey);
  await call('PUT', `/users/${none.id}/roles/admin`, {}, thief.adminKey);
  const expected = [
    ...[taken, swapped, shorter].map(({ id }) => `${id} admin lost`),
    `${longer.id} admin as before`,
  ].sort();
  assert.deepEqual(changed((await call('DELETE', `/admin-keys/${thief.id}`)).made), expected, 'it is listed before');

  const made = await endWithMade(thief);
  assert.deepEqual(changed(made), expected);
  assert.deepEqual(await Promise.all([taken, none, longer].map(rolesOf)), [[], [], before]);
  // What both had stays, and is the honest key's.
  assert.deepEqual(await rolesOf(shorter), [['admin', soon, honest.id].join(' ')]);
  assert.equal((await rolesOf(swapped)).length, 1);
  const { items } = await call('GET', `/audit-events?type=operator.role_granted&userId=${longer.id}&order=desc`);
  assert.equal(items[0].details.putBack, true);
  await endWithMade(honest);
  for (const one of [swapped, shorter, longer]) assert.deepEqual(await rolesOf(one), []);
});

test('what another operator decided since, what has ended, and what a thief had given is not listed', async () => {
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
  assert.deepEqual(made.changedRights, []);
  // Nor with the end of who took it away.
  assert.deepEqual((await endWithMade(honest)).changedRights, []);
  for (const one of [decided, ended, stolen, passed]) assert.deepEqual(await rolesOf(one), []);
});

test('an end that is repeated leaves what was given since', async () => {
  const [honest, thief] = [await newKey(), await operatorInBrowser(server, { emailVerified: true })];
  await call('PUT', `/users/${thief.user.id}/roles/owner`, {});
  const [bob] = (await people(1)) as [TestUser];
  await call('PUT', `/users/${bob.id}/roles/admin`, { expiresAt: inDays(9) }, honest.adminKey);
  server.advance(MINUTE);
  const stolen = await signInOnCommandLine(server, thief);
  await call('PUT', `/users/${bob.id}/roles/admin`, {}, stolen);
  const bar = `/users/${thief.user.id}/suspension`;
  const made = async (reason: string) => (await call('PUT', `${bar}?endMade=true`, { reason })).made;
  assert.deepEqual(changed(await made('stolen')), [`${bob.id} admin as before`]);
  await call('PUT', `/users/${bob.id}/roles/admin`, {});
  assert.deepEqual((await made('again'))?.changedRights ?? [], []);
  assert.match((await rolesOf(bob)).join(), /^admin {2}/, 'for good');
});

test('an operator who is taken back undoes nothing that the operator took away or closed', async () => {
  const alice = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${alice.user.id}/roles/owner`, {});
  const { email } = await call('GET', `/users/${alice.user.id}`);
  const [mallory, organizationId] = [(await people(1))[0] as TestUser, await newOrganization()];
  await call('PUT', `/users/${mallory.id}/roles/owner`, {});
  await call('PUT', `/organizations/${organizationId}/members/${mallory.id}`, { role: 'OWNER' });
  server.advance(9 * DAY);
  const browser = await signedInWith({ user: alice.user, email }, alice.factor);
  server.advance(MINUTE);
  const key = await signInOnCommandLine(server, { ...alice, browser });
  await call('DELETE', `/users/${mallory.id}/roles/owner`, undefined, key);
  await call('PUT', `/organizations/${organizationId}/members/${mallory.id}`, { role: 'MEMBER' }, key);
  assert.equal(await press(await reportLink(email)), 200);
  assert.deepEqual(await rolesOf(mallory), []);
  assert.equal(await roleIn(organizationId, mallory), 'MEMBER');
  await call('DELETE', `/users/${alice.user.id}/roles/owner`);
});

test('who gave up a role, or was banned since, gets it by no report and no end of a ban', async () => {
  const mallory = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${mallory.user.id}/roles/owner`, {});
  const { email } = await call('GET', `/users/${mallory.user.id}`);
  const [second] = (await people(1)) as [TestUser];
  server.advance(9 * DAY);
  const browser = await signedInWith({ user: mallory.user, email }, mallory.factor);
  await call('PUT', `/users/${second.id}/roles/owner`, {});
  server.advance(MINUTE);
  const key = await signInOnCommandLine(server, { ...mallory, browser });
  await call('DELETE', `/users/${second.id}/roles/owner`, undefined, key);
  await call('DELETE', `/users/${mallory.user.id}/roles/owner`, undefined, key);
  assert.equal(await press(await reportLink(email)), 200);
  await call('PUT', `/users/${mallory.user.id}/ban?endMade=true`, {});
  await call('DELETE', `/users/${mallory.user.id}/ban`);
  assert.deepEqual([await rolesOf(mallory.user), await rolesOf(second)], [[], []]);
});

test('memberships that a stolen key raised are as they were; those that it lowered, ended or moved are listed', async () => {
  const [honest, thief] = [await newKey(), await newKey()];
  const [first, other] = [await newOrganization(), await newOrganization()];
  const [raised, lowered, removed, moved, again, left] = (await people(6)) as [
    TestUser,
    TestUser,
    TestUser,
    TestUser,
    TestUser,
    TestUser,
  ];
  const all = [raised, lowered, removed, moved, again, left];
  const member = (organizationId: string, { id }: TestUser) => `/organizations/${organizationId}/members/${id}`;
  for (const one of all) await call('PUT', member(first, one), { role: 'ADMIN' }, honest.adminKey);
  server.advance(MINUTE);
  await call('PUT', member(first, raised), { role: 'OWNER' }, thief.adminKey);
  await call('PUT', member(first, lowered), { role: 'MEMBER' }, thief.adminKey);
  for (const one of [removed, moved, again, left]) {
    await call('DELETE', member(first, one), undefined, thief.adminKey);
  }
  await call('PUT', member(other, moved), { role: 'ADMIN' }, thief.adminKey);
  await call('PUT', member(first, again), { role: 'MEMBER' }, thief.adminKey);
  await call('PUT', member(other, left), { role: 'MEMBER' }, honest.adminKey);

  assert.deepEqual(
    changed(await endWithMade(thief)),
    [`${raised.id} ADMIN as before`, ...[lowered, removed, moved, again].map(({ id }) => `${id} ADMIN lost`)].sort(),
  );
  const roles = async () => Promise.all(all.map((one) => roleIn(first, one)));
  assert.deepEqual(await roles(), ['ADMIN', 'MEMBER', undefined, undefined, 'MEMBER', undefined]);
  assert.deepEqual([await roleIn(other, moved), await roleIn(other, left)], [undefined, 'MEMBER']);
  // They are the other key's again.
  await endWithMade(honest);
  assert.deepEqual(
    await roles(),
    all.map(() => undefined),
  );
});

test('assignments that a stolen key changed hold as far as they did before and do now, and tokens live on there', async () => {
  const [honest, thief, app] = [await newKey(), await newKey(), await newApp()];
  const [given, plain, swapped, removed, again] = (await people(5)) as [
    TestUser,
    TestUser,
    TestUser,
    TestUser,
    TestUser,
  ];
  const path = `/clients/${app.clientId}/assignments`;
  const ids: string[] = [];
  for (const [{ id: userId }, role] of [
    [plain, null],
    [swapped, 'reader'],
    [removed, 'reader'],
    [again, 'reader'],
  ] as const) {
    ids.push((await call('POST', path, { userId, role }, honest.adminKey)).id);
  }
  server.advance(MINUTE);
  for (const id of ids.slice(0, 2)) await call('PATCH', `${path}/${id}`, { role: 'writer' }, thief.adminKey);
  const tokens = await tokensFor(server, app, plain);
  for (const id of ids.slice(2)) await call('DELETE', `${path}/${id}`, undefined, thief.adminKey);
  await call('POST', path, { userId: again.id, role: 'reader' }, thief.adminKey);
  await call('POST', path, { userId: given.id, role: 'reader' }, thief.adminKey);

  assert.deepEqual(
    changed(await endWithMade(thief)),
    [
      `${plain.id} null as before`,
      `${again.id} reader as before`,
      ...[swapped, removed].map(({ id }) => `${id} reader lost`),
    ].sort(),
  );
  const expected = [`${plain.id} null`, `${again.id} reader`];
  assert.deepEqual((await assigned(app)).sort(), expected.sort());
  assert.equal((await userinfo(server, tokens.access_token, '/oidc/userinfo')).status, 200);
  await endWithMade(honest);
  assert.deepEqual(await assigned(app), []);
});

test('a role that a stolen key took away and gave very often is as it was before the first time', async () => {
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

test('a role that a stolen key changed very often is as another operator gave it meanwhile', async () => {
  const [honest, thief, [bob]] = [await newKey(), await newKey(), (await people(1)) as [TestUser]];
  const path = `/users/${bob.id}/roles/auditor`;
  for (let times = 0; times < 27; times += 1) {
    await call('PUT', path, {}, thief.adminKey);
    await call('DELETE', path, undefined, thief.adminKey);
  }
  await call('PUT', path, { expiresAt: inDays(9) }, honest.adminKey);
  const given = await rolesOf(bob);
  await call('PUT', path, {}, thief.adminKey);
  await call('DELETE', path, undefined, thief.adminKey);
  await call('PUT', path, {}, thief.adminKey);
  await endWithMade(thief);
  assert.deepEqual(await rolesOf(bob), given);
});

test('of very many assignments that a stolen key took away and gave again, each stays', async () => {
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
  server.advance(MINUTE);
  for (const id of ids) await call('DELETE', `${path}/${id}`, undefined, thief.adminKey);
  assert.deepEqual(await held(), []);
  for (const one of to) {
    for (const { name } of roles) await call('POST', path, { ...one, role: name }, thief.adminKey);
  }
  const made = await endWithMade(thief);
  assert.equal(made.hasMoreChangedRights, true);
  assert.deepEqual(await held(), before);
});

test('an owner whom a stolen key removed is owner again, and the one whom it made does not stay to be the last', async () => {
  const [thief, [alice, mallory]] = [await newKey(), (await people(2)) as [TestUser, TestUser]];
  await call('PUT', `/users/${alice.id}/roles/owner`, {});
  const own = await newKey();
  server.advance(MINUTE);
  await call('PUT', `/users/${mallory.id}/roles/owner`, {}, thief.adminKey);
  for (const { id } of [alice, keeper]) await call('DELETE', `/users/${id}/roles/owner`, undefined, thief.adminKey);
  const owners = [alice, keeper].map(({ id }) => `${id} owner as before`).sort();
  assert.deepEqual(changed(await endWithMade(thief)), owners);
  assert.equal((await rolesOf(alice)).length, 1);
  assert.deepEqual(await rolesOf(mallory), []);
  await call('DELETE', `/users/${alice.id}/roles/owner`);
  await call('DELETE', `/admin-keys/${own.id}`);
});

test('the account of an owner who is owner again is closed to a weaker operator who set its password meanwhile; a report goes on', async () => {
  const [thief, mallory] = [await newKey(), await newUser(server)];
  const alice = await newUser(server, { emailVerified: true });
  const { email } = await call('GET', `/users/${alice.id}`);
  await call('PUT', `/users/${alice.id}/roles/owner`, {});
  server.advance(MINUTE);
  await call('PUT', `/users/${mallory.id}/roles/owner`, {}, thief.adminKey);
  for (const { id } of [alice, keeper]) await call('DELETE', `/users/${id}/roles/owner`, undefined, thief.adminKey);
  const admins = await call('POST', '/admin-keys', { name: 'an admin', role: 'admin' });
  server.advance(MINUTE);
  await call('PATCH', `/users/${alice.id}`, { password: 'chosen by the admin 1' }, admins.adminKey);
  const report = await reportLink(email);
  const browser = await signedIn(server, alice, 'chosen by the admin 1');
  await endWithMade(thief);
  assert.equal((await rolesOf(alice)).length, 1);
  assert.notEqual((await browser.get('/account')).status, 200);
  await assert.rejects(signedIn(server, alice, 'chosen by the admin 1'));
  assert.equal(await press(report), 200);
  assert.equal(await recoverAt(email, ''), 200);
  await signedIn(server, alice, RECOVERED);
  await call('DELETE', `/users/${alice.id}/roles/owner`);
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
  assert.equal(made.changedRights.length, 1);
});

test('a report of the person whose account was stolen says what was raised and taken away with it', async () => {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${operator.user.id}/roles/admin`, {});
  const { email } = await call('GET', `/users/${operator.user.id}`);
  const [early, late, longer] = (await people(3)) as [TestUser, TestUser, TestUser];
  for (const { id } of [early, late]) await call('PUT', `/users/${id}/roles/auditor`, {});
  await call('PUT', `/users/${longer.id}/roles/auditor`, { expiresAt: inDays(20) });
  const before = await rolesOf(longer);
  server.advance(MINUTE);
  await call('DELETE', `/users/${early.id}/roles/auditor`, undefined, await signInOnCommandLine(server, operator));
  server.advance(9 * DAY);
  const thief = { ...operator, browser: await signedInWith({ user: operator.user, email }, operator.factor) };
  server.advance(MINUTE);
  const key = await signInOnCommandLine(server, thief);
  await call('DELETE', `/users/${late.id}/roles/auditor`, undefined, key);
  await call('PUT', `/users/${longer.id}/roles/auditor`, {}, key);
  assert.equal(await press(await reportLink(email)), 200);
  assert.deepEqual(await Promise.all([early, late, longer].map(rolesOf)), [[], [], before]);
  const { text } = await newestMail(server, email, 'recovery');
  assert.match(text, /A role, a membership or an assignment of somebody else that was raised is as it was before\./);
  assert.match(text, /was taken away or made less\. If that was wrong, ask an operator/);
});
