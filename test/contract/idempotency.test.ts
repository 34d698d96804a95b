// store: SQLite, PostgreSQL
/** Decisions §12: what creates is done once for each key of the caller. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newClient, newUser } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { holdRequests } from '../support/held-requests.ts';
import { HOUR, query } from '../support/outcome.ts';
import { ADMIN_KEY, SEVERAL, spread, startServer } from '../support/server.ts';

const hold = holdRequests();
const server = await startServer({ TESSERA_LIMIT_ADMIN_KEY: 'off' }, SEVERAL);
after(() => server.close());
const nodes = spread(server);
let count = 0;

async function post(
  path: string,
  body: object,
  idempotencyKey?: string,
  key = ADMIN_KEY,
  more: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(`${nodes.nodeInTurn?.() ?? nodes.baseUrl}/api/v2/admin${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...more,
    },
    body: JSON.stringify(body),
  });
  const { status, headers } = response;
  const text = await response.text();
  return {
    status,
    headers,
    text,
    body: text === '' ? undefined : JSON.parse(text),
    replayed: headers.get('idempotency-replayed'),
  };
}

const callback = ['https://app.example.com/callback'];

/** What each call makes, and the table that has one row more then. */
const MAKES: Readonly<Record<string, () => Promise<readonly [path: string, body: object, table: string]>>> = {
  user: async () => {
    const username = `once-${++count}`;
    return ['/users', { username, displayName: 'Ada', email: `${username}@example.com` }, 'account'];
  },
  client: async () => ['/clients', { name: 'App', redirectUris: callback }, 'client'],
  secret: async () => [`/clients/${(await newClient(server)).clientId}/secrets`, {}, 'client_secret'],
  organization: async () => ['/organizations', { name: `once-${++count}`, domain: 'a.example' }, 'organization'],
  group: async () => ['/groups', { name: `once-${++count}` }, 'user_group'],
  assignment: async () => {
    const { clientId } = await newClient(server, { access: 'assigned' });
    const { id } = await newUser(server, { password: undefined });
    return [`/clients/${clientId}/assignments`, { userId: id }, 'app_assignment'];
  },
  invitation: async () => ['/invitations', {}, 'invitation'],
  'admin key': async () => ['/admin-keys', { name: 'a key', role: 'auditor' }, 'admin_key'],
  'initial access token': async () => ['/initial-access-tokens', { name: 'partner' }, 'initial_access_token'],
};

const rows = async (table: string) => Number((await query(server, `SELECT count(*) AS n FROM ${table}`))[0]?.['n']);

for (const [what, prepare] of Object.entries(MAKES)) {
  test(`${what}: the same request makes one, and gets the same answer each time, secrets included`, async () => {
    const [path, body, table] = await prepare();
    const key = randomUUID();
    const before = await rows(table);
    const first = await post(path, body, key);
    assert.equal(first.status, 201, first.text);
    assert.equal(first.replayed, null);
    for (const again of [await post(path, body, key), await post(path, body, `"${key}"`)]) {
      assert.deepEqual([again.status, again.text, again.replayed], [201, first.text, 'true']);
      assert.equal(again.headers.get('etag'), first.headers.get('etag'));
      assert.equal(again.headers.get('cache-control'), 'no-store');
    }
    assert.equal(await rows(table), before + 1);
  });
}

describe('a key', () => {
  const group = () => ({ name: `once-${++count}` });

  test('with another body, or at another route, gets 422 and makes nothing', async () => {
    const key = randomUUID();
    assert.equal((await post('/groups', group(), key)).status, 201);
    const before = [await rows('user_group'), await rows('organization')];
    const refused = [
      await post('/groups', group(), key),
      await post('/organizations', { name: `once-${++count}`, domain: 'a.example' }, key),
    ];
    for (const { status, body } of refused) assert.deepEqual([status, body.error], [422, 'idempotency_key_reused']);
    assert.deepEqual([await rows('user_group'), await rows('organization')], before);
  });

  test('the order of members is no difference', async () => {
    const key = randomUUID();
    const name = `once-${++count}`;
    const first = await post('/groups', { name, description: 'x' }, key);
    assert.equal((await post('/groups', { description: 'x', name }, key)).text, first.text);
  });

  test('a refused request does not use it up', async () => {
    const key = randomUUID();
    assert.equal((await post('/groups', { name: 'Not A Slug' }, key)).status, 400);
    const taken = group();
    await post('/groups', taken);
    assert.equal((await post('/groups', taken, key)).status, 409);
    assert.equal((await post('/groups', group(), key)).status, 201);
  });

  test('of ten requests at once one is done; the others get its answer, or 409 and then its answer', async () => {
    const key = randomUUID();
    const body = group();
    const before = await rows('user_group');
    const answers = await Promise.all(Array.from({ length: 10 }, () => post('/groups', body, key)));
    const done = answers.filter(({ status }) => status === 201);
    assert.ok(done.length >= 1);
    assert.equal(new Set(done.map(({ text }) => text)).size, 1);
    assert.equal(done.filter(({ replayed }) => replayed === null).length, 1);
    for (const { status, headers } of answers.filter((answer) => !done.includes(answer))) {
      assert.deepEqual([status, headers.get('retry-after')], [409, '1']);
    }
    assert.equal(await rows('user_group'), before + 1);
    assert.equal((await post('/groups', body, key)).text, done[0]?.text);
  });

  test('of two different requests at once one is done', async () => {
    const key = randomUUID();
    const before = await rows('user_group');
    const statuses = (await Promise.all([post('/groups', group(), key), post('/groups', group(), key)])).map(
      ({ status }) => status,
    );
    assert.deepEqual(statuses.sort(), [201, 422]);
    assert.equal(await rows('user_group'), before + 1);
  });

  test('belongs to its caller', async () => {
    const [one, two] = [
      (await admin(server, 'POST', '/admin-keys', { name: 'one', role: 'admin' })).body,
      (await admin(server, 'POST', '/admin-keys', { name: 'two', role: 'admin' })).body,
    ];
    const key = randomUUID();
    const body = { name: 'App', redirectUris: callback };
    const first = await post('/clients', body, key, one.adminKey);
    const second = await post('/clients', body, key, two.adminKey);
    assert.deepEqual([second.status, second.replayed], [201, null]);
    assert.notEqual(second.body.clientId, first.body.clientId);
  });

  for (const phase of ['preParsing', 'preHandler'] as const) {
    test(`shows its answer to nobody whose admin key is revoked while the same request waits (${phase})`, async () => {
      const { id, adminKey } = (await admin(server, 'POST', '/admin-keys', { name: 'one', role: 'admin' })).body;
      const [key, body] = [randomUUID(), { name: 'App', redirectUris: callback }];
      const first = await post('/clients', body, key, adminKey);
      assert.match(first.body.clientSecret, /^tcs_/);
      const before = await rows('client');
      const held = hold(phase);
      const again = post('/clients', body, key, adminKey, held.header);
      // It has been let in: its credential was valid.
      await held.reached;
      await admin(server, 'DELETE', `/admin-keys/${id}`);
      held.release();
      const { status, text } = await again;
      assert.deepEqual([status, text.includes(first.body.clientSecret)], [401, false]);
      assert.equal((await post('/clients', body, key, adminKey)).status, 401);
      assert.equal(await rows('client'), before);
    });
  }

  test('ends after a day, and housekeeping removes it', async () => {
    const key = randomUUID();
    const body = { name: 'App', redirectUris: callback };
    const first = await post('/clients', body, key);
    server.advance(24 * HOUR);
    const second = await post('/clients', body, key);
    assert.deepEqual([second.status, second.replayed], [201, null]);
    assert.notEqual(second.body.clientId, first.body.clientId);
    server.advance(24 * HOUR);
    await withData(server, ({ database, clock }) => sweep(database, clock()));
    assert.equal(await rows('idempotent_request'), 0);
  });

  test('that is malformed gets 400', async () => {
    for (const key of ['a b', '"', '"a', 'ü', 'x'.repeat(256), ' ']) {
      const response = await fetch(`${server.baseUrl}/api/v2/admin/groups`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${ADMIN_KEY}`,
          'content-type': 'application/json',
          'idempotency-key': Buffer.from(key).toString('latin1'),
        },
        body: JSON.stringify(group()),
      });
      assert.equal(response.status, 400, key);
    }
  });

  test('changes nothing where nothing is made', async () => {
    const { id } = await newUser(server, { password: undefined });
    const key = randomUUID();
    const before = await rows('idempotent_request');
    for (let time = 0; time < 2; time++) assert.equal((await post(`/users/${id}/unlock`, {}, key)).replayed, null);
    assert.equal(await rows('idempotent_request'), before);
  });

  test('no secret and no key is in the store', async () => {
    const key = randomUUID();
    const { body } = await post('/clients', { name: 'App', redirectUris: callback }, key);
    const stored = JSON.stringify(await query(server, 'SELECT * FROM idempotent_request'));
    for (const text of [body.clientSecret, key]) assert.ok(!stored.includes(text));
  });
});

test('who lost a right since does not get the answer again, and its secret', async () => {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  const roles = `/users/${operator.user.id}/roles`;
  // Of two owners, one may lose the role.
  await admin(server, 'PUT', `/users/${(await newUser(server)).id}/roles/owner`, {});
  await admin(server, 'PUT', `${roles}/owner`, {});
  const token = await signInOnCommandLine(server, operator);
  const [once, body] = [randomUUID(), { name: 'of an owner', role: 'owner' }];
  const first = await post('/admin-keys', body, once, token);
  assert.equal(first.status, 201);
  assert.equal((await post('/admin-keys', body, once, token)).text, first.text);
  await admin(server, 'PUT', `${roles}/admin`, {});
  assert.equal((await admin(server, 'DELETE', `${roles}/owner`)).status, 200);
  const { status, text } = await post('/admin-keys', body, once, token);
  assert.deepEqual([status, JSON.parse(text).error], [403, 'insufficient_permission']);
  assert.ok(!text.includes(first.body.adminKey));
  await admin(server, 'PUT', `${roles}/owner`, {});
  assert.equal((await post('/admin-keys', body, once, token)).text, first.text);
});
