// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { boundedPool } from '../../src/platform/bounded-pool.ts';
import { type Agent, agent, formOf } from '../support/agent.ts';
import { newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { gate } from '../support/gate.ts';
import { MINUTE, SECOND } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

// Decisions §9, PW-07, PW-08: failed sign-ins, 10 a minute for an account and 60 for an address.

// The proxy in front names the address, so that a test has as many addresses as it needs; and enough may wait for
// their hash that none of the attempts below is turned away for that.
/** How many passwords were compared with that of an account. */
let evaluated = 0;
const settings = { TESSERA_TRUST_PROXY: '1', TESSERA_HASHING_CONCURRENCY: '8' };
const server = await startServer(settings, 1, undefined, {
  passwords: (own) => ({
    ...own,
    check(password, stored, flows) {
      if (stored !== null) evaluated++;
      return own.check(password, stored, flows);
    },
  }),
});
after(() => server.close());

let addresses = 0;
const newAddress = (): string => `192.0.${2 + Math.floor(++addresses / 250)}.${addresses % 250}`;

/** One attempt; answers its status. */
async function attempt(
  identifier: string,
  password: string,
  from = newAddress(),
  browser: Agent = agent(server.baseUrl),
): Promise<number> {
  const headers = { 'x-forwarded-for': from };
  // Signed in already, there is no form: sign out first.
  if (browser.cookie('tessera_session') !== undefined)
    await browser.submit(await browser.get('/account/security'), {}, '/logout');
  const page = await browser.get('/login', headers);
  const form_token = /name="form_token" value="([^"]*)"/.exec(page.text)?.[1] ?? '';
  const answer = await browser.post('/login', { form_token, identifier, password }, headers);
  if (answer.status === 429) {
    const wait = Number(answer.headers.get('retry-after'));
    assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 60, `Retry-After: ${wait}`);
  }
  return answer.status;
}

const spellings = (user: TestUser) => [
  user.username,
  user.username.toUpperCase(),
  `${user.username}@example.com`,
  `${user.username}@EXAMPLE.COM`,
  ` ${user.username}`,
];

test('decisions §9: the eleventh attempt for an account in a minute is refused, the right password too', async () => {
  const user = await newUser(server);
  for (let guess = 0; guess < 10; guess++) assert.equal(await attempt(user.username, `guess ${guess}`), 401);
  assert.equal(await attempt(user.username, 'guess'), 429);
  assert.equal(await attempt(user.username, PASSWORD), 429);
  server.advance(MINUTE - 1);
  assert.equal(await attempt(user.username, PASSWORD), 429);
  server.advance(1);
  assert.equal(await attempt(user.username, PASSWORD), 303);
});

test('PW-07: all spellings of one account share one count', async () => {
  const user = await newUser(server);
  const names = spellings(user);
  for (let guess = 0; guess < 10; guess++) {
    assert.equal(await attempt(names[guess % names.length] ?? '', `guess ${guess}`), 401);
  }
  // Not 429: that would tell that a username and an address are one account's.
  for (const name of names) assert.equal(await attempt(name, PASSWORD), 401, name);
  server.advance(MINUTE);
  for (const name of names) assert.equal(await attempt(name, PASSWORD), 303, name);
  assert.equal(await attempt((await newUser(server)).username, PASSWORD), 303, 'another account is free');
});

test('PW-07: of a hundred parallel guesses ten are evaluated, and the right one beyond them is refused', async () => {
  const user = await newUser(server);
  const names = spellings(user);
  evaluated = 0;
  const wrong = Array.from({ length: 100 }, (_, guess) => attempt(names[guess % names.length] ?? '', `guess ${guess}`));
  const statuses = await Promise.all(wrong);
  assert.deepEqual([...new Set(statuses)].sort(), [401, 429]);
  assert.equal(statuses.filter((status) => status === 401).length, 20, 'ten by each name');
  assert.equal(evaluated, 10);
  for (const name of names) assert.equal(await attempt(name, PASSWORD), 429, name);
  assert.equal(evaluated, 10);
});

test('the attempts by one name of an account tell nothing of its other name', async () => {
  const [attacked, other] = [await newUser(server), await newUser(server)];
  for (let guess = 0; guess < 12; guess++) await attempt(attacked.username, 'x');
  /** What a stranger sees who tries an address, with and without the right password. */
  async function seen(email: string, passwords: readonly string[]) {
    const browser = agent(server.baseUrl);
    const answers = [];
    for (const password of passwords) {
      const headers = { 'x-forwarded-for': newAddress() };
      const { hidden } = formOf((await browser.get('/login', headers)).text, '/login');
      const answer = await browser.post('/login', { ...hidden, identifier: email, password }, headers);
      const text = answer.text.replaceAll(email, 'EMAIL').replaceAll(/value="[\w.-]{20,}"/g, 'value="TOKEN"');
      const names = [...answer.headers.keys()].filter((name) => name !== 'x-request-id');
      answers.push({ status: answer.status, names, text });
    }
    return answers;
  }
  const guesses = Array.from({ length: 11 }, (_, index) => `guess ${index}`);
  const ofAttacked = await seen(`${attacked.username}@example.com`, guesses);
  assert.deepEqual(
    ofAttacked.map(({ status }) => status),
    [...Array.from({ length: 10 }, () => 401), 429],
  );
  assert.deepEqual(ofAttacked, await seen(`${other.username}@example.com`, guesses));
  assert.deepEqual(ofAttacked, await seen('nobody@example.com', guesses));
  server.advance(MINUTE);
  for (let guess = 0; guess < 10; guess++) await attempt(attacked.username, 'x');
  const right = await seen(`${attacked.username}@example.com`, [PASSWORD]);
  assert.deepEqual(right, ofAttacked.slice(0, 1), 'the right password is answered like a wrong one');
});

test('decisions §9: right passwords do not count, one after another or side by side', async () => {
  const user = await newUser(server);
  const from = newAddress();
  for (let time = 0; time < 15; time++) assert.equal(await attempt(user.username, PASSWORD, from), 303);
  for (let guess = 0; guess < 9; guess++) assert.equal(await attempt(user.username, 'wrong', from), 401);
  for (let time = 0; time < 5; time++) assert.equal(await attempt(user.username, PASSWORD, from), 303);
  assert.equal(await attempt(user.username, 'wrong', from), 401);
  assert.equal(await attempt(user.username, 'wrong', from), 429);
});

test('decisions §9: 60 failed attempts a minute from one address, whomever they are for', async () => {
  const from = newAddress();
  const user = await newUser(server);
  const statuses = await Promise.all(Array.from({ length: 80 }, (_, index) => attempt(`unknown-${index}`, 'x', from)));
  assert.equal(statuses.filter((status) => status === 401).length, 60);
  assert.equal(statuses.filter((status) => status === 429).length, 20);
  assert.equal(await attempt(user.username, PASSWORD, from), 429);
  assert.equal(await attempt(user.username, PASSWORD), 303, 'from elsewhere the account is free');
  server.advance(MINUTE);
  assert.equal(await attempt(user.username, PASSWORD, from), 303);
});

test('decisions §9: an address that has used up its attempts uses up none of any account', async () => {
  const from = newAddress();
  await Promise.all(Array.from({ length: 60 }, (_, index) => attempt(`nobody-${index}`, 'x', from)));
  const users = await Promise.all(Array.from({ length: 5 }, () => newUser(server)));
  for (const { username } of users) {
    const refused = await Promise.all(Array.from({ length: 11 }, () => attempt(username, 'x', from)));
    assert.deepEqual([...new Set(refused)], [429]);
    assert.equal(await attempt(username, PASSWORD), 303, 'from an unknown browser elsewhere');
  }
});

test('decisions §9: IPv6 addresses count by /64, and IPv4 ones however they are written', async () => {
  for (const [from, same, different] of [
    [(n: number) => `2001:db8:0:1::${n.toString(16)}`, '2001:0db8:0000:0001:ffff:ffff:ffff:ffff', '2001:db8:0:2::1'],
    [(n: number) => (n % 2 === 0 ? '198.51.100.7' : '::ffff:198.51.100.7'), '198.51.100.7', '198.51.100.8'],
  ] as const) {
    const statuses = await Promise.all(
      Array.from({ length: 61 }, (_, index) => attempt(`unknown6-${index}`, 'x', from(index + 1))),
    );
    assert.equal(statuses.filter((status) => status === 401).length, 60);
    assert.equal(await attempt('unknown', 'x', same), 429);
    assert.equal(await attempt('unknown', 'x', different), 401);
    server.advance(MINUTE);
  }
});

test('PW-08: a stranger cannot lock a user out of a browser in which they signed in before', async () => {
  const user = await newUser(server);
  const known = await signedIn(server, user);
  const home = newAddress();
  const stranger = agent(server.baseUrl);
  const form = { ...formOf((await stranger.get('/login')).text).hidden, identifier: user.username, password: 'guess' };
  // A stranger spends the whole count of the account, minute after minute, for an hour.
  for (let minute = 0; minute < 60; minute++) {
    for (let guess = 0; guess < 10; guess++) {
      assert.equal((await stranger.post('/login', form, { 'x-forwarded-for': newAddress() })).status, 401);
    }
    assert.equal(await attempt(user.username, PASSWORD), 429, 'from an unknown browser');
    assert.equal(await attempt(user.username, PASSWORD, home, known), 303, 'from the known one');
    server.advance(MINUTE);
  }
});

test('PW-08: a known browser has a separate count, which limits it as well and affects no other', async () => {
  const [user, other] = [await newUser(server), await newUser(server)];
  const known = await signedIn(server, user);
  for (let guess = 0; guess < 10; guess++) assert.equal(await attempt(user.username, 'x', newAddress(), known), 401);
  assert.equal(await attempt(user.username, PASSWORD, newAddress(), known), 429);
  assert.equal(await attempt(user.username, PASSWORD), 303, 'the count of unknown browsers is another');
  // For another account it is a browser like any other: it shares the one count.
  for (let guess = 0; guess < 10; guess++) assert.equal(await attempt(other.username, 'x'), 401);
  assert.equal(await attempt(other.username, PASSWORD, newAddress(), known), 429);
});

test('PW-08: a made-up browser cookie gives no count of its own', async () => {
  const user = await newUser(server);
  await signedIn(server, user);
  for (let guess = 0; guess < 10; guess++) assert.equal(await attempt(user.username, 'x'), 401);
  for (let guess = 0; guess < 5; guess++) {
    const browser = agent(server.baseUrl);
    browser.setCookie('tessera_browser', String(guess).repeat(43));
    assert.equal(await attempt(user.username, PASSWORD, newAddress(), browser), 429);
  }
});

test('decisions §9: the current password asked for by a change is under the same limit', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  for (let guess = 0; guess < 10; guess++) {
    const page = await browser.get('/account/security');
    const fields = { current: `guess ${guess}`, password: 'a new passphrase' };
    assert.equal((await browser.submit(page, fields, '/account/password')).status, 400);
  }
  const fields = { current: PASSWORD, password: 'a new passphrase' };
  const refused = await browser.submit(await browser.get('/account/security'), fields, '/account/password');
  assert.equal(refused.status, 429);
  assert.equal(await attempt(user.username, PASSWORD), 303, 'the password is the old one');
  server.advance(MINUTE);
  assert.equal((await browser.submit(await browser.get('/account/security'), fields, '/account/password')).status, 200);
  assert.equal(await attempt(user.username, 'a new passphrase'), 303);
});

test('decisions §9: counts outlive a restart, and ten sign-ups an hour are the limit of an address', async () => {
  const strict = await startServer({ TESSERA_LIMIT_SIGN_UP_ADDRESS: '10/h' });
  try {
    const signUp = async (name: string) => {
      const browser = agent(strict.baseUrl);
      const fields = { displayName: 'N', username: name, email: `${name}@example.com`, password: 'some passphrase' };
      return (await browser.submit(await browser.get('/signup'), fields)).status;
    };
    for (let index = 0; index < 10; index++) assert.equal(await signUp(`person-${index}`), 303);
    assert.equal(await signUp('person-10'), 429);
    strict.advance(60 * MINUTE - SECOND);
    assert.equal(await signUp('person-10'), 429);
    strict.advance(SECOND);
    assert.equal(await signUp('person-10'), 303);
  } finally {
    await strict.close();
  }
});

/** A sign-in with the right password in a browser of its own, ready to be sent from any address. */
async function formFor(at: TestServer, user: TestUser | undefined) {
  const browser = agent(at.baseUrl);
  const { hidden } = formOf((await browser.get('/login')).text, '/login');
  const fields = { ...hidden, identifier: user?.username ?? '', password: PASSWORD };
  return async (from: string) => (await browser.post('/login', fields, { 'x-forwarded-for': from })).status;
}

test('PW-08: accounts that fill the password queue from one address do not block others', async () => {
  const hashing = gate();
  const pool = boundedPool(1, 6, 'busy');
  const shared = await startServer({ TESSERA_TRUST_PROXY: '1' }, 1, undefined, {
    passwords: (own) => ({
      ...own,
      check: (password, stored, flows) =>
        pool.run(async () => hashing.pass(await own.check(password, stored, [])), flows),
    }),
  });
  try {
    const people = await Promise.all(Array.from({ length: 6 }, () => newUser(shared)));
    const [victim, ...crowd] = people;
    const forms = await Promise.all([victim, ...crowd, ...crowd, ...crowd].map((user) => formFor(shared, user)));
    const [enter, ...flood] = forms.map((form, index) => () => form(index === 0 ? '198.51.100.1' : '203.0.113.1'));
    hashing.close();
    const first = flood.shift()?.();
    await hashing.reached;
    // Six of these fourteen may wait, and the others are turned away; one more gives way to the victim.
    const [turnedAway, gaveWay] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let busy = 0;
    const answers = flood.map(async (send) => {
      const status = await send();
      if (status === 503) busy++;
      if (busy === 8) turnedAway.resolve();
      if (busy === 9) gaveWay.resolve();
      return status;
    });
    await turnedAway.promise;
    const entered = enter?.();
    await gaveWay.promise;
    hashing.open();
    assert.equal(await entered, 303);
    const all = [await first, ...(await Promise.all(answers))];
    assert.equal(all.filter((status) => status === 303).length, 6);
  } finally {
    await shared.close();
  }
});
