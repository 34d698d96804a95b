// store: SQLite, PostgreSQL
/** What was active before stays so where a maker's acts end; what a maker switched on is disabled as by an operator. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newClient, newUser, refresh, standard, tokensFor } from '../support/flow.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { askRecovery } from '../support/recovery.ts';
import { totpCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';
import { joinedThrough, newUpstream, type TestUpstream, throughUpstream } from '../upstreams/people.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
after(() => server.close());
const { press, recoverAt, reportLink, signedInWith } = takenBack(server);
const keeper = await operatorInBrowser(server, { emailVerified: true });
await admin(server, 'PUT', `/users/${keeper.user.id}/roles/owner`, {});

const call = async (method: string, path: string, body?: object, token?: string) => {
  const answer = await admin(server, method, path, body, token);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const newKey = (): Promise<{ id: string; adminKey: string }> =>
  call('POST', '/admin-keys', { name: 'stolen', role: 'owner' });
const endWithMade = ({ id }: { id: string }) => call('DELETE', `/admin-keys/${id}?endMade=true`);

/** Something that can be switched on and off. */
interface Switch {
  readonly turn: (isOn: boolean, by?: string) => Promise<void>;
  readonly isOn: () => Promise<boolean>;
}

async function newProvider(t: TestContext): Promise<TestUpstream & Switch> {
  const upstream = await newUpstream(server, { signUp: 'anyone' });
  t.after(() => upstream.provider[Symbol.asyncDispose]());
  const path = `/upstreams/${upstream.id}`;
  return {
    ...upstream,
    turn: (isOn, by) => call('POST', `${path}/${isOn ? 'enable' : 'disable'}`, {}, by),
    isOn: async () => (await call('GET', path)).status === 'active',
  };
}

async function newApp(): Promise<Switch> {
  const path = `/clients/${(await newClient(server)).clientId}`;
  return {
    turn: (isOn, by) => call('PATCH', path, { status: isOn ? 'active' : 'disabled' }, by),
    isOn: async () => (await call('GET', path)).status === 'active',
  };
}

const KINDS: Readonly<Record<string, (t: TestContext) => Promise<Switch>>> = { app: newApp, provider: newProvider };

for (const [kind, make] of Object.entries(KINDS)) {
  test(`${kind}: one that was active stays so, however often a thief switched it off and on`, async (t) => {
    const operator = await operatorInBrowser(server, { emailVerified: true });
    await call('PUT', `/users/${operator.user.id}/roles/owner`, {});
    const { email } = await call('GET', `/users/${operator.user.id}`);
    const [active, closed] = [await make(t), await make(t)];
    const own = await signInOnCommandLine(server, operator);
    await active.turn(false, own);
    await active.turn(true, own);
    await closed.turn(false, own);
    server.advance(60 * DAY);
    const browser = await signedInWith({ user: operator.user, email }, operator.factor);
    const stolen = await signInOnCommandLine(server, { ...operator, browser });
    for (let index = 0; index < 12; index++) {
      server.advance(1000);
      await active.turn(false, stolen);
      await closed.turn(true, stolen);
      await active.turn(true, stolen);
      if (index < 11) await closed.turn(false, stolen);
    }
    server.advance(MINUTE);
    assert.deepEqual([await active.isOn(), await closed.isOn()], [true, true]);
    assert.equal(await press(await reportLink(email)), 200);
    assert.deepEqual([await active.isOn(), await closed.isOn()], [true, false]);
  });

  test(`${kind}: one that another operator switched off meanwhile is off again`, async (t) => {
    const found = await make(t);
    const key = await newKey();
    await found.turn(false, key.adminKey);
    await found.turn(true, key.adminKey);
    await found.turn(false);
    await found.turn(true, key.adminKey);
    await endWithMade(key);
    assert.equal(await found.isOn(), false);
  });
}

test('app: one that another operator took over while it was off is off again', async () => {
  const app = await newApp();
  const key = await newKey();
  await app.turn(false, key.adminKey);
  await app.turn(false);
  await app.turn(true, key.adminKey);
  const { made } = await endWithMade(key);
  assert.deepEqual(made.apps[0]?.acts, ['enabled']);
  assert.equal(await app.isOn(), false);
});

test('app: what it got before it was switched off stays ended, and what it gets since goes on', async () => {
  const client = standard(await newClient(server));
  const user = await newUser(server);
  const before = await tokensFor(server, client, user);
  const key = await newKey();
  const path = `/clients/${client.clientId}`;
  await call('PATCH', path, { status: 'disabled' }, key.adminKey);
  await call('PATCH', path, { status: 'active' }, key.adminKey);
  const since = await tokensFor(server, client, user);
  assert.deepEqual((await endWithMade(key)).made.apps, []);
  assert.notEqual((await refresh(server, client, before.refresh_token)).status, 200);
  assert.equal((await refresh(server, client, since.refresh_token)).status, 200);
});

test('provider: what was under way while a key had it open begins again once an owner enables it', async (t) => {
  const upstream = await newProvider(t);
  const alice = { sub: 'alice', email: 'alice-status@upstream.example' };
  const joined = { person: alice, username: 'alice-status', email: 'alice-status@example.com' };
  await joinedThrough(server, upstream, joined);
  await upstream.turn(false);
  const key = await newKey();
  await upstream.turn(true, key.adminKey);
  server.advance(11_000);
  const away = agent(server.baseUrl);
  const left = await away.get(`/login/with/${upstream.name}`);
  const callback = upstream.provider.authorize(left.location?.href ?? '');
  const stranger = agent(server.baseUrl);
  upstream.provider.person = { sub: 'mallory', email: 'mallory-status@upstream.example' };
  const vouched = await throughUpstream(stranger, upstream);
  const form = await stranger.get(vouched.location?.href ?? '');
  assert.match(form.text, /name="username"/);

  await endWithMade(key);
  assert.equal(await upstream.isOn(), false);
  await upstream.turn(true);
  server.advance(11_000);
  upstream.provider.person = alice;
  assert.notEqual((await away.get(callback.href)).location?.pathname, '/account');
  const fields = { displayName: 'Mallory', username: 'mallory-status', email: 'mallory-status@example.com' };
  const sent = await stranger.submit(form, fields, vouched.location?.pathname);
  assert.notEqual(sent.location?.pathname, '/signup/verify');
  const anew = await throughUpstream(agent(server.baseUrl), upstream);
  assert.equal(anew.location?.pathname, '/account', anew.text.slice(0, 500));
});

/** An owner who was barred, of whose role nobody took anything. */
async function newBarred(bar: 'ban' | 'suspension', fields: object = { reason: 'malice' }) {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  const path = `/users/${operator.user.id}`;
  await call('PUT', `${path}/roles/owner`, {});
  const early = await call(
    'POST',
    '/admin-keys',
    { name: 'early', role: 'owner' },
    await signInOnCommandLine(server, operator),
  );
  const next = await call('POST', '/admin-keys', { name: 'next', role: 'owner' }, early.adminKey);
  server.advance(MINUTE);
  const key = await newKey();
  server.advance(MINUTE);
  const barred = await call('PUT', `${path}/${bar}`, fields);
  return {
    ...{
      key,
      early,
      next,
      path,
      factor: operator.factor,
      barred: { status: barred.status, ban: barred.ban, suspension: barred.suspension },
    },
    async state() {
      const { status, ban, suspension } = await call('GET', path);
      return { status, ban, suspension };
    },
    /** Signs in with what was there before, and makes a key. */
    async makeKey(): Promise<{ id: string; adminKey: string }> {
      server.advance(MINUTE);
      const browser = await signedInWith({ user: operator.user, email: '' }, operator.factor);
      server.advance(MINUTE);
      const token = await signInOnCommandLine(server, { ...operator, browser });
      return call('POST', '/admin-keys', { name: 'planted', role: 'owner' }, token);
    },
  };
}
const works = async ({ adminKey }: { adminKey: string }) =>
  (await admin(server, 'GET', '/clients', undefined, adminKey)).status === 200;
const ACTIVE = { status: 'active', ban: null, suspension: null };
const throughOf = ({ made }: { made: { through: readonly Through[] } }) =>
  made.through.map(({ acts, ends, made: own }) => [acts, ends, own.adminKeys.map(({ id }) => id)]);
interface Through {
  readonly acts: readonly string[];
  readonly ends: boolean;
  readonly made: { readonly adminKeys: readonly { readonly id: string }[] };
}

const banFor = (seconds: number, path: string, by?: string) =>
  call('PUT', `${path}/ban`, { until: new Date(server.now() + seconds * 1000).toISOString() }, by);

const LIFTED: readonly [
  name: string,
  bar: 'ban' | 'suspension',
  lift: (path: string, by: string) => Promise<unknown>,
][] = [
  ['a ban that was lifted', 'ban', (path, by) => call('DELETE', `${path}/ban`, undefined, by)],
  ['a suspension that was lifted', 'suspension', (path, by) => call('DELETE', `${path}/suspension`, undefined, by)],
  ['a ban that was made to end at once', 'ban', (path, by) => banFor(1, path, by)],
  [
    'a ban that was lifted, set and lifted again',
    'ban',
    async (path, by) => {
      await call('DELETE', `${path}/ban`, undefined, by);
      await call('PUT', `${path}/ban`, { reason: 'a feint' }, by);
      await call('DELETE', `${path}/ban`, undefined, by);
    },
  ],
  [
    'a ban that was lifted, and set for a second',
    'ban',
    async (path, by) => {
      await call('DELETE', `${path}/ban`, undefined, by);
      await banFor(1, path, by);
    },
  ],
  [
    'a ban that was made to end at once, and a second later',
    'ban',
    async (path, by) => {
      await banFor(1, path, by);
      await banFor(2, path, by);
    },
  ],
  [
    'a suspension that was lifted, before another key banned the person for a second',
    'suspension',
    async (path, by) => {
      const helper = await call('POST', '/admin-keys', { name: 'helper', role: 'owner' }, by);
      await call('DELETE', `${path}/suspension`, undefined, by);
      server.advance(MINUTE);
      await banFor(1, path, helper.adminKey);
    },
  ],
];

for (const [name, bar, lift] of LIFTED) {
  test(`${name} is there again, and what its person made meanwhile has ended`, async () => {
    const mallory = await newBarred(bar);
    await lift(mallory.path, mallory.key.adminKey);
    const planted = await mallory.makeKey();
    const through = [[['let_in_again'], true, [planted.id]]];
    assert.deepEqual(throughOf(await call('GET', `/admin-keys/${mallory.key.id}`)), through);
    assert.ok(await works(planted));
    assert.deepEqual(throughOf(await endWithMade(mallory.key)), through);
    assert.deepEqual(await mallory.state(), mallory.barred);
    assert.equal(await works(planted), false);
    const { items } = await call('GET', `/audit-events?userId=${mallory.path.split('/').at(-1)}&order=desc&limit=5`);
    const event = items.find(({ details }: { details: { putBack?: boolean } }) => details?.putBack === true);
    assert.equal(event.type, bar === 'ban' ? 'account.banned' : 'account.suspended');

    // Who lets the person in afterwards does so for themselves.
    await call('DELETE', `${mallory.path}/${bar}`);
    assert.deepEqual(throughOf(await endWithMade(mallory.key)), []);
    assert.deepEqual(await mallory.state(), ACTIVE);
    const later = await mallory.makeKey();
    assert.ok(await works(later));
    assert.ok(await works(mallory.early), 'what was made before the bar goes on');
  });
}

test('a bar is there again after the end of who had lifted it, where another key of theirs barred for a second and ended before', async () => {
  const mallory = await newBarred('suspension');
  const helper = await call('POST', '/admin-keys', { name: 'helper', role: 'owner' }, mallory.key.adminKey);
  await call('DELETE', `${mallory.path}/suspension`, undefined, mallory.key.adminKey);
  const first = await mallory.makeKey();
  await banFor(1, mallory.path, helper.adminKey);
  const second = await mallory.makeKey();
  await endWithMade(helper);
  assert.deepEqual([await works(first), await works(second)], [true, false]);
  await endWithMade(mallory.key);
  assert.deepEqual(await mallory.state(), mallory.barred);
  assert.equal(await works(first), false);
});

/** What an admin key makes, and whether it is there. */
async function makeWith({ adminKey: by }: { adminKey: string }) {
  const { id } = await newUser(server);
  await call('PUT', `/users/${id}/roles/owner`, {}, by);
  const key: { adminKey: string } = await call('POST', '/admin-keys', { name: 'planted', role: 'owner' }, by);
  const app = { name: 'planted', redirectUris: ['https://planted.example/cb'] };
  const { clientId } = await call('POST', '/clients', app, by);
  const initial = await call('POST', '/initial-access-tokens', { name: 'planted' }, by);
  return async () => [
    (await call('GET', `/users/${id}/roles`)).items.length,
    await works(key),
    (await call('GET', `/clients/${clientId}`)).status,
    (await call('GET', '/initial-access-tokens?limit=200')).items.some(
      (one: { id: string; revokedAt: string | null }) => one.id === initial.id && one.revokedAt === null,
    ),
  ];
}
const THERE = [1, true, 'active', true];
const ENDED = [0, false, 'disabled', false];

for (const name of ['early', 'next'] as const) {
  test(`what the ${name} key of a person makes after somebody let them in ends with who did that, and what it made before goes on`, async () => {
    const mallory = await newBarred('suspension');
    await call('DELETE', `${mallory.path}/suspension`);
    const before = await makeWith(mallory[name]);
    server.advance(MINUTE);
    await call('PUT', `${mallory.path}/suspension`, { reason: 'malice' });
    assert.equal(await works(mallory[name]), false);
    await call('DELETE', `${mallory.path}/suspension`, undefined, mallory.key.adminKey);
    server.advance(MINUTE);
    const since = await makeWith(mallory[name]);
    server.advance(MINUTE);
    const [through] = (await call('GET', `/admin-keys/${mallory.key.id}`)).made.through;
    assert.deepEqual([through.made.roles.length, through.made.adminKeys.length, through.made.apps.length], [1, 1, 1]);
    assert.deepEqual([await since(), (await before()).slice(0, 3)], [THERE, THERE.slice(0, 3)]);
    await endWithMade(mallory.key);
    assert.equal((await mallory.state()).status, 'suspended');
    await call('DELETE', `${mallory.path}/suspension`);
    assert.deepEqual([await since(), (await before()).slice(0, 3)], [ENDED, THERE.slice(0, 3)]);
  });

  test(`a ban by the ${name} key of a person is no decision by another operator`, async () => {
    const mallory = await newBarred('suspension');
    await call('DELETE', `${mallory.path}/suspension`, undefined, mallory.key.adminKey);
    server.advance(MINUTE);
    await banFor(1, mallory.path, mallory[name].adminKey);
    const planted = await mallory.makeKey();
    await endWithMade(mallory.key);
    assert.deepEqual([await mallory.state(), await works(planted)], [mallory.barred, false]);
  });
}

test('what the earlier key of a person makes after a thief of a session let them in ends with the report', async () => {
  const mallory = await newBarred('suspension');
  const robbed = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${robbed.user.id}/roles/owner`, {});
  const { email } = await call('GET', `/users/${robbed.user.id}`);
  server.advance(MINUTE);
  const browser = await signedInWith({ user: robbed.user, email }, robbed.factor);
  const stolen = await signInOnCommandLine(server, { ...robbed, browser });
  await call('DELETE', `${mallory.path}/suspension`, undefined, stolen);
  server.advance(MINUTE);
  const made = await makeWith(mallory.early);
  await banFor(1, mallory.path, mallory.early.adminKey);
  server.advance(MINUTE);
  await call('POST', '/admin-keys', { name: 'told', role: 'owner' }, stolen);
  assert.equal(await press(await reportLink(email)), 200);
  assert.deepEqual([await mallory.state(), await made()], [mallory.barred, ENDED]);
});

for (const order of [
  [0, 1],
  [1, 0],
] as const)
  test(`a bar is there again where keys that know nothing of each other let the person in, and end in the order ${order}`, async () => {
    const mallory = await newBarred('suspension');
    const keys = [mallory.key, await newKey()] as const;
    await call('DELETE', `${mallory.path}/suspension`, undefined, keys[0].adminKey);
    server.advance(MINUTE);
    await banFor(1, mallory.path, keys[1].adminKey);
    const planted = await mallory.makeKey();
    for (const at of order) await endWithMade(keys[at]);
    assert.deepEqual([await mallory.state(), await works(planted)], [mallory.barred, false]);
  });

test('a short ban by another operator is the last decision, and nothing of before is there again', async () => {
  const mallory = await newBarred('suspension');
  await call('DELETE', `${mallory.path}/suspension`, undefined, mallory.key.adminKey);
  server.advance(MINUTE);
  await banFor(1, mallory.path);
  const later = await mallory.makeKey();
  await endWithMade(mallory.key);
  assert.equal((await mallory.state()).suspension, null);
  assert.ok(await works(later));
});

test('a bar is there again that somebody lifted who had decided on the person very often before', async () => {
  const mallory = await newBarred('suspension');
  const by = mallory.key.adminKey;
  for (let times = 0; times < 51; times += 1) await banFor(60, mallory.path, by);
  await call('PUT', `${mallory.path}/ban`, { reason: 'malice' });
  const barred = await mallory.state();
  await call('DELETE', `${mallory.path}/suspension`, undefined, by);
  await call('DELETE', `${mallory.path}/ban`, undefined, by);
  await banFor(1, mallory.path, by);
  await endWithMade(mallory.key);
  assert.deepEqual(await mallory.state(), barred);
});

test('what another operator decided since about a bar stays', async () => {
  const mallory = await newBarred('suspension');
  await call('DELETE', `${mallory.path}/suspension`, undefined, mallory.key.adminKey);
  const planted = await mallory.makeKey();
  await call('PUT', `${mallory.path}/suspension`, { reason: 'found out' });
  server.advance(MINUTE);
  await call('DELETE', `${mallory.path}/suspension`);
  const later = await mallory.makeKey();
  assert.deepEqual(throughOf(await endWithMade(mallory.key)), [[['let_in_again'], false, [planted.id]]]);
  assert.deepEqual(await mallory.state(), ACTIVE);
  assert.deepEqual([await works(planted), await works(later)], [false, true]);
});

test('a ban that would have ended meanwhile is not there again, nor does what was made after that end', async () => {
  const until = new Date(server.now() + 3 * DAY).toISOString();
  const mallory = await newBarred('ban', { until });
  await call('DELETE', `${mallory.path}/ban`, undefined, mallory.key.adminKey);
  const planted = await mallory.makeKey();
  const made = await makeWith(mallory.early);
  server.advance(4 * DAY);
  const later = await mallory.makeKey();
  const { made: ended } = await endWithMade(mallory.key);
  assert.deepEqual([ended.through[0].acts, ended.through[0].ends], [['let_in_again'], false]);
  assert.equal(ended.through[0].made.adminKeys.length, 2);
  assert.deepEqual([await mallory.state(), await made()], [ACTIVE, ENDED]);
  assert.deepEqual([await works(planted), await works(later)], [false, true]);
});

test('a person who recovers the account after a key let them in is barred again all the same', async () => {
  const mallory = await newBarred('suspension');
  const { email } = await call('GET', mallory.path);
  await call('DELETE', `${mallory.path}/suspension`, undefined, mallory.key.adminKey);
  server.advance(MINUTE);
  await askRecovery(server, agent(server.baseUrl), email);
  assert.equal(await recoverAt(email, totpCode(mallory.factor, server.now())), 200);
  await endWithMade(mallory.key);
  assert.deepEqual(await mallory.state(), mallory.barred);
});

test('the last owner is not barred by the end of who let them in', async () => {
  const mallory = await newBarred('suspension');
  await call('DELETE', `${mallory.path}/suspension`, undefined, mallory.key.adminKey);
  const owners = (await call('GET', '/operators?limit=200')).items.filter(
    ({ role }: { role: string }) => role === 'owner',
  );
  for (const { userId } of owners) {
    if (!mallory.path.endsWith(userId)) await call('PUT', `/users/${userId}/suspension`, {});
  }
  await endWithMade(mallory.key);
  assert.deepEqual(await mallory.state(), ACTIVE);
});
