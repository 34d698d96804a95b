// store: SQLite, PostgreSQL
/** What a stolen key opened of apps, organizations and groups is listed where it ends, and ends with it on request. What it closed stays closed. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { keyApp, proofOf } from '../support/assertion.ts';
import { operatorInBrowser } from '../support/command-line.ts';
import { admin, codeFor, newClient, newUser, redeem, refresh, standard, tokensFor, userinfo } from '../support/flow.ts';
import { DAY, MINUTE, query } from '../support/outcome.ts';
import { SEVERAL, startServer } from '../support/server.ts';
import { API, BY_KEY, CALLBACK, CASES, type Case, other, own, scope, thief } from '../support/setting-cases.ts';
import { introspect } from '../support/token-services.ts';
import { newUpstream } from '../upstreams/people.ts';

const server = await startServer({}, SEVERAL);
after(() => server.close());
const keeper = await newUser(server, { password: undefined });
assert.equal((await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {})).status, 200);

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const newKey = (role = 'owner', by?: string): Promise<{ id: string; adminKey: string }> =>
  call('POST', '/admin-keys', { name: 'stolen', role }, by);
const listed = async ({ id }: { id: string }) => (await call('GET', `/admin-keys/${id}`)).made.settings;
const endWithMade = async ({ id }: { id: string }) =>
  (await call('DELETE', `/admin-keys/${id}?endMade=true`)).made.settings;
const later = () => server.advance(MINUTE);

/** What is listed of one app, organization or group. */
const entry = (
  kind: string,
  { id, name }: { readonly id: string; readonly name: string },
  fields: readonly string[],
  left: readonly string[] = [],
  disables = false,
) => ({ ...{ kind, id, name }, ...{ fields, left, disables } });

/** An app of a case. */
async function newApp(t: TestContext, { app: fields }: Case) {
  const body = { name: 'Intranet', redirectUris: [CALLBACK], ...fields };
  const { clientId: id } = await call('POST', '/clients', body);
  t.after(() => call('DELETE', `/clients/${id}`));
  const read = async () => {
    const { secrets: _, updatedAt: _at, ...now } = await call('GET', `/clients/${id}`);
    return now;
  };
  return { id, before: await read(), read };
}

/** The same, whose setting a stolen key has changed. */
async function opened(t: TestContext, one: Case) {
  const app = await newApp(t, one);
  const key = await newKey('admin');
  await call('PATCH', `/clients/${app.id}`, one.stolen, key.adminKey);
  later();
  return { ...app, key };
}

const pick = (record: Readonly<Record<string, unknown>>, of: object) =>
  Object.fromEntries(Object.keys(of).map((name) => [name, record[name]]));

const fieldsOf = ({ fields }: { readonly fields: readonly string[] }) => fields;

/** What was put back of an app, as the audit trail says it. */
async function putBackIn(clientId: string, type = 'client.updated') {
  const { items } = await call('GET', `/audit-events?type=${type}&clientId=${clientId}&limit=10`);
  type Event = { readonly details: { readonly fields: readonly string[]; readonly putBack?: boolean } };
  return items.flatMap(({ details }: Event) => (details.putBack === true ? [details.fields] : []));
}

for (const [name, one] of Object.entries(CASES)) {
  test(`${name} of an app is listed where the key ends that opened it, ends with it, and stays where somebody decides it later`, async (t) => {
    const { id, before, key, read } = await opened(t, one);
    const { name: called } = await read();
    const left = one.undone === undefined ? [] : [name];
    assert.deepEqual(await listed(key), [entry('app', { id, name: called }, [name], left)]);
    assert.deepEqual(await endWithMade(key), [entry('app', { id, name: before.name }, [name], left)]);
    const undone = { ...before, ...one.undone };
    assert.deepEqual(await read(), undone);
    assert.deepEqual(await putBackIn(id), [[name]]);
    later();
    await call('PATCH', `/clients/${id}`, one.stolen);
    const decided = await read();
    later();
    assert.deepEqual((await endWithMade(key)).flatMap(fieldsOf), []);
    assert.deepEqual(await read(), decided);
  });

  test(`${name} of an app goes on where only the key is revoked that changed it`, async (t) => {
    const { key, read } = await opened(t, one);
    const changed = await read();
    await call('DELETE', `/admin-keys/${key.id}`);
    assert.deepEqual(await read(), changed);
  });

  const { closed, since, undoneSince } = one;
  if (closed !== null) {
    test(`${name} of an app stays closed where the key ends that closed it, and is listed`, async (t) => {
      const { id, before, read } = await newApp(t, one);
      await call('PATCH', `/clients/${id}`, one.stolen);
      const key = await newKey('admin');
      await call('PATCH', `/clients/${id}`, closed ?? { [name]: before[name] }, key.adminKey);
      later();
      const expected = [entry('app', { id, name: before.name }, [], [name])];
      assert.deepEqual(await listed(key), expected);
      assert.deepEqual(await endWithMade(key), expected);
      const kept = { ...before, ...closed };
      assert.deepEqual(await read(), kept);
      // It is still listed, and whatever somebody decides later stays.
      assert.deepEqual(await endWithMade(key), expected);
      await call('PATCH', `/clients/${id}`, one.stolen);
      const decided = await read();
      await endWithMade(key);
      assert.deepEqual(await read(), decided);
    });

    test(`${name} of an app stays closed where the key ends that had opened it, and closed it again`, async (t) => {
      const { id, before, key, read } = await opened(t, one);
      await call('PATCH', `/clients/${id}`, closed ?? { [name]: before[name] }, key.adminKey);
      assert.deepEqual((await endWithMade(key)).flatMap(fieldsOf), []);
      assert.deepEqual(await read(), { ...before, ...closed });
    });
  }

  if (since === undefined) continue;
  const what = undoneSince === undefined ? 'stays where' : 'disables the app where only what was opened is left, and';
  test(`${name} of an app ${what} somebody else changed it since, and is listed`, async (t) => {
    const { id, key, read } = await opened(t, one);
    await call('PATCH', `/clients/${id}`, since);
    const changed = await read();
    const [fields, left] = undoneSince === undefined ? [[], [name]] : [[name], []];
    const expected = [entry('app', { id, name: changed.name }, fields, left, undoneSince !== undefined)];
    assert.deepEqual(await listed(key), expected);
    assert.deepEqual(await endWithMade(key), expected);
    assert.deepEqual(await read(), { ...changed, ...undoneSince });
    if (undoneSince === undefined) return;
    assert.deepEqual(await putBackIn(id, 'client.disabled'), [[name, 'status']]);
    // It is enabled with what it needs, and not without.
    const { status } = await admin(server, 'PATCH', `/clients/${id}`, { status: 'active' });
    assert.equal(status, 400);
    await call('PATCH', `/clients/${id}`, { description: 'To be mended' });
    await call('PATCH', `/clients/${id}`, { status: 'active', ...since });
  });
}

test('an app is disabled with what it has, where the only key of it ends that a key had set', async () => {
  const fields = { tokenEndpointAuthMethod: 'private_key_jwt', jwks: { keys: [own.jwk] } };
  const name = 'Rotated';
  const { clientId } = await newClient(server, { name, ...fields });
  const rotating = await newKey('admin');
  await call('PATCH', `/clients/${clientId}`, { jwks: { keys: [other.jwk] } }, rotating.adminKey);
  server.advance(400 * DAY);
  const expected = [entry('app', { id: clientId, name }, ['jwks'], ['jwks'], true)];
  assert.deepEqual(await listed(rotating), expected);
  assert.deepEqual(await endWithMade(rotating), expected);
  const { jwks, status } = await call('GET', `/clients/${clientId}`);
  assert.deepEqual([jwks, status], [null, 'disabled']);
  // What was replaced is on record still, and nothing else.
  assert.deepEqual(await listed(rotating), [entry('app', { id: clientId, name }, [], ['jwks'])]);
});

test('of the scopes that a developer lists after a key had allowed all of them, those go on that the app had before', async () => {
  const developer = await newKey('developer');
  const name = 'Narrowed';
  const fields = { name, redirectUris: [CALLBACK], scopes: ['openid', 'email'] };
  const { clientId: id } = await call('POST', '/clients', fields, developer.adminKey);
  const more = { scopes: ['openid', 'phone'] };
  assert.equal((await admin(server, 'PATCH', `/clients/${id}`, more, developer.adminKey)).status, 403);
  const key = await newKey('admin');
  await call('PATCH', `/clients/${id}`, { scopes: null }, key.adminKey);
  later();
  await call('PATCH', `/clients/${id}`, more, developer.adminKey);
  later();
  const expected = [entry('app', { id, name }, ['scopes'], ['scopes'])];
  assert.deepEqual(await listed(key), expected);
  assert.deepEqual(await endWithMade(key), expected);
  assert.deepEqual((await call('GET', `/clients/${id}`)).scopes, ['openid']);
  later();
  await call('PATCH', `/clients/${id}`, more);
  await endWithMade(key);
  assert.deepEqual((await call('GET', `/clients/${id}`)).scopes, more.scopes, 'who sets it afterwards has decided');
});

test('what is again as it was before a key and its helper changed it stays, and is listed', async () => {
  const redirectUris = [CALLBACK, 'https://app.example.com/other'];
  const fields = { redirectUris, access: 'everyone', jwksUri: 'https://app.example.com/keys' };
  const { clientId: id, name } = await call('POST', '/clients', { name: 'Restored', ...fields });
  const key = await newKey();
  const helper = await newKey('owner', key.adminKey);
  const evil = { redirectUris: ['https://evil.example/callback'], jwksUri: 'https://evil.example/keys' };
  for (const [change, by] of [
    [{ ...evil, access: 'assigned' }, key],
    [{ ...fields, redirectUris: [CALLBACK] }, helper],
    [{ redirectUris }, key],
  ] as const) {
    await call('PATCH', `/clients/${id}`, change, by.adminKey);
    later();
  }
  const expected = [entry('app', { id, name }, [], ['access', 'jwksUri', 'redirectUris'])];
  assert.deepEqual(await endWithMade(key), expected);
  const now = await call('GET', `/clients/${id}`);
  assert.deepEqual(pick(now, { ...fields, status: '' }), { ...fields, status: 'active' });
});

test('what somebody else closed in between ends where a key opens it again', async () => {
  const evil = 'https://evil.example/callback';
  const [name, redirectUris] = ['Reopened', [CALLBACK, evil]];
  const { clientId } = await newClient(server, { name, redirectUris, access: 'everyone' });
  const key = await newKey('admin');
  for (const [fields, by] of [
    [{ redirectUris: [...redirectUris, 'https://evil.example/more'], access: 'assigned' }, key],
    [{ redirectUris: [CALLBACK] }, undefined],
    [{ redirectUris }, key],
  ] as const) {
    await call('PATCH', `/clients/${clientId}`, fields, by?.adminKey);
    later();
  }
  const ended = [entry('app', { id: clientId, name }, ['redirectUris'], ['access'])];
  assert.deepEqual(await endWithMade(key), ended);
  const now = await call('GET', `/clients/${clientId}`);
  assert.deepEqual([now.redirectUris, now.access], [[CALLBACK], 'assigned']);
});

test('the words of a scope of an API are what they were, and the scope goes on', async () => {
  const declared = { resource: 'https://api.example.com/words', resourceScopes: [scope('words.read')] };
  const [api, app] = [await newClient(server, declared), await newClient(server, {})];
  const path = `/clients/${api.clientId}/allowed-clients/${app.clientId}`;
  await call('PUT', path, { scopes: ['words.read'] });
  const key = await newKey('admin');
  const resourceScopes = [{ name: 'words.read', descriptions: { en: 'Harmless' } }];
  await call('PATCH', `/clients/${api.clientId}`, { resourceScopes }, key.adminKey);
  await endWithMade(key);
  assert.deepEqual((await call('GET', `/clients/${api.clientId}`)).resourceScopes, declared.resourceScopes);
  assert.deepEqual((await call('GET', path)).scopes, ['words.read']);
});

test('what a key, its helper and somebody between them changed is what that somebody left', async () => {
  const { clientId: id } = await newClient(server, { defaultMaxAge: 10 });
  const key = await newKey();
  const helper = await newKey('owner', key.adminKey);
  for (const [seconds, by] of [
    [20, key.adminKey],
    [30, undefined],
    [40, helper.adminKey],
    [50, key.adminKey],
  ] as const) {
    later();
    await call('PATCH', `/clients/${id}`, { defaultMaxAge: seconds }, by);
  }
  await endWithMade(key);
  assert.equal((await call('GET', `/clients/${id}`)).defaultMaxAge, 30);
});

test('an app that a key opened to everyone is for those who are assigned again, and what others got there ends', async () => {
  const app = standard(await newClient(server, { access: 'assigned' }));
  const [assigned, mallory] = [await newUser(server), await newUser(server)];
  await call('POST', `/clients/${app.clientId}/assignments`, { userId: assigned.id });
  const key = await newKey('admin');
  await call('PATCH', `/clients/${app.clientId}`, { access: 'everyone' }, key.adminKey);
  const got = await tokensFor(server, app, mallory, { scope: 'openid' });
  const code = await codeFor(server, app, mallory, { scope: 'openid' });
  await endWithMade(key);
  assert.equal((await userinfo(server, got.access_token, '/oidc/userinfo')).status, 401);
  assert.equal((await refresh(server, app, got.refresh_token)).body.error, 'invalid_grant');
  assert.equal((await redeem(server, app, code)).body.error, 'invalid_grant');
  await assert.rejects(codeFor(server, app, mallory, { scope: 'openid' }));
  assert.ok(await codeFor(server, app, assigned, { scope: 'openid' }));
});

test('with a public key that a stolen key added nobody is the app any more, and what it got for itself is dead', async () => {
  const grantTypes = ['authorization_code', 'client_credentials'];
  const { clientId } = await keyApp(server, { jwks: { keys: [own.jwk] }, grantTypes, ...API });
  const reader = await newClient(server, {});
  const key = await newKey('admin');
  await call('PATCH', `/clients/${clientId}`, { jwks: { keys: [own.jwk, thief.jwk] } }, key.adminKey);
  const tokenWith = async (by: typeof own) => {
    const proof = await proofOf(server, clientId, by);
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId, ...proof });
    const answer = await fetch(`${server.baseUrl}/oidc/token`, { method: 'POST', body });
    return { status: answer.status, ...((await answer.json()) as { access_token?: string; error?: string }) };
  };
  const stolen = await tokenWith(thief);
  assert.equal(stolen.status, 200);
  // Somebody renews the key of the app meanwhile, and leaves the other one where it is.
  await call('PATCH', `/clients/${clientId}`, { jwks: { keys: [thief.jwk, other.jwk] } });
  await endWithMade(key);
  assert.equal((await tokenWith(thief)).error, 'invalid_client');
  assert.equal((await tokenWith(other)).status, 200);
  const seen = await introspect(server, reader, stolen.access_token ?? '');
  assert.equal(seen.body.active, false);
});

test('scopes of an API that a key let an app request are taken away, and those that others let it stay', async () => {
  const declared = { resource: 'https://api.example.com/d', resourceScopes: [scope('a.own'), scope('a.evil')] };
  const [api, app] = [await newClient(server, declared), await newClient(server, {})];
  const path = `/clients/${api.clientId}/allowed-clients/${app.clientId}`;
  await call('PUT', path, { scopes: ['a.own'] });
  const key = await newKey('admin');
  await call('PUT', path, { scopes: ['a.own', 'a.evil'] }, key.adminKey);
  const { name } = await call('GET', `/clients/${api.clientId}`);
  const expected = [entry('app', { id: api.clientId, name }, ['allowedScopes'])];
  assert.deepEqual(await listed(key), expected);
  assert.deepEqual(await endWithMade(key), expected);
  assert.deepEqual((await call('GET', path)).scopes, ['a.own']);

  const closing = await newKey('admin');
  await call('PUT', path, { scopes: ['a.own', 'a.evil'] });
  await call('PUT', path, { scopes: ['a.own'] }, closing.adminKey);
  const closed = [entry('app', { id: api.clientId, name }, [], ['allowedScopes'])];
  assert.deepEqual(await endWithMade(closing), closed);
  assert.deepEqual((await call('GET', path)).scopes, ['a.own']);
});

test('an API whose resource a key replaced is disabled, and goes on with its scopes once it has one again', async () => {
  const name = 'Notes';
  const declared = { resource: 'https://api.example.com/notes', resourceScopes: [scope('notes.own')] };
  const api = await newClient(server, { name, ...declared });
  const app = standard(await newClient(server, {}));
  const path = `/clients/${api.clientId}/allowed-clients/${app.clientId}`;
  await call('PUT', path, { scopes: ['notes.own'] });
  const key = await newKey('admin');
  await call('PATCH', `/clients/${api.clientId}`, { resource: 'https://evil.example/notes' }, key.adminKey);
  const { clientId: id } = api;
  assert.deepEqual(await endWithMade(key), [entry('app', { id, name }, ['resource'], ['resource'], true)]);
  const { resource, resourceScopes, status } = await call('GET', `/clients/${id}`);
  assert.deepEqual([resource, resourceScopes, status], [null, declared.resourceScopes, 'disabled']);
  assert.deepEqual((await call('GET', `/clients/${app.clientId}/api-scopes`)).items, []);
  const person = await newUser(server);
  assert.equal((await tokensFor(server, app, person, { scope: 'openid' })).scope, 'openid');
  await call('PATCH', `/clients/${id}`, { resource: declared.resource, status: 'active' });
  const asked = { scope: 'openid notes.own', resource: declared.resource };
  assert.equal((await tokensFor(server, app, person, asked)).scope, 'openid notes.own');
});

test('an app that was at odds with itself before stays active', async () => {
  const { clientId } = await newClient(server, { requireSecondFactor: true });
  const key = await newKey('admin');
  await call('PATCH', `/clients/${clientId}`, { requireSecondFactor: false }, key.adminKey);
  // As one of an earlier version may be.
  const both = [JSON.stringify({ keys: [own.jwk] }), 'https://app.example.com/keys', clientId];
  await query(server, 'UPDATE client SET jwks = ?, jwks_uri = ? WHERE id = ?', ...both);
  await endWithMade(key);
  const { status, requireSecondFactor } = await call('GET', `/clients/${clientId}`);
  assert.deepEqual([status, requireSecondFactor], ['active', true]);
});

test('what is only shown of an app, and is at odds with what somebody else changed since, stays and is listed', async () => {
  const { clientId: id } = await newClient(server, { idTokenSignedResponseAlg: 'HS256', requirePkce: true });
  const key = await newKey('admin');
  await call('PATCH', `/clients/${id}`, { idTokenSignedResponseAlg: null, requirePkce: false }, key.adminKey);
  await call('PATCH', `/clients/${id}`, BY_KEY);
  const [{ fields, left, disables }] = await endWithMade(key);
  assert.deepEqual([fields, left, disables], [['requirePkce'], ['idTokenSignedResponseAlg'], false]);
  const { idTokenSignedResponseAlg, requirePkce } = await call('GET', `/clients/${id}`);
  assert.deepEqual([idTokenSignedResponseAlg, requirePkce], [null, true]);
});

let slug = 0;
const newOrganization = (fields: object = {}) =>
  call('POST', '/organizations', { name: `acme-${++slug}`, domain: 'acme.example.com', ...fields });

test('the second factor that an organization required is required again, and what members got without one ends', async () => {
  const { id, name } = await newOrganization({ requireSecondFactor: true });
  const member = await newUser(server);
  await call('PUT', `/organizations/${id}/members/${member.id}`, {});
  const key = await newKey();
  await call('PATCH', `/organizations/${id}`, { requireSecondFactor: false }, key.adminKey);
  const app = standard(await newClient(server));
  const got = await tokensFor(server, app, member, { scope: 'openid' });
  const expected = [entry('organization', { id, name }, ['requireSecondFactor'])];
  assert.deepEqual(await listed(key), expected);
  assert.deepEqual(await endWithMade(key), expected);
  assert.equal((await call('GET', `/organizations/${id}`)).requireSecondFactor, true);
  assert.equal((await userinfo(server, got.access_token, '/oidc/userinfo')).status, 401);
});

test('the second factor that an app required is required again, and what people got there without one ends', async () => {
  const app = standard(await newClient(server, { requireSecondFactor: true }));
  const key = await newKey('admin');
  await call('PATCH', `/clients/${app.clientId}`, { requireSecondFactor: false }, key.adminKey);
  const got = await tokensFor(server, app, await newUser(server), { scope: 'openid' });
  await endWithMade(key);
  assert.equal((await userinfo(server, got.access_token, '/oidc/userinfo')).status, 401);
});

test('what a key required of the members of an organization is required still', async () => {
  const upstream = await newUpstream(server);
  after(() => upstream.provider[Symbol.asyncDispose]());
  const { id, name } = await newOrganization();
  const key = await newKey();
  await call('PATCH', `/organizations/${id}`, { requireSecondFactor: true }, key.adminKey);
  await call('PUT', `/organizations/${id}/only-upstream`, { upstreamId: upstream.id }, key.adminKey);
  const expected = [entry('organization', { id, name }, [], ['requireSecondFactor', 'onlyUpstreamId'])];
  assert.deepEqual(await listed(key), expected);
  assert.deepEqual(await endWithMade(key), expected);
  assert.equal((await call('GET', `/organizations/${id}`)).requireSecondFactor, true);
  assert.equal((await call('GET', `/organizations/${id}/only-upstream`)).upstreamId, upstream.id);
});

test('the only provider of the members of an organization is again what it was before a key changed it', async () => {
  const upstream = await newUpstream(server);
  after(() => upstream.provider[Symbol.asyncDispose]());
  const { id, name } = await newOrganization();
  const path = `/organizations/${id}/only-upstream`;
  await call('PUT', path, { upstreamId: upstream.id });
  const member = await newUser(server);
  await call('PUT', `/organizations/${id}/members/${member.id}`, {});
  const key = await newKey();
  await call('PUT', path, { upstreamId: null }, key.adminKey);
  const got = await tokensFor(server, standard(await newClient(server)), member, { scope: 'openid' });
  const expected = [entry('organization', { id, name }, ['onlyUpstreamId'])];
  assert.deepEqual(await endWithMade(key), expected);
  assert.equal((await call('GET', path)).upstreamId, upstream.id);
  assert.equal((await userinfo(server, got.access_token, '/oidc/userinfo')).status, 401);

  const another = await newKey();
  await call('PUT', path, { upstreamId: null }, another.adminKey);
  await call('POST', `/upstreams/${upstream.id}/disable`, {});
  await call('DELETE', `/upstreams/${upstream.id}`);
  assert.deepEqual(await endWithMade(another), [entry('organization', { id, name }, [], ['onlyUpstreamId'])]);
  assert.equal((await call('GET', path)).upstreamId, null);
});

test('the provider of a key that it required and took away again is not required where the key ends', async () => {
  const [upstream, evil] = [await newUpstream(server), await newUpstream(server)];
  for (const { provider } of [upstream, evil]) after(() => provider[Symbol.asyncDispose]());
  for (const before of [null, upstream.id]) {
    const { id, name } = await newOrganization();
    const path = `/organizations/${id}/only-upstream`;
    await call('PUT', path, { upstreamId: before });
    const key = await newKey();
    for (const upstreamId of [evil.id, null]) {
      await call('PUT', path, { upstreamId }, key.adminKey);
      later();
    }
    const [fields, left] = before === null ? [[], ['onlyUpstreamId']] : [['onlyUpstreamId'], []];
    assert.deepEqual(await endWithMade(key), [entry('organization', { id, name }, fields, left)]);
    assert.equal((await call('GET', path)).upstreamId, before);
  }
});

const newGroup = (name: string, by?: string) => call('POST', '/groups', { name }, by);
const nameOf = async ({ id }: { id: string }) => (await call('GET', `/groups/${id}`)).name;
const rename = ({ id }: { id: string }, name: string, by?: string) => call('PATCH', `/groups/${id}`, { name }, by);

test('groups that a key gave the names of each other have their own names again', async () => {
  const [admins, club] = [await newGroup('admins'), await newGroup('book-club')];
  const key = await newKey();
  await rename(admins, 'spare', key.adminKey);
  await rename(club, 'admins', key.adminKey);
  await rename(admins, 'book-club', key.adminKey);
  const expected = [
    entry('group', { id: admins.id, name: 'book-club' }, ['name']),
    entry('group', { id: club.id, name: 'admins' }, ['name']),
  ];
  assert.deepEqual(await listed(key), expected);
  assert.deepEqual(await endWithMade(key), expected);
  assert.deepEqual([await nameOf(admins), await nameOf(club)], ['admins', 'book-club']);
});

test('a group whose name a key gave to a group of its own has it again', async () => {
  const staff = await newGroup('staff');
  const key = await newKey();
  await rename(staff, 'staff-old', key.adminKey);
  const evil = await newGroup('staff', key.adminKey);
  await endWithMade(key);
  assert.deepEqual([await nameOf(staff), await nameOf(evil)], ['staff', `group-${evil.id}`]);
});

test('a group that a key created goes on, and keeps the name that no other group had', async () => {
  const key = await newKey();
  const group = await newGroup('helpers', key.adminKey);
  await rename(group, 'helpers-2', key.adminKey);
  assert.deepEqual(await endWithMade(key), []);
  assert.equal(await nameOf(group), 'helpers-2');
});

test('a group whose name somebody else gave to another one since keeps the other name, and so does the next', async () => {
  const [first, second] = [await newGroup('first'), await newGroup('second')];
  const key = await newKey();
  await rename(first, 'free', key.adminKey);
  await rename(second, 'first', key.adminKey);
  await newGroup('second');
  const left = [
    entry('group', { id: first.id, name: 'free' }, [], ['name']),
    entry('group', { id: second.id, name: 'first' }, [], ['name']),
  ];
  assert.deepEqual(await listed(key), left);
  assert.deepEqual(await endWithMade(key), left);
  assert.deepEqual([await nameOf(first), await nameOf(second)], ['free', 'first']);
});

test('what a person changed goes on where a role of theirs from elsewhere allows it', async () => {
  const { user } = await operatorInBrowser(server, { emailVerified: true });
  for (const role of ['admin', 'auditor']) await call('PUT', `/users/${user.id}/roles/${role}`, {});
  const { clientId } = await newClient(server, { access: 'assigned' });
  const key = await newKey('admin');
  await call('PATCH', `/clients/${clientId}`, { access: 'everyone' }, key.adminKey);
  await call('DELETE', `/users/${user.id}/roles/auditor?endMade=true`);
  assert.equal((await call('GET', `/clients/${clientId}`)).access, 'everyone');
});

test('only what was changed in the organization of a key ends with it', async () => {
  const { id } = await newOrganization({ requireSecondFactor: true });
  const { adminKey, id: keyId } = await call('POST', '/admin-keys', { name: 'k', role: 'owner', organizationId: id });
  await call('PATCH', `/organizations/${id}`, { requireSecondFactor: false }, adminKey);
  await call('DELETE', `/admin-keys/${keyId}?endMade=true`);
  assert.equal((await call('GET', `/organizations/${id}`)).requireSecondFactor, true);
});

test('what was put back, and is set again by somebody else, stays when the key is ended once more', async () => {
  const key = await newKey();
  const app = await newClient(server, { access: 'assigned', owner: 'Company' });
  const set = (fields: object, by?: string) => call('PATCH', `/clients/${app.clientId}`, fields, by);
  await set({ access: 'everyone', owner: 'Company IT' }, key.adminKey);
  later();
  assert.deepEqual((await endWithMade(key))[0]?.fields.toSorted(), ['access', 'owner']);
  later();
  await set({ access: 'everyone', owner: 'Company IT' });
  later();
  assert.deepEqual(await endWithMade(key), []);
  const { access, owner } = await call('GET', `/clients/${app.clientId}`);
  assert.deepEqual([access, owner], ['everyone', 'Company IT']);
});
