// store: SQLite, PostgreSQL with --all
/** SE-09: people see where they are signed in, and end what they do not know. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import {
  admin,
  claimsOf,
  codeFor,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const PAGE = '/account/sessions';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1';

const server = await startServer();
after(() => server.close());
const client = await newClient(server, {
  name: 'Acme Notes',
  backchannelLogoutUri: 'https://app.example.com/out',
  idTokenSignedResponseAlg: 'ES256',
});

async function at(user: TestUser, userAgent: string, headers = {}): Promise<Agent> {
  const browser = agent(server.baseUrl, undefined, { 'user-agent': userAgent, ...headers });
  const answer = await browser.submit(await browser.get('/login'), { identifier: user.username, password: PASSWORD });
  assert.equal(answer.status, 303, answer.text);
  return browser;
}

const sessionsOf = async ({ id }: TestUser) => (await admin(server, 'GET', `/users/${id}/sessions`)).body.items;
const named = async (user: TestUser, browser: string): Promise<string> => {
  const found = (await sessionsOf(user)).find((session: { browser: string }) => session.browser === browser);
  return found.id;
};
const press = async (browser: Agent, session: string): Promise<Answer> =>
  browser.submit(await browser.get(PAGE), { session }, PAGE);
const isSignedIn = async (browser: Agent) => (await browser.get('/account/security')).status === 200;
const words = ({ text }: Answer): string => text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

interface Two {
  readonly user: TestUser;
  readonly here: Agent;
  readonly there: Agent;
}
async function two(): Promise<Two> {
  const user = await newUser(server);
  return { user, here: await at(user, FIREFOX), there: await at(user, SAFARI) };
}

test('the list: browser and system in words, network, times, and the apps; nothing that tells more is kept', async () => {
  const user = await newUser(server);
  const here = await at(user, FIREFOX);
  server.advance(60 * 60 * 1000);
  const strange = `Evil<b>/1 ${'x'.repeat(3000)}`;
  const [there] = [await at(user, SAFARI), await at(user, strange)];
  await tokensFor(server, client, user, {}, { browser: there });
  const page = await here.get(PAGE);
  const text = words(page);
  assert.match(text, /Firefox on Linux This browser Signed in 1 March 2026, 12:00 UTC/);
  assert.match(text, /Safari on iOS .* Network 127\.0\.0\.x Apps you signed in to there Acme Notes/);
  assert.match(text, /Unknown browser/);
  assert.doesNotMatch(page.text, /Evil|Mozilla|127\.0\.0\.1/);
  const kept = JSON.stringify(await query(server, 'SELECT * FROM browser_session WHERE account_id = ?', user.id));
  assert.doesNotMatch(kept, /Evil|Mozilla|127\.0\.0\.1/);
  const { items } = (await admin(server, 'GET', `/users/${user.id}/sessions`)).body;
  const now = new Date(server.now()).toISOString();
  const found = items.find((session: { browser: string }) => session.browser === 'Safari');
  assert.deepEqual(
    { ...found, id: '', endsAt: '' },
    {
      ...{
        id: '',
        browser: 'Safari',
        system: 'iOS',
        network: '127.0.0.x',
        endsAt: '',
        signedInAt: now,
        lastUsedAt: now,
      },
      apps: [{ clientId: client.clientId, name: 'Acme Notes' }],
    },
  );
});

test('one is ended: it and what apps got there is dead at once, and nothing else', async () => {
  const { user, here, there } = await two();
  const kept = await tokensFor(server, client, user, {}, { browser: here });
  const lost = await tokensFor(server, client, user, {}, { browser: there });
  const code = await codeFor(server, client, user, {}, { browser: there });
  const sid = await named(user, 'Safari');
  assert.equal(claimsOf(lost.id_token).sid, sid);
  const answer = await press(here, sid);
  assert.equal(answer.status, 200);
  const text = words(answer);
  assert.match(text, /Safari on iOS was signed out on 1 March 2026, \d\d:\d\d UTC/);
  assert.match(
    text,
    /These apps lost the access that they got there: Acme Notes \. .*Access from one sign-in no longer works/,
  );
  assert.equal(await isSignedIn(there), false);
  assert.equal((await userinfo(server, lost.access_token)).status, 401);
  assert.deepEqual((await refresh(server, client, lost.refresh_token)).body.error, 'invalid_grant');
  assert.deepEqual((await redeem(server, client, code)).body.error, 'invalid_grant');
  assert.equal(await isSignedIn(here), true);
  assert.equal((await userinfo(server, kept.access_token)).status, 200);
  assert.equal((await refresh(server, client, kept.refresh_token)).status, 200);
  // The consent stands: signing in again asks nothing.
  await tokensFor(server, client, user, {}, { browser: await at(user, SAFARI) });

  const events = await admin(server, 'GET', `/audit-events?userId=${user.id}&type=session.ended`);
  assert.deepEqual(
    events.body.items.map((event: { actor: object; details: object }) => [event.actor, event.details]),
    [
      [
        { type: 'user', id: user.id },
        { sid, sessions: 1, browser: 'Firefox', system: 'Linux' },
      ],
    ],
  );
  const notices = await query(server, 'SELECT sid FROM logout_notice WHERE account_id = ?', user.id);
  assert.deepEqual(notices, [{ sid }], 'the app is told of this session, once');
  assert.match(words(await press(here, sid)), /was already signed out/, 'a second press');
});

test('all others are ended: with what apps got anywhere else, also in sessions that are over', async () => {
  const { user, here, there } = await two();
  const over = await tokensFor(server, client, user, {}, { browser: there });
  await there.submit(await there.get('/account/security'), {}, '/logout');
  assert.equal((await userinfo(server, over.access_token)).status, 200, 'decision 9: a plain sign-out leaves tokens');
  const [third, kept] = [await at(user, SAFARI), await tokensFor(server, client, user, {}, { browser: here })];
  const text = words(await press(here, 'others'));
  assert.match(text, /One other browser was signed out on .* got there: Acme Notes/);
  assert.match(text, /You are not signed in anywhere else/);
  assert.deepEqual([await isSignedIn(third), await isSignedIn(here)], [false, true]);
  assert.equal((await userinfo(server, over.access_token)).status, 401);
  assert.equal((await userinfo(server, kept.access_token)).status, 200);
  assert.deepEqual((await sessionsOf(user)).length, 1);
});

test('a form cannot end another user’s session or the browser’s own, nor one that comes from another page', async () => {
  const [ada, bob] = [await two(), await two()];
  const theirs = await named(bob.user, 'Safari');
  assert.equal((await press(ada.here, theirs)).status, 200, 'that there is none of hers is all she learns');
  for (const sid of [await named(ada.user, 'Firefox'), '', '\0', 'x'.repeat(300), `${theirs}' OR 1=1`]) {
    assert.equal((await press(ada.here, sid)).status, 400, JSON.stringify(sid));
  }
  const { hidden } = formOf((await bob.here.get(PAGE)).text, PAGE);
  assert.equal((await ada.here.post(PAGE, { ...hidden, session: 'others' })).status, 400);
  const abroad = await ada.here.post(PAGE, { session: 'others' }, { origin: 'https://evil.example' });
  assert.equal(abroad.status, 403);
  for (const browser of [ada.here, ada.there, bob.here, bob.there]) assert.equal(await isSignedIn(browser), true);
});

test('the last use is noted once in ten minutes at the most', async () => {
  const { user, here } = await two();
  const began = server.now();
  const lastUse = async () =>
    Date.parse((await sessionsOf(user)).find((s: { browser: string }) => s.browser === 'Firefox').lastUsedAt) - began;
  const minute = 60_000;
  for (const [after, noted] of [
    [10 * minute - 1, 0],
    [1, 10 * minute],
    [9 * minute, 10 * minute],
    [minute, 20 * minute],
  ] as const) {
    server.advance(after);
    await here.get('/account/security');
    assert.equal(await lastUse(), noted);
  }
});

test('operators see the same, and end one or all', async () => {
  const { user, here, there } = await two();
  const tokens = await tokensFor(server, client, user, {}, { browser: there });
  const path = `/users/${user.id}/sessions`;
  assert.equal((await admin(server, 'DELETE', `${path}/${await named(user, 'Safari')}`)).status, 200);
  assert.deepEqual([await isSignedIn(there), await isSignedIn(here)], [false, true]);
  assert.equal((await userinfo(server, tokens.access_token)).status, 401);
  assert.equal(
    (await admin(server, 'DELETE', `${path}/unknown-unknown-unknown`)).status,
    200,
    'nothing is left to end',
  );
  assert.equal((await admin(server, 'DELETE', path)).status, 204);
  assert.equal(await isSignedIn(here), false);
  assert.deepEqual(await sessionsOf(user), []);
  for (const method of ['GET', 'DELETE']) assert.equal((await admin(server, method, '/users/1/sessions')).status, 404);
});

test('signing out everywhere, and a new password, say what they stopped', async () => {
  const { user, here, there } = await two();
  for (const browser of [here, there]) await tokensFor(server, client, user, {}, { browser });
  const changed = await here.submit(
    await here.get('/account/security'),
    { current: PASSWORD, password: PASSWORD },
    '/account/password',
  );
  assert.match(words(changed), /Your password is changed\..* Access from 2 sign-ins no longer works/);
  assert.match(words(await here.get(PAGE)), /Firefox on Linux This browser .* not signed in anywhere else/);
  await tokensFor(server, client, user, {}, { browser: here });
  const left = await here.submit(await here.get('/account/security'), {}, '/account/sign-out-everywhere');
  assert.match(words(left), /You are signed out everywhere .* UTC.* Access from one sign-in no longer works/);
});

test('fifty sessions: every page is lighter than 50 KiB with all that it loads, and leads to the next', async () => {
  const user = await newUser(server);
  const here = await at(user, FIREFOX);
  const columns = 'account_id, generation, auth_time, last_seen_at, expires_at';
  for (let n = 0; n < 50; n++) {
    await query(
      server,
      `INSERT INTO browser_session (hash, sid, browser, system, network, ${columns})
       SELECT ?, ?, 'Samsung Internet for Android', 'Chrome OS', '2001:db8:ffff:x', ${columns}
       FROM browser_session WHERE account_id = ? AND browser = 'Firefox'`,
      `hash ${user.id} ${n}`,
      `sid-of-many-${user.id}-${n}`,
      user.id,
    );
  }
  const seen = new Set<string>();
  let address: string | undefined = PAGE;
  for (let pages = 0; address !== undefined; pages++) {
    assert.ok(pages < 6);
    const page: Answer = await here.get(address);
    assert.ok(Buffer.byteLength(page.text) < 34 * 1024, `${address}: ${Buffer.byteLength(page.text)}`);
    for (const [, sid] of page.text.matchAll(/name="session" value="(sid-[^"]+)"/g)) seen.add(sid ?? '');
    address = /<a rel="next" href="([^"]+)"/.exec(page.text)?.[1];
  }
  assert.equal(seen.size, 50);
  assert.match(words(await here.get(`${PAGE}?page=99`)), /Samsung Internet/, 'a part that is gone leads to the first');
});
