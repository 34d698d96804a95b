// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Client } from 'pg';
import { type Agent, agent } from '../support/agent.ts';
import { admin } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { newestMail } from '../support/recovery.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { joinedThrough, newUpstream, type TestUpstream } from '../upstreams/people.ts';

const server = spread(
  await startServer(
    {
      TESSERA_MAILBOX: 'on',
      TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off',
      TESSERA_LIMIT_SESSION_ACCOUNT: 'off',
    },
    SEVERAL,
  ),
);
after(() => server.close());

const browserOf = (): Agent => agent(server.baseUrl, server.nodeInTurn);

/** Browsers that have signed in at the provider, and are about to bring their code back. */
async function onTheWayBack({ provider, name }: TestUpstream, count: number) {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const browser = browserOf();
      const left = await browser.get(`/login/with/${name}`);
      const callback = provider.authorize(left.location?.href ?? '');
      return { browser, back: () => browser.get(callback.href) };
    }),
  );
}

const isSignedIn = async (browser: Agent): Promise<boolean> => (await browser.get('/account')).status === 200;

test('an upstream is disabled while people come back from it: nobody is signed in afterwards', async () => {
  for (let round = 0; round < 4; round++) {
    const upstream = await newUpstream(server, { signUp: 'anyone' });
    const person = { sub: `disabled-${round}`, sid: 'one' };
    await joinedThrough(server, upstream, { person, username: person.sub, email: `${person.sub}@example.com` });
    upstream.provider.person = person;
    const people = await onTheWayBack(upstream, 8);
    const disable = () => admin(server, 'POST', `/upstreams/${upstream.id}/disable`, { endSessions: true });
    const [off] = await Promise.all([disable(), ...people.map(({ back }) => back())]);
    assert.equal(off.status, 200);
    for (const { browser } of people) assert.equal(await isSignedIn(browser), false);
    await upstream.provider[Symbol.asyncDispose]();
  }
});

test('the provider ends a session while browsers come back from it: none of them is signed in afterwards', async () => {
  const upstream = await newUpstream(server, { signUp: 'anyone' });
  const person = { sub: 'ended', sid: 'first' };
  await joinedThrough(server, upstream, { person, username: person.sub, email: 'ended@example.com' });
  for (let round = 0; round < 4; round++) {
    const sid = `session ${round}`;
    upstream.provider.person = { ...person, sid };
    const people = await onTheWayBack(upstream, 8);
    upstream.provider.person = { ...person, sid: `${sid} of another browser` };
    const [other] = await onTheWayBack(upstream, 1);
    const token = await upstream.provider.sign(upstream.provider.logoutClaims({ sid }));
    const logout = () =>
      fetch(`${server.baseUrl}/upstreams/${upstream.name}/backchannel-logout`, {
        method: 'POST',
        body: new URLSearchParams({ logout_token: token }),
      });
    const [ended] = await Promise.all([logout(), ...people.map(({ back }) => back()), other?.back()]);
    assert.equal(ended.status, 200);
    for (const { browser } of people) assert.equal(await isSignedIn(browser), false);
    assert.equal(other !== undefined && (await isSignedIn(other.browser)), true, 'another session at the provider');
  }
  await upstream.provider[Symbol.asyncDispose]();
});

test('one response signs in once, however often and wherever it arrives', async () => {
  const upstream = await newUpstream(server, { signUp: 'anyone' });
  const person = { sub: 'once' };
  await joinedThrough(server, upstream, { person, username: person.sub, email: 'once@example.com' });
  const before = await query(server, `SELECT hash FROM browser_session`);
  const [one] = await onTheWayBack(upstream, 1);
  upstream.provider.tricks = { reusesCodes: true };
  const answers = await Promise.all(Array.from({ length: 6 }, () => one?.back()));
  assert.equal(answers.filter((answer) => answer?.location?.pathname === '/account').length, 1);
  assert.equal((await query(server, `SELECT hash FROM browser_session`)).length, before.length + 1);
  await upstream.provider[Symbol.asyncDispose]();
});

test('of several accounts that connect one identity at the same time, one has it', async () => {
  const upstream = await newUpstream(server, { signUp: 'anyone' });
  upstream.provider.person = { sub: 'wanted' };
  const joining = await Promise.all(
    Array.from({ length: 4 }, async (_, index) => {
      const browser = browserOf();
      const left = await browser.get(`/login/with/${upstream.name}`);
      const back = await browser.get(upstream.provider.authorize(left.location?.href ?? '').href);
      assert.equal(back.status, 302, back.text);
      const page = await browser.get(back.location?.href ?? '');
      const fields = { displayName: 'A', username: `wants-${index}`, email: `wants-${index}@example.com` };
      await browser.submit(page, fields, back.location?.pathname);
      return { browser, email: fields.email };
    }),
  );
  const codes = await Promise.all(
    joining.map(async ({ browser, email }) => ({
      browser,
      page: await browser.get('/signup/verify'),
      code: (await newestMail(server, email, 'verify address')).code ?? '',
    })),
  );
  const done = await Promise.all(
    codes.map(({ browser, page, code }) => browser.submit(page, { code }, '/signup/verify')),
  );
  assert.equal(done.filter(({ location }) => location?.pathname === '/account').length, 1);
  assert.equal((await query(server, `SELECT id FROM account WHERE username LIKE 'wants-%'`)).length, 1);
  await upstream.provider[Symbol.asyncDispose]();
});

/**
 * Sends a request that stands still within its commit when it writes to a table, and another one, which then waits for it. On SQLite,
 * which has one writer at a time, they are sent one after the other.
 */
async function overtaking(
  first: () => Promise<unknown>,
  second: () => Promise<{ readonly status: number }>,
  table: 'upstream_session' | 'upstream_identity' = 'upstream_session',
): Promise<void> {
  const connectionString = server.environment['TESSERA_DATABASE_URL'];
  if (connectionString === undefined) {
    await first();
    assert.equal((await second()).status, 200);
    return;
  }
  const [holder, watcher] = [new Client({ connectionString }), new Client({ connectionString })];
  await Promise.all([holder.connect(), watcher.connect()]);
  await holder.query('BEGIN');
  await holder.query(`LOCK TABLE ${table} IN SHARE MODE`);
  const waiting =
    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'";
  let answered = 0;
  const note = () => {
    answered++;
  };
  const answers: Promise<unknown>[] = [];
  for (const send of [first, second]) {
    const answer = send();
    answers.push(answer);
    answer.then(note, note);
    while (answered === 0 && ((await watcher.query(waiting)).rowCount ?? 0) < answers.length);
  }
  assert.equal(answered, 0, 'the second waits for the first');
  await holder.query('COMMIT');
  await Promise.all(answers);
  await Promise.all([holder.end(), watcher.end()]);
}

/** The logout of a session at the provider. */
async function logoutOf({ provider, name }: TestUpstream, sid: string): Promise<() => Promise<Response>> {
  const body = new URLSearchParams({ logout_token: await provider.sign(provider.logoutClaims({ sid })) });
  return () =>
    fetch(`${server.nodeInTurn?.() ?? server.baseUrl}/upstreams/${name}/backchannel-logout`, { method: 'POST', body });
}

test('a session that is about to begin when its logout comes is ended by that', async () => {
  const upstream = await newUpstream(server, { signUp: 'anyone' });
  const person = { sub: 'begins', sid: 'joined' };
  await joinedThrough(server, upstream, { person, username: person.sub, email: 'begins@example.com' });
  upstream.provider.person = { ...person, sid: 'about to begin' };
  const [one] = await onTheWayBack(upstream, 1);
  assert.ok(one !== undefined);
  await overtaking(one.back, await logoutOf(upstream, 'about to begin'));
  assert.equal(await isSignedIn(one.browser), false);
  await upstream.provider[Symbol.asyncDispose]();
});

test('a session that gets another name when its logout comes is ended by that', async () => {
  const upstream = await newUpstream(server, { signUp: 'anyone' });
  const person = { sub: 'renewed', sid: 'has another name' };
  await joinedThrough(server, upstream, { person, username: person.sub, email: 'renewed@example.com' });
  upstream.provider.person = person;
  const [one] = await onTheWayBack(upstream, 1);
  await one?.back();
  const browser = one?.browser ?? browserOf();
  const [row] = await query(server, `SELECT id FROM upstream_identity WHERE subject = '${person.sub}'`);
  const page = await browser.get('/account/security');
  const renew = () => browser.submit(page, { id: String(row?.['id']) }, '/account/security/disconnect');
  await overtaking(renew, await logoutOf(upstream, person.sid));
  const left = await query(server, `SELECT id FROM upstream_identity WHERE subject = '${person.sub}'`);
  assert.deepEqual(left, [], 'the session was renewed');
  assert.equal(await isSignedIn(browser), false);
  await upstream.provider[Symbol.asyncDispose]();
});

test('who may join is not changed while a person joins: that waits, and the next one is refused', async () => {
  const upstream = await newUpstream(server, { signUp: 'anyone' });
  const joining = async (sub: string) => {
    upstream.provider.person = { sub };
    const [one] = await onTheWayBack(upstream, 1);
    const browser = one?.browser ?? browserOf();
    const path = (await one?.back())?.location?.pathname;
    const email = `${sub}@example.com`;
    await browser.submit(await browser.get(path ?? ''), { displayName: 'A', username: sub, email }, path);
    const page = await browser.get('/signup/verify');
    const { code = '' } = await newestMail(server, email, 'verify address');
    return { browser, complete: () => browser.submit(page, { code }, '/signup/verify') };
  };
  const [first, late] = [await joining('joins-first'), await joining('joins-late')];
  const close = () => admin(server, 'PATCH', `/upstreams/${upstream.id}`, { signUp: 'nobody' });
  await overtaking(first.complete, close, 'upstream_identity');
  await late.complete();
  assert.deepEqual([await isSignedIn(first.browser), await isSignedIn(late.browser)], [true, false]);
  const accounts = await query(server, `SELECT username FROM account WHERE username LIKE 'joins-%'`);
  assert.deepEqual(accounts, [{ username: 'joins-first' }]);
  await upstream.provider[Symbol.asyncDispose]();
});

test('upstreams that take each other’s domains at the same time wait in one order, and none gets what another has', async () => {
  const domains = ['a.swapped.example', 'b.swapped.example', 'c.swapped.example'];
  const upstreams = await Promise.all(domains.map((domain) => newUpstream(server, { domains: [domain] })));
  const deadlocks = async () => {
    if (server.environment['TESSERA_DATABASE_URL'] === undefined) return 0;
    const [row] = await query(server, 'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
    return Number(row?.['deadlocks']);
  };
  const before = await deadlocks();
  for (let round = 0; round < 8; round++) {
    const answers = await Promise.all(
      upstreams.map(({ id }, index) => {
        const [own = '', next = ''] = [domains[index], domains[(index + 1) % domains.length]];
        return admin(server, 'PATCH', `/upstreams/${id}`, { domains: round % 2 === 0 ? [next] : [own, next] });
      }),
    );
    assert.deepEqual(
      answers.map(({ status }) => status),
      [409, 409, 409],
    );
  }
  assert.equal(await deadlocks(), before);
  for (const [index, { id, provider }] of upstreams.entries()) {
    assert.deepEqual((await admin(server, 'GET', `/upstreams/${id}`)).body.domains, [domains[index]]);
    await provider[Symbol.asyncDispose]();
  }
});
