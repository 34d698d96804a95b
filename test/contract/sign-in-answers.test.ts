// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { authenticateByPassword } from '../../src/account-actions/authentication/password.ts';
import { signIn } from '../../src/account-actions/sign-in/sign-in.ts';
import type { Passwords } from '../../src/platform/crypto/passwords.ts';
import { readConfig } from '../../src/settings/config.ts';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { NO_MAIL } from '../support/no-mail.ts';
import { assertStaysHere, DAY } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// SE-06, SE-07: what a sign-in answers, to whom it tells what, and where it leads.

const server = await startServer({ TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' });
after(() => server.close());

/** A sign-in from a browser that was never here. */
async function attempt(identifier: string, password: string, headers?: Record<string, string>): Promise<Answer> {
  const browser = agent(server.baseUrl);
  const page = await browser.get('/login', headers);
  return browser.submit(page, { identifier, password });
}

/** A page without what is random in it or was typed by the person. */
const normalised = (answer: Answer, typed: string) => ({
  status: answer.status,
  text: answer.text.replaceAll(/(name="form_token" value=")[^"]*/g, '$1').replaceAll(typed, 'TYPED'),
  headers: [...answer.headers]
    .filter(([name]) => !['date', 'content-length', 'x-request-id'].includes(name))
    // What was typed, sealed.
    .map(([name, value]) => [name, value.replace(/(?<=tessera_named[^=]*=)[^;]*/, '')]),
});

const newPerson = async (fields: Readonly<Record<string, unknown>> = {}): Promise<TestUser> => newUser(server, fields);

const unable: Record<string, () => Promise<string>> = {
  'a known name': async () => (await newPerson()).username,
  'a known address': async () => `${(await newPerson()).username}@example.com`,
  'an unknown address': async () => 'nobody@example.com',
  'an account without a password': async () => (await newPerson({ password: undefined })).username,
  'a banned account': async () => {
    const user = await newPerson();
    await admin(server, 'PUT', `/users/${user.id}/ban`, {});
    return user.username;
  },
  'a suspended account': async () => {
    const user = await newPerson();
    await admin(server, 'PUT', `/users/${user.id}/suspension`, {});
    return user.username;
  },
  'a deleted account': async () => {
    const user = await newPerson();
    await admin(server, 'DELETE', `/users/${user.id}`);
    return user.username;
  },
};

for (const [name, make] of Object.entries(unable)) {
  test(`SE-07: a wrong password for ${name} looks like an unknown name`, async () => {
    const known = await make();
    const unknown = 'nobody-of-this-name';
    const expected = normalised(await attempt(unknown, 'not the password'), unknown);
    assert.equal(expected.status, 401);
    assert.deepEqual(normalised(await attempt(known, 'not the password'), known), expected);
  });
}

test('SE-07: an unknown name is checked against a decoy, where a known one is checked against its hash', async () => {
  const { username } = await newPerson();
  const passwordless = (await newPerson({ password: undefined })).username;
  await withData(server, async ({ database, clock }) => {
    const asked: boolean[] = [];
    const passwords: Passwords = {
      hash: async () => assert.fail('nothing is hashed anew'),
      async check(_password, stored) {
        asked.push(stored !== null);
        return 'wrong';
      },
      load: () => ({ running: 0, waiting: 0 }),
    };
    const { limits } = readConfig(server.environment);
    const origin = { actor: { type: 'anonymous', id: null }, address: null, requestId: null } as const;
    const browser = {
      mark: { hash: 'hash', knownHashes: [] },
      userAgent: undefined,
      previousSecret: undefined,
      trustedSecret: undefined,
      interactionHash: null,
      origin,
    };
    const services = { ...NO_MAIL, database, clock, passwords, limits };
    for (const identifier of [username, 'nobody-at-all', 'nobody@example.com', 'before\0after', passwordless]) {
      const attempt = { identifier, password: 'not the password', origin, browser: browser.mark };
      const checked = await authenticateByPassword(services, attempt, clock());
      const outcome = await signIn(services, checked, browser);
      assert.equal(outcome.kind, 'wrong', identifier);
    }
    assert.deepEqual(asked, [true, false, false, false, false]);
  });
});

test('SE-07: past the limit, known and unknown names still look alike', async () => {
  const known = (await newPerson()).username;
  const unknown = 'nobody-else';
  for (const identifier of [known, unknown]) {
    for (let guess = 0; guess < 10; guess++) assert.equal((await attempt(identifier, 'wrong')).status, 401);
  }
  const expected = normalised(await attempt(unknown, 'not the password'), unknown);
  assert.equal(expected.status, 429);
  assert.deepEqual(normalised(await attempt(known, 'not the password'), known), expected);
  assert.deepEqual(normalised(await attempt(known, PASSWORD), known), expected, 'the right password too');
});

test('SE-07: that an account is barred is told after the right password, and no session comes of it', async () => {
  for (const [state, body] of [
    ['ban', { until: new Date(server.now() + DAY).toISOString() }],
    ['suspension', {}],
  ] as const) {
    const user = await newPerson();
    await admin(server, 'PUT', `/users/${user.id}/${state}`, body);
    const browser = agent(server.baseUrl);
    const answer = await browser.submit(await browser.get('/login'), { identifier: user.username, password: PASSWORD });
    assertStaysHere(answer, 403);
    assert.match(answer.text, state === 'ban' ? /banned/ : /suspended/);
    assert.equal(browser.cookie('tessera_session'), undefined);
    await admin(server, 'DELETE', `/users/${user.id}/${state}`);
    await signedIn(server, user);
  }
});

test('decisions §5: at the instant at which a ban ends the account signs in again', async () => {
  const user = await newPerson();
  const until = server.now() + DAY;
  await admin(server, 'PUT', `/users/${user.id}/ban`, { until: new Date(until).toISOString() });
  server.advance(DAY - 1);
  assert.equal((await attempt(user.username, PASSWORD)).status, 403);
  server.advance(1);
  await signedIn(server, user);
});

test('decisions §7: a name and an address sign in, however they are capitalised', async () => {
  const user = await newPerson({ username: 'mixed.case-1', email: 'Mixed.Case+tag@Example.COM' });
  for (const identifier of [
    user.username,
    'MIXED.CASE-1',
    'Mixed.Case-1',
    'Mixed.Case+tag@Example.COM',
    'mixed.case+tag@example.com',
    'MIXED.CASE+TAG@EXAMPLE.COM',
    ' mixed.case-1 ',
  ]) {
    const answer = await attempt(identifier, PASSWORD);
    assert.deepEqual([answer.status, answer.location?.pathname], [303, '/account'], identifier);
  }
  for (const identifier of ['mixed.case-1@example.com', 'mixed.case', 'mixed%', 'mixed_case-1', '*', "' OR '1'='1"]) {
    assert.equal((await attempt(identifier, PASSWORD)).status, 401, identifier);
  }
});

test('a form with an empty field is told so, and counts as no attempt', async () => {
  const user = await newPerson();
  for (const [identifier, password] of [
    ['', PASSWORD],
    [user.username, ''],
    ['', ''],
    ['   ', PASSWORD],
  ] as const) {
    for (let time = 0; time < 6; time++) assertStaysHere(await attempt(identifier, password), 400);
  }
  await signedIn(server, user);
});

const EVIL = 'https://evil.example/phish';
const carriers = ['next', 'return_to', 'returnTo', 'continue', 'redirect', 'redirect_uri', 'url', 'goto', 'ReturnUrl'];
for (const [name, target] of [
  ['an address', EVIL],
  ['an address without a scheme', '//evil.example'],
  ['a script', 'javascript:alert(1)'],
  ['a path of ours', '/account/connections'],
] as const) {
  test(`SE-06: after a sign-in, ${name} in a parameter, a field or the Referer leads nowhere`, async () => {
    const user = await newPerson();
    const poison = Object.fromEntries(carriers.map((carrier) => [carrier, target]));
    const browser = agent(server.baseUrl);
    const page = await browser.get(`/login?${new URLSearchParams(poison)}`, { referer: EVIL });
    assert.ok(!page.text.includes('evil.example') && !page.text.includes('javascript:'));
    const form = { ...hiddenOf(page), ...poison, identifier: user.username, password: PASSWORD };
    const answer = await browser.post(`/login?${new URLSearchParams(poison)}`, form, { referer: EVIL });
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/account']);
    const signup = await browser.get(`/signup?${new URLSearchParams(poison)}`, { referer: EVIL });
    assert.ok(!signup.text.includes('evil.example') && !signup.text.includes('javascript:'));
    const again = await browser.get(`/login?${new URLSearchParams(poison)}`, { referer: EVIL });
    assert.equal(again.headers.get('location'), '/account');
    const account = await browser.get('/account');
    const out = await browser.post('/logout', { ...hiddenOf(account, '/logout'), ...poison }, { referer: EVIL });
    assert.equal(out.headers.get('location'), '/login');
  });
}

function hiddenOf(page: Answer, action?: string): Record<string, string> {
  const form = action === undefined ? page.text : (page.text.split(`action="${action}"`)[1] ?? '');
  return { form_token: /name="form_token" value="([^"]*)"/.exec(form)?.[1] ?? '' };
}

test('HB-05: what was typed comes back as text, never as markup, and the password never comes back', async () => {
  const typed = '"><script>alert(1)</script>&lt;\'';
  const password = 'pass<word>"to\'keep';
  const answer = await attempt(typed, password);
  assert.equal(answer.status, 401);
  assert.ok(!answer.text.includes('<script>alert'));
  assert.ok(answer.text.includes('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;lt;&#39;'));
  for (const part of ['pass<word>', 'pass&lt;word']) assert.ok(!answer.text.includes(part));
});

test('sign-up: a taken name or address is told, in any case, and changes nothing', async () => {
  const user = await newPerson();
  const signUp = async (browser: Agent, fields: Record<string, string>) =>
    browser.submit(await browser.get('/signup'), {
      displayName: 'Grace',
      username: 'fresh-name',
      email: 'fresh@example.com',
      password: 'quite another passphrase',
      ...fields,
    });
  for (const fields of [
    { username: user.username },
    { username: user.username.toUpperCase() },
    { email: `${user.username}@example.com` },
    { email: `${user.username}@EXAMPLE.com`.toUpperCase() },
  ]) {
    const browser = agent(server.baseUrl);
    assertStaysHere(await signUp(browser, fields), 409);
    assert.equal(browser.cookie('tessera_session'), undefined);
  }
  await signedIn(server, user);
  const browser = agent(server.baseUrl);
  const made = await signUp(browser, {});
  assert.deepEqual([made.status, made.headers.get('location')], [303, '/account']);
  assert.equal((await browser.get('/account')).status, 200);
});
