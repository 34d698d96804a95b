// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  standard,
  type TestClient,
  type TestUser,
  type Tokens,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { codeOf, query } from '../support/outcome.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { introspect } from '../support/token-services.ts';

// Decisions §12: losing access to an app is a revocation. Each request goes to the next node.

const server = spread(await startServer({}, SEVERAL));
after(() => server.close());

const call = async (method: string, path: string, body?: unknown, status = [200, 201, 204]) => {
  const answer = await admin(server, method, path, body);
  assert.ok(status.includes(answer.status), `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

let made = 0;
const newGroup = async (organizationId?: string): Promise<string> =>
  (await call('POST', '/groups', { name: `group-${++made}`, ...(organizationId && { organizationId }) })).id;
const newOrganization = async (): Promise<string> =>
  (await call('POST', '/organizations', { name: `company-${++made}`, domain: 'company.example' })).id;
const join = (group: string, { id }: TestUser) => call('PUT', `/groups/${group}/members/${id}`);
const leave = (group: string, { id }: TestUser) => call('DELETE', `/groups/${group}/members/${id}`);
const assign = async ({ clientId }: TestClient, whom: object): Promise<string> =>
  (await call('POST', `/clients/${clientId}/assignments`, whom)).id;
const unassign = ({ clientId }: TestClient, id: string) => call('DELETE', `/clients/${clientId}/assignments/${id}`);

/** Each way to have access, with the ways in which it ends. `back` gives it again, in the same way where that is possible. */
const WAYS: Readonly<
  Record<
    string,
    (
      client: TestClient,
      user: TestUser,
    ) => Promise<
      Readonly<Record<string, { readonly take: () => Promise<unknown>; readonly back: () => Promise<unknown> }>>
    >
  >
> = {
  async 'a person'(client, user) {
    const whom = { userId: user.id };
    const id = await assign(client, whom);
    return { 'the assignment is taken away': { take: () => unassign(client, id), back: () => assign(client, whom) } };
  },
  async 'a group'(client, user) {
    const groupId = await newGroup();
    const id = await assign(client, { groupId });
    await join(groupId, user);
    const again = async () => {
      const other = await newGroup();
      await join(other, user);
      await assign(client, { groupId: other });
    };
    return {
      'the person leaves': { take: () => leave(groupId, user), back: () => join(groupId, user) },
      'the assignment is taken away': {
        take: () => unassign(client, id),
        back: () => assign(client, { groupId }),
      },
      'the group is deleted': { take: () => call('DELETE', `/groups/${groupId}`), back: again },
    };
  },
  async 'an organization'(client, user) {
    const organizationId = await newOrganization();
    const id = await assign(client, { organizationId });
    const path = `/organizations/${organizationId}/members/${user.id}`;
    await call('PUT', path, { role: 'MEMBER' });
    return {
      'the person leaves': { take: () => call('DELETE', path), back: () => call('PUT', path, { role: 'MEMBER' }) },
      'the assignment is taken away': {
        take: () => unassign(client, id),
        back: () => assign(client, { organizationId }),
      },
      'the organization is deleted': {
        take: () => call('DELETE', `/organizations/${organizationId}`),
        back: () => assign(client, { userId: user.id }),
      },
    };
  },
  async 'a group of an organization'(client, user) {
    const organizationId = await newOrganization();
    const path = `/organizations/${organizationId}/members/${user.id}`;
    await call('PUT', path, { role: 'MEMBER' });
    const groupId = await newGroup(organizationId);
    await join(groupId, user);
    await assign(client, { groupId });
    const back = async () => {
      await call('PUT', path, { role: 'MEMBER' });
      await join(groupId, user);
    };
    return {
      'the person leaves the group': { take: () => leave(groupId, user), back: () => join(groupId, user) },
      'the person leaves the organization': { take: () => call('DELETE', path), back },
    };
  },
};

/** Everything that a person can hold of an app. */
interface Held {
  readonly client: TestClient;
  readonly tokens: Tokens;
  readonly code: string;
}

const userinfoPath = ({ endpointSet }: TestClient): string =>
  endpointSet === 'oidc' ? '/oidc/userinfo' : '/api/v2/oauth/userinfo';

const newApp = (more: object = {}) => newClient(server, { access: 'assigned', ...more });

async function hold(client: TestClient, user: TestUser, browser: Agent): Promise<Held> {
  const tokens = await tokensFor(server, client, user, {}, { browser });
  return { client, tokens, code: codeOf(await browser.get(authorizeUrl(client))) };
}

async function assertAlive({ client, tokens }: Held): Promise<void> {
  assert.equal((await userinfo(server, tokens.access_token, userinfoPath(client))).status, 200);
  assert.equal(await introspected(client, tokens.access_token), true);
}

const introspected = async (client: TestClient, token: string): Promise<unknown> =>
  (await introspect(server, client, token)).body.active;

/** Nothing that was issued before is accepted: decisions §12 says 401, or `invalid_grant`. */
async function assertDead({ client, tokens, code }: Held): Promise<void> {
  const info = await userinfo(server, tokens.access_token, userinfoPath(client));
  assert.deepEqual([info.status, info.body.error], [401, 'invalid_token']);
  assert.equal(await introspected(client, tokens.access_token), false);
  assert.equal(await introspected(client, tokens.refresh_token), false);
  const refreshed = await refresh(server, client, tokens.refresh_token);
  assert.deepEqual([refreshed.status, refreshed.body.error], [400, 'invalid_grant']);
  const redeemed = await redeem(server, client, code);
  assert.deepEqual([redeemed.status, redeemed.body.error], [400, 'invalid_grant']);
}

const ENDINGS = [
  ['a person', 'the assignment is taken away'],
  ['a group', 'the person leaves'],
  ['a group', 'the assignment is taken away'],
  ['a group', 'the group is deleted'],
  ['an organization', 'the person leaves'],
  ['an organization', 'the assignment is taken away'],
  ['an organization', 'the organization is deleted'],
  ['a group of an organization', 'the person leaves the group'],
  ['a group of an organization', 'the person leaves the organization'],
] as const;

for (const [way, ending] of ENDINGS) {
  describe(`${way} is assigned, and ${ending}`, () => {
    test('from that moment nothing of the app is accepted, and given back, nothing revives', async () => {
      const client = await newApp();
      const user = await newUser(server);
      const browser = await signedIn(server, user);
      const endings = await WAYS[way]?.(client, user);
      const { take, back } = endings?.[ending] ?? assert.fail(ending);
      const held = [await hold(client, user, browser), await hold(standard(client), user, browser)];
      for (const each of held) await assertAlive(each);

      await take();

      for (const each of held) await assertDead(each);
      const silent = await browser.get(authorizeUrl(standard(client), { prompt: 'none' }));
      assert.equal(silent.location?.searchParams.get('error'), 'access_denied');
      const { location } = await browser.get(authorizeUrl(client));
      const shown = await browser.get(`${location?.pathname}${location?.search}`);
      assert.equal(shown.status, 403);
      assert.match(shown.text, /You have no access to/);
      const returned = await browser.submit(shown, {}, '/no-access');
      assert.equal(returned.location?.searchParams.get('error'), 'access_denied');

      await back();
      for (const each of held) await assertDead(each);
      // The consent stands: there is a code without a page.
      assert.equal((await redeem(server, client, codeOf(await browser.get(authorizeUrl(client))))).status, 200);
    });

    test('a person with another way to the app goes on', async () => {
      const client = await newApp();
      const user = await newUser(server);
      const browser = await signedIn(server, user);
      const endings = await WAYS[way]?.(client, user);
      const { take } = endings?.[ending] ?? assert.fail(ending);
      const first = await hold(client, user, browser);
      const groupId = await newGroup();
      await join(groupId, user);
      const other = await assign(client, { groupId });

      await take();
      await assertAlive(first);
      assert.equal((await refresh(server, client, first.tokens.refresh_token)).status, 200);

      await unassign(client, other);
      await assertDead(first);
    });
  });
}

test('a browser app with assigned access may call the endpoints from its origin', async () => {
  const client = { type: 'public', redirectUris: ['https://spa.example.com/callback'], access: 'assigned' };
  await newClient(server, client);
  const answer = await fetch(`${server.baseUrl}/oidc/token`, {
    method: 'OPTIONS',
    headers: { origin: 'https://spa.example.com', 'access-control-request-method': 'POST' },
  });
  assert.equal(answer.headers.get('access-control-allow-origin'), 'https://spa.example.com');
});

test('decisions §5: enabling an app revives nothing, also where an earlier version disabled it', async () => {
  const client = await newApp();
  const user = await newUser(server);
  await assign(client, { userId: user.id });
  const tokens = await tokensFor(server, client, user);
  // That version takes the status of the app for disabled already, and keeps its generation.
  await query(server, `UPDATE client SET status = 'disabled' WHERE id = '${client.clientId}'`);
  await call('PATCH', `/clients/${client.clientId}`, { status: 'active' });
  assert.equal((await userinfo(server, tokens.access_token)).status, 401);
});

test('a person with more sign-ins than a commit handles has lost all of them', async () => {
  const client = await newApp();
  const user = await newUser(server);
  const groupId = await newGroup();
  await assign(client, { groupId });
  await join(groupId, user);
  const browser = await signedIn(server, user);
  const all: Tokens[] = [];
  for (let n = 0; n < 102; n++) all.push(await tokensFor(server, client, user, {}, { browser }));
  const { ended } = await leave(groupId, user);
  assert.equal(ended, 100);
  for (const tokens of all) assert.equal((await userinfo(server, tokens.access_token)).status, 401);
});
