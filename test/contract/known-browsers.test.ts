// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { askRecovery, newestMail, recover, useLink } from '../support/recovery.ts';
import { enroll } from '../support/second-factor.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';

// PW-08: a browser that signed in before has a count of its own, until the account gets a new generation: decisions §11.

const server = spread(await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off' }, SEVERAL));
after(() => server.close());

const NEW_PASSWORD = 'quartz lamp river';
const emailOf = ({ username }: TestUser): string => `${username}@example.com`;
const known = async ({ id }: TestUser): Promise<number> =>
  (await query(server, `SELECT browser_hash FROM known_browser WHERE account_id = '${id}'`)).length;
const change = async (user: TestUser, method: 'PUT' | 'PATCH' | 'DELETE', path: string, body?: object) =>
  assert.ok((await admin(server, method, `/users/${user.id}${path}`, body)).status < 300, path);

/** What ends everything, and whether the browser in which it is done goes on. */
const acts: Readonly<Record<string, { readonly goesOn: boolean; act(user: TestUser, own: Agent): Promise<unknown> }>> =
  {
    'a new password': {
      goesOn: true,
      async act(_user, own) {
        const page = await own.get('/account/security');
        const done = await own.submit(page, { current: PASSWORD, password: NEW_PASSWORD }, '/account/password');
        assert.equal(done.status, 200);
      },
    },
    'an address that was changed': {
      goesOn: true,
      async act(user, own) {
        const email = `new-${emailOf(user)}`;
        await own.submit(await own.get('/account/email'), { email }, '/account/email');
        const [mail] = await mailsTo(server, email);
        const page = await own.get('/account/email');
        assert.equal((await own.submit(page, { code: mail?.code ?? '' }, '/account/email/code')).status, 200);
      },
    },
    'new recovery codes': {
      goesOn: true,
      async act(user, own) {
        await enroll(server, user);
        await query(
          server,
          `UPDATE browser_session SET proved_by = 'totp', proved_at = ${server.now()} WHERE account_id = '${user.id}'`,
        );
        const done = await own.submit(await own.get('/account/security'), {}, '/account/security/recovery-codes');
        assert.equal(done.status, 200);
      },
    },
    'a password that an operator set': {
      goesOn: false,
      act: (user) => change(user, 'PATCH', '', { password: NEW_PASSWORD }),
    },
    'signing out everywhere by an operator': {
      goesOn: false,
      act: (user) => change(user, 'DELETE', '/sessions'),
    },
    'a ban': { goesOn: false, act: (user) => change(user, 'PUT', '/ban', {}) },
    'a suspension': { goesOn: false, act: (user) => change(user, 'PUT', '/suspension', {}) },
    'a recovery in another browser': {
      // That browser signs in.
      goesOn: true,
      act: (user) => recover(server, emailOf(user), NEW_PASSWORD),
    },
  };

for (const [title, { goesOn, act }] of Object.entries(acts)) {
  test(`${title} makes the account forget the other browsers`, async () => {
    const user = await newUser(server, { emailVerified: true });
    await signedIn(server, user);
    const own = await signedIn(server, user);
    assert.equal(await known(user), 2);
    await act(user, own);
    assert.equal(await known(user), goesOn ? 1 : 0);
  });
}

test('a browser that was known before a new password shares the count of strangers', async () => {
  const user = await newUser(server);
  const thief = await signedIn(server, user);
  const own = await signedIn(server, user);
  const page = await own.get('/account/security');
  await own.submit(page, { current: PASSWORD, password: NEW_PASSWORD }, '/account/password');
  const attempt = async (browser: Agent, password: string) =>
    (await browser.submit(await browser.get('/login'), { identifier: user.username, password }, '/login')).status;
  const stranger = agent(server.baseUrl, server.nodeInTurn);
  for (let guess = 0; guess < 10; guess++) assert.equal(await attempt(stranger, 'x'), 401);
  assert.equal(await attempt(thief, 'x'), 429);
  await own.submit(await own.get('/account/security'), {}, '/logout');
  assert.equal(await attempt(own, NEW_PASSWORD), 303, 'the acting browser stays known');
});

/** A copy of the cookies that a browser has now. */
function copyOf(browser: Agent): Agent {
  const copy = agent(server.baseUrl, server.nodeInTurn);
  for (const name of ['tessera_browser', 'tessera_known']) copy.setCookie(name, browser.cookie(name) ?? '');
  return copy;
}

const tryIn = async (browser: Agent, { username }: TestUser, password = 'x'): Promise<number> =>
  (await browser.submit(await browser.get('/login'), { identifier: username, password }, '/login')).status;

const SIGN_INS: Readonly<Record<string, (user: TestUser, browser: Agent) => Promise<unknown>>> = {
  'another sign-in': async (user, browser) => {
    await browser.submit(await browser.get('/account'), {}, '/logout');
    assert.equal(await tryIn(browser, user, PASSWORD), 303);
  },
  'a recovery': (user, browser) => recover(server, emailOf(user), NEW_PASSWORD, browser),
  'a new password': async (_user, browser) => {
    const page = await browser.get('/account/security');
    await browser.submit(page, { current: PASSWORD, password: NEW_PASSWORD }, '/account/password');
  },
  'a fresh proof': async (_user, browser) => {
    server.advance(11 * 60_000);
    const page = await browser.get('/account/confirm?next=email');
    assert.equal((await browser.submit(page, { current: PASSWORD }, '/account/confirm')).status, 303);
  },
};
for (const [what, act] of Object.entries(SIGN_INS)) {
  test(`${what} in a browser makes a copy of its cookies a stranger, which uses up none of its tries`, async () => {
    const user = await newUser(server, { emailVerified: true });
    const own = await signedIn(server, user);
    const thief = copyOf(own);
    await act(user, own);
    const stranger = agent(server.baseUrl, server.nodeInTurn);
    for (let guess = 0; guess < 10; guess++) assert.equal(await tryIn(stranger, user), 401);
    assert.equal(await tryIn(thief, user), 429, 'it shares the count of strangers');
    await own.submit(await own.get('/account'), {}, '/logout');
    assert.equal(await tryIn(own, user), 401, 'the browser itself stays known');
  });
}

test('a browser stays known to each of the accounts that sign in there', async () => {
  const [ada, bea] = [await newUser(server), await newUser(server)];
  const own = await signedIn(server, ada);
  await own.submit(await own.get('/account'), {}, '/logout');
  assert.equal(await tryIn(own, bea, PASSWORD), 303);
  await own.submit(await own.get('/account'), {}, '/logout');
  const stranger = agent(server.baseUrl, server.nodeInTurn);
  for (let guess = 0; guess < 10; guess++) assert.equal(await tryIn(stranger, ada), 401);
  assert.equal(await tryIn(stranger, ada), 429);
  assert.equal(await tryIn(own, ada), 401);
});

test('a browser that version 0.2 knew is known until it signs in again', async () => {
  const user = await newUser(server);
  const own = await signedIn(server, user);
  await query(server, `UPDATE known_browser SET secret_hash = NULL WHERE account_id = '${user.id}'`);
  const thief = copyOf(own);
  const stranger = agent(server.baseUrl, server.nodeInTurn);
  for (let guess = 0; guess < 10; guess++) assert.equal(await tryIn(stranger, user), 401);
  assert.equal(await tryIn(thief, user), 401);
  await own.submit(await own.get('/account'), {}, '/logout');
  assert.equal(await tryIn(own, user, PASSWORD), 303);
  assert.equal(await tryIn(thief, user), 429);
});

test('a stranger who signs in to an account of their own with a copy of the cookies changes nothing for the others', async () => {
  const [ada, eve] = [await newUser(server, { emailVerified: true }), await newUser(server)];
  const own = await signedIn(server, ada);
  const thief = copyOf(own);
  assert.equal(await tryIn(thief, eve, PASSWORD), 303);
  await thief.submit(await thief.get('/account'), {}, '/logout');
  await own.submit(await own.get('/account'), {}, '/logout');
  const stranger = agent(server.baseUrl, server.nodeInTurn);
  for (let guess = 0; guess < 10; guess++) assert.equal(await tryIn(stranger, ada), 401);
  assert.equal(await tryIn(own, ada, PASSWORD), 303, 'the browser itself stays known');
  assert.equal(await tryIn(thief, ada), 429, 'and the copy is a stranger');
});

test('a copy of the cookies that is out of date ends no recovery link of the browser', async () => {
  const user = await newUser(server, { emailVerified: true });
  const own = await signedIn(server, user);
  const thief = copyOf(own);
  await own.submit(await own.get('/account'), {}, '/logout');
  assert.equal(await tryIn(own, user, PASSWORD), 303);
  await askRecovery(server, own, emailOf(user));
  const { link = '' } = await newestMail(server, emailOf(user), 'recovery');
  await askRecovery(server, thief, emailOf(user));
  assert.equal((await useLink(own, link, NEW_PASSWORD)).status, 303);
});

test('a browser is known to eight accounts, those that signed in last', async () => {
  const users = [];
  const own = agent(server.baseUrl, server.nodeInTurn);
  for (let number = 0; number < 9; number++) {
    const user = await newUser(server);
    users.push(user);
    assert.equal(await tryIn(own, user, PASSWORD), 303);
    await own.submit(await own.get('/account'), {}, '/logout');
  }
  assert.equal(own.cookie('tessera_known')?.split('.').length, 8);
});
