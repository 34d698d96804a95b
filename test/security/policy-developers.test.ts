// store: SQLite, PostgreSQL
/** Decisions §12: what the policy of the installation lets people do is no role: it reaches no app of an organization, and gives nothing. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { signInOnCommandLine } from '../support/command-line.ts';
import { newOperator, type TestOperator } from '../support/console.ts';
import { admin, newUser } from '../support/flow.ts';
import { HOUR } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

const REDIRECT = 'https://pay.example/cb';
const APP = { name: 'Pay', redirectUris: [REDIRECT] };

let count = 0;
async function newOrganization(server: TestServer): Promise<string> {
  const name = `policy-${++count}`;
  return (await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` })).body.id;
}

const join = async (server: TestServer, organizationId: string, id: string) =>
  assert.equal((await admin(server, 'PUT', `/organizations/${organizationId}/members/${id}`, {})).status, 200);

const leave = async (server: TestServer, organizationId: string, id: string) =>
  assert.ok((await admin(server, 'DELETE', `/organizations/${organizationId}/members/${id}`)).status < 300);

const give = async (server: TestServer, id: string, organizationId: string | null) =>
  assert.equal((await admin(server, 'PUT', `/users/${id}/roles/developer`, { organizationId })).status, 200);

const takeAway = async (server: TestServer, id: string, organizationId?: string) => {
  const query = organizationId === undefined ? '' : `?organizationId=${organizationId}`;
  assert.equal((await admin(server, 'DELETE', `/users/${id}/roles/developer${query}`)).status, 200);
};

/** A person without a role who has proved a second factor, and a token of the command line. */
async function person(server: TestServer): Promise<TestOperator & { readonly token: string }> {
  const found = await newOperator(server, 'developer');
  await takeAway(server, found.id);
  return { ...found, token: await signInOnCommandLine(server, { user: found, ...found }) };
}

type Person = Awaited<ReturnType<typeof person>>;

const caller =
  (server: TestServer, { token }: Person) =>
  (method: string, path: string, body?: unknown) =>
    admin(server, method, path, body, token);

const idsIn = ({ body }: { body: { items: readonly { clientId: string }[] } }) =>
  body.items.map(({ clientId }) => clientId);

const LISTS = ['/console/apps', '/console/apps?q=pay', '/console/search?text=pay'];

/** How many of the console's lists have an app. */
async function listsWith({ browser }: Person, clientId: string): Promise<number> {
  const pages = await Promise.all(LISTS.map((list) => browser.get(list)));
  return pages.filter(({ text }) => text.includes(clientId)).length;
}

/** What everything about an app answers: of the admin API, and of the console. */
async function statusesOfApp(server: TestServer, by: Person, clientId: string): Promise<readonly number[]> {
  const call = caller(server, by);
  const path = `/clients/${clientId}`;
  const answers = [
    await call('GET', path),
    await call('PATCH', path, { redirectUris: ['https://evil.example/cb'] }),
    await call('POST', `${path}/secrets`, {}),
    await call('GET', `${path}/trace-steps`),
    await call('DELETE', path),
  ];
  const page = `/console/apps/${clientId}`;
  const pages = [await by.browser.get(page), await by.browser.get(`${page}/log`)];
  for (const act of ['redirect-uris', 'rotate-secret', 'disable']) {
    pages.push(await by.browser.get(`/console/apps/${act}?app=${clientId}`));
  }
  const statuses = [...answers, ...pages].map(({ status }) => status);
  return [...new Set(statuses)];
}

for (const policy of ['members', 'anyone'] as const) {
  describe(policy, async () => {
    const server = await startServer({ TESSERA_DEVELOPERS: policy });
    after(() => server.close());

    for (const how of ['the role was taken away', 'they left the organization'] as const) {
      test(`who was a developer of an organization does not reach its apps where ${how}`, async () => {
        const developer = await person(server);
        const call = caller(server, developer);
        const organizationId = await newOrganization(server);
        await join(server, organizationId, developer.id);
        await give(server, developer.id, organizationId);
        const made = await call('POST', '/clients', { ...APP, organizationId });
        assert.deepEqual([made.status, made.body.developerId], [201, developer.id], JSON.stringify(made.body));
        const { clientId } = made.body;
        const own = (await call('POST', '/clients', { ...APP, name: 'Pay of my own' })).body.clientId as string;
        assert.deepEqual(idsIn(await call('GET', '/clients')), [clientId, own]);

        if (how === 'the role was taken away') await takeAway(server, developer.id, organizationId);
        else await leave(server, organizationId, developer.id);
        // A member of any organization is a developer by either policy.
        const isLeft = how !== 'the role was taken away';
        const other = await newOrganization(server);
        if (isLeft) await join(server, other, developer.id);
        assert.deepEqual(await statusesOfApp(server, developer, clientId), [404]);
        assert.deepEqual(idsIn(await call('GET', '/clients')), [own]);
        assert.deepEqual([await listsWith(developer, clientId), await listsWith(developer, own)], [0, LISTS.length]);
        const { body } = await admin(server, 'GET', `/clients/${clientId}`);
        assert.deepEqual(body.redirectUris, [REDIRECT]);
        // What they registered in the installation is theirs, as before.
        assert.equal((await call('PATCH', `/clients/${own}`, { name: 'Renamed' })).status, 200);
        assert.equal((await developer.browser.get(`/console/apps/${own}`)).status, 200);
        // As soon as the organization wants them back, so is its app.
        if (isLeft) await leave(server, other, developer.id);
        if (isLeft) await join(server, organizationId, developer.id);
        await give(server, developer.id, organizationId);
        assert.equal((await call('PATCH', `/clients/${clientId}`, { name: 'Back' })).status, 200);
        assert.deepEqual(idsIn(await call('GET', '/clients')), [clientId, own]);
      });
    }

    test('nobody registers an app in an organization by the policy', async () => {
      const developer = await person(server);
      const organizationId = await newOrganization(server);
      await join(server, organizationId, developer.id);
      const { status } = await caller(server, developer)('POST', '/clients', { ...APP, organizationId });
      assert.equal(status, 404);
    });
  });
}

for (const policy of ['off', 'anyone'] as const) {
  describe(`roles, with the policy ${policy}`, async () => {
    const server = await startServer({ TESSERA_DEVELOPERS: policy });
    after(() => server.close());

    test('an operator whose role ends gives no role and no key of a developer that lasts longer', async () => {
      const operator = await newOperator(server, 'owner');
      const token = await signInOnCommandLine(server, { user: operator, ...operator });
      const until = (hours: number) => new Date(server.now() + hours * HOUR).toISOString();
      await newOperator(server, 'owner');
      await admin(server, 'DELETE', `/users/${operator.id}/roles/owner`);
      const ends = await admin(server, 'PUT', `/users/${operator.id}/roles/owner`, { expiresAt: until(2) });
      assert.equal(ends.status, 200, JSON.stringify(ends.body));
      const call = (method: string, path: string, body: object) => admin(server, method, path, body, token);
      const organizationId = await newOrganization(server);
      const friend = await newUser(server, { emailVerified: true });
      await join(server, organizationId, friend.id);
      for (const place of [{}, { organizationId }]) {
        const key = { name: 'key', role: 'developer', ...place };
        const role = `/users/${friend.id}/roles/developer`;
        for (const [method, path, body] of [
          ['POST', '/admin-keys', key],
          ['PUT', role, place],
        ] as const) {
          assert.equal((await call(method, path, body)).status, 403, path);
          assert.equal((await call(method, path, { ...body, expiresAt: until(3) })).status, 403, path);
          assert.ok((await call(method, path, { ...body, expiresAt: until(1) })).status < 300, path);
        }
      }
    });

    test('the help desk does not act on those to whom the role of a developer was given', async () => {
      const { body } = await admin(server, 'POST', '/admin-keys', { name: 'desk', role: 'support' });
      const desk = await newOperator(server, 'support');
      const token = await signInOnCommandLine(server, { user: desk, ...desk });
      const organizationId = await newOrganization(server);
      for (const place of [null, organizationId]) {
        const developer = await newUser(server, { emailVerified: true });
        await join(server, organizationId, developer.id);
        await give(server, developer.id, place);
        for (const key of [token, body.adminKey as string]) {
          for (const [method, path] of [
            ['POST', 'recovery'],
            ['DELETE', 'factors/totp'],
            ['PUT', 'suspension'],
            ['DELETE', 'sessions'],
          ] as const) {
            const answer = await admin(server, method, `/users/${developer.id}/${path}`, {}, key);
            assert.equal(answer.status, 403, `${place} ${path} ${JSON.stringify(answer.body)}`);
          }
        }
      }
      const somebody = await newUser(server, { emailVerified: true });
      assert.equal((await admin(server, 'PUT', `/users/${somebody.id}/suspension`, {}, token)).status, 200);
    });
  });
}

describe('off', async () => {
  const server = await startServer();
  after(() => server.close());

  test('a developer of one organization does not find the apps that they made in another before', async () => {
    const [former, present] = [await newOrganization(server), await newOrganization(server)];
    const developer = await person(server);
    for (const organizationId of [former, present]) {
      await give(server, developer.id, organizationId);
    }
    const call = caller(server, developer);
    const made: string[] = [];
    for (const organizationId of [former, present]) {
      made.push((await call('POST', '/clients', { ...APP, organizationId })).body.clientId);
    }
    const shown = () => Promise.all(made.map((clientId) => listsWith(developer, clientId)));
    assert.deepEqual([idsIn(await call('GET', '/clients')), await shown()], [made, [3, 3]]);
    await takeAway(server, developer.id, former);
    assert.deepEqual([idsIn(await call('GET', '/clients')), await shown()], [made.slice(1), [0, 3]]);
    // A role of the whole installation reaches the apps of its own wherever they are.
    await give(server, developer.id, null);
    assert.deepEqual([idsIn(await call('GET', '/clients')), await shown()], [made, [3, 3]]);
  });
});

describe('an answer that is kept', async () => {
  const server = await startServer({ TESSERA_DEVELOPERS: 'anyone' });
  after(() => server.close());

  test('with a secret is not given again once the policy is off, and is to whom the role was given', async () => {
    const developer = await person(server);
    const organizationId = await newOrganization(server);
    await join(server, organizationId, developer.id);
    await give(server, developer.id, organizationId);
    const create = () => {
      const headers = { authorization: `Bearer ${developer.token}`, 'content-type': 'application/json' };
      return fetch(`${server.baseUrl}/api/v2/admin/clients`, {
        ...{ method: 'POST', body: JSON.stringify(APP) },
        headers: { ...headers, 'idempotency-key': 'once' },
      });
    };
    const text = await (await create()).text();
    const again = await create();
    assert.deepEqual([again.status, await again.text()], [201, text]);
    Object.assign(server.environment, { TESSERA_DEVELOPERS: 'off' });
    await server.restart();
    const refused = await create();
    assert.equal(refused.status, 403, await refused.text());
    await give(server, developer.id, null);
    const given = await create();
    assert.deepEqual([given.status, await given.text()], [201, text]);
  });
});
