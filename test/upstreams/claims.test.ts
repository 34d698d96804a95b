// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  standard,
  type TestUser,
  walk,
} from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { recover } from '../support/recovery.ts';
import { enroll, totpCode } from '../support/second-factor.ts';
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
    assert.deepEqual(await groups(), ['local-ones'], 'a token without the claim names none');
    await signIn({ realm: { groups: ['dev'] } });
    await signIn({ realm: { groups: [] } });
    assert.deepEqual(await groups(), ['local-ones']);
    assert.deepEqual(await query(server, `SELECT id FROM user_group WHERE name = 'unknown'`), [], 'none is created');
  });

  test('that say that groups are elsewhere leave them, and the trace says so', async () => {
    await signIn({ realm: { groups: ['dev'] } });
    const elsewhere = {
      _claim_names: { realm: 'src1' },
      _claim_sources: { src1: { endpoint: 'https://graph.example' } },
    };
    staff.provider.person = { sub: 'ada', ...elsewhere };
    const back = await throughUpstream(agent(server.baseUrl), staff);
    assert.equal(back.location?.pathname, '/account');
    assert.deepEqual(await groups(), ['dev', 'local-ones']);
    const { body } = await admin(server, 'GET', `/traces/${back.headers.get('x-request-id')}`);
    assert.match(JSON.stringify(body), /groups of the user are left as they are.*_claim_names/);
    assert.deepEqual((await preview({ sub: 'ada', ...elsewhere })).leaves, []);
  });

  test('are written when the sign-in is complete, after the second factor, and not before', async () => {
    const sub = 'two-step';
    await joinedThrough(server, staff, { person: { sub }, username: sub, email: `${sub}@example.com` });
    const [row] = await query(server, `SELECT id FROM account WHERE username = '${sub}'`);
    const id = String(row?.['id']);
    const factor = await enroll(server, { id });
    const written = async () => {
      const { body } = await admin(server, 'GET', `/users/${id}`);
      const joined = `SELECT g.name FROM group_member m JOIN user_group g ON g.id = m.group_id WHERE m.account_id = ${id}`;
      return [body.displayName, body.language, ...(await query(server, joined)).map(({ name }) => name)];
    };
    const before = await written();
    staff.provider.person = { sub, name: 'Second Step', locale: 'fr', realm: { groups: ['ops'] } };
    const browser = agent(server.baseUrl);
    const asked = await throughUpstream(browser, staff);
    assert.equal(asked.location?.pathname, '/login/verify');
    const page = await browser.get(asked.location.href);
    const wrong = totpCode(factor, server.now(), 50);
    assert.equal((await browser.submit(page, { code: wrong, with: 'app' }, '/login/verify')).status, 401);
    assert.deepEqual(await written(), before);
    const code = totpCode(factor, server.now());
    const done = await browser.submit(page, { code, with: 'app' }, '/login/verify');
    assert.equal(done.location?.pathname, '/account', done.text.slice(0, 500));
    assert.deepEqual(await written(), ['Second Step', 'fr', 'ops']);
  });

  test('are refused with more groups than are read, since a part would take the others away', async () => {
    await signIn({ realm: { groups: ['dev'] } });
    const many = Array.from({ length: 1001 }, (_, index) => `group-${index}`);
    staff.provider.person = { sub: 'ada', realm: { groups: [...many, 'dev'] } };
    const refused = await throughUpstream(agent(server.baseUrl), staff);
    assert.equal(refused.status, 400);
    const { body } = await admin(server, 'GET', `/traces/${refused.headers.get('x-request-id')}`);
    assert.match(JSON.stringify(body), /groups at \/realm\/groups are more than 1000/);
    assert.deepEqual(await groups(), ['dev', 'local-ones']);
    await signIn({ realm: { groups: [...many.slice(0, 999), 'dev'] } });
    assert.deepEqual(await groups(), ['dev', 'local-ones'], 'the last of as many as are read');
  });

  test('reach every group of a source, however many it maintains', async () => {
    const large = await newUpstream(server, { signUp: 'anyone', claimsMap: MAP });
    const names = Array.from({ length: 1003 }, (_, index) => `many-${index}`);
    const last = names.at(-1) ?? '';
    const rows = names.map(
      (name, index) => `(${9_000_000 + index}, '${name}', '${name}', 'upstream:${large.id}', 1, 1)`,
    );
    await query(
      server,
      `INSERT INTO user_group (id, name, display_name, source, created_at, updated_at) VALUES ${rows.join(', ')}`,
    );
    const claims = (groups: readonly string[]) => ({ sub: 'ben', email: 'ben@upstream.example', realm: { groups } });
    const person = { person: claims([]), username: 'ben', email: 'ben@example.com' };
    await joinedThrough(server, large, person);
    const [row] = await query(server, `SELECT id FROM account WHERE username = 'ben'`);
    const counted = async () =>
      (await query(server, `SELECT group_id FROM group_member WHERE account_id = ${row?.['id']}`)).length;
    large.provider.person = claims([last]);
    await throughUpstream(agent(server.baseUrl), large);
    assert.equal(await counted(), 1);
    large.provider.person = claims([]);
    await throughUpstream(agent(server.baseUrl), large);
    assert.equal(await counted(), 0);
    await large.provider[Symbol.asyncDispose]();
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
    assert.equal((await admin(server, 'DELETE', `/groups/${id}`)).status, 409);
    await admin(server, 'POST', `/upstreams/${other.id}/disable`, {});
    await admin(server, 'DELETE', `/upstreams/${other.id}`);
    assert.ok((await admin(server, 'PUT', path, {})).status < 300);
    await other.provider[Symbol.asyncDispose]();
  });
});

test('an operator removes a member of the group of a provider', async () => {
  const id = await group({ name: 'night-shift', upstreamId: staff.id });
  await signIn({ realm: { groups: ['night-shift'] } });
  assert.ok((await groups()).includes('night-shift'));
  assert.equal((await admin(server, 'DELETE', `/groups/${id}/members/${accountId}`)).status, 200);
  assert.ok(!(await groups()).includes('night-shift'));
});

/** An account with a password, in the group of a provider that it connected. */
async function groupMember(username: string) {
  const email = `${username}@example.com`;
  const person = await newUser(server, { username, email, emailVerified: true });
  const browser = await signedIn(server, person);
  await connect(browser, staff, username);
  staff.provider.person = { sub: username, realm: { groups: ['leaving'] } };
  await throughUpstream(agent(server.baseUrl), staff);
  return { person, browser, email };
}

async function connect(browser: Agent, { provider, name }: TestUpstream, sub: string): Promise<void> {
  provider.person = { sub };
  const left = await browser.get(`/account/security/connect/${name}`);
  const back = await browser.get(provider.authorize(left.location?.href ?? '').href);
  const page = await browser.get(back.location?.href ?? '');
  assert.equal((await browser.submit(page, {}, back.location?.pathname)).status, 200);
}

const membersOf = async (groupId: string) =>
  (await query(server, `SELECT account_id FROM group_member WHERE group_id = ${groupId}`)).map((row) =>
    String(row['account_id']),
  );

describe('who loses their last identity at a provider', () => {
  let leaving: string;
  before(async () => {
    leaving = await group({ name: 'leaving', upstreamId: staff.id });
  });

  test('leaves its groups, and the apps that were open to these', async () => {
    const { person } = await groupMember('leaver');
    const client = standard(await newClient(server, { access: 'assigned' }));
    await admin(server, 'POST', `/clients/${client.clientId}/assignments`, { groupId: leaving });
    const browser = await signedIn(server, person);
    const asked = authorizeUrl(client, { scope: 'openid offline_access', prompt: 'consent' });
    assert.ok((await walk(browser, asked)).searchParams.has('code'));
    await disconnect(person);
    assert.deepEqual(await membersOf(leaving), []);
    const { body } = await admin(server, 'GET', `/audit-events?type=group.member_removed&userId=${person.id}`);
    assert.equal(body.items.at(-1).details.group, 'leaving');
    assert.ok(!(await walk(await signedIn(server, person), asked)).searchParams.has('code'));
  });

  test('stays in them while another one is connected there', async () => {
    const { person, browser } = await groupMember('stayer');
    await connect(browser, staff, 'stayer-2');
    await disconnect(person);
    assert.deepEqual(await membersOf(leaving), [person.id]);
    await disconnect(person);
    assert.deepEqual(await membersOf(leaving), []);
  });

  test('leaves them where a recovery removed it', async () => {
    const { person, email } = await groupMember('recovered');
    assert.deepEqual(await membersOf(leaving), [person.id]);
    assert.equal((await recover(server, email, 'another password of mine')).status, 303);
    assert.deepEqual(await membersOf(leaving), []);
  });
});

/** Disconnects the oldest identity. */
async function disconnect({ id, ...person }: TestUser): Promise<void> {
  const browser = await signedIn(server, { id, ...person });
  const page = await browser.get('/account/security');
  const [row] = await query(server, `SELECT id FROM upstream_identity WHERE account_id = ${id} ORDER BY created_at`);
  const done = await browser.submit(page, { id: String(row?.['id']) }, '/account/security/disconnect');
  assert.equal(done.status, 200, done.text.slice(0, 2000));
}

test('a provider of people of any tenant maintains no groups', async () => {
  const entra = { preset: 'entra', clientId: 'a', claimsMap: { groups: '/roles' } };
  const create = (name: string, at: string) => admin(server, 'POST', '/upstreams', { ...entra, name, at });
  for (const at of ['common', 'organizations']) {
    const refused = await create('ms-any', at);
    assert.equal(refused.status, 400);
    assert.match(JSON.stringify(refused.body), /claimsMap must have no groups.*Register an upstream for one tenant/);
  }
  assert.equal((await create('ms-one', '11111111-2222-3333-4444-555555555555')).status, 201);
  const { body } = await admin(server, 'POST', '/upstreams', {
    ...{ ...entra, name: 'ms-any', at: 'organizations', claimsMap: { name: '/name' } },
  });
  const { status } = await admin(server, 'PATCH', `/upstreams/${body.id}`, { claimsMap: entra.claimsMap });
  assert.equal(status, 400);
});

describe('a preview', () => {
  test('says what a token would do, and does nothing', async () => {
    await signIn({ realm: { groups: ['ops'] } });
    const before = [await user(), await groups()];
    const claims = { sub: 'ada', name: 'Countess', locale: 'de-AT', realm: { groups: ['dev', 'strangers'] } };
    assert.deepEqual(await preview(claims), {
      ...{ outcome: 'sign-in', reason: null, accountId, displayName: 'Countess', language: null, groupsLeft: null },
      ...{ joins: ['dev'], leaves: ['ops'], closedGroups: [], unknownGroups: ['strangers'] },
      ...{ picture: null, unchanged: [{ field: 'language', reason: 'The account has it already.' }] },
    });
    assert.deepEqual([await user(), await groups()], before);
  });

  test('takes a signed token, and a person who is not known', async () => {
    const token = await staff.provider.sign({ sub: 'nobody', name: 'Nobody', realm: { groups: ['ops'] } });
    const { body } = await admin(server, 'POST', `/upstreams/${staff.id}/preview`, { token });
    assert.deepEqual([body.accountId, body.displayName, body.joins], [null, 'Nobody', ['ops']]);
  });

  test('says of each field that the map names why it is left as it is', async () => {
    const unchanged = async (claims: object) =>
      (await preview({ sub: 'ada', ...claims })).unchanged.map(
        ({ field, reason }: { field: string; reason: string }) => `${field}: ${reason}`,
      );
    assert.deepEqual(await unchanged({}), ['name: The token has no /name.', 'language: The token has no /locale.']);
    assert.deepEqual(await unchanged({ name: 'x'.repeat(65), locale: 'qqq' }), [
      'name: /name is not a text of at most 64 characters on one line.',
      'language: /locale is not a language tag such as en or de-AT.',
    ]);
    assert.deepEqual(await unchanged({ name: 'Ada', locale: 'en-x' }), [
      'language: /locale is not a language tag such as en or de-AT.',
    ]);
  });

  test('says who may not sign in, and why', async () => {
    const set = (fields: object) => admin(server, 'PATCH', `/upstreams/${staff.id}`, fields);
    const said = async (claims: object) => {
      const { outcome, reason } = await preview(claims);
      return `${outcome}: ${reason}`;
    };
    const stranger = { sub: 'stranger', email: 'stranger@staff.example', email_verified: true };
    assert.match(await said(stranger), /^create: /);
    await set({ signUp: 'nobody' });
    assert.match(await said(stranger), /^refused: .*no account without an invitation/);
    await set({ signUp: 'domains', signUpDomains: ['other.example'], domains: ['staff.example'] });
    assert.match(await said(stranger), /^create: /, 'a domain for which it is authoritative');
    await newUser(server, { username: 'holder', email: stranger.email, emailVerified: true });
    assert.match(await said(stranger), /^connect: An account has the address/);
    await set({ signUp: 'anyone', signUpDomains: [], domains: [] });
    assert.match(await said({ sub: 'ada', realm: { groups: Array(1001).fill('x') } }), /^refused: .*more than 1000/);
    assert.match(await said({}), /^refused: .*sub is missing/);
    const left = await preview({ sub: 'ada', _claim_names: { realm: 'src1' } });
    assert.match(left.groupsLeft, /_claim_names/);
    const { body: organization } = await admin(server, 'POST', '/organizations', {
      name: 'closed-ones',
      domain: 'closed.example',
    });
    const made = await admin(server, 'POST', '/groups', {
      name: 'inner',
      organizationId: organization.id,
      upstreamId: staff.id,
    });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const closed = await preview({ sub: 'ada', realm: { groups: ['inner'] } });
    assert.deepEqual([closed.joins, closed.closedGroups], [[], ['inner']]);
    await admin(server, 'PUT', `/users/${accountId}/suspension`, { reason: 'a test of the preview' });
    assert.match(await said({ sub: 'ada' }), /^refused: The account is suspended/);
    await admin(server, 'DELETE', `/users/${accountId}/suspension`);
    await admin(server, 'POST', `/upstreams/${staff.id}/disable`, {});
    assert.match(await said({ sub: 'ada' }), /^refused: The upstream is disabled/);
    await admin(server, 'POST', `/upstreams/${staff.id}/enable`, {});
  });

  test('finds nobody by a subject that no token can have', async () => {
    for (const sub of [undefined, ['ada'], 'ada\0']) assert.equal((await preview({ sub })).accountId, null);
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
