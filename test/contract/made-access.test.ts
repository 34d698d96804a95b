// store: SQLite, PostgreSQL
/** Whom a stolen key or account let in is listed where it ends, and is let in no more when it ends with what it made. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  redeem,
  signedIn,
  standard,
  type TestUser,
  userinfo,
  walk,
} from '../support/flow.ts';
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
const keeper = await newUser(server, { password: undefined });
await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {});

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
let count = 0;
const newKey = (role = 'owner'): Promise<{ id: string; adminKey: string }> =>
  call('POST', '/admin-keys', { name: 'stolen', role });
const newOrganization = async (): Promise<string> =>
  (await call('POST', '/organizations', { name: `in-${++count}`, domain: `in-${count}.example` })).id;
const newGroup = async (): Promise<string> => (await call('POST', '/groups', { name: `in-${++count}` })).id;
const newApp = async () =>
  standard(
    await newClient(server, {
      access: 'assigned',
      roles: ['reader', 'writer'].map((name) => ({ name, description: name })),
    }),
  );
const assignmentsOf = async ({
  clientId,
}: {
  clientId: string;
}): Promise<{ id: string; userId: string | null; role: string | null }[]> =>
  (await call('GET', `/clients/${clientId}/assignments`)).items;
const membersOf = async (groupId: string): Promise<string[]> =>
  (await call('GET', `/groups/${groupId}/members?limit=200`)).items.map(({ userId }: { userId: string }) => userId);
const isMember = async (organizationId: string, { id }: TestUser): Promise<boolean> =>
  (await call('GET', `/organizations/${organizationId}`)).members.some(
    ({ userId }: { userId: string }) => userId === id,
  );
const endWithMade = async (id: string) => (await call('DELETE', `/admin-keys/${id}?endMade=true`)).made;

const nobody = { clientId: null, groupId: null, organizationId: null, userId: null };

test('an assignment, and members of a group and an organization that a key added, end with it; earlier ones stay', async () => {
  const [key, app, groupId, organizationId] = [
    await newKey(),
    await newApp(),
    await newGroup(),
    await newOrganization(),
  ];
  const [mallory, honest] = [await newUser(server), await newUser(server)];
  const letIn = async ({ id: userId }: TestUser, by?: string) => {
    await call('POST', `/clients/${app.clientId}/assignments`, { userId }, by);
    await call('PUT', `/groups/${groupId}/members/${userId}`, undefined, by);
    await call('PUT', `/organizations/${organizationId}/members/${userId}`, { role: 'MEMBER' }, by);
  };
  await letIn(honest);
  await letIn(mallory, key.adminKey);
  const target = await walk(await signedIn(server, mallory), authorizeUrl(app));
  const { body: tokens } = await redeem(server, app, target.searchParams.get('code') ?? '');
  assert.equal((await userinfo(server, tokens.access_token, '/oidc/userinfo')).status, 200);
  const listed = [
    { ...nobody, kind: 'assignment', clientId: app.clientId, userId: mallory.id },
    { ...nobody, kind: 'group_member', groupId, userId: mallory.id },
    { ...nobody, kind: 'member', organizationId, userId: mallory.id },
  ];
  assert.deepEqual((await call('GET', `/admin-keys/${key.id}`)).made.access, listed);
  const { access, hasMoreAccess } = await endWithMade(key.id);
  assert.deepEqual([access, hasMoreAccess], [listed, false]);
  assert.equal((await userinfo(server, tokens.access_token, '/oidc/userinfo')).status, 401);
  assert.deepEqual(
    (await assignmentsOf(app)).map(({ userId }) => userId),
    [honest.id],
  );
  assert.deepEqual(await membersOf(groupId), [honest.id]);
  assert.deepEqual([await isMember(organizationId, mallory), await isMember(organizationId, honest)], [false, true]);
  const { items } = await call('GET', `/audit-events?userId=${mallory.id}&limit=100`);
  for (const type of ['access.unassigned', 'group.member_removed', 'organization.member_removed']) {
    assert.ok(
      items.some((event: { type: string }) => event.type === type),
      type,
    );
  }
});

test('they go on where only the key is revoked, and an assignment that a key put in another role ends with what it made', async () => {
  const [kept, ended, app] = [await newKey(), await newKey(), await newApp()];
  const [first, second] = [await newUser(server), await newUser(server)];
  await call('POST', `/clients/${app.clientId}/assignments`, { userId: first.id }, kept.adminKey);
  const { id } = await call('POST', `/clients/${app.clientId}/assignments`, { userId: second.id, role: 'reader' });
  await call('PATCH', `/clients/${app.clientId}/assignments/${id}`, { role: 'writer' }, ended.adminKey);
  await call('DELETE', `/admin-keys/${kept.id}`);
  await endWithMade(ended.id);
  assert.deepEqual(
    (await assignmentsOf(app)).map(({ userId, role }) => [userId, role]),
    [[first.id, null]],
  );
});

test('who joined as a plain member by the invitation of a key is none after it ended', async () => {
  const [organizationId, key] = [await newOrganization(), await newKey()];
  const mallory = await newUser(server, { emailVerified: true });
  const { email } = await call('GET', `/users/${mallory.id}`);
  await call('POST', '/invitations', { email, organizationId, role: 'MEMBER' }, key.adminKey);
  const browser = await signedIn(server, mallory);
  const { link = '' } = await newestMail(server, email, 'invitation');
  assert.equal((await browser.submit(await browser.get(link), {}, '/invitation')).status, 200);
  assert.equal(await isMember(organizationId, mallory), true);
  await endWithMade(key.id);
  assert.equal(await isMember(organizationId, mallory), false);
});

test('of very many members all end', async () => {
  const [groupId, key] = [await newGroup(), await newKey()];
  for (let done = 0; done < 203; done += 7) {
    const users = await Promise.all(Array.from({ length: 7 }, () => newUser(server, { password: undefined })));
    for (const { id } of users) await call('PUT', `/groups/${groupId}/members/${id}`, undefined, key.adminKey);
  }
  const { access, hasMoreAccess } = await endWithMade(key.id);
  assert.deepEqual([access.length, hasMoreAccess], [200, true]);
  assert.deepEqual(await membersOf(groupId), []);
});

test('whom an operator let in by a role from elsewhere goes on', async () => {
  const [stolen, groupId, organizationId] = [await newKey(), await newGroup(), await newOrganization()];
  const colleague = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${colleague.user.id}/roles/admin`, {});
  await call('PUT', `/users/${colleague.user.id}/roles/owner`, {}, stolen.adminKey);
  server.advance(MINUTE);
  const own = await signInOnCommandLine(server, colleague);
  const person = await newUser(server);
  await call('PUT', `/groups/${groupId}/members/${person.id}`, undefined, own);
  await call('PUT', `/organizations/${organizationId}/members/${person.id}`, { role: 'MEMBER' }, own);
  await endWithMade(stolen.id);
  assert.deepEqual(await membersOf(groupId), [person.id]);
  assert.equal(await isMember(organizationId, person), true);
});

test('whom a thief let in with the account of an operator is let in no more with the report', async () => {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${operator.user.id}/roles/admin`, {});
  const { email } = await call('GET', `/users/${operator.user.id}`);
  const [groupId, early, late] = [await newGroup(), await newUser(server), await newUser(server)];
  server.advance(MINUTE);
  await call('PUT', `/groups/${groupId}/members/${early.id}`, undefined, await signInOnCommandLine(server, operator));
  server.advance(9 * DAY);
  const thief = { ...operator, browser: await signedInWith({ user: operator.user, email }, operator.factor) };
  server.advance(MINUTE);
  await call('PUT', `/groups/${groupId}/members/${late.id}`, undefined, await signInOnCommandLine(server, thief));
  assert.equal(await press(await reportLink(email)), 200);
  assert.deepEqual(await membersOf(groupId), [early.id]);
  const { text } = await newestMail(server, email, 'recovery');
  assert.match(text, /an assignment to an app or a membership that was given/);
});
