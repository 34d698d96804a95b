// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, redeem, refresh, standard, walk } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { joinedThrough, newUpstream, type TestUpstream, throughUpstream } from './people.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on' });
const MAP = { name: '/name', language: '/locale', groups: '/realm/groups' };
let staff: TestUpstream;
let accountId: string;
before(async () => {
  staff = await newUpstream(server, { signUp: 'anyone', claimsMap: MAP });
  const person = { sub: 'ada', email: 'ada@upstream.example' };
  await joinedThrough(server, staff, { person, username: 'ada', email: 'ada@example.com' });
  const [row] = await query(server, `SELECT id FROM account WHERE username = 'ada'`);
  accountId = String(row?.['id']);
  for (const name of ['ops', 'dev']) await group({ name, upstreamId: staff.id });
});
after(async () => {
  await staff.provider[Symbol.asyncDispose]();
  await server.close();
});

async function group(fields: object): Promise<string> {
  const { status, body } = await admin(server, 'POST', '/groups', fields);
  assert.equal(status, 201, JSON.stringify(body));
  return body.id;
}

async function signIn(claims: object) {
  staff.provider.person = { sub: 'ada', ...claims };
  const browser = agent(server.baseUrl);
  assert.equal((await throughUpstream(browser, staff)).location?.pathname, '/account');
  return browser;
}

const user = async () => (await admin(server, 'GET', `/users/${accountId}`)).body;
const groups = async () =>
  (
    await query(
      server,
      `SELECT g.name FROM group_member m JOIN user_group g ON g.id = m.group_id WHERE m.account_id = ${accountId} ORDER BY g.name`,
    )
  ).map(({ name }) => name);
const preview = async (claims: object) =>
  (await admin(server, 'POST', `/upstreams/${staff.id}/preview`, { token: JSON.stringify(claims) })).body;

describe('the claims of a sign-in', () => {
  test('write name and language, and nothing that the map does not name', async () => {
    await signIn({
      ...{ name: 'Ada King', locale: 'de-AT', email: 'other@upstream.example', email_verified: true },
      ...{ preferred_username: 'admin', role: 'owner', username: 'root' },
    });
    const { displayName, language, username, email } = await user();
    assert.deepEqual(
      { displayName, language, username, email },
      { displayName: 'Ada King', language: 'de-AT', username: 'ada', email: 'ada@example.com' },
    );
    const { body } = await admin(server, 'GET', `/audit-events?type=account.updated&userId=${accountId}`);
    assert.deepEqual(body.items.at(-1).details.fields, ['displayName', 'language']);
  });

  test('leave what they do not say, or say in a wrong form', async () => {
    await signIn({});
    await signIn({ name: '\u0007', locale: 'Klingon', realm: 'none' });
    const { displayName, language } = await user();
    assert.deepEqual({ displayName, language }, { displayName: 'Ada King', language: 'de-AT' });
  });

  test('decide the groups of their own source, and of no other', async () => {
    const local = await group({ name: 'local-ones' });
    await admin(server, 'PUT', `/groups/${local}/members/${accountId}`, {});
    await group({ name: 'admins' });
    await signIn({ realm: { groups: ['ops', 'admins', 'unknown'] } });
    assert.deepEqual(await groups(), ['local-ones', 'ops']);
    await signIn({ realm: { groups: ['dev'] } });
    assert.deepEqual(await groups(), ['dev', 'local-ones']);
    await signIn({});
    assert.deepEqual(await groups(), ['dev', 'local-ones'], 'a token without the claim takes nothing away');
    await signIn({ realm: { groups: [] } });
    assert.deepEqual(await groups(), ['local-ones']);
    assert.deepEqual(await query(server, `SELECT id FROM user_group WHERE name = 'unknown'`), [], 'none is created');
  });

  test('that take a group away end what was issued by it', async () => {
    const id = await group({ name: 'crew', upstreamId: staff.id });
    const client = standard(await newClient(server, { access: 'assigned' }));
    await admin(server, 'POST', `/clients/${client.clientId}/assignments`, { groupId: id });
    const browser = await signIn({ realm: { groups: ['crew'] } });
    const target = await walk(browser, authorizeUrl(client, { scope: 'openid offline_access', prompt: 'consent' }));
    const { body } = await redeem(server, client, target.searchParams.get('code') ?? '');
    assert.ok(body.refresh_token, JSON.stringify(body));
    await signIn({ realm: { groups: [] } });
    assert.equal((await refresh(server, client, body.refresh_token)).status, 400);
  });

  test('a group of a provider is changed by nobody else, until that is deleted', async () => {
    const other = await newUpstream(server);
    const id = await group({ name: 'theirs', upstreamId: other.id });
    const path = `/groups/${id}/members/${accountId}`;
    assert.equal((await admin(server, 'PUT', path, {})).status, 409);
    await signIn({ realm: { groups: ['theirs'] } });
    assert.ok(!(await groups()).includes('theirs'), 'another provider');
    await admin(server, 'POST', `/upstreams/${other.id}/disable`, {});
    await admin(server, 'DELETE', `/upstreams/${other.id}`);
    assert.ok((await admin(server, 'PUT', path, {})).status < 300);
    await other.provider[Symbol.asyncDispose]();
  });
});

describe('a preview', () => {
  test('says what a token would do, and does nothing', async () => {
    await signIn({ realm: { groups: ['ops'] } });
    const before = [await user(), await groups()];
    const claims = { sub: 'ada', name: 'Countess', locale: 'de-AT', realm: { groups: ['dev', 'strangers'] } };
    assert.deepEqual(await preview(claims), {
      ...{ accountId, displayName: 'Countess', language: null },
      ...{ joins: ['dev'], leaves: ['ops'], unknownGroups: ['strangers'] },
    });
    assert.deepEqual([await user(), await groups()], before);
  });

  test('takes a signed token, and a person who is not known', async () => {
    const token = await staff.provider.sign({ sub: 'nobody', name: 'Nobody', realm: { groups: ['ops'] } });
    const { body } = await admin(server, 'POST', `/upstreams/${staff.id}/preview`, { token });
    assert.deepEqual([body.accountId, body.displayName, body.joins], [null, 'Nobody', ['ops']]);
  });

  test('is refused for what is no token, and for a map that is no pointer', async () => {
    for (const token of ['no token', '{', '[]']) {
      assert.equal((await admin(server, 'POST', `/upstreams/${staff.id}/preview`, { token })).status, 400);
    }
    for (const claimsMap of [{ name: 'name' }, { role: '/role' }, { username: '/name' }, { email: '/email' }]) {
      assert.equal((await admin(server, 'PATCH', `/upstreams/${staff.id}`, { claimsMap })).status, 400);
    }
  });
});
