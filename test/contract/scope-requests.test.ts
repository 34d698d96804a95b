// store: SQLite, PostgreSQL
/** Decisions §12: scopes beyond those of a developer wait for an operator, who is told. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { newApi } from '../support/api-scopes.ts';
import { signInOnCommandLine } from '../support/command-line.ts';
import { act, newOperator, open, type TestOperator } from '../support/console.ts';
import { admin, type JsonAnswer } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { startServer, type TestServer } from '../support/server.ts';

const OWN = ['openid', 'profile', 'email'];
const REASON = 'To call people back.';
const APP = { name: 'App', redirectUris: ['https://app.example/cb'] };

interface Developer extends TestOperator {
  call(method: string, path: string, body?: unknown): Promise<JsonAnswer>;
}

/** A person without a role, who is a developer by the policy, at the API. */
async function newDeveloper(server: TestServer): Promise<Developer> {
  const found = await newOperator(server, 'developer');
  assert.equal((await admin(server, 'DELETE', `/users/${found.id}/roles/developer`)).status, 200);
  const { browser, factor } = found;
  const token = await signInOnCommandLine(server, { user: found, browser, factor });
  return { ...found, call: (method, path, body) => admin(server, method, path, body, token) };
}

async function newApp(developer: Developer): Promise<string> {
  const { status, body } = await developer.call('POST', '/clients', APP);
  assert.equal(status, 201, JSON.stringify(body));
  return body.clientId;
}

async function ask({ call }: Developer, app: string, fields: object = { scope: 'phone' }): Promise<string> {
  const { status, body } = await call('POST', `/clients/${app}/scope-requests`, { reason: REASON, ...fields });
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

async function keyOf(server: TestServer, role: string, organizationId?: string): Promise<string> {
  const { body } = await admin(server, 'POST', '/admin-keys', { name: role, role, organizationId });
  return body.adminKey;
}

const emailOf = ({ username }: TestOperator): string => `${username}@example.com`;
const scopesOf = async (server: TestServer, app: string) => (await admin(server, 'GET', `/clients/${app}`)).body.scopes;
const requestsOf = async (server: TestServer, app: string) =>
  (await admin(server, 'GET', `/clients/${app}/scope-requests`)).body.items;

describe('a scope request', async () => {
  const server = await startServer({
    TESSERA_DEVELOPERS: 'anyone',
    TESSERA_MAILBOX: 'on',
    TESSERA_LIMIT_ADMIN_KEY: 'off',
  });
  after(() => server.close());
  const decide = (app: string, id: string, how: 'approve' | 'decline', body: object = {}, key?: string) =>
    admin(server, 'POST', `/clients/${app}/scope-requests/${id}/${how}`, body, key);
  const events = async (app: string): Promise<readonly (readonly [string, string])[]> => {
    const { items } = (await admin(server, 'GET', `/audit-events?clientId=${app}&type=client&limit=200`)).body;
    const found: readonly { readonly type: string; readonly details: Readonly<Record<string, string>> }[] = items;
    return found
      .filter(({ type }) => type.startsWith('client.scope_'))
      .map(({ type, details }) => [type, details['scope'] ?? ''] as const);
  };

  test('waits, is approved with a reason, and lets the app request the scope', async () => {
    const developer = await newDeveloper(server);
    const app = await newApp(developer);
    const id = await ask(developer, app);
    assert.deepEqual(await scopesOf(server, app), OWN, 'the app goes on with what it has');
    const waiting = (await admin(server, 'GET', '/scope-requests')).body.items;
    const own = waiting.find((one: { id: string }) => one.id === id);
    assert.deepEqual([own.status, own.scope, own.reason, own.askedBy], ['waiting', 'phone', REASON, developer.id]);
    const approved = await decide(app, id, 'approve', { answer: 'Fine.' });
    assert.deepEqual([approved.status, approved.body.status, approved.body.answer], [200, 'approved', 'Fine.']);
    assert.deepEqual(await scopesOf(server, app), ['openid', 'profile', 'email', 'phone']);
    const seen = (await developer.call('GET', `/clients/${app}/scope-requests`)).body.items;
    assert.deepEqual([seen[0].status, seen[0].answer], ['approved', 'Fine.']);
    assert.deepEqual((await events(app)).toSorted(), [
      ['client.scope_approved', 'phone'],
      ['client.scope_requested', 'phone'],
    ]);
  });

  test('is declined only with a reason, and may be made again', async () => {
    const developer = await newDeveloper(server);
    const app = await newApp(developer);
    const id = await ask(developer, app);
    assert.equal((await decide(app, id, 'decline')).status, 400);
    const declined = await decide(app, id, 'decline', { answer: 'Ask in the app.' });
    assert.deepEqual([declined.status, declined.body.status], [200, 'declined']);
    assert.deepEqual(await scopesOf(server, app), OWN);
    await ask(developer, app);
    assert.deepEqual(
      (await requestsOf(server, app)).map(({ status }: { status: string }) => status),
      ['waiting', 'declined'],
    );
  });

  test('is for scopes that exist and that the app lacks, once, and ten at most', async () => {
    const developer = await newDeveloper(server);
    const app = await newApp(developer);
    const answer = async (fields: object) =>
      (await developer.call('POST', `/clients/${app}/scope-requests`, { reason: REASON, ...fields })).status;
    assert.equal(await answer({ scope: 'email' }), 409);
    assert.equal(await answer({ scope: 'notes.read' }), 400);
    assert.equal(await answer({ scope: 'phone', reason: '' }), 400);
    assert.equal(await answer({ scope: 'phone', reason: 'a\u0000b' }), 400);
    assert.equal(await answer({ scope: 'phone' }), 201);
    assert.equal(await answer({ scope: 'phone' }), 409);
    for (let index = 1; index < 10; index++) {
      assert.equal(await answer({ scope: `notes.${index}`, resource: 'https://nobody.example' }), 201);
    }
    assert.equal(await answer({ scope: 'groups' }), 409);
    const [newest] = await requestsOf(server, app);
    const path = `/clients/${app}/scope-requests/${newest.id}`;
    assert.equal((await developer.call('DELETE', path)).status, 204);
    assert.equal((await developer.call('DELETE', path)).status, 404);
    assert.equal(await answer({ scope: 'groups' }), 201);
  });

  test('is decided by nobody but an operator who may approve the scopes of that app', async () => {
    const [developer, other] = [await newDeveloper(server), await newDeveloper(server)];
    const app = await newApp(developer);
    const id = await ask(developer, app);
    const path = `/clients/${app}/scope-requests/${id}`;
    for (const how of ['approve', 'decline']) {
      const own = await developer.call('POST', `${path}/${how}`, { answer: 'Mine' });
      assert.deepEqual([own.status, own.body.error], [403, 'insufficient_permission']);
      assert.equal((await other.call('POST', `${path}/${how}`, { answer: 'x' })).status, 404);
    }
    assert.equal((await other.call('GET', `/clients/${app}/scope-requests`)).status, 404);
    assert.equal((await other.call('DELETE', path)).status, 404);
    assert.deepEqual((await other.call('GET', '/scope-requests')).body.items, []);
    for (const role of ['auditor', 'developer']) {
      const refused = await decide(app, id, 'approve', {}, await keyOf(server, role));
      assert.ok([403, 404].includes(refused.status), role);
    }
    // The id of a request counts with its own app alone.
    const foreign = await newApp(other);
    assert.equal((await decide(foreign, id, 'approve')).status, 404);
    assert.equal((await decide(app, id, 'approve', {}, await keyOf(server, 'admin'))).status, 200);
  });

  test('is decided by one of two operators at once, and the other is told', async () => {
    const developer = await newDeveloper(server);
    const app = await newApp(developer);
    const id = await ask(developer, app);
    const answers = await Promise.all([
      decide(app, id, 'approve'),
      decide(app, id, 'decline', { answer: 'No.' }),
      decide(app, id, 'approve'),
    ]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
    const isApproved = answers.some(({ status, body }) => status === 200 && body.status === 'approved');
    assert.equal((await scopesOf(server, app)).includes('phone'), isApproved);
    assert.equal((await events(app)).length, 2);
  });

  for (const [how, path, body] of [
    ['banned', 'ban', {}],
    ['suspended', 'suspension', {}],
    ['about to be deleted', 'deletion', {}],
    ['without a role', 'roles/developer', undefined],
  ] as const) {
    test(`of a developer who was ${how} does not wait again when that is over`, async () => {
      const found = await newOperator(server, 'developer');
      const token = await signInOnCommandLine(server, { user: found, ...found });
      const app = (await admin(server, 'POST', '/clients', APP, token)).body.clientId;
      const ask = { scope: 'phone', reason: REASON };
      const asked = await admin(server, 'POST', `/clients/${app}/scope-requests`, ask, token);
      assert.equal(asked.status, 201, JSON.stringify(asked.body));
      const to = `/users/${found.id}/${path}`;
      const [begin, end] = body === undefined ? ['DELETE', 'PUT'] : ['PUT', 'DELETE'];
      for (const method of [begin, end]) {
        const done = await admin(server, method, to, method === 'PUT' ? {} : undefined);
        assert.ok(done.status < 300, `${method} ${to}: ${JSON.stringify(done.body)}`);
      }
      assert.equal((await requestsOf(server, app))[0].status, 'ended');
      const refused = await decide(app, asked.body.id, 'approve');
      assert.equal(refused.status, 409);
      assert.match(refused.body.error_description, /ended at .* They can ask again/);
      assert.deepEqual(await scopesOf(server, app), OWN);
    });
  }

  test('goes on where one of two roles ends, with what was made by it, and the other allows it', async () => {
    const [here, there] = await Promise.all(
      ['near', 'far'].map(
        async (name) => (await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` })).body.id,
      ),
    );
    const developer = await newOperator(server, 'developer');
    const token = await signInOnCommandLine(server, { user: developer, ...developer });
    const roles = `/users/${developer.id}/roles/developer`;
    for (const organizationId of [here, there]) await admin(server, 'PUT', roles, { organizationId });
    const apps: string[] = [];
    for (const organizationId of [here, there]) {
      const { clientId } = (await admin(server, 'POST', '/clients', { ...APP, organizationId }, token)).body;
      const asked = { scope: 'phone', reason: REASON };
      assert.equal((await admin(server, 'POST', `/clients/${clientId}/scope-requests`, asked, token)).status, 201);
      apps.push(clientId);
    }
    assert.equal((await admin(server, 'DELETE', roles)).status, 200);
    assert.equal((await admin(server, 'DELETE', `${roles}?organizationId=${here}&endMade=true`)).status, 200);
    const statuses = [];
    for (const app of apps) statuses.push((await requestsOf(server, app))[0].status);
    assert.deepEqual(statuses, ['ended', 'waiting']);
  });

  test('is listed to nobody who may not see the app any more', async () => {
    const [here, there] = await Promise.all(
      ['here', 'there'].map(
        async (name) => (await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` })).body.id,
      ),
    );
    const developer = await newOperator(server, 'developer');
    for (const organizationId of [here, there])
      await admin(server, 'PUT', `/users/${developer.id}/roles/developer`, { organizationId });
    await admin(server, 'DELETE', `/users/${developer.id}/roles/developer`);
    const token = await signInOnCommandLine(server, { user: developer, ...developer });
    const { body: app } = await admin(server, 'POST', '/clients', { ...APP, organizationId: here }, token);
    const asked = { scope: 'phone', reason: REASON };
    assert.equal((await admin(server, 'POST', `/clients/${app.clientId}/scope-requests`, asked)).status, 201);
    const listed = async () =>
      (await admin(server, 'GET', '/scope-requests', undefined, token)).body.items.map(
        ({ clientId }: { clientId: string }) => clientId,
      );
    assert.deepEqual(await listed(), [app.clientId]);
    await admin(server, 'DELETE', `/users/${developer.id}/roles/developer?organizationId=${here}`);
    assert.deepEqual(await listed(), []);
  });

  test('of a developer without a verified address has ended, and is not approved', async () => {
    const developer = await newDeveloper(server);
    const app = await newApp(developer);
    const id = await ask(developer, app);
    assert.equal((await admin(server, 'PATCH', `/users/${developer.id}`, { emailVerified: false })).status, 200);
    assert.equal((await requestsOf(server, app))[0].status, 'ended');
    const refused = await decide(app, id, 'approve');
    assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
    assert.deepEqual(await scopesOf(server, app), OWN);
    assert.equal((await decide(app, id, 'decline', { answer: 'Ended.' })).status, 200);
  });

  test('goes with the account of the developer, and with the app', async () => {
    const developer = await newDeveloper(server);
    const [app, another] = [await newApp(developer), await newApp(developer)];
    const [id, gone] = [await ask(developer, app), await ask(developer, another)];
    assert.equal((await developer.call('DELETE', `/clients/${another}`)).status, 204);
    assert.equal((await decide(another, gone, 'approve')).status, 404);
    assert.ok((await admin(server, 'DELETE', `/users/${developer.id}`)).status < 300);
    assert.deepEqual(await requestsOf(server, app), []);
    assert.equal((await decide(app, id, 'approve')).status, 404);
  });

  test('of an admin key ends with the key', async () => {
    const { body: key } = await admin(server, 'POST', '/admin-keys', { name: 'deploy', role: 'developer' });
    const app = (await admin(server, 'POST', '/clients', APP, key.adminKey)).body.clientId;
    const asked = { scope: 'phone', reason: REASON };
    const { body } = await admin(server, 'POST', `/clients/${app}/scope-requests`, asked, key.adminKey);
    assert.equal(body.askedBy, key.id);
    await admin(server, 'DELETE', `/admin-keys/${key.id}`);
    assert.equal((await decide(app, body.id, 'approve')).status, 409);
  });

  describe('for a scope of an API', () => {
    test('is approved while the API declares it, and says nothing of the API before', async () => {
      const developer = await newDeveloper(server);
      const app = await newApp(developer);
      const { resource, clientId: api } = await newApi(server, ['notes.read', 'notes.write']);
      const ids = [];
      for (const scope of ['notes.read', 'notes.write', 'notes.none']) {
        ids.push(await ask(developer, app, { scope, resource }));
      }
      ids.push(await ask(developer, app, { scope: 'notes.read', resource: 'https://nobody.example/api' }));
      const [read = '', write = '', none = '', nobody = ''] = ids;
      assert.equal((await decide(app, read, 'approve')).status, 200);
      const allowed = await admin(server, 'GET', `/clients/${app}/api-scopes`);
      assert.deepEqual(allowed.body.items[0].scopes, ['notes.read']);
      // The API declares it no more.
      const resourceScopes = [{ name: 'notes.read', descriptions: { en: 'Read' } }];
      assert.equal((await admin(server, 'PATCH', `/clients/${api}`, { resourceScopes })).status, 200);
      for (const id of [write, none, nobody]) assert.equal((await decide(app, id, 'approve')).status, 409);
      assert.deepEqual((await admin(server, 'GET', `/clients/${app}/api-scopes`)).body.items[0].scopes, ['notes.read']);
      assert.equal((await decide(app, write, 'decline', { answer: 'It is gone.' })).status, 200);
    });

    test('is approved only by an operator who may change the API as well', async () => {
      const organization = async (name: string) =>
        (await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` })).body.id;
      const [own, foreign] = [await organization('scope-own'), await organization('scope-foreign')];
      const resource = 'https://foreign.example/api';
      const resourceScopes = [{ name: 'read', descriptions: { en: 'Read' } }];
      const api = { name: 'API', grantTypes: ['client_credentials'], resource, resourceScopes };
      assert.equal((await admin(server, 'POST', '/clients', { ...api, organizationId: foreign })).status, 201);
      const key = await keyOf(server, 'developer', own);
      const app = (await admin(server, 'POST', '/clients', { ...APP, organizationId: own }, key)).body.clientId;
      const asked = { scope: 'read', resource, reason: REASON };
      const { body } = await admin(server, 'POST', `/clients/${app}/scope-requests`, asked, key);
      const refused = await decide(app, body.id, 'approve', {}, await keyOf(server, 'admin', own));
      assert.equal(refused.status, 409, 'an API that the operator does not see is none');
      assert.match(refused.body.error_description, /no API/);
      assert.equal((await decide(app, body.id, 'approve', {}, await keyOf(server, 'admin'))).status, 200);
    });
  });

  test('is told to operators in few messages, and the decision to the developer', async () => {
    const boss = await newOperator(server, 'admin');
    const support = await newOperator(server, 'support');
    const developer = await newDeveloper(server);
    const app = await newApp(developer);
    const ids = [];
    for (const scope of ['phone', 'groups', 'roles', 'social']) ids.push(await ask(developer, app, { scope }));
    const told = (await mailsTo(server, emailOf(boss))).filter(({ kind }) => kind === 'scope request');
    assert.ok(told.length >= 1 && told.length <= 3, String(told.length));
    assert.ok(!told.some(({ text }) => text.includes(REASON) || text.includes('App“')), 'nothing a developer wrote');
    assert.ok(told.some(({ text }) => text.includes('roles') && text.includes(app)));
    for (const email of [emailOf(support), emailOf(developer)]) {
      assert.deepEqual(
        (await mailsTo(server, email)).filter(({ kind }) => kind === 'scope request'),
        [],
      );
    }
    assert.equal((await decide(app, ids[0] ?? '', 'approve')).status, 200);
    const [decision] = (await mailsTo(server, emailOf(developer))).filter(({ kind }) => kind === 'scope decision');
    assert.match(decision?.text ?? '', /Approved: the scope phone/);
  });

  test('is made, seen and decided on in the console', async () => {
    const developer = await newDeveloper(server);
    const app = await newApp(developer);
    const page = await open(server, developer, `/console/apps/${app}`);
    assert.match(page.text, /apps\/request-scope\?app=/);
    const typed = { scope: 'phone', resource: '', reason: REASON };
    const asked = await act(server, developer, '/console/apps/request-scope', { app }, typed);
    assert.equal(asked.status, 200, asked.text);
    assert.match((await open(server, developer, `/console/apps/${app}`)).text, /Waits for an operator[\s\S]*phone/);
    const boss = await newOperator(server, 'admin');
    assert.match((await open(server, boss, '/console/overview')).text, /scope-requests/);
    const list = await open(server, boss, '/console/apps/scope-requests');
    assert.match(list.text, new RegExp(`${REASON}[\\s\\S]*approve-scope\\?app=${app}`));
    const [{ id }] = await requestsOf(server, app);
    const empty = await act(server, boss, '/console/apps/decline-scope', { app, asked: id }, { answer: '' });
    assert.equal(empty.status, 400);
    const approved = await act(server, boss, '/console/apps/approve-scope', { app, asked: id }, { answer: 'Fine.' });
    assert.equal(approved.status, 200, approved.text);
    assert.ok((await scopesOf(server, app)).includes('phone'));
    assert.match((await open(server, developer, `/console/apps/${app}`)).text, /Approved[\s\S]*Fine\./);
    const again = await act(server, boss, '/console/apps/approve-scope', { app, asked: id }, { answer: '' });
    assert.equal(again.status, 409);
  });
});
