// store: SQLite, PostgreSQL with --all
/** Decisions §12: who manages an organization gives its roles and takes them away, and they end with the membership. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { act, newOperator, open, type TestOperator } from '../support/console.ts';
import { admin, newUser } from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
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

const HOUR = 3_600_000;

let count = 0;
const newOrganization = async (): Promise<string> =>
  (await ok('POST', '/organizations', { name: `roles-${++count}`, domain: 'roles.example' })).id;
const newKey = async (role: string, organizationId: string): Promise<string> =>
  (await ok('POST', '/admin-keys', { name: role, role, organizationId })).adminKey;

/** A person who holds a role of an organization, signed in with the command line, and perhaps a member of it. */
async function holder(organizationId: string, role: string, { isMember }: { readonly isMember: boolean }) {
  const operator = await operatorInBrowser(server);
  const { id } = operator.user;
  const member = `/organizations/${organizationId}/members/${id}`;
  if (isMember) await ok('PUT', member, { role: 'MEMBER' });
  await ok('PUT', `/users/${id}/roles/${role}`, { organizationId });
  return { id, member, roles: `/users/${id}/roles`, credential: await signInOnCommandLine(server, operator), operator };
}

describe('a role of an organization', () => {
  test('is given to a member by an owner of the organization, and taken away', async () => {
    const organizationId = await newOrganization();
    const owner = await newKey('owner', organizationId);
    const { id } = await newUser(server, { password: undefined });
    await ok('PUT', `/organizations/${organizationId}/members/${id}`, {});
    const given = await ok('PUT', `/users/${id}/roles/developer`, { organizationId }, owner);
    assert.deepEqual([given.role, given.organizationId], ['developer', organizationId]);
    const expiresAt = new Date(server.now() + HOUR).toISOString();
    assert.equal(
      (await ok('PUT', `/users/${id}/roles/developer`, { organizationId, expiresAt }, owner)).expiresAt,
      expiresAt,
    );
    await ok('DELETE', `/users/${id}/roles/developer?organizationId=${organizationId}`, undefined, owner);
    assert.deepEqual((await ok('GET', `/users/${id}/roles`)).items, []);
  });

  test('is taken by an admin of the organization from somebody who is no member of it', async () => {
    const organizationId = await newOrganization();
    const { roles, credential } = await holder(organizationId, 'auditor', { isMember: false });
    const reads = () => status('GET', `/organizations/${organizationId}`, undefined, credential);
    assert.equal(await reads(), 200);
    const key = await newKey('admin', organizationId);
    await ok('DELETE', `${roles}/auditor?organizationId=${organizationId}`, undefined, key);
    assert.notEqual(await reads(), 200);
  });

  test('of a stranger, of another organization or of the installation is not there for them', async () => {
    const [organizationId, other] = [await newOrganization(), await newOrganization()];
    const owner = await newKey('owner', organizationId);
    const stranger = await newUser(server, { password: undefined });
    const { roles } = await holder(other, 'auditor', { isMember: true });
    const of = { organizationId };
    assert.equal(await status('PUT', `/users/${stranger.id}/roles/auditor`, of, owner), 404);
    assert.equal(await status('PUT', `${roles}/auditor`, of, owner), 404);
    assert.equal(await status('DELETE', `${roles}/auditor?organizationId=${other}`, undefined, owner), 404);
    assert.equal(await status('DELETE', `${roles}/auditor?organizationId=${organizationId}`, undefined, owner), 404);
    assert.equal(await status('DELETE', `${roles}/auditor`, undefined, owner), 404);
  });

  test('is not taken from a person with a role that the caller lacks', async () => {
    const organizationId = await newOrganization();
    const { id, roles } = await holder(organizationId, 'auditor', { isMember: true });
    await ok('PUT', `/users/${id}/roles/support`, {});
    const owner = await newKey('owner', organizationId);
    const path = `${roles}/auditor?organizationId=${organizationId}`;
    assert.equal(await status('DELETE', path, undefined, owner), 403);
  });
});

describe('with a membership', () => {
  test('its owner ends the other roles of the organization, and is told of them', async () => {
    const organizationId = await newOrganization();
    const { id, member, credential } = await holder(organizationId, 'auditor', { isMember: true });
    const owner = await newKey('owner', organizationId);
    const removed = await ok('DELETE', member, undefined, owner);
    assert.deepEqual(
      removed.roles.map(({ userId, role }: { userId: string; role: string }) => [userId, role]),
      [[id, 'auditor']],
    );
    assert.notEqual(await status('GET', `/organizations/${organizationId}`, undefined, credential), 200);
    const { items } = await ok('GET', `/audit-events?type=operator.role_revoked&userId=${id}`);
    assert.deepEqual(
      items.map(({ details }: { details: { withMembership?: boolean } }) => details.withMembership),
      [true],
    );
  });

  test('roles of elsewhere go on', async () => {
    const [organizationId, other] = [await newOrganization(), await newOrganization()];
    const { member, roles } = await holder(organizationId, 'developer', { isMember: true });
    await ok('PUT', `${roles}/auditor`, {});
    await ok('PUT', `${roles}/auditor`, { organizationId: other });
    await ok('DELETE', member);
    const left = (await ok('GET', roles)).items;
    assert.deepEqual(
      left.map(({ role, organizationId: where }: { role: string; organizationId: string | null }) => [role, where]),
      [
        ['auditor', null],
        ['auditor', other],
      ],
    );
  });

  test('what was made in such a role is listed, and ends on request', async () => {
    const organizationId = await newOrganization();
    const { member, credential } = await holder(organizationId, 'developer', { isMember: true });
    const app = { name: 'Mine', redirectUris: ['https://mine.example.com/cb'], organizationId };
    const { clientId } = await ok('POST', '/clients', app, credential);
    const { made, ended } = await ok('DELETE', `${member}?endMade=true`);
    assert.deepEqual([made.apps.length, made.apps[0].clientId, ended], [1, clientId, true]);
    assert.equal((await ok('GET', `/clients/${clientId}`)).status, 'disabled');
  });

  test('a person who leaves gives them up', async () => {
    const organizationId = await newOrganization();
    const { roles, operator } = await holder(organizationId, 'auditor', { isMember: true });
    const page = await operator.browser.get('/account/organization');
    assert.match(page.text, /your other roles in it/);
    const left = await operator.browser.submit(page, {}, '/account/organization/leave');
    assert.equal(left.status, 200, left.text);
    assert.deepEqual((await ok('GET', roles)).items, []);
  });
});

/** An admin of an organization in a browser. */
async function adminInBrowser(organizationId: string): Promise<TestOperator> {
  const user = await newUser(server, { emailVerified: true });
  await ok('PUT', `/organizations/${organizationId}/members/${user.id}`, { role: 'ADMIN' });
  const factor = await enroll(server, user);
  server.advance(MINUTE);
  const { browser, page } = await atSecondStep(server, user);
  await typeCode(browser, page, totpCode(factor, server.now()));
  return { ...user, browser, factor };
}

describe('in the console', () => {
  const GRANT = '/console/operators/grant';
  const REVOKE = '/console/operators/revoke';

  test('an admin of an organization gives a member a role, and takes it away', async () => {
    const organization = await newOrganization();
    const operator = await adminInBrowser(organization);
    const { id, username } = await newUser(server, { password: undefined });
    await ok('PUT', `/organizations/${organization}/members/${id}`, {});
    const list = await open(server, operator, `/console/organizations/${organization}/roles`);
    assert.match(list.text, /action="\/console\/operators\/grant"/);
    const given = await act(server, operator, GRANT, { member: username, organization }, { role: 'auditor' });
    assert.equal(given.status, 200, given.text);
    const with_ = await open(server, operator, `/console/organizations/${organization}/roles`);
    assert.match(with_.text, new RegExp(`${REVOKE}\\?user=${id}`));
    const taken = await act(server, operator, REVOKE, { user: id, organization, held: 'auditor' });
    assert.equal(taken.status, 200, taken.text);
    assert.deepEqual((await ok('GET', `/users/${id}/roles`)).items, []);
  });

  test('there is no page for what its form would be refused', async () => {
    const organization = await newOrganization();
    const operator = await adminInBrowser(organization);
    const stranger = await newUser(server, { password: undefined });
    const stronger = await newUser(server, { password: undefined });
    await ok('PUT', `/organizations/${organization}/members/${stronger.id}`, {});
    await ok('PUT', `/users/${stronger.id}/roles/support`, {});
    const about = { organization, held: 'auditor' };
    for (const address of [GRANT, REVOKE]) {
      for (const [user, expected] of [
        [stranger.id, 404],
        [stronger.id, 403],
      ] as const) {
        const page = await open(server, operator, `${address}?${new URLSearchParams({ ...about, user })}`);
        assert.equal(page.status, expected, `${address} ${user}`);
      }
    }
  });

  test('the page that removes a member names the roles that end, and says that they ended', async () => {
    const organizationId = await newOrganization();
    const operator = await newOperator(server, 'admin');
    const { id } = await holder(organizationId, 'auditor', { isMember: true });
    const address = '/console/organizations/remove-member';
    const about = new URLSearchParams({ id: organizationId, user: id });
    const page = await open(server, operator, `${address}?${about}`);
    assert.match(page.text, /end with it: [^<]*[Aa]uditor/);
    const done = await operator.browser.submit(page, {}, address);
    assert.match(done.text, /ended: [^<]*[Aa]uditor/);
    assert.deepEqual((await ok('GET', `/users/${id}/roles`)).items, []);
  });
});
