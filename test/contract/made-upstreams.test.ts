// store: SQLite, PostgreSQL with --all
/** What a stolen key or account did to other providers is listed where it ends, and ends with it on request. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newClient, PASSWORD, refresh, standard, tokensFor } from '../support/flow.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { newestMail } from '../support/recovery.ts';
import { enroll } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';
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
const { signedInWith, reportLink, press, browserOf } = takenBack(server);
const keeper = await operatorInBrowser(server, { emailVerified: true });
await admin(server, 'PUT', `/users/${keeper.user.id}/roles/owner`, {});

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const newKey = (role = 'owner', by?: string): Promise<{ id: string; adminKey: string }> =>
  call('POST', '/admin-keys', { name: 'stolen', role }, by);
const planted = async (fields: object, key?: string): Promise<TestUpstream> => {
  const upstream = await newUpstream(server, { ...fields }, key);
  upstreams.push(upstream);
  return upstream;
};
const read = ({ id }: TestUpstream) => call('GET', `/upstreams/${id}`);
const endWithMade = async (id: string) => (await call('DELETE', `/admin-keys/${id}?endMade=true`)).made.upstreams;

test('a provider that a key registered is disabled with it, with the sessions that began there, and has no domains', async () => {
  const key = await newKey();
  const upstream = await planted({ signUp: 'anyone', domains: ['corp.example'] }, key.adminKey);
  const person = { sub: 'mallory', name: 'Mallory', email: 'mallory@upstream.example', sid: 'one' };
  const joined = { person, username: 'mallory', email: 'mallory@example.com' };
  const browser = await joinedThrough(server, upstream, joined);
  assert.equal((await browser.get('/account')).status, 200);
  const listed = [{ upstreamId: upstream.id, name: upstream.name, acts: ['registered'] }];
  assert.deepEqual((await call('GET', `/admin-keys/${key.id}`)).made.upstreams, listed);
  assert.deepEqual(await endWithMade(key.id), listed);
  const { status, domains } = await read(upstream);
  assert.deepEqual([status, domains], ['disabled', []]);
  assert.notEqual((await browser.get('/account')).status, 200);
  assert.notEqual((await browserOf().get(`/login/with/${upstream.name}`)).status, 302);
  // The owner can give them to another.
  await planted({ domains: ['corp.example'] });
});

test('a provider goes on where only the key is revoked', async () => {
  const key = await newKey();
  const upstream = await planted({ signUp: 'anyone' }, key.adminKey);
  const { made } = await call('DELETE', `/admin-keys/${key.id}`);
  assert.deepEqual(made.upstreams, [{ upstreamId: upstream.id, name: upstream.name, acts: ['registered'] }]);
  assert.equal((await read(upstream)).status, 'active');
});

test('whom a provider lets in is no more than before a key and its helper changed it, and no more than now', async () => {
  const own = { signUp: 'domains', signUpDomains: ['own.example'], domains: ['own.example'] };
  const upstream = await planted(own);
  const key = await newKey();
  const helper = await newKey('owner', key.adminKey);
  const path = `/upstreams/${upstream.id}`;
  await call('PATCH', path, { signUp: 'anyone', domains: ['own.example', 'stolen.example'] }, key.adminKey);
  server.advance(MINUTE);
  await call('PATCH', path, { claimsMap: { groups: '/groups' }, signUp: 'invited' }, helper.adminKey);
  await call('PATCH', path, {
    displayName: 'Another name',
    domains: ['own.example', 'stolen.example', 'later.example'],
  });
  await call('PATCH', path, { clientId: 'another' }, helper.adminKey);
  const { made } = await call('DELETE', `/admin-keys/${key.id}?endMade=true`);
  assert.deepEqual(
    made.upstreams.map(({ acts }: { acts: string[] }) => acts),
    [['rights_changed', 'client_changed']],
  );
  const { id, name } = upstream;
  assert.deepEqual(made.settings, [{ kind: 'upstream', id, name, fields: [], left: ['signUp'], disables: false }]);
  const { signUp, signUpDomains, domains, claimsMap, displayName, clientId, status } = await read(upstream);
  assert.deepEqual(
    { signUp, signUpDomains, claimsMap },
    { signUp: 'invited', signUpDomains: ['own.example'], claimsMap: {} },
  );
  assert.deepEqual(domains, ['own.example', 'later.example'], 'what somebody else added stays');
  assert.deepEqual([displayName, clientId, status], ['Another name', 'another', 'active']);
  const { items } = await call('GET', '/audit-events?type=upstream.updated&limit=50');
  const back = items.filter(({ details }: { details: { putBack?: boolean } }) => details.putBack === true);
  assert.equal(back.at(-1)?.details.upstreamId, upstream.id);
});

test('domains that a key moved to a provider of its own are listed, and are with no provider', async () => {
  const upstream = await planted({ domains: ['moved.example'] });
  const key = await newKey();
  await call('PATCH', `/upstreams/${upstream.id}`, { domains: [] }, key.adminKey);
  const evil = await planted({ domains: ['moved.example'] }, key.adminKey);
  const { made } = await call('DELETE', `/admin-keys/${key.id}?endMade=true`);
  assert.deepEqual((await read(evil)).domains, []);
  assert.deepEqual((await read(upstream)).domains, []);
  const { id, name } = upstream;
  assert.deepEqual(made.settings, [{ kind: 'upstream', id, name, fields: [], left: ['domains'], disables: false }]);
});

const RIGHTS = {
  signUp: [{ signUp: 'invited' }, { signUp: 'anyone' }],
  signUpDomains: [{ signUpDomains: ['own.example'] }, { signUpDomains: ['own.example', 'evil.example'] }],
  domains: [{ domains: ['right.example'] }, { domains: ['right.example', 'evil.example'] }],
  claimsMap: [{ claimsMap: { name: '/name' } }, { claimsMap: { name: '/name', groups: '/groups' } }],
} as const;

for (const [right, [closed, open]] of Object.entries(RIGHTS)) {
  const ofRight = (record: Readonly<Record<string, unknown>>) => ({ [right]: record[right] });
  const readRight = async (upstream: TestUpstream) => ofRight(await read(upstream));
  /** What a key changes, one after the other, of a provider that is as given; it is ended then, twice. */
  const changed = async (before: object, ...bodies: readonly object[]) => {
    const upstream = await planted(before);
    const path = `/upstreams/${upstream.id}`;
    const key = await newKey();
    for (const body of bodies) {
      await call('PATCH', path, body, key.adminKey);
      server.advance(MINUTE);
    }
    const end = async () => (await call('DELETE', `/admin-keys/${key.id}?endMade=true`)).made;
    const { settings } = await end();
    const now = await readRight(upstream);
    // Whatever somebody decides later stays.
    await call('PATCH', path, open);
    await end();
    assert.deepEqual(await readRight(upstream), open);
    await call('PATCH', path, { domains: [] });
    return { now, left: settings.flatMap(({ left }: { left: readonly string[] }) => left) };
  };

  test(`${right} of a provider ends where the key opened it, stays closed where the key closed it, and is else as it was`, async () => {
    assert.deepEqual(await changed(closed, open), { now: closed, left: [] });
    assert.deepEqual(await changed(open, closed), { now: closed, left: [right] });
    assert.deepEqual(await changed(closed, open, closed), { now: closed, left: [right] });
    assert.deepEqual(await changed(open, closed, open), { now: open, left: [right] });
  });
}

const CALLBACK = 'https://app.example.com/callback';
const REDIRECTS = [CALLBACK, 'https://evil.example/callback'];

/** An app and a provider, as somebody opens and closes them. */
async function doors() {
  const { clientId } = await call('POST', '/clients', { name: 'Door', redirectUris: [CALLBACK], access: 'assigned' });
  const upstream = await planted({ signUp: 'nobody' });
  const set = async (app: object, provider: object, key?: string) => {
    await call('PATCH', `/clients/${clientId}`, app, key);
    await call('PATCH', `/upstreams/${upstream.id}`, provider, key);
  };
  const domains = [`bank-${upstream.id}.example`];
  return {
    open: (key?: string) => set({ redirectUris: REDIRECTS, access: 'everyone' }, { signUp: 'anyone', domains }, key),
    close: (key?: string) =>
      set({ redirectUris: [CALLBACK], access: 'assigned' }, { signUp: 'nobody', domains: [] }, key),
    state: async () => {
      const [{ redirectUris, access }, now] = [await call('GET', `/clients/${clientId}`), await read(upstream)];
      return { redirectUris, access, signUp: now.signUp, domains: now.domains };
    },
  };
}
const CLOSED = { redirectUris: [CALLBACK], access: 'assigned', signUp: 'nobody', domains: [] };

async function newOwner() {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${operator.user.id}/roles/owner`, {});
  const { email } = await call('GET', `/users/${operator.user.id}`);
  return { ...operator, email, id: operator.user.id };
}

for (const how of ['report', 'suspension']) {
  test(`what an operator closed that a thief had opened stays closed after a ${how} of the operator`, async () => {
    const { open, close, state } = await doors();
    const operator = await newOwner();
    server.advance(10 * DAY);
    const thief = await newKey();
    await open(thief.adminKey);
    await call('DELETE', `/admin-keys/${thief.id}`);
    const token = await signInOnCommandLine(server, operator);
    server.advance(MINUTE);
    await call('POST', '/admin-keys', { name: 'own', role: 'auditor' }, token);
    server.advance(MINUTE);
    await close(token);
    server.advance(DAY);
    if (how === 'report') {
      assert.equal(await press(await reportLink(operator.email)), 200);
      assert.match((await newestMail(server, operator.email, 'recovery')).text, /because they were closed/);
    } else {
      server.advance(400 * DAY);
      await call('PUT', `/users/${operator.id}/suspension?endMade=true`, { reason: 'left' });
    }
    assert.deepEqual(await state(), CLOSED);
  });
}

for (const how of ['demoted', 'banned']) {
  test(`what an operator opened and closed stays closed where they report it after they were ${how}`, async () => {
    const { open, close, state } = await doors();
    const operator = await newOwner();
    await open(await signInOnCommandLine(server, operator));
    server.advance(10 * DAY);
    const browser = await signedInWith({ user: operator.user, email: operator.email }, operator.factor);
    server.advance(MINUTE);
    await close(await signInOnCommandLine(server, { ...operator, browser }));
    server.advance(DAY);
    if (how === 'demoted') await call('DELETE', `/users/${operator.id}/roles/owner`);
    else await call('PUT', `/users/${operator.id}/ban`, { reason: 'malice' });
    server.advance(DAY);
    assert.equal(await press(await reportLink(operator.email)), 200);
    assert.deepEqual(await state(), CLOSED);
  });
}

test('a provider that a key enabled is disabled again', async () => {
  const upstream = await planted({ signUp: 'anyone' });
  await call('POST', `/upstreams/${upstream.id}/disable`, {});
  const key = await newKey();
  await call('POST', `/upstreams/${upstream.id}/enable`, {}, key.adminKey);
  await endWithMade(key.id);
  assert.equal((await read(upstream)).status, 'disabled');
});

for (const by of ['the key', 'another operator'])
  test(`what people are signed in to through a provider that a key enabled ends where ${by} deletes it`, async () => {
    const client = standard(await newClient(server));
    const upstream = await planted({ signUp: 'anyone' });
    const sub = `known-${by.length}`;
    const person = { sub, email: `${sub}@upstream.example` };
    await joinedThrough(server, upstream, { person, username: sub, email: `${sub}@example.com` });
    const [user] = (await call('GET', `/users?q=${sub}`)).items;
    await call('POST', `/upstreams/${upstream.id}/disable`, { endSessions: true });
    const key = await newKey();
    await call('POST', `/upstreams/${upstream.id}/enable`, {}, key.adminKey);
    server.advance(11_000);
    upstream.provider.person = person;
    const thief = browserOf();
    assert.equal((await throughUpstream(thief, upstream)).location?.pathname, '/account');
    const scope = 'openid profile offline_access';
    const got = await tokensFor(server, client, user, { scope }, { browser: thief });
    const own = by === 'the key' ? key.adminKey : undefined;
    await call('POST', `/upstreams/${upstream.id}/disable`, {}, own);
    assert.equal((await thief.get('/account')).status, 200, 'who disables it decides that');
    await call('DELETE', `/upstreams/${upstream.id}`, undefined, own);
    assert.notEqual((await thief.get('/account')).status, 200);
    assert.equal((await refresh(server, client, got.refresh_token)).status, 400);
    await endWithMade(key.id);
  });

test('who is signed in through a provider deletes it, and ends what everybody else is signed in to through it', async () => {
  const upstream = await planted({ signUp: 'anyone' });
  const join = (sub: string) => {
    const person = { sub, email: `${sub}@upstream.example` };
    return joinedThrough(server, upstream, { person, username: sub, email: `${sub}@example.com` });
  };
  await join('deleter');
  const [user] = (await call('GET', '/users?q=deleter')).items;
  await call('PATCH', `/users/${user.id}`, { password: PASSWORD });
  await call('PUT', `/users/${user.id}/roles/owner`, {});
  const browser = browserOf();
  assert.equal((await throughUpstream(browser, upstream)).location?.pathname, '/account');
  const factor = await enroll(server, user);
  const other = await join('bystander');
  server.advance(MINUTE);
  const token = await signInOnCommandLine(server, { user, browser, factor });
  await call('POST', `/upstreams/${upstream.id}/disable`, {}, token);
  await call('DELETE', `/upstreams/${upstream.id}`, undefined, token);
  assert.equal((await admin(server, 'GET', '/upstreams', undefined, token)).status, 401, 'the deletion ended it');
  for (const ended of [browser, other]) assert.notEqual((await ended.get('/account')).status, 200);
  assert.equal((await admin(server, 'GET', `/upstreams/${upstream.id}`)).status, 404);
});

test('a provider that a thief registered with the account of an owner is disabled with the report', async () => {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${operator.user.id}/roles/owner`, {});
  const { email } = await call('GET', `/users/${operator.user.id}`);
  server.advance(MINUTE);
  const own = await signInOnCommandLine(server, operator);
  const earlier = await planted({ signUp: 'anyone' }, own);
  server.advance(9 * DAY);
  const thief = { ...operator, browser: await signedInWith({ user: operator.user, email }, operator.factor) };
  server.advance(MINUTE);
  const token = await signInOnCommandLine(server, thief);
  const evil = await planted({ signUp: 'anyone' }, token);
  await call('PATCH', `/upstreams/${earlier.id}`, { domains: ['thief.example'] }, token);
  assert.equal(await press(await reportLink(email)), 200);
  assert.equal((await read(evil)).status, 'disabled');
  const kept = await read(earlier);
  assert.deepEqual([kept.status, kept.domains], ['active', []]);
  assert.match((await newestMail(server, email, 'recovery')).text, /what was done to 2 other providers/);
  const browser = browserOf();
  assert.equal((await throughUpstream(browser, earlier)).location?.pathname, `/login/with/${earlier.name}/new`);
});
