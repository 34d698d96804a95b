// store: SQLite, PostgreSQL
/** Nobody acts on somebody who holds a permission that they lack: not by a recovery link or a password either from before the person held it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

async function ok(method: string, path: string, body?: object, key?: string) {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

let organizations = 0;
const newOrganization = async (name: string): Promise<string> =>
  (await ok('POST', '/organizations', { name: `${name}${++organizations}`, domain: 'example.org' })).id;

async function invitationOf({ id }: TestUser) {
  const organizationId = await newOrganization('invited');
  const { email } = await ok('GET', `/users/${id}`);
  return await ok('POST', '/invitations', { organizationId, role: 'OWNER', email });
}

const STRONGER: Readonly<Record<string, (user: TestUser) => Promise<unknown>>> = {
  'a role of the installation': ({ id }) => ok('PUT', `/users/${id}/roles/owner`, {}),
  async 'the role of a member'({ id }) {
    const organization = await newOrganization('raised');
    await ok('PUT', `/organizations/${organization}/members/${id}`, { role: 'OWNER' });
  },
  async 'the role of an invitation'(user) {
    const { link } = await invitationOf(user);
    const browser = await signedIn(server, user);
    assert.ok((await browser.submit(await browser.get(link), {}, '/invitation')).status < 400);
  },
};

for (const [what, give] of Object.entries(STRONGER)) {
  test(`a recovery link that was made before ${what} was given does nothing after it`, async () => {
    const { adminKey } = await ok('POST', '/admin-keys', { name: 'an admin', role: 'admin' });
    const user = await newUser(server, { emailVerified: true });
    const { url } = await ok('POST', `/users/${user.id}/recovery-link`, { resetFactors: true }, adminKey);
    const browser = agent(server.baseUrl);
    const page = await browser.get(url);
    assert.equal(page.status, 200);
    await give(user);
    assert.equal((await browser.submit(page, { password: 'set by a weaker one' }, '/recover/link')).status, 410);
    await signedIn(server, user, PASSWORD);
    const own = await ok('POST', `/users/${user.id}/recovery-link`, {});
    assert.equal((await browser.get(own.url)).status, 200, 'one that is made afterwards');
  });
}

/** Tries to give a person what makes them stronger. */
const TRIED: Readonly<Record<string, (user: TestUser, browser: Agent) => Promise<number>>> = {
  'a role of the installation': async ({ id }) => (await admin(server, 'PUT', `/users/${id}/roles/owner`, {})).status,
  async 'the role of a member'({ id }) {
    const organization = await newOrganization('raised');
    return (await admin(server, 'PUT', `/organizations/${organization}/members/${id}`, { role: 'OWNER' })).status;
  },
  async 'the role of an invitation'(user, browser) {
    const { link } = await invitationOf(user);
    return (await browser.submit(await browser.get(link), {}, '/invitation')).status;
  },
};

const isSignedIn = async (browser: Agent) => (await browser.get('/account/security')).status === 200;
const rolesOf = async ({ id }: TestUser) => {
  const { items } = await ok('GET', `/users/${id}/roles`);
  return items.map(({ role }: { role: string }) => role);
};
const setByWeaker = async (user: TestUser) => {
  const { adminKey } = await ok('POST', '/admin-keys', { name: 'an admin', role: 'admin' });
  await ok('PATCH', `/users/${user.id}`, { password: 'chosen by the admin 1' }, adminKey);
};

/** The person uses a link that an owner makes. */
async function recoverBy(user: TestUser, fields: object = {}) {
  server.advance(MINUTE);
  const { url } = await ok('POST', `/users/${user.id}/recovery-link`, fields);
  const browser = agent(server.baseUrl);
  await browser.submit(await browser.get(url), { password: 'one of their own 1' }, '/recover/link');
  server.advance(MINUTE);
}

for (const [what, give] of Object.entries(TRIED)) {
  test(`${what} is given only when a password that a weaker operator set has ended, with what was done with it`, async () => {
    const user = await newUser(server, { emailVerified: true });
    await setByWeaker(user);
    const thief = await signedIn(server, user, 'chosen by the admin 1');
    assert.equal(await give(user, thief), 409);
    assert.deepEqual(await rolesOf(user), []);
    await recoverBy(user);
    assert.equal(await isSignedIn(thief), false, 'the session');
    await assert.rejects(signedIn(server, user, 'chosen by the admin 1'), 'the password');
    assert.equal(await give(user, await signedIn(server, user, 'one of their own 1')), 200);
    assert.deepEqual(await rolesOf(user), ['owner']);
  });
}

test('nor is a role given while a factor may be left that was added under such a password', async () => {
  const user = await newUser(server, { emailVerified: true });
  await setByWeaker(user);
  // It is enrolled as of an hour ago.
  server.advance(2 * 3_600_000);
  await enroll(server, user);
  await ok('PATCH', `/users/${user.id}`, { password: 'chosen by an owner 1' });
  const refused = await admin(server, 'PUT', `/users/${user.id}/roles/owner`, {});
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
  assert.match(refused.body.error_description, /set how this person signs in/);
  await recoverBy(user, { resetFactors: true });
  assert.deepEqual((await ok('GET', `/users/${user.id}/factors`)).items, []);
  await ok('PUT', `/users/${user.id}/roles/owner`, {});
});

const KEPT: Readonly<Record<string, (user: TestUser) => Promise<string>>> = {
  async 'an operator set who may do all that the person gets'({ id }) {
    await ok('PATCH', `/users/${id}`, { password: 'chosen by an owner 1' });
    return 'chosen by an owner 1';
  },
  async 'an operator set over that of a weaker one'(user) {
    await setByWeaker(user);
    await ok('PATCH', `/users/${user.id}`, { password: 'chosen by an owner 1' });
    return 'chosen by an owner 1';
  },
  async 'the person set by a factor from before an operator’s'(user) {
    const factor = await enroll(server, user);
    await setByWeaker(user);
    server.advance(MINUTE);
    const { browser, page: second } = await atSecondStep(server, user, agent(server.baseUrl), 'chosen by the admin 1');
    await typeCode(browser, second, totpCode(factor, server.now()));
    const page = await browser.get('/account/security');
    const form = { current: 'chosen by the admin 1', password: 'one of their own 1' };
    await browser.submit(page, form, '/account/password');
    await ok('DELETE', `/users/${user.id}/factors/totp`);
    return 'one of their own 1';
  },
};

for (const [what, set] of Object.entries(KEPT)) {
  test(`a password goes on when a role is given that ${what}`, async () => {
    const user = await newUser(server, { emailVerified: true });
    const password = await set(user);
    const browser = await signedIn(server, user, password);
    await ok('PUT', `/users/${user.id}/roles/owner`, {});
    assert.equal(await isSignedIn(browser), true);
    await signedIn(server, user, password);
  });
}

test('an account that a weaker operator created gets no more than that one holds until it is somebody else’s', async () => {
  const { adminKey } = await ok('POST', '/admin-keys', { name: 'an admin', role: 'admin' });
  const fields = { username: 'newcomer', displayName: 'New', email: 'newcomer@example.com', password: PASSWORD };
  const { id } = await ok('POST', '/users', fields, adminKey);
  const user = { id, username: 'newcomer' } as TestUser;
  await ok('PUT', `/users/${id}/roles/auditor`, {}, adminKey);
  assert.equal((await admin(server, 'PUT', `/users/${id}/roles/owner`, {})).status, 409);
  await signedIn(server, user, PASSWORD);
  await ok('PATCH', `/users/${id}`, { emailVerified: true });
  assert.equal((await admin(server, 'PUT', `/users/${id}/roles/owner`, {})).status, 409, 'the password is known');
  await recoverBy(user);
  await assert.rejects(signedIn(server, user, PASSWORD));
  await ok('PUT', `/users/${id}/roles/owner`, {});
});

test('where a weaker operator removed the app of a person, a role waits until the person has recovered the account', async () => {
  const { adminKey } = await ok('POST', '/admin-keys', { name: 'help desk', role: 'support' });
  const user = await newUser(server, { emailVerified: true });
  await enroll(server, user);
  await ok('DELETE', `/users/${user.id}/factors/totp`, undefined, adminKey);
  assert.equal((await admin(server, 'PUT', `/users/${user.id}/roles/owner`, {})).status, 409);
  await recoverBy(user);
  await ok('PUT', `/users/${user.id}/roles/owner`, {});
});
