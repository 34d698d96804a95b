// store: SQLite, PostgreSQL
/** Decisions §§12, 13: people register apps of their own by a policy of the installation. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { formOf } from '../support/agent.ts';
import { signInOnCommandLine } from '../support/command-line.ts';
import { act, newOperator, open, type TestOperator } from '../support/console.ts';
import { admin, newClient, newUser, signedIn } from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';

const NEW = '/console/apps/new';
const BEYOND = ['openid', 'phone'];
const APP = { name: 'App', redirectUris: ['https://app.example/cb'] };
const FIELDS = { kind: 'web', uris: 'https://app.example/callback', resource: '' };

/** A person without a role, with a browser that has proved a second factor. */
async function person(server: TestServer, fields = {}): Promise<TestOperator> {
  const found = await newOperator(server, 'developer', fields);
  const taken = await admin(server, 'DELETE', `/users/${found.id}/roles/developer`);
  assert.equal(taken.status, 200);
  return found;
}

let count = 0;
async function newOrganization(server: TestServer): Promise<string> {
  const organization = { name: `maker-${++count}`, domain: `maker-${count}.example` };
  return (await admin(server, 'POST', '/organizations', organization)).body.id;
}
const join = async (server: TestServer, organizationId: string, { id }: { id: string }) =>
  assert.equal((await admin(server, 'PUT', `/organizations/${organizationId}/members/${id}`, {})).status, 200);

const register = async (server: TestServer, by: TestOperator, name: string) =>
  by.browser.submit(await open(server, by, NEW), { ...FIELDS, name }, NEW);
const idIn = (text: string): string => /CLIENT_ID=(\d+)/.exec(text)?.[1] ?? '';
const statusOf = async ({ browser }: TestOperator, address: string) => (await browser.get(address)).status;

describe('off', async () => {
  const server = await startServer();
  after(() => server.close());

  test('nobody without a role is a developer', async () => {
    const somebody = await person(server);
    await join(server, await newOrganization(server), somebody);
    assert.equal(await statusOf(somebody, NEW), 403);
    assert.equal(await statusOf(somebody, '/console/apps'), 403);
  });
});

describe('members', async () => {
  const server = await startServer({ TESSERA_DEVELOPERS: 'members', TESSERA_DEVELOPER_APPS: '2' });
  after(() => server.close());

  test('a member of an organization registers apps of their own, and sees no other', async () => {
    const [stranger, member, other] = [await person(server), await person(server), await person(server)];
    const organizationId = await newOrganization(server);
    await join(server, organizationId, member);
    await join(server, organizationId, other);
    assert.equal(await statusOf(stranger, NEW), 403);
    const created = await register(server, member, 'Mine');
    assert.equal(created.status, 200, created.text);
    const own = idIn(created.text);
    const { body } = await admin(server, 'GET', `/clients/${own}`);
    assert.deepEqual(
      [body.developerId, body.organizationId, body.scopes],
      [member.id, null, ['openid', 'profile', 'email']],
    );
    const others = idIn((await register(server, other, 'Theirs')).text);
    const list = (await member.browser.get('/console/apps')).text;
    assert.ok(list.includes(own) && !list.includes(others));
    assert.equal(await statusOf(member, `/console/apps/${others}`), 404);
    const { hidden } = formOf(
      (await open(server, member, `/console/apps/redirect-uris?app=${own}`)).text,
      '/console/apps/redirect-uris',
    );
    const attacks = {
      'redirect-uris': { uris: 'https://evil.example/cb' },
      'rotate-secret': { overlap: '0' },
      disable: {},
    };
    for (const [name, fields] of Object.entries(attacks)) {
      const answer = await member.browser.post(`/console/apps/${name}`, { ...hidden, ...fields, app: others });
      assert.equal(answer.status, 404, name);
    }
    for (const path of ['people', 'groups', 'organizations', 'operators', 'explain', 'events', 'overview', 'system']) {
      assert.equal(await statusOf(member, `/console/${path}`), 403, path);
    }
    const rotated = await act(server, member, '/console/apps/rotate-secret', { app: own }, { overlap: '3600' });
    assert.match(rotated.text, /CLIENT_SECRET=tcs_/);
  });

  test('a person has as many apps as they may, and is told what to do', async () => {
    const member = await person(server);
    await join(server, await newOrganization(server), member);
    assert.equal((await register(server, member, 'One')).status, 200);
    const second = await register(server, member, 'Two');
    const refused = await register(server, member, 'Three');
    assert.equal(refused.status, 409);
    assert.match(refused.text, /no more than 2 are allowed[^<]*Delete one[^<]*or ask an operator/);
    assert.equal(refused.text.includes('value="Three"'), true, 'nothing typed is lost');
    assert.equal((await admin(server, 'DELETE', `/clients/${idIn(second.text)}`)).status, 204);
    assert.equal((await register(server, member, 'Three')).status, 200);
  });

  test('it ends with the membership, in the very next request', async () => {
    const member = await person(server);
    const organizationId = await newOrganization(server);
    await join(server, organizationId, member);
    const own = idIn((await register(server, member, 'Left behind')).text);
    const page = await open(server, member, `/console/apps/disable?app=${own}`);
    assert.equal(page.status, 200);
    assert.ok((await admin(server, 'DELETE', `/organizations/${organizationId}/members/${member.id}`)).status < 300);
    assert.equal((await member.browser.submit(page, {}, '/console/apps/disable')).status, 403);
    assert.equal(await statusOf(member, `/console/apps/${own}`), 403);
    assert.equal((await admin(server, 'GET', `/clients/${own}`)).body.status, 'active');
    // With another membership the apps are theirs again.
    await join(server, await newOrganization(server), member);
    assert.equal(await statusOf(member, `/console/apps/${own}`), 200);
  });

  test('an operator of an organization chooses whether an app is that organization’s', async () => {
    const member = await person(server);
    const organizationId = await newOrganization(server);
    const path = `/organizations/${organizationId}/members/${member.id}`;
    assert.equal((await admin(server, 'PUT', path, { role: 'ADMIN' })).status, 200);
    const page = await open(server, member, NEW);
    const places = { organization: organizationId, installation: '' };
    for (const [name, organization] of Object.entries(places)) {
      const created = await member.browser.submit(page, { ...FIELDS, name, organization }, NEW);
      const { body } = await admin(server, 'GET', `/clients/${idIn(created.text)}`);
      const expected = name === 'organization' ? [organizationId, null] : [null, member.id];
      assert.deepEqual([body.organizationId, body.developerId], expected, created.text);
    }
  });
});

describe('anyone', async () => {
  const server = await startServer({ TESSERA_DEVELOPERS: 'anyone' });
  after(() => server.close());

  test('a verified address is enough, and without one there is nothing', async () => {
    const somebody = await person(server);
    assert.equal((await register(server, somebody, 'Of anyone')).status, 200);
    const unverified = await signedIn(server, await newUser(server));
    const page = await unverified.get('/console/apps');
    assert.equal(page.status, 403);
    assert.match(page.text, /grant-role/);
  });

  test('the help desk acts on those who are developers by the policy alone', async () => {
    const somebody = await person(server);
    const { adminKey } = (await admin(server, 'POST', '/admin-keys', { name: 'desk', role: 'support' })).body;
    await register(server, somebody, 'Of a suspended person');
    const suspended = await admin(server, 'PUT', `/users/${somebody.id}/suspension`, {}, adminKey);
    assert.equal(suspended.status, 200, JSON.stringify(suspended.body));
    assert.notEqual(await statusOf(somebody, '/console/apps'), 200);
  });

  test('a developer gives nothing to anybody, and an app no other scopes', async () => {
    const somebody = await person(server);
    const token = await signInOnCommandLine(server, {
      user: somebody,
      browser: somebody.browser,
      factor: somebody.factor,
    });
    const call = (method: string, path: string, body?: unknown) => admin(server, method, path, body, token);
    const created = await call('POST', '/clients', APP);
    assert.deepEqual([created.status, created.body.scopes], [201, ['openid', 'profile', 'email']]);
    const own = created.body.clientId;
    const other = await newClient(server);
    for (const scopes of [BEYOND, null, ['openid', 'groups'], ['openid', 'offline_access']]) {
      for (const answer of [
        await call('PATCH', `/clients/${own}`, { scopes }),
        await call('POST', '/clients', { ...APP, scopes }),
      ]) {
        assert.deepEqual([answer.status, answer.body.error], [403, 'insufficient_permission'], String(scopes));
        assert.match(answer.body.error_description, /apps\.approve/);
      }
    }
    assert.equal((await call('PATCH', `/clients/${own}`, { scopes: ['openid'] })).status, 200);
    assert.equal((await call('PATCH', `/clients/${own}`, { scopes: ['openid', 'email'] })).status, 200);
    const refused: readonly (readonly [string, string, unknown?])[] = [
      ['POST', '/admin-keys', { name: 'x', role: 'developer' }],
      ['PUT', `/users/${somebody.id}/roles/developer`, {}],
      ['POST', '/initial-access-tokens', {}],
      ['GET', `/users/${somebody.id}`],
    ];
    for (const [method, path, body] of refused) {
      assert.ok([403, 404].includes((await call(method, path, body)).status), `${method} ${path}`);
    }
    for (const [method, body] of [['GET'], ['PATCH', { name: 'Taken' }], ['DELETE']] as const) {
      assert.equal((await call(method, `/clients/${other.clientId}`, body)).status, 404, method);
    }
    // What an operator allows stays allowed.
    assert.equal((await admin(server, 'PATCH', `/clients/${own}`, { scopes: BEYOND })).status, 200);
    assert.equal((await call('PATCH', `/clients/${own}`, { name: 'Renamed', scopes: BEYOND })).status, 200);
  });

  test('it ends for everyone where the policy is switched off', async () => {
    const somebody = await person(server);
    const own = idIn((await register(server, somebody, 'Of before')).text);
    Object.assign(server.environment, { TESSERA_DEVELOPERS: 'off' });
    await server.restart();
    assert.equal(await statusOf(somebody, `/console/apps/${own}`), 403);
    assert.equal(await statusOf(somebody, NEW), 403);
  });
});
