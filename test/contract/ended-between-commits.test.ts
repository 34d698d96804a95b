// store: SQLite, PostgreSQL
// Decisions §12: an operator loses a role with the same immediacy in the middle of an act that takes several commits.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { formOf } from '../support/agent.ts';
import { type OperatorInBrowser, operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { newOperator, open } from '../support/console.ts';
import { admin, newClient, newSignedInUser, newUser } from '../support/flow.ts';
import { holdCommits } from '../support/held-commits.ts';
import { SEVERAL, startServer } from '../support/server.ts';
import { joinedThrough, newUpstream } from '../upstreams/people.ts';

const commits = holdCommits();
const settings = {
  ...{ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_ADMIN_KEY: 'off', TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off' },
  ...{ TESSERA_LIMIT_DEVICE_ADDRESS: 'off', TESSERA_LIMIT_USER_CODE: 'off', TESSERA_LIMIT_USER_CODE_ADDRESS: 'off' },
};
const server = await startServer(settings, SEVERAL, undefined, { database: commits.database });
after(() => server.close());

const call = async (method: string, path: string, body?: unknown) => {
  const answer = await admin(server, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
// The last owner would stay.
const keeper = await newUser(server);
await call('PUT', `/users/${keeper.id}/roles/owner`, {});

/** Holds a request before one of its commits. */
function heldBefore(number: number) {
  const [at, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { header } = commits.watch(async (commit) => {
    if (commit !== number) return;
    at.resolve();
    await go.promise;
  });
  return { header, at: at.promise, go: () => go.resolve() };
}

interface Sent {
  readonly token: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

async function send({ token, method, path, body, headers = {} }: Sent) {
  const response = await fetch(`${server.baseUrl}/api/v2/admin${path}`, {
    method,
    headers: {
      ...{ authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

/** Sends a request and does something before one of its commits. */
async function between(request: Omit<Sent, 'headers'>, number: number, act: () => Promise<unknown>) {
  const held = heldBefore(number);
  const pending = send({ ...request, headers: held.header });
  await held.at;
  await act();
  held.go();
  return pending;
}

async function newPerson(role: 'admin' | 'owner'): Promise<{ operator: OperatorInBrowser; id: string; token: string }> {
  const operator = await operatorInBrowser(server);
  const { id } = operator.user;
  await call('PUT', `/users/${id}/roles/${role}`, {});
  return { operator, id, token: await signInOnCommandLine(server, operator) };
}

let count = 0;
const newName = () => `between-${++count}`;
const newOrganization = () => {
  const name = newName();
  return call('POST', '/organizations', { name, domain: `${name}.example` });
};

/** An app that somebody may use by an assignment. */
async function assigned(to: Readonly<Record<string, string>>) {
  const client = await newClient(server, { access: 'assigned' });
  const assignment = await call('POST', `/clients/${client.clientId}/assignments`, to);
  return { client, assignment };
}

const statusOf = async (path: string): Promise<number> => (await admin(server, 'GET', path)).status;

interface Act {
  readonly role?: 'owner';
  /** The first commit that the end of the role comes before. */
  readonly commit: number;
  /** @returns the request, and whether nothing of it was done after the role had ended */
  prepare(): Promise<Omit<Sent, 'token' | 'headers'> & { isUndone(): Promise<boolean> }>;
}

const acts: Readonly<Record<string, Act>> = {
  'a group is deleted': {
    commit: 2,
    async prepare() {
      const { id } = await call('POST', '/groups', { name: newName() });
      await assigned({ groupId: id });
      const path = `/groups/${id}`;
      return { method: 'DELETE', path, isUndone: async () => (await statusOf(path)) === 200 };
    },
  },
  'an organization is deleted': {
    commit: 2,
    async prepare() {
      const { id } = await newOrganization();
      await assigned({ organizationId: id });
      const path = `/organizations/${id}`;
      return { method: 'DELETE', path, isUndone: async () => (await statusOf(path)) === 200 };
    },
  },
  'an assignment is taken away': {
    commit: 2,
    async prepare() {
      const { id } = await call('POST', '/groups', { name: newName() });
      const { client, assignment } = await assigned({ groupId: id });
      const path = `/clients/${client.clientId}/assignments`;
      return {
        ...{ method: 'DELETE', path: `${path}/${assignment.id}` },
        isUndone: async () => (await call('GET', path)).items.length === 1,
      };
    },
  },
  'weaker access is ended': {
    commit: 2,
    async prepare() {
      const { id } = await newOrganization();
      const members: Awaited<ReturnType<typeof newSignedInUser>>[] = [];
      for (let number = 0; number < 3; number++) {
        const member = await newSignedInUser(server);
        await call('PUT', `/organizations/${id}/members/${member.user.id}`, { role: 'MEMBER' });
        members.push(member);
      }
      return {
        ...{ method: 'POST', path: '/end-weaker-access', body: { organizationId: id } },
        async isUndone() {
          const statuses = await Promise.all(members.map(({ browser }) => browser.get('/account')));
          return statuses.filter(({ status }) => status === 200).length === 2;
        },
      };
    },
  },
  'members are to sign in through a provider alone': {
    ...{ role: 'owner', commit: 2 },
    async prepare() {
      const upstream = await newUpstream(server);
      after(() => upstream.provider[Symbol.asyncDispose]());
      const { id } = await newOrganization();
      const member = await newSignedInUser(server);
      await call('PUT', `/organizations/${id}/members/${member.user.id}`, { role: 'MEMBER' });
      return {
        ...{ method: 'PUT', path: `/organizations/${id}/only-upstream` },
        body: { upstreamId: upstream.id, endSessions: true },
        isUndone: async () => (await member.browser.get('/account')).status === 200,
      };
    },
  },
  'a provider is disabled with what came through it': {
    ...{ role: 'owner', commit: 2 },
    async prepare() {
      const upstream = await newUpstream(server, { signUp: 'anyone' });
      after(() => upstream.provider[Symbol.asyncDispose]());
      const username = newName();
      const email = `${username}@example.com`;
      const browser = await joinedThrough(server, upstream, { person: { sub: username, email }, username, email });
      return {
        ...{ method: 'POST', path: `/upstreams/${upstream.id}/disable`, body: { endSessions: true } },
        isUndone: async () => (await browser.get('/account')).status === 200,
      };
    },
  },
};

describe('an act stops before the next commit, with the answer that it would have had at its beginning', () => {
  for (const [what, { role = 'admin', commit, prepare }] of Object.entries(acts)) {
    test(`the role ends while ${what}`, async () => {
      const { id, token } = await newPerson(role);
      const { isUndone, ...request } = await prepare();
      const answer = await between({ token, ...request }, commit, () => call('DELETE', `/users/${id}/roles/${role}`));
      const atBeginning = await send({ token, ...request });
      assert.ok(answer.status === 403 || answer.status === 404, JSON.stringify(answer));
      assert.deepEqual(answer, atBeginning);
      assert.ok(await isUndone());
    });
  }

  test('the role in an organization is lowered while a group is deleted: another role does not do', async () => {
    const operator = await operatorInBrowser(server);
    const { id } = operator.user;
    const organization = await newOrganization();
    await call('PUT', `/organizations/${organization.id}/members/${id}`, { role: 'ADMIN' });
    await call('PUT', `/users/${id}/roles/auditor`, {});
    const token = await signInOnCommandLine(server, operator);
    const group = await call('POST', '/groups', { name: newName(), organizationId: organization.id });
    await assigned({ groupId: group.id });
    const path = `/groups/${group.id}`;
    const { status, body } = await between({ token, method: 'DELETE', path }, 2, () =>
      call('PUT', `/organizations/${organization.id}/members/${id}`, { role: 'MEMBER' }),
    );
    assert.deepEqual([status, body.error], [403, 'insufficient_permission']);
    assert.equal(await statusOf(path), 200);
  });

  test('the role ends while an organization is deleted in the console', async () => {
    const operator = await newOperator(server, 'admin');
    const organization = await newOrganization();
    await assigned({ organizationId: organization.id });
    const address = '/console/organizations/delete';
    const page = await open(server, operator, `${address}?id=${organization.id}`);
    const { hidden } = formOf(page.text, address);
    // The first one counts the form.
    const held = heldBefore(3);
    const pending = operator.browser.post(address, { ...hidden, typed: organization.name }, held.header);
    await held.at;
    await call('DELETE', `/users/${operator.id}/roles/admin`);
    held.go();
    // Who sees no organizations finds none.
    assert.equal((await pending).status, 404);
    assert.equal(await statusOf(`/organizations/${organization.id}`), 200);
  });
});

describe('what goes on', () => {
  test('a group of an organization is deleted to its end by a role of that organization', async () => {
    const organization = await newOrganization();
    const key = { name: 'of one organization', role: 'admin', organizationId: organization.id };
    const { adminKey } = await call('POST', '/admin-keys', key);
    const { id } = await call('POST', '/groups', { name: newName(), organizationId: organization.id });
    await assigned({ groupId: id });
    const { status, body } = await send({ token: adminKey, method: 'DELETE', path: `/groups/${id}` });
    assert.deepEqual([status, body?.error], [200, undefined], JSON.stringify(body));
    assert.equal(await statusOf(`/groups/${id}`), 404);
  });

  test('an ending of makers is finished, also where it ended the right of its own operator', async () => {
    const { id, token } = await newPerson('owner');
    const upstream = await newUpstream(server, { signUp: 'anyone' }, token);
    after(() => upstream.provider[Symbol.asyncDispose]());
    const username = newName();
    const email = `${username}@example.com`;
    const browser = await joinedThrough(server, upstream, { person: { sub: username, email }, username, email });
    const path = `/users/${id}/roles/owner?endMade=true`;
    const { status, body } = await send({ token, method: 'DELETE', path });
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal((await call('GET', `/upstreams/${upstream.id}`)).status, 'disabled');
    assert.notEqual((await browser.get('/account')).status, 200);
    assert.equal((await send({ token, method: 'GET', path: '/users' })).status, 403);
  });

  test('a key that revokes itself is told so, also where the record had to have a version', async () => {
    for (const match of [false, true]) {
      const { id, adminKey } = await call('POST', '/admin-keys', { name: 'its own end', role: 'owner' });
      const path = `/admin-keys/${id}`;
      const read = await admin(server, 'GET', path);
      const headers: Record<string, string> = match ? { 'if-match': read.headers.get('etag') ?? '' } : {};
      const { status } = await send({ token: adminKey, method: 'DELETE', path, headers });
      assert.equal(status, 200);
      assert.equal((await send({ token: adminKey, method: 'GET', path })).status, 401);
    }
  });
});
