// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newSignedInUser,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  type TestUser,
  tokensFor,
  userinfo,
  walk,
} from '../support/flow.ts';
import { codeOf, countRows, DAY, HOUR, query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// Decisions §7, SE-01 to SE-03: sessions begin with a new secret, last 30 days, 14 idle, and end on the server at once.

const server = await startServer();
after(() => server.close());
const client = await newClient(server);

const SESSION = 'tessera_session';

/** A browser with this session cookie and nothing else. */
function replay(secret: string | undefined): Agent {
  const browser = agent(server.baseUrl);
  browser.setCookie(SESSION, secret ?? '');
  return browser;
}

async function isSignedIn(browser: Agent): Promise<boolean> {
  const { status, location } = await browser.get('/account/security');
  if (status === 200) return true;
  assert.deepEqual([status, location?.pathname], [302, '/login']);
  return false;
}

test('SE-01: a session secret that was there before the sign-in never becomes signed in', async () => {
  const user = await newUser(server);
  const fixed = 'F'.repeat(43);
  const victim = agent(server.baseUrl);
  victim.setCookie(SESSION, fixed);
  await victim.submit(await victim.get('/login'), { identifier: user.username, password: PASSWORD });
  const secret = victim.cookie(SESSION);
  assert.match(secret ?? '', /^[A-Za-z0-9_-]{43,}$/);
  assert.notEqual(secret, fixed);
  assert.equal(await isSignedIn(victim), true);
  assert.equal(await isSignedIn(replay(fixed)), false);
});

test('SE-01: nor does one become signed in by a sign-up', async () => {
  const fixed = 'F'.repeat(43);
  const victim = agent(server.baseUrl);
  victim.setCookie(SESSION, fixed);
  const fields = { displayName: 'V', username: 'victim', email: 'victim@example.com', password: PASSWORD };
  assert.equal((await victim.submit(await victim.get('/signup'), fields)).status, 303);
  assert.notEqual(victim.cookie(SESSION), fixed);
  assert.equal(await isSignedIn(victim), true);
  assert.equal(await isSignedIn(replay(fixed)), false);
});

test('SE-01: signing in again, as the same person or another, ends the session before', async () => {
  const [first, second] = [await newUser(server), await newUser(server)];
  const browser = await signedIn(server, first);
  const secrets = [browser.cookie(SESSION)];
  for (const user of [first, second]) {
    const login = await browser.get(
      (await browser.get(authorizeUrl(client, { prompt: 'login' }))).location?.href ?? '',
    );
    await browser.submit(login, { identifier: user.username, password: PASSWORD });
    secrets.push(browser.cookie(SESSION));
  }
  assert.equal(new Set(secrets).size, 3);
  assert.deepEqual(await Promise.all(secrets.map((secret) => isSignedIn(replay(secret)))), [false, false, true]);
});

test('a session goes on under its public name in the same browser, unless all was ended in between', async () => {
  const { user, browser } = await newSignedInUser(server);
  const nameAfterSignIn = async (): Promise<string> => {
    const begun = await browser.get(authorizeUrl(client, { prompt: 'login' }));
    const login = await browser.get(begun.location?.href ?? '');
    await browser.submit(login, { identifier: user.username, password: PASSWORD });
    const { items } = (await admin(server, 'GET', `/users/${user.id}/sessions`)).body;
    assert.equal(items.length, 1);
    return items[0].id;
  };
  const name = await nameAfterSignIn();
  assert.equal(await nameAfterSignIn(), name);
  const ended = await admin(server, 'DELETE', `/users/${user.id}/sessions`);
  assert.equal(ended.status, 204);
  assert.notEqual(await nameAfterSignIn(), name);
});

test('SE-01: a changed password gives the browser a new secret, and the old one is dead', async () => {
  const browser = await signedIn(server, await newUser(server));
  const before = browser.cookie(SESSION);
  const fields = { current: PASSWORD, password: 'a new passphrase' };
  assert.equal((await browser.submit(await browser.get('/account/security'), fields, '/account/password')).status, 200);
  assert.notEqual(browser.cookie(SESSION), before);
  assert.equal(await isSignedIn(browser), true);
  assert.equal(await isSignedIn(replay(before)), false);
});

test('decisions §7: fourteen days without use end a session, and not a millisecond less', async () => {
  const browser = await signedIn(server, await newUser(server));
  const secret = browser.cookie(SESSION);
  server.advance(14 * DAY - 1);
  assert.equal(await isSignedIn(browser), true);
  server.advance(14 * DAY - 1);
  assert.equal(await isSignedIn(browser), true, 'the use before counts');
  const idle = await signedIn(server, await newUser(server));
  server.advance(14 * DAY);
  assert.equal(await isSignedIn(idle), false);
  assert.equal(await isSignedIn(replay(secret)), false);
});

test('decisions §7: a session ends after thirty days, however it is used', async () => {
  const browser = await signedIn(server, await newUser(server));
  for (let day = 0; day < 29; day++) {
    server.advance(DAY);
    assert.equal(await isSignedIn(browser), true, `day ${day + 1}`);
  }
  server.advance(DAY - 1);
  assert.equal(await isSignedIn(browser), true);
  server.advance(1);
  assert.equal(await isSignedIn(browser), false);
});

test('decisions §7: signing in to apps is use of a session too', async () => {
  const { browser } = await newSignedInUser(server);
  await walk(browser, authorizeUrl(client));
  for (let week = 1; week <= 4; week++) {
    server.advance(7 * DAY);
    const answer = await browser.get(authorizeUrl(client, { prompt: week % 2 === 0 ? 'none' : '' }));
    assert.ok(answer.location?.searchParams.has('code'), `week ${week}: ${answer.location}`);
  }
  server.advance(2 * DAY);
  assert.equal((await browser.get(authorizeUrl(client))).location?.pathname, '/login');
});

interface Everything {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly elsewhere: Agent;
  readonly code: string;
  readonly tokens: { readonly access_token: string; readonly refresh_token: string };
}

async function everything(): Promise<Everything> {
  const user = await newUser(server);
  const [browser, elsewhere] = [await signedIn(server, user), await signedIn(server, user)];
  const tokens = await tokensFor(server, client, user, {}, { browser });
  return { user, browser, elsewhere, tokens, code: await codeFor(server, client, user, {}, { browser }) };
}

type Effect = 'this session' | 'other sessions' | 'tokens';
const all: readonly Effect[] = ['this session', 'other sessions', 'tokens'];
const press = async (browser: Agent, action: string, fields: Readonly<Record<string, string>> = {}) =>
  browser.submit(await browser.get('/account/security'), fields, action);

const events: Record<string, { act: (at: Everything) => Promise<unknown>; ends: readonly Effect[] }> = {
  'a sign-out': { act: ({ browser }) => press(browser, '/logout'), ends: ['this session'] },
  'a sign-out everywhere': { act: ({ browser }) => press(browser, '/account/sign-out-everywhere'), ends: all },
  'a change of the password': {
    act: ({ browser }) => press(browser, '/account/password', { current: PASSWORD, password: 'a new passphrase' }),
    ends: all,
  },
  'a password set by an operator': {
    act: ({ user }) => admin(server, 'PATCH', `/users/${user.id}`, { password: 'a new passphrase' }),
    ends: all,
  },
  'a ban': { act: ({ user }) => admin(server, 'PUT', `/users/${user.id}/ban`, {}), ends: all },
  'a ban that was lifted': {
    act: async ({ user }) => {
      await admin(server, 'PUT', `/users/${user.id}/ban`, {});
      await admin(server, 'DELETE', `/users/${user.id}/ban`);
    },
    ends: all,
  },
  'a suspension': { act: ({ user }) => admin(server, 'PUT', `/users/${user.id}/suspension`, {}), ends: all },
  'a suspension that was lifted': {
    act: async ({ user }) => {
      await admin(server, 'PUT', `/users/${user.id}/suspension`, {});
      await admin(server, 'DELETE', `/users/${user.id}/suspension`);
    },
    ends: all,
  },
  'the end of the account': { act: ({ user }) => admin(server, 'DELETE', `/users/${user.id}`), ends: all },
  'another name': {
    act: ({ user }) => admin(server, 'PATCH', `/users/${user.id}`, { displayName: 'Another' }),
    ends: [],
  },
};

for (const [event, { act, ends }] of Object.entries(events)) {
  test(`SE-03, PW-04: ${event} ends ${ends.join(', ') || 'nothing'}, at once`, async () => {
    const at = await everything();
    const here = at.browser.cookie(SESSION);
    const there = at.elsewhere.cookie(SESSION);
    await act(at);
    const ended = (effect: Effect) => ends.includes(effect);
    assert.equal(await isSignedIn(replay(here)), !ended('this session'));
    assert.equal(await isSignedIn(replay(there)), !ended('other sessions'));
    for (const [secret, effect] of [
      [here, 'this session'],
      [there, 'other sessions'],
    ] as const) {
      const answer = await replay(secret).get(authorizeUrl(client));
      assert.equal(answer.location?.searchParams.has('code') ?? false, !ended(effect));
    }
    assert.equal((await userinfo(server, at.tokens.access_token)).status === 200, !ended('tokens'));
    assert.equal((await refresh(server, client, at.tokens.refresh_token)).status === 200, !ended('tokens'));
    assert.equal((await redeem(server, client, at.code)).status === 200, !ended('tokens'));
  });
}

test('SE-03: a dead session cookie is taken from the browser, and nothing lasting is made of it', async () => {
  const browser = agent(server.baseUrl);
  browser.setCookie(SESSION, 'D'.repeat(43));
  const sessions = await countRows(server, 'browser_session');
  assert.equal(await isSignedIn(browser), false);
  assert.equal(browser.cookie(SESSION), undefined);
  for (const bad of ['', 'short', `${'D'.repeat(42)}%00`, 'D'.repeat(4000), '../x', "' OR 1=1"]) {
    assert.equal(await isSignedIn(replay(bad)), false);
  }
  assert.equal(await countRows(server, 'browser_session'), sessions);
});

test('decisions §3: a signed-in user who is banned or suspended gets access_denied with the contract’s message', async () => {
  for (const [state, message] of [
    ['ban', 'Account banned'],
    ['suspension', 'Account is suspended'],
  ] as const) {
    const { user, browser } = await newSignedInUser(server);
    codeOf({ ...(await browser.get('/account/security')), location: await walk(browser, authorizeUrl(client)) });
    await admin(server, 'PUT', `/users/${user.id}/${state}`, {});
    for (const more of [{}, { prompt: 'none' }, { prompt: 'login' }, { scope: 'openid email' }]) {
      const { location } = await browser.get(authorizeUrl(client, more));
      assert.deepEqual(Object.fromEntries(location?.searchParams ?? []), {
        error: 'access_denied',
        error_description: message,
        state: 'st4te',
        iss: server.baseUrl,
      });
    }
    await admin(server, 'DELETE', `/users/${user.id}/${state}`);
    assert.equal((await browser.get(authorizeUrl(client))).location?.pathname, '/login');
  }
});

test('SE-11: two people in two browsers, hours apart, never meet', async () => {
  const [first, second] = [await newUser(server), await newUser(server)];
  const [a, b] = [await signedIn(server, first), await signedIn(server, second)];
  server.advance(HOUR);
  const [pageA, pageB] = [await a.get('/account/security'), await b.get('/account/security')];
  assert.ok(pageA.text.includes(first.username) && !pageA.text.includes(second.username));
  assert.ok(pageB.text.includes(second.username) && !pageB.text.includes(first.username));
});

const rowsOf = async (table: string, { id }: TestUser): Promise<number> =>
  Number((await query(server, `SELECT count(*) AS n FROM ${table} WHERE account_id = ?`, id))[0]?.['n']);

test('decisions §9: an account has 64 sessions and remembers 64 browsers; those used last stay', async () => {
  const user = await newUser(server);
  const spare = await signedIn(server, user);
  server.advance(HOUR);
  const used = await signedIn(server, user);
  for (let count = 0; count < 63; count++) {
    server.advance(HOUR);
    await used.get('/account/security');
    await signedIn(server, user);
  }
  assert.equal(await isSignedIn(spare), false);
  assert.equal(await isSignedIn(used), true);
  assert.deepEqual([await rowsOf('browser_session', user), await rowsOf('known_browser', user)], [64, 64]);
  const { items } = (await admin(server, 'GET', `/audit-events?userId=${user.id}&type=sign_out`)).body;
  assert.deepEqual(
    items.map(({ details }: { details: { reason: string } }) => details.reason),
    ['too many sessions'],
  );
});

test('decisions §9: of too many sessions the dead ones go first', async () => {
  const user = await newUser(server);
  const alive = await signedIn(server, user);
  await Promise.all(Array.from({ length: 9 }, () => signedIn(server, user)));
  await admin(server, 'DELETE', `/users/${user.id}/sessions`);
  assert.equal(await isSignedIn(alive), false);
  const oldest = await signedIn(server, user);
  for (let count = 0; count < 63; count++) {
    server.advance(1);
    await signedIn(server, user);
  }
  assert.equal(await isSignedIn(oldest), true);
  assert.equal(await rowsOf('browser_session', user), 64);
});
