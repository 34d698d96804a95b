// store: SQLite, PostgreSQL
/** What was active before stays so where a maker's acts end; what a maker switched on is disabled as by an operator. */
import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newClient, newUser, refresh, standard, tokensFor } from '../support/flow.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';
import { joinedThrough, newUpstream, type TestUpstream, throughUpstream } from '../upstreams/people.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
after(() => server.close());
const { press, reportLink, signedInWith } = takenBack(server);
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
