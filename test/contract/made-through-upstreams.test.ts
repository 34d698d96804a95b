// store: SQLite, PostgreSQL
/** Whom a provider let in because a stolen key had changed it is listed where the key ends, also once the provider is as it was. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { act } from '../support/console.ts';
import { admin, newUser } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { DAY, MINUTE, query } from '../support/outcome.ts';
import { addPasskeyOnPage, usePasskey } from '../support/passkeys.ts';
import { newestMail, recover } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';
import { RECOVERED, takenBack } from '../support/taken-back.ts';
import { joinedThrough, newUpstream, type TestUpstream, throughUpstream } from '../upstreams/people.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
const upstreams: TestUpstream[] = [];
after(async () => {
  for (const { provider } of upstreams) await provider[Symbol.asyncDispose]();
  await server.close();
});
const keeper = await newUser(server, { password: undefined });
assert.equal((await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {})).status, 200);

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
interface Key {
  readonly id: string;
  readonly adminKey: string;
}
const newKey = (by?: string): Promise<Key> => call('POST', '/admin-keys', { name: 'stolen', role: 'owner' }, by);
const provider = async (fields: object, key?: Key): Promise<TestUpstream> => {
  const upstream = await newUpstream(server, { ...fields }, key?.adminKey);
  upstreams.push(upstream);
  return upstream;
};
const change = ({ id }: TestUpstream, fields: object, key?: Key) =>
  call('PATCH', `/upstreams/${id}`, fields, key?.adminKey);
const made = async ({ id }: Key) => (await call('GET', `/admin-keys/${id}`)).made;
const end = async ({ id }: Key) => (await call('DELETE', `/admin-keys/${id}?endMade=true`)).made;
const idOf = async (username: string) =>
  String((await query(server, `SELECT id FROM account WHERE username = '${username}'`))[0]?.['id']);
/** The names of listed accounts, with what happened to them. */
async function named(accounts: readonly { userId: string; acts: string[]; ends: boolean }[]) {
  const found: Record<string, string[]> = {};
  for (const { userId, acts, ends } of accounts) {
    assert.equal(ends, false);
    found[(await call('GET', `/users/${userId}`)).username] = acts;
  }
  return found;
}
const join = (upstream: TestUpstream, username: string, domain: string): Promise<Agent> => {
  const email = `${username}@${domain}`;
  return joinedThrough(server, upstream, { person: { sub: username, email }, username, email });
};
const isSignedIn = async (browser: Agent) => (await browser.get('/account')).status === 200;
const isOffered = async (upstream: TestUpstream, sub: string, email: string) => {
  upstream.provider.person = { sub, email };
  const browser = agent(server.baseUrl);
  const back = await throughUpstream(browser, upstream);
  if (back.location?.pathname !== `/login/with/${upstream.name}/new`) return false;
  const fields = { displayName: 'Somebody', username: sub, email };
  const sent = await browser.submit(await browser.get(back.location.href), fields, back.location.pathname);
  return sent.location?.pathname === '/signup/verify';
};
const JOINED = ['joined_through_provider'];

test('accounts that a provider let in for a key and its helper are listed, also after the provider is put back', async () => {
  const upstream = await provider({ signUp: 'domains', signUpDomains: ['own.example'] });
  const before = await join(upstream, 'alice', 'own.example');
  server.advance(2 * MINUTE);
  const key = await newKey();
  const helper = await newKey(key.adminKey);
  await change(upstream, { signUpDomains: ['own.example', 'evil.example'] }, helper);
  const mallory = await join(upstream, 'mallory', 'evil.example');
  await join(upstream, 'bob', 'own.example');
  await change(upstream, { signUp: 'anyone' }, key);
  await join(upstream, 'mick', 'other.example');
  // What no longer differs is not forgotten.
  await change(upstream, { signUp: 'domains' }, key);
  const [malloryId, mickId] = [await idOf('mallory'), await idOf('mick')];
  assert.deepEqual(await named((await made(key)).accounts), { mick: JOINED });
  assert.deepEqual(await named((await end(key)).accounts), { mallory: JOINED, mick: JOINED });
  const { signUp, signUpDomains } = await call('GET', `/upstreams/${upstream.id}`);
  assert.deepEqual([signUp, signUpDomains], ['domains', ['own.example']]);
  assert.ok(await isSignedIn(before));
  assert.ok(!(await isSignedIn(mallory)), 'what was got meanwhile ends');
  const { status } = await call('GET', `/users/${malloryId}`);
  assert.equal(status, 'active', 'an account goes on until somebody has looked at it');
  assert.ok(!(await isOffered(upstream, 'mel', 'mel@evil.example')));
  assert.ok(await isOffered(upstream, 'carol', 'carol@own.example'));
  await join(upstream, 'dave', 'own.example');
  assert.deepEqual(await named((await made(key)).accounts), { mallory: JOINED, mick: JOINED });
  for (const id of [malloryId, mickId]) await call('PUT', `/users/${id}/suspension`, {});
  assert.deepEqual((await made(key)).accounts, []);
});

test('so are those of a provider that a key registered or enabled', async () => {
  const [registrar, enabler] = [await newKey(), await newKey()];
  const upstream = await provider({ signUp: 'anyone' }, registrar);
  await join(upstream, 'reg-one', 'first.example');
  await call('POST', `/upstreams/${upstream.id}/disable`, {});
  await call('POST', `/upstreams/${upstream.id}/enable`, {}, enabler.adminKey);
  server.advance(11_000);
  const second = await join(upstream, 'reg-two', 'second.example');
  assert.deepEqual(await named((await end(enabler)).accounts), { 'reg-two': JOINED });
  assert.ok(!(await isSignedIn(second)));
  assert.deepEqual(await named((await end(registrar)).accounts), { 'reg-one': JOINED, 'reg-two': JOINED });
});

test('so is an account whose address a provider verified only because of a key, and no other', async () => {
  const upstream = await provider({ signUp: 'anyone', domains: ['honest.example'] });
  const key = await newKey();
  await change(upstream, { domains: ['honest.example', 'victim.example'] }, key);
  for (const username of ['ceo@victim.example', 'clerk@honest.example']) {
    const [name = ''] = username.split('@');
    upstream.provider.person = { sub: name, email: username, email_verified: true };
    const browser = agent(server.baseUrl);
    const back = await throughUpstream(browser, upstream);
    const page = await browser.get(back.location?.href ?? '');
    const done = await browser.submit(page, { displayName: name, username: name }, back.location?.pathname);
    assert.equal(done.location?.pathname, '/account');
  }
  await join(upstream, 'neighbor', 'neighbor.example');
  assert.deepEqual(await named((await end(key)).accounts), { ceo: JOINED });
});

test('one who narrows whom a provider lets in let nobody in', async () => {
  const upstream = await provider({ signUp: 'anyone' });
  const key = await newKey();
  await change(upstream, { signUp: 'domains', signUpDomains: ['narrow.example'] });
  await change(upstream, { displayName: 'Renamed', scopes: ['openid', 'email'] }, key);
  await join(upstream, 'narrowed', 'narrow.example');
  assert.deepEqual((await made(key)).accounts, []);
});

const GROUPS = '/realm/groups';
const membersOf = async (groupId: string) =>
  (
    await query(
      server,
      `SELECT a.username FROM group_member m JOIN account a ON a.id = m.account_id WHERE m.group_id = ${groupId} ORDER BY a.username`,
    )
  ).map(({ username }) => username);

async function signIn(upstream: TestUpstream, sub: string, claims: object): Promise<Agent> {
  upstream.provider.person = { sub, ...claims };
  const browser = agent(server.baseUrl);
  assert.equal((await throughUpstream(browser, upstream)).location?.pathname, '/account');
  return browser;
}

/** A provider that maintains two groups, with two people whom it let in honestly. */
async function withGroups(names: readonly [string, string], key?: Key) {
  const upstream = await provider({ signUp: 'anyone', claimsMap: { groups: GROUPS } }, key);
  const group = async (name: string): Promise<string> =>
    (await call('POST', '/groups', { name: `${name}-${upstream.name}`, upstreamId: upstream.id })).id;
  const [staff, admins] = [await group('staff'), await group('admins')];
  for (const name of names) await join(upstream, name, 'people.example');
  const claims = {
    realm: { groups: [`staff-${upstream.name}`] },
    evil: { groups: [`admins-${upstream.name}`, `staff-${upstream.name}`] },
  };
  const honest = await signIn(upstream, names[0], claims);
  server.advance(2 * MINUTE);
  return { upstream, staff, admins, claims, honest };
}

test('memberships that a changed map gave end with the key, and those of before and after live on', async () => {
  const { upstream, staff, admins, claims, honest } = await withGroups(['erin', 'trent']);
  const key = await newKey();
  await change(upstream, { claimsMap: { groups: '/evil/groups', name: '/nick' } }, key);
  await signIn(upstream, 'trent', { ...claims, nick: 'The boss' });
  const [erin, trent] = [await idOf('erin'), await idOf('trent')];
  assert.deepEqual([await membersOf(staff), await membersOf(admins)], [['erin', 'trent'], ['trent']]);
  const listed = await made(key);
  const access = { clientId: null, organizationId: null, kind: 'group_member', userId: trent };
  assert.deepEqual(listed.access, [
    { ...access, groupId: staff },
    { ...access, groupId: admins },
  ]);
  assert.deepEqual(await named(listed.accounts), { trent: ['written_through_provider'] });
  const ended = await end(key);
  assert.deepEqual([ended.access, ended.accounts], [listed.access, listed.accounts]);
  assert.deepEqual([await membersOf(staff), await membersOf(admins)], [['erin'], []]);
  assert.deepEqual((await call('GET', `/upstreams/${upstream.id}`)).claimsMap, {});
  assert.ok(await isSignedIn(honest));
  // An operator gives them again by the map of before, and nothing takes that away.
  await change(upstream, { claimsMap: { groups: GROUPS } });
  await signIn(upstream, 'trent', claims);
  assert.deepEqual([await membersOf(staff), await membersOf(admins)], [['erin', 'trent'], []]);
  assert.deepEqual([(await made(key)).access, (await end(key).catch(() => ({ access: [] }))).access], [[], []]);
  assert.deepEqual(await membersOf(staff), ['erin', 'trent']);
  const { items } = await call('GET', `/audit-events?type=group.member_removed&userId=${trent}`);
  assert.deepEqual(
    items.map(({ details }: { details: { withMaker?: boolean } }) => details.withMaker),
    [true, true],
  );
  assert.notEqual(erin, trent);
});

test('those that an operator’s provider gave since a thief came in stay, but for what the thief changed', async () => {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  const { email } = await call('GET', `/users/${operator.user.id}`);
  await call('PUT', `/users/${operator.user.id}/roles/owner`, {});
  const own = { id: operator.user.id, adminKey: await signInOnCommandLine(server, operator) };
  const { upstream, staff, admins, claims } = await withGroups(['olga', 'theo'], own);
  server.advance(40 * DAY);
  const stolen = { id: own.id, adminKey: await signInOnCommandLine(server, operator) };
  server.advance(MINUTE);
  await call('POST', '/admin-keys', { name: 'stolen', role: 'owner' }, stolen.adminKey);
  server.advance(MINUTE);
  await signIn(upstream, 'theo', claims);
  await change(upstream, { claimsMap: { groups: '/evil/groups' } }, stolen);
  server.advance(MINUTE);
  await signIn(upstream, 'theo', claims);
  assert.deepEqual([await membersOf(staff), await membersOf(admins)], [['olga', 'theo'], ['theo']]);
  const told = (await mailsTo(server, email)).find(({ subject }) => /used as an operator/.test(subject));
  assert.ok(told?.link !== undefined);
  assert.equal(await takenBack(server).press(told.link), 200);
  assert.deepEqual([await membersOf(staff), await membersOf(admins)], [['olga', 'theo'], []]);
  assert.deepEqual((await call('GET', `/upstreams/${upstream.id}`)).claimsMap, {});
});

test('they stay where only the key is revoked, and are listed', async () => {
  const { upstream, admins, claims } = await withGroups(['frank', 'oscar']);
  const key = await newKey();
  await change(upstream, { claimsMap: { groups: '/evil/groups' } }, key);
  await signIn(upstream, 'oscar', claims);
  const revoked = (await call('DELETE', `/admin-keys/${key.id}`)).made;
  assert.equal(revoked.access.length, 2);
  assert.deepEqual(await membersOf(admins), ['oscar']);
  assert.equal((await end(key)).access.length, 2);
  assert.deepEqual(await membersOf(admins), []);
});

test('a sign-up that began before the provider was put back is not completed after it', async () => {
  const upstream = await provider({ signUp: 'nobody' });
  const key = await newKey();
  await change(upstream, { signUp: 'anyone' }, key);
  const email = 'waiting@evil.example';
  upstream.provider.person = { sub: 'waiting', email };
  const browser = agent(server.baseUrl);
  const back = await throughUpstream(browser, upstream);
  const fields = { displayName: 'W', username: 'waiting', email };
  const sent = await browser.submit(await browser.get(back.location?.href ?? ''), fields, back.location?.pathname);
  assert.equal(sent.location?.pathname, '/signup/verify');
  const { code = '' } = await newestMail(server, email, 'verify address');
  const page = await browser.get('/signup/verify');
  await end(key);
  // Somebody opens it again for good: what was begun before is not let in by that either.
  await change(upstream, { signUp: 'anyone' });
  const done = await browser.submit(page, { code }, '/signup/verify');
  assert.notEqual(done.location?.pathname, '/account');
  assert.deepEqual(await query(server, `SELECT id FROM account WHERE username = 'waiting'`), []);
  server.advance(11_000);
  await join(upstream, 'welcome', 'honest.example');
  assert.deepEqual((await made(key)).accounts, []);
});

/** Connects an identity on the Security page. */
async function connect(browser: Agent, upstream: TestUpstream, person: { readonly sub: string }): Promise<void> {
  upstream.provider.person = person;
  const path = `/account/security/connect/${upstream.name}`;
  const left = await browser.get(path);
  const back = await browser.get(upstream.provider.authorize(left.location?.href ?? '').href);
  const done = await browser.submit(await browser.get(back.location?.href ?? ''), {}, `${path}/confirm`);
  assert.match(done.text, /is connected/);
}

/** What somebody who runs a provider does as a person whom it knows: a passkey of their own, and a key of an owner. */
async function plant(upstream: TestUpstream, sub: string, id: string) {
  upstream.provider.person = { sub };
  const thief = agent(server.baseUrl);
  assert.equal((await throughUpstream(thief, upstream)).location?.pathname, '/account');
  const passkey = await addPasskeyOnPage(server, thief, id);
  server.advance(MINUTE);
  const browser = agent(server.baseUrl);
  assert.equal((await usePasskey(browser, passkey)).status, 303);
  const operator = { id, username: '', browser, factor: { seed: '', recoveryCodes: [] } };
  const answer = await act(server, operator, '/console/keys/new', {}, { name: `planted-${sub}`, role: 'owner' });
  assert.equal(answer.status, 200, answer.text);
  const planted = (await call('GET', '/admin-keys')).items.find(
    ({ name }: { name: string }) => name === `planted-${sub}`,
  );
  const works = async () => {
    const key = /tak_[\w-]+/.exec(answer.text)?.[0];
    assert.ok(key !== undefined);
    return (await admin(server, 'GET', '/clients', undefined, key)).status === 200;
  };
  assert.ok(await works());
  return { browser, works, keyId: planted.id, passkey };
}

for (const how of ['joined', 'connected', 'connected-before'] as const) {
  test(`what was made through an account that ${how} through a provider of a key ends with the key`, async () => {
    const key = await newKey();
    const username = `eve-${how}`;
    // One that was connected before is opened by who enables the provider again.
    const isEarlier = how === 'connected-before';
    const upstream = await provider({ signUp: 'anyone' }, isEarlier ? undefined : key);
    if (how === 'connected') {
      const honest = await provider({ signUp: 'anyone' });
      await connect(await join(honest, username, 'corp.example'), upstream, { sub: username });
    } else await join(upstream, username, 'corp.example');
    if (isEarlier) {
      server.advance(DAY);
      await call('POST', `/upstreams/${upstream.id}/disable`, { endSessions: true });
      await call('POST', `/upstreams/${upstream.id}/enable`, {}, key.adminKey);
    }
    const id = await idOf(username);
    server.advance(DAY);
    await call('PUT', `/users/${id}/roles/owner`, {});
    server.advance(DAY);
    const planted = await plant(upstream, username, id);
    const acts = [how === 'joined' ? 'joined_through_provider' : 'connected_to_provider'];
    const listed = (await made(key)).through;
    const through = (found: typeof listed) =>
      found.map(({ userId, acts: done, ends, made: own }: (typeof listed)[number]) => ({
        ...{ userId, acts: done, ends, keys: own.adminKeys.map(({ id: keyId }: { id: string }) => keyId) },
      }));
    assert.deepEqual(through(listed), [{ userId: id, acts, ends: true, keys: [planted.keyId] }]);
    assert.deepEqual(through((await end(key)).through), through(listed));
    assert.equal(await planted.works(), false);
    assert.equal(await isSignedIn(planted.browser), false);
    assert.notEqual((await usePasskey(agent(server.baseUrl), planted.passkey)).status, 303);
    assert.equal((await call('GET', `/users/${id}/identities`)).items.length, isEarlier ? 1 : 0);
    assert.equal((await call('GET', `/upstreams/${upstream.id}`)).status, 'disabled');
    assert.deepEqual((await made(key)).through, []);
    // The role was given by somebody else.
    assert.equal((await call('GET', `/users/${id}/roles`)).items.length, 1);
  });
}

test('an account that its person recovered since, or that an authenticator app guards, is not reached through the provider', async () => {
  const key = await newKey();
  const upstream = await provider({ signUp: 'anyone' }, key);
  const guarded = await operatorInBrowser(server, { emailVerified: true });
  const browser = await takenBack(server).signedInWith({ user: guarded.user, email: '' }, guarded.factor);
  await connect(browser, upstream, { sub: 'guarded' });
  await join(upstream, 'recovered', 'corp.example');
  const id = await idOf('recovered');
  assert.equal((await recover(server, 'recovered@corp.example', RECOVERED)).status, 303);
  for (const one of [guarded.user.id, id]) await call('PUT', `/users/${one}/roles/owner`, {});
  server.advance(DAY);
  const own = await signInOnCommandLine(server, { ...guarded, browser });
  const { id: keyId } = await newKey(own);
  assert.deepEqual((await end(key)).through, []);
  assert.ok((await call('GET', '/admin-keys')).items.some((one: { id: string }) => one.id === keyId));
});
