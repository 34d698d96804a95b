// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { MINUTE } from '../../src/platform/clock.ts';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import { admin, newUser, signedIn } from '../support/flow.ts';
import { newestMail } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';
import { joinedThrough, newUpstream, type TestUpstream, throughUpstream } from './people.ts';

// Decisions §11: who has neither password nor passkey nor app proves who they are at the provider that they signed in with before.

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_SIGN_IN_CODE: 'on',
  TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
let upstream: TestUpstream;
let other: TestUpstream;
before(async () => {
  upstream = await newUpstream(server, { signUp: 'anyone' });
  other = await newUpstream(server, { signUp: 'anyone' });
});
afterEach(() => {
  upstream.provider.tricks = {};
});
after(async () => {
  await upstream.provider[Symbol.asyncDispose]();
  await other.provider[Symbol.asyncDispose]();
  await server.close();
});

const EXPORT = '/account/confirm?next=export';
const WITH = () => `/account/confirm/with/${upstream.name}?next=export`;
const NOT_PROVED = /did not confirm that it is you/;

const personOf = (sub: string) => ({ sub, name: 'Alice', email: `${sub}@upstream.example` });

/** Whether a dangerous change asks for a proof first. */
const asks = async (browser: Agent): Promise<boolean> => (await browser.get(EXPORT)).status === 200;

/** A person who has another provider alone, and is signed in for a while. */
async function joined(name: string): Promise<Agent> {
  const as = { person: personOf(name), username: name, email: `${name}@example.com` };
  const browser = await joinedThrough(server, upstream, as);
  server.advance(11 * MINUTE);
  return browser;
}

async function leave(browser: Agent): Promise<URL> {
  const left = await browser.get(WITH());
  assert.equal(left.location?.origin, upstream.provider.issuer, left.text.slice(0, 2000));
  return left.location;
}

async function prove(browser: Agent, sub: string): Promise<Answer> {
  const left = await leave(browser);
  upstream.provider.person = personOf(sub);
  return browser.get(upstream.provider.authorize(left.href).href);
}

/** Goes on as far as the browser is led. */
async function follow(browser: Agent, answer: Answer): Promise<Answer> {
  let shown = answer;
  while (shown.location !== undefined) shown = await browser.get(shown.location.href);
  return shown;
}

async function refuses(browser: Agent, back: Answer): Promise<void> {
  assert.match((await follow(browser, back)).text, NOT_PROVED);
  assert.equal(await asks(browser), true);
  assert.doesNotMatch((await browser.get(EXPORT)).text, NOT_PROVED, 'said once');
}

test('another sign-in at the provider is a proof, and leads on to the change', async () => {
  const browser = await joined('proves');
  assert.ok((await browser.get(EXPORT)).text.includes(`href="${WITH()}"`));
  assert.equal((await leave(browser)).searchParams.get('prompt'), 'login', 'at the provider they are asked again');
  const before = browser.cookie('tessera_session');
  const back = await prove(browser, 'proves');
  assert.equal(back.location?.search, '?next=export', back.text.slice(0, 2000));
  assert.notEqual(browser.cookie('tessera_session'), before);
  assert.equal((await browser.get(back.location.href)).location?.pathname, '/account/data/export');
  server.advance(10 * MINUTE);
  assert.equal(await asks(browser), true, 'for ten minutes');
});

test('a person who is not known, or has another account, proves nothing', async () => {
  await joined('has-another');
  const browser = await joined('switches');
  await refuses(browser, await prove(browser, 'a-stranger'));
  await refuses(browser, await prove(browser, 'has-another'));
  assert.match((await browser.get('/account')).text, /switches/, 'who is signed in stays so');
});

test('an authentication from before the question is no proof', async () => {
  const browser = await joined('stays-signed-in');
  const before = Math.floor(server.now() / 1000) - 15 * 60;
  upstream.provider.tricks = { claims: (claims) => ({ ...claims, auth_time: before }) };
  await refuses(browser, await prove(browser, 'stays-signed-in'));
});

test('a person who stops at the provider is back at the question', async () => {
  const browser = await joined('stops');
  const left = await leave(browser);
  const callback = upstream.provider.authorize(left.href);
  callback.searchParams.delete('code');
  callback.searchParams.set('error', 'access_denied');
  await refuses(browser, await browser.get(callback.href));
});

test('a response proves once, in the session that asked for it', async () => {
  const browser = await joined('comes-back');
  upstream.provider.person = personOf('comes-back');
  upstream.provider.tricks = { reusesCodes: true };
  const callback = upstream.provider.authorize((await leave(browser)).href);
  const elsewhere = await agent(server.baseUrl).get(callback.href);
  assert.equal(elsewhere.status, 400, 'another browser');
  await browser.get(callback.href);
  assert.equal(await asks(browser), false);
  server.advance(10 * MINUTE);
  await refuses(browser, await browser.get(callback.href));

  const next = upstream.provider.authorize((await leave(browser)).href);
  await browser.submit(await browser.get('/account'), {}, '/logout');
  await throughUpstream(browser, upstream);
  server.advance(10 * MINUTE);
  await refuses(browser, await browser.get(next.href));
});

test('a provider that was connected in the session is no proof in it', async () => {
  const browser = await joined('connects-another');
  await prove(browser, 'connects-another');
  const connect = `/account/security/connect/${other.name}`;
  other.provider.person = personOf('connected-since');
  const left = await browser.get(connect);
  const back = await browser.get(other.provider.authorize(left.location?.href ?? '').href);
  const done = await browser.submit(await browser.get(back.location?.href ?? ''), {}, `${connect}/confirm`);
  assert.match(done.text, /is connected/);
  server.advance(11 * MINUTE);
  const { text } = await browser.get(EXPORT);
  assert.ok(text.includes(`href="${WITH()}"`) && !text.includes(`/confirm/with/${other.name}`), text);
  const refused = await browser.get(`/account/confirm/with/${other.name}?next=export`);
  assert.equal(refused.location?.pathname, '/account/confirm');
});

test('a provider never stands in for a password', async () => {
  const browser = await signedIn(server, await newUser(server, { emailVerified: true }));
  upstream.provider.person = personOf('with-a-password');
  const connect = `/account/security/connect/${upstream.name}`;
  const left = await browser.get(connect);
  const back = await browser.get(upstream.provider.authorize(left.location?.href ?? '').href);
  await browser.submit(await browser.get(back.location?.href ?? ''), {}, `${connect}/confirm`);
  const again = agent(server.baseUrl);
  await throughUpstream(again, upstream);
  server.advance(11 * MINUTE);
  const page = await again.get(EXPORT);
  assert.match(page.text, /name="current"/);
  assert.ok(!page.text.includes('/account/confirm/with/'));
  assert.equal((await again.get(WITH())).location?.pathname, '/account');
});

/** Signs in with a code by mail. */
async function signInByCode(browser: Agent, from: Answer, email: string): Promise<Answer> {
  const sent = await browser.submit(from, { identifier: email }, '/login/code');
  await server.sendRequestedMail();
  const { code = '' } = await newestMail(server, email, 'sign-in code');
  return browser.submit(await browser.get(sent.location?.href ?? ''), { sent_code: code }, '/login/code/enter');
}

async function byCodeAlone(username: string): Promise<{ readonly browser: Agent; readonly email: string }> {
  const email = `${username}@example.com`;
  await newUser(server, { username, email, emailVerified: true, password: undefined });
  const browser = agent(server.baseUrl);
  await signInByCode(browser, await browser.get('/login/code'), email);
  server.advance(11 * MINUTE);
  return { browser, email };
}

test('a person who has a code by mail alone signs in with another, and comes back to the change', async () => {
  const { browser, email } = await byCodeAlone('mail-alone');
  const { text } = await browser.get(EXPORT);
  assert.match(text, /Email me a code/);
  const page = await follow(browser, await browser.get('/account/confirm/again?next=export'));
  const done = await signInByCode(browser, page, email);
  assert.equal(`${done.location?.pathname}${done.location?.search}`, EXPORT, done.text.slice(0, 2000));
  assert.equal((await browser.get(EXPORT)).location?.pathname, '/account/data/export');
});

test('a person whose way in is newer than the session signs in again, and comes back to the change', async () => {
  const { browser, email } = await byCodeAlone('newer-way');
  await signInByCode(browser, await browser.get('/login/code'), email);
  upstream.provider.person = personOf('newer-way');
  const connect = `/account/security/connect/${upstream.name}`;
  const left = await browser.get(connect);
  const back = await browser.get(upstream.provider.authorize(left.location?.href ?? '').href);
  await browser.submit(await browser.get(back.location?.href ?? ''), {}, `${connect}/confirm`);
  server.advance(11 * MINUTE);
  assert.match((await browser.get(EXPORT)).text, /Sign in again/);
  const page = await follow(browser, await browser.get('/account/confirm/again?next=export'));
  assert.match(page.text, /Sign in again to confirm that it is you/);
  const done = await throughUpstream(browser, upstream);
  assert.equal(`${done.location?.pathname}${done.location?.search}`, EXPORT, done.text.slice(0, 2000));
  assert.equal((await browser.get(EXPORT)).location?.pathname, '/account/data/export');
});

test('a person who has nothing left to sign in with is led to recovery', async () => {
  const plain = await startServer({ TESSERA_MAILBOX: 'on' });
  const switchedOff = await newUpstream(plain, { signUp: 'anyone' });
  try {
    const as = { person: personOf('left-over'), username: 'left-over', email: 'left-over@example.com' };
    const browser = await joinedThrough(plain, switchedOff, as);
    const { status } = await admin(plain, 'POST', `/upstreams/${switchedOff.id}/disable`, {});
    assert.equal(status, 200);
    plain.advance(11 * MINUTE);
    const { text } = await browser.get(EXPORT);
    assert.match(text, /Nothing is set up in this account[^<]*<a href="\/recover"/);
  } finally {
    await switchedOff.provider[Symbol.asyncDispose]();
    await plain.close();
  }
});
