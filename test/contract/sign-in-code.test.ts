// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { MINUTE } from '../../src/platform/clock.ts';
import { type Agent, agent, formOf } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser as newTestUser,
  PASSWORD,
  redeem,
  signedIn,
  standard,
  walk,
} from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { newestMail } from '../support/recovery.ts';
import { requireCode } from '../support/recovery-setting.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_SIGN_IN_CODE: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
after(() => server.close());

const browserOf = () => agent(server.baseUrl);

async function newUser(fields: Readonly<Record<string, unknown>> = {}) {
  const user = await newTestUser(server, { emailVerified: true, ...fields });
  return { ...user, email: `${user.username}@example.com` };
}
type Person = Awaited<ReturnType<typeof newUser>>;

/** Asks for a code in a browser, and lets the server make the message. */
async function ask(browser: Agent, identifier: string, query = '') {
  const answer = await browser.submit(await browser.get(`/login/code${query}`), { identifier }, '/login/code');
  await server.sendRequestedMail();
  return answer;
}

const codeFor = async ({ email }: Person): Promise<string> =>
  (await newestMail(server, email, 'sign-in code')).code ?? '';

const type = async (browser: Agent, sent_code: string) =>
  browser.submit(await browser.get('/login/code/enter'), { sent_code }, '/login/code/enter');

/** A browser that was signed in by a code. */
async function signedInByCode(user: Person): Promise<Agent> {
  const browser = browserOf();
  await ask(browser, user.email);
  assert.equal((await type(browser, await codeFor(user))).location?.pathname, '/account');
  return browser;
}

test('a code signs in the browser that asked, once, and the app learns that it was no password', async () => {
  const user = await newUser();
  const client = standard(await newClient(server));
  const browser = browserOf();
  const asked = await browser.get(authorizeUrl(client, { scope: 'openid', claims: '{"id_token":{"acr":null}}' }));
  const login = await browser.get(asked.location?.href ?? '');
  assert.match(login.text, /href="\/login\/code\?request=/);
  const sent = await ask(browser, user.username, asked.location?.search);
  assert.equal(sent.location?.pathname, '/login/code/enter');
  const { code = '', link, text } = await newestMail(server, user.email, 'sign-in code');
  assert.match(code, /^\d{6}$/);
  assert.deepEqual([link, /https?:/.test(text)], [undefined, false], 'nothing to open in another browser');
  const other = browserOf();
  assert.equal((await type(other, code)).status, 401);
  const page = await browser.get(sent.location?.href ?? '');
  const spaced = `${code.slice(0, 3)} ${code.slice(3)}`;
  const answer = await browser.submit(page, { sent_code: spaced }, '/login/code/enter');
  assert.equal(answer.location?.pathname, '/consent');
  const target = await walk(browser, answer.location?.href ?? '');
  const { body } = await redeem(server, client, target.searchParams.get('code') ?? '');
  const { amr, acr } = claimsOf(body.id_token);
  assert.deepEqual([amr, acr], [['otp'], undefined]);
  assert.equal((await type(browser, code)).status, 401, 'a second time');
  // It does not recover the account.
  const recovering = await browser.submit(await browser.get('/recover/code'), { sent_code: code });
  assert.equal(recovering.status, 400);
});

test('of parallel uses of one code, one signs in', async () => {
  const user = await newUser();
  const browser = browserOf();
  await ask(browser, user.email);
  const page = await browser.get('/login/code/enter');
  const sent_code = await codeFor(user);
  const answers = await Promise.all([1, 2, 3].map(() => browser.submit(page, { sent_code }, '/login/code/enter')));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 401, 401]);
});

test('what nobody sees around a pasted address, user name or code does not matter', async () => {
  const user = await newUser();
  for (const name of [`\u200b${user.email}`, `${user.email}\u200b\u202c`, `\u2068${user.username}\u2069\ufeff`]) {
    const byPassword = browserOf();
    const login = await byPassword.get('/login');
    assert.equal((await byPassword.submit(login, { identifier: name, password: PASSWORD }, '/login')).status, 303);
  }
  const browser = browserOf();
  await ask(browser, `\u200e${user.email}\u200b`);
  const code = await codeFor(user);
  const pasted = `\u200b${code.slice(0, 3)}\u00a0\u200b${code.slice(3)}\u2060`;
  assert.equal((await type(browser, pasted)).location?.pathname, '/account');
});

test('every name gets the same pages, and only an account with a verified address gets a code', async () => {
  const verified = await newUser();
  const banned = await newUser();
  await admin(server, 'PUT', `/users/${banned.id}/ban`, {});
  const chosen = await newUser();
  await requireCode(server, chosen);
  const names: [identifier: string, kind: string | undefined][] = [
    [verified.email, 'is your sign-in code'],
    [verified.username, 'is your sign-in code'],
    [(await newUser({ emailVerified: false })).email, undefined],
    [chosen.email, undefined],
    [banned.email, 'Your account is banned'],
    ['stranger@example.com', undefined],
    ['a\0b', undefined],
    ['x'.repeat(5000), undefined],
  ];
  const seen = [];
  for (const [identifier, subject] of names) {
    const browser = browserOf();
    const asked = await ask(browser, identifier);
    const page = await browser.get('/login/code/enter');
    const wrong = await type(browser, '000000x');
    const strip = (text: string) => text.replaceAll(/value="[\w-]{43}"/g, '');
    seen.push([asked.status, asked.text, asked.location?.href, strip(page.text), wrong.status, strip(wrong.text)]);
    if (identifier.includes('@')) {
      const [mail] = (await mailsTo(server, identifier)).filter(({ kind }) => kind === 'sign-in code');
      assert.equal(mail?.subject.replace(/^\d{3} \d{3} /, ''), subject, identifier);
    }
  }
  for (const each of seen) assert.deepEqual(each, seen[0]);
});

test('after five wrong codes the right one is not accepted, of a newer message and in another browser too', async () => {
  const user = await newUser();
  const browser = browserOf();
  await ask(browser, user.email);
  for (let guess = 0; guess < 5; guess++) assert.equal((await type(browser, 'wrong')).status, 401);
  assert.equal((await type(browser, await codeFor(user))).status, 401);
  server.advance(1);
  const other = browserOf();
  await ask(other, user.email);
  assert.equal((await type(other, await codeFor(user))).status, 401);
  server.advance(15 * MINUTE);
  await ask(other, user.email);
  assert.equal((await type(other, await codeFor(user))).location?.pathname, '/account');
});

test('AV-01: codes that are typed where none was asked for are counted for the address, and so are their events', async () => {
  server.advance(MINUTE);
  const stranger = browserOf();
  const page = await stranger.get('/login/code/enter');
  const since = (await query(server, 'SELECT max(id) AS id FROM audit_event'))[0]?.['id'];
  const statuses: number[] = [];
  for (let guess = 0; guess < 70; guess++) {
    statuses.push((await stranger.submit(page, { sent_code: '000000' }, '/login/code/enter')).status);
  }
  assert.deepEqual([statuses.indexOf(429), statuses.lastIndexOf(401)], [60, 59]);
  const events = await query(server, `SELECT type FROM audit_event WHERE id > ${since}`);
  assert.equal(events.filter(({ type }) => type === 'sign_in.failed').length, 60);
  assert.equal(events.filter(({ type }) => type === 'limit.exceeded').length, 1);
  server.advance(MINUTE);
});

let organizations = 0;
/** Requires a second factor of a person, by their organization. */
async function requireSecondFactor({ id }: Person): Promise<void> {
  const name = `strict-${++organizations}`;
  const { body } = await admin(server, 'POST', '/organizations', { name, domain: 'strict.example' });
  await admin(server, 'PUT', `/organizations/${body.id}/members/${id}`, {});
  const { status } = await admin(server, 'PATCH', `/organizations/${body.id}`, { requireSecondFactor: true });
  assert.equal(status, 200);
}

test('where a second factor is required of a person, mail alone signs nobody in: only together with their app', async () => {
  const alone = await newUser();
  await requireSecondFactor(alone);
  const stranger = browserOf();
  await ask(stranger, alone.email);
  assert.deepEqual(await mailsTo(server, alone.email), []);

  const user = await newUser();
  await enroll(server, user);
  await requireSecondFactor(user);
  const browser = browserOf();
  await ask(browser, user.email);
  assert.equal((await type(browser, await codeFor(user))).location?.pathname, '/login/verify');
});

/** What happens between the message and the code, and the status that the code then gets. */
const stale: Record<string, [end: (user: Person) => Promise<unknown>, status: number]> = {
  'fifteen minutes': [async () => server.advance(15 * MINUTE), 401],
  'a newer code': [
    async (user) => {
      server.advance(1);
      await ask(browserOf(), user.email);
    },
    401,
  ],
  'a second factor became required of its person': [requireSecondFactor, 409],
  'a new password': [(user) => admin(server, 'PATCH', `/users/${user.id}`, { password: 'another long password' }), 409],
  'signing out everywhere': [(user) => admin(server, 'DELETE', `/users/${user.id}/sessions`), 409],
  'a suspension': [(user) => admin(server, 'PUT', `/users/${user.id}/suspension`, {}), 403],
  'a ban that was lifted': [
    async (user) => {
      await admin(server, 'PUT', `/users/${user.id}/ban`, {});
      await admin(server, 'DELETE', `/users/${user.id}/ban`);
    },
    409,
  ],
  'another address': [(user) => admin(server, 'PATCH', `/users/${user.id}`, { email: `n${user.email}` }), 401],
  'the choice that mail alone is not enough': [(user) => requireCode(server, user), 409],
  'the end of the account': [(user) => admin(server, 'DELETE', `/users/${user.id}`), 401],
};
for (const [title, [end, status]] of Object.entries(stale)) {
  test(`a code does not sign in after ${title}`, async () => {
    const user = await newUser();
    const browser = browserOf();
    await ask(browser, user.email);
    const sent_code = await codeFor(user);
    const page = await browser.get('/login/code/enter');
    await end(user);
    const answer = await browser.submit(page, { sent_code }, '/login/code/enter');
    assert.equal(answer.status, status);
    assert.equal(browser.cookie('tessera_session'), undefined);
  });
}

test('a second factor is asked for after a code, in a trusted browser too', async () => {
  const user = await newUser();
  const factor = await enroll(server, user);
  const { browser, page } = await atSecondStep(server, user);
  const fields = { code: totpCode(factor, server.now()), trust: 'on' };
  assert.equal((await browser.submit(page, fields, '/login/verify')).status, 303);
  await browser.submit(await browser.get('/account'), {}, '/logout');
  const spared = await browser.submit(await browser.get('/login'), { identifier: user.username, password: PASSWORD });
  assert.equal(spared.location?.pathname, '/account', 'the browser is trusted');
  await browser.submit(await browser.get('/account'), {}, '/logout');
  await ask(browser, user.email);
  const answer = await type(browser, await codeFor(user));
  assert.equal(answer.location?.pathname, '/login/verify');
  server.advance(MINUTE);
  const done = await typeCode(browser, await browser.get('/login/verify'), totpCode(factor, server.now()));
  assert.equal(done.location?.pathname, '/account');
});

test('a code is no fresh proof where there is another factor, and without one the person signs in again', async () => {
  const user = await newUser();
  const weak = await signedInByCode(user);
  const asked = await weak.get('/account/security/authenticator');
  assert.equal(asked.location?.search, '?next=authenticator');
  assert.match((await weak.get('/account/confirm?next=authenticator')).text, /name="current"/);

  const fields = { username: 'bymail', displayName: 'By Mail', email: 'bymail@example.com', emailVerified: true };
  const { id } = (await admin(server, 'POST', '/users', fields)).body;
  const alone = await signedInByCode({ ...user, id, username: 'bymail', email: fields.email });
  assert.equal((await alone.get('/account/security/authenticator')).status, 200);
  server.advance(10 * MINUTE);
  assert.equal((await alone.get('/account/security/authenticator')).location?.search, '?next=authenticator');
  const page = await alone.get('/account/confirm?next=authenticator');
  assert.match(page.text, /href="\/account\/confirm\/again\?next=authenticator"/);
  const { hidden } = formOf((await alone.get('/account/security')).text, '/account/sign-out-everywhere');
  assert.equal((await alone.post('/account/confirm', { ...hidden, next: 'authenticator' })).status, 400);
});

test('a person who waits for the deletion of the account may come back', async () => {
  const user = await newUser();
  const owner = await signedIn(server, user);
  await owner.submit(await owner.get('/account/data'), { confirm: 'yes' }, '/account/deletion');
  const browser = browserOf();
  await ask(browser, user.email);
  assert.equal((await type(browser, await codeFor(user))).location?.pathname, '/login/come-back');
});

test('a form from another site, or without its token, does nothing', async () => {
  const user = await newUser();
  const browser = browserOf();
  await ask(browser, user.email);
  const sent_code = await codeFor(user);
  const forms = { '/login/code': { identifier: user.email }, '/login/code/enter': { sent_code } };
  for (const [address, fields] of Object.entries(forms)) {
    assert.equal((await browser.post(address, fields)).status, 400, address);
    assert.equal((await browser.post(address, fields, { 'sec-fetch-site': 'cross-site' })).status, 403, address);
    assert.equal((await browser.submit(await browser.get(address), {}, address)).status, 400, 'empty');
  }
  assert.equal((await type(browser, sent_code)).location?.pathname, '/account');
});

test('it is off unless it is set', async () => {
  const plain = await startServer({ TESSERA_MAILBOX: 'on' });
  try {
    const browser = agent(plain.baseUrl);
    assert.doesNotMatch((await browser.get('/login')).text, /login\/code/);
    for (const address of ['/login/code', '/login/code/enter']) assert.equal((await browser.get(address)).status, 404);
  } finally {
    await plain.close();
  }
});

test('the message says the code at once, and from where it was asked for', async () => {
  const { email } = await newUser();
  await ask(browserOf(), email);
  const { code = '', subject, text } = await newestMail(server, email, 'sign-in code');
  assert.equal(subject, `${code.slice(0, 3)} ${code.slice(3)} is your sign-in code`);
  assert.match(text, /^Requested from: 127\.0\.0\.x$/m);
});
