// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, newUser, signedIn } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';

// Decisions §11: with mail, an account begins with the proof of its address, in the browser that asked for it.

const MINUTE = 60_000;
const limits = {
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_CODE_ACCOUNT: '3/h',
};
const server = spread(await startServer({ TESSERA_MAILBOX: 'on', ...limits }, SEVERAL));
after(() => server.close());

let names = 0;
const newName = (): string => `person${++names}`;
const fieldsOf = (username: string, email = `${username}@example.com`) => ({
  displayName: 'A. Person',
  username,
  email,
  password: 'quartz lamp river',
});

async function begin(username: string, email?: string, browser = agent(server.baseUrl, server.nodeInTurn)) {
  const answer = await browser.submit(await browser.get('/signup'), fieldsOf(username, email));
  return { browser, answer };
}

const newest = async (address: string) => {
  const [mail] = await mailsTo(server, address);
  assert.ok(mail !== undefined, `a message to ${address}`);
  return { ...mail, path: mail.link?.slice(server.baseUrl.length) ?? '' };
};

const enter = async (browser: Agent, code: string | undefined) =>
  browser.submit(await browser.get('/signup/verify'), { code: code ?? '' });

const isSignedIn = async (browser: Agent) => (await browser.get('/account')).status === 200;
const find = async (text: string) => (await admin(server, 'GET', `/users?q=${text}`)).body.items;

test('what a stranger chose is not repeated to an address that nobody proved', async () => {
  const name = newName();
  const { browser } = await begin(name);
  const [first] = await mailsTo(server, `${name}@example.com`);
  await enter(browser, first?.code ?? '');
  const victim = `victim-of-${newName()}@example.com`;
  await browser.submit(await browser.get('/account/email'), { email: victim }, '/account/email');
  for (const mail of [first, (await mailsTo(server, victim))[0]]) {
    const { code = '' } = mail ?? {};
    assert.equal(mail?.subject, `${code.slice(0, 3)} ${code.slice(3)} confirms your email address`);
    assert.ok(!mail.text.includes(name), mail.text);
    assert.ok(mail.text.includes(` account at ${new URL(server.baseUrl).host}`), mail.text);
  }
});

test('a wrong code is told the limit that is set, where too many codes are not told', async () => {
  const user = await newUser(server);
  const browser = agent(server.baseUrl, server.nodeInTurn);
  const form = { identifier: user.username };
  const page = await browser.get((await browser.submit(await browser.get('/recover'), form)).location?.pathname ?? '');
  const { text } = await browser.submit(page, { sent_code: '000000' }, '/recover/code');
  assert.match(text, /After 3 wrong codes, wait 60 minutes\./);
});

describe('the account is created by', () => {
  test('the code, and the address is verified', async () => {
    const name = newName();
    const { browser, answer } = await begin(name);
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/signup/verify']);
    assert.deepEqual(await find(name), [], 'not before');
    const { code } = await newest(`${name}@example.com`);
    const page = await browser.get('/signup/verify');
    assert.match(page.text, new RegExp(`${name}@example.com`));
    assert.match(page.text, /This server sends no mail. Open <a href="\/mailbox">/);
    const done = await enter(browser, `${code?.slice(0, 3)} ${code?.slice(3)}`);
    assert.deepEqual([done.status, done.headers.get('location')], [303, '/account']);
    const [account] = await find(name);
    assert.deepEqual([account.emailVerified, account.hasPassword], [true, true]);
    assert.ok(await isSignedIn(browser));
    assert.equal((await enter(agent(server.baseUrl), code)).status, 400, 'once, and not elsewhere');
  });

  test('the button of the link, in the same browser only; opening it changes nothing', async () => {
    const name = newName();
    const { browser } = await begin(name);
    const { path } = await newest(`${name}@example.com`);
    const scanner = agent(server.baseUrl);
    for (let time = 0; time < 3; time++) {
      const opened = await scanner.get(path);
      assert.match(opened.text, /You began in another browser/);
      assert.doesNotMatch(opened.text, /<form/);
    }
    const link = new URL(path, server.baseUrl).searchParams.get('link') ?? '';
    const forged = await scanner.submit(await scanner.get('/signup/verify'), { link, code: '' });
    assert.equal(forged.status, 404);
    assert.deepEqual(await find(name), []);
    const own = await browser.get(path);
    assert.equal((await browser.submit(own, {})).status, 303);
    assert.ok(await isSignedIn(browser));
    assert.equal((await browser.get(path)).status, 404, 'once');
    assert.equal((await find(name)).length, 1);
  });
});

describe('no account is created by', () => {
  test('a code that has expired, a replaced one, or the sixth guess', async () => {
    const name = newName();
    const { browser } = await begin(name);
    const first = await newest(`${name}@example.com`);
    await begin(name, undefined, browser);
    const second = await newest(`${name}@example.com`);
    if (first.code !== second.code) assert.equal((await enter(browser, first.code)).status, 400, 'replaced');
    server.advance(16 * MINUTE);
    assert.equal((await enter(browser, second.code)).status, 400, 'expired');
    assert.equal((await browser.get(second.path)).status, 404);
    await begin(name, undefined, browser);
    const { code } = await newest(`${name}@example.com`);
    const wrong = code === '000000' ? '000001' : '000000';
    const statuses = [];
    for (let guess = 0; guess < 5; guess++) statuses.push((await enter(browser, wrong)).status);
    assert.ok(statuses.includes(429) || (await enter(browser, code)).status === 429, 'guesses are counted');
    assert.deepEqual(await find(name), []);
  });

  test('two submits of the code at once, more than one', async () => {
    const name = newName();
    const { browser } = await begin(name);
    const { code } = await newest(`${name}@example.com`);
    const page = await browser.get('/signup/verify');
    await Promise.all([1, 2, 3, 4].map(() => browser.submit(page, { code: code ?? '' })));
    assert.equal((await find(name)).length, 1);
    assert.ok(await isSignedIn(browser));
  });

  test('a code after another person got the username: the form asks for another one', async () => {
    const name = newName();
    const { browser } = await begin(name);
    const { code } = await newest(`${name}@example.com`);
    await newUser(server, { username: name, email: `${name}@elsewhere.example` });
    const late = await enter(browser, code);
    assert.equal(late.status, 409);
    assert.match(late.text, /Another person got this username meanwhile/);
    assert.equal(await isSignedIn(browser), false);
  });
});

/** A page without what differs between two browsers and two people. */
const neutral = (text: string, name: string): string =>
  text.replaceAll(name, 'NAME').replaceAll(/value="[\w.-]{20,}"/g, 'value="TOKEN"');

test('a taken address is answered as a free one, and its owner is told', async () => {
  const owner = await newUser(server, { emailVerified: true });
  const address = `${owner.username}@example.com`;
  const [taken, free] = [newName(), newName()];
  const first = await begin(taken, address.toUpperCase());
  const second = await begin(free);
  const shape = ({ answer }: typeof first) => [answer.status, answer.headers.get('location'), answer.text];
  assert.deepEqual(shape(first), shape(second));
  const pages = await Promise.all([first, second].map(({ browser }) => browser.get('/signup/verify')));
  const [own, other] = pages.map(({ text }, index) =>
    neutral(text, index === 0 ? address.toUpperCase() : `${free}@example.com`),
  );
  assert.equal(own, other);
  const wrong = await Promise.all([first, second].map(({ browser }) => enter(browser, '12')));
  assert.deepEqual(
    wrong.map(({ status }) => status),
    [400, 400],
  );
  const mail = await newest(address);
  assert.equal(mail.subject, 'You already have an account');
  assert.match(mail.text, new RegExp(`your username is ${owner.username}`));
  assert.deepEqual([mail.code, mail.path], [undefined, '/login']);
});

test('an address that another account has not verified goes to the person who proves it', async () => {
  const name = newName();
  const email = `${name}@example.com`;
  const user = await newUser(server, { email });
  const squatter = await signedIn(server, user);
  const { browser } = await begin(name, email);
  assert.ok(await isSignedIn(squatter), 'a sign-up alone changes nothing');
  assert.equal((await enter(browser, (await newest(email)).code)).status, 303);
  assert.equal(await isSignedIn(squatter), false, 'its sessions ended');
  const displaced = (await admin(server, 'GET', `/users/${user.id}`)).body;
  assert.deepEqual([displaced.email, displaced.emailVerified], [`${user.id}@unverified.invalid`, false]);
  const events = (await admin(server, 'GET', `/audit-events?userId=${user.id}`)).body.items;
  assert.ok(events.some(({ type }: { type: string }) => type === 'account.address_displaced'));
  const [account] = await find(name);
  assert.deepEqual([account.email, account.emailVerified], [email, true]);
});
