// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { insertRequest } from '../../src/account-actions/recovery/request-store.ts';
import { MINUTE } from '../../src/platform/clock.ts';
import { agent } from '../support/agent.ts';
import { connectIdentity } from '../support/connected-identity.ts';
import {
  admin,
  authorizeUrl,
  codeFor,
  newClient,
  newUser as newTestUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { allMails, mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { askRecovery, newestMail, recover, useLink } from '../support/recovery.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
after(() => server.close());
interface Person extends TestUser {
  readonly email: string;
}
async function newUser(on = server, fields: Readonly<Record<string, unknown>> = {}): Promise<Person> {
  const user = await newTestUser(on, fields);
  return { ...user, email: `${user.username}@example.com` };
}
const NEW = 'twelve green bicycles';
const browserOf = () => agent(server.baseUrl);
const statusOf = async (user: TestUser, password: string): Promise<number> => {
  const browser = browserOf();
  return (await browser.submit(await browser.get('/login'), { identifier: user.username, password })).status;
};
const account = async ({ id }: TestUser) => (await admin(server, 'GET', `/users/${id}`)).body;

test('a link sets a new password, signs the browser that asked in, and works once', async () => {
  const user = await newUser(server);
  const browser = browserOf();
  const asked = await askRecovery(server, browser, user.username);
  assert.equal(asked.location?.pathname, '/recover/code');
  const { link = '', text } = await newestMail(server, user.email, 'recovery');
  assert.match(text, new RegExp(user.username));
  const done = await useLink(browser, link, NEW);
  assert.equal(done.location?.pathname, '/account');
  assert.equal((await browser.get('/account')).status, 200);
  assert.equal(await statusOf(user, PASSWORD), 401);
  assert.equal(await statusOf(user, NEW), 303);
  assert.equal((await useLink(browser, link, PASSWORD)).status, 410);
  const subjects = (await mailsTo(server, user.email)).map(({ subject }) => subject);
  assert.ok(subjects.includes('Your account was recovered'), subjects.join());
  assert.equal((await account(user)).emailVerified, true);
});

test('another browser sets the password by the link, and is not signed in', async () => {
  const user = await newUser(server);
  await askRecovery(server, browserOf(), user.email);
  const { link = '' } = await newestMail(server, user.email, 'recovery');
  const other = browserOf();
  const done = await useLink(other, link, NEW);
  assert.equal(done.status, 200);
  assert.match(done.text, /Sign in with your new password/);
  assert.equal(other.cookie('tessera_session'), undefined);
  assert.equal(await statusOf(user, NEW), 303);
});

test('a recovery calls off the deletion of the account, for which another person may have asked', async () => {
  const user = await newUser(server);
  const owner = await signedIn(server, user);
  const left = await owner.submit(await owner.get('/account/data'), { confirm: 'yes' }, '/account/deletion');
  assert.equal(left.status, 200);
  const browser = browserOf();
  await askRecovery(server, browser, user.email);
  const { link = '' } = await newestMail(server, user.email, 'recovery');
  assert.equal((await useLink(browser, link, NEW)).location?.pathname, '/account');
  assert.equal((await browser.get('/account')).status, 200);
  assert.equal((await admin(server, 'GET', `/users/${user.id}`)).body.deletion, null);
  assert.match((await newestMail(server, user.email, 'deletion')).subject, /will not be deleted/);
});

test('the code continues in the browser that asked, and in no other', async () => {
  const user = await newUser(server);
  const browser = browserOf();
  await askRecovery(server, browser, user.email);
  const { code = '', link = '' } = await newestMail(server, user.email, 'recovery');
  const other = browserOf();
  assert.equal((await other.submit(await other.get('/recover/code'), { sent_code: code })).status, 400);
  const page = await browser.submit(await browser.get('/recover/code'), {
    sent_code: `${code.slice(0, 3)} ${code.slice(3)}`,
  });
  assert.equal(page.location?.pathname, '/recover/link');
  assert.equal((await browser.get(link)).status, 410, 'the link ends with its code');
  const done = await useLink(browser, page.location?.href ?? '', NEW);
  assert.equal(done.location?.pathname, '/account');
  assert.equal(await statusOf(user, NEW), 303);
});

test('asking, opening and looking change nothing, however often, by any method of a scanner', async () => {
  const user = await newUser(server);
  const session = await signedIn(server, user);
  await askRecovery(server, browserOf(), user.email);
  const { link = '' } = await newestMail(server, user.email, 'recovery');
  for (let look = 0; look < 3; look++) assert.equal((await browserOf().get(link)).status, 200);
  await fetch(link, { method: 'HEAD' });
  assert.equal((await session.get('/account')).status, 200);
  assert.equal(await statusOf(user, PASSWORD), 303);
  assert.equal((await useLink(browserOf(), link, NEW)).status, 200);
});

test('a name without an account gets the same answer, and no mail', async () => {
  const user = await newUser(server);
  await admin(server, 'PUT', `/users/${(await newUser(server)).id}/ban`, {});
  const answers = [];
  for (const identifier of [user.email, user.username, 'stranger@example.com', 'stranger', 'a\0b', 'x'.repeat(5000)]) {
    const browser = browserOf();
    const before = (await allMails(server)).length;
    const asked = await askRecovery(server, browser, identifier);
    const page = await browser.get('/recover/code');
    const wrong = await browser.submit(page, { sent_code: '000000x' });
    const strip = (text: string) => text.replaceAll(/value="[\w-]{43}"/g, '');
    answers.push([asked.status, asked.text, asked.location?.href, strip(page.text), wrong.status, strip(wrong.text)]);
    const sent = (await allMails(server)).length - before;
    assert.equal(sent, identifier === user.email || identifier === user.username ? 1 : 0, identifier.slice(0, 20));
  }
  for (const answer of answers) assert.deepEqual(answer, answers[0]);
});

const barred: [string, method: 'PUT' | 'POST', path: string, body: object, text: RegExp][] = [
  ['banned', 'PUT', 'ban', {}, /It is banned, so no link was made.*ask for help/s],
  [
    'banned for a day',
    'PUT',
    'ban',
    { until: new Date(server.now() + 24 * 60 * MINUTE).toISOString() },
    /ban ends on /,
  ],
  ['suspended', 'PUT', 'suspension', {}, /It is suspended, so no link was made.*ask for help/s],
];
for (const [title, method, path, body, text] of barred) {
  test(`a person who is ${title} is told so by mail at a verified address, and the pages say nothing`, async () => {
    const verified = await newUser(server, { emailVerified: true });
    const unverified = await newUser(server);
    const pages = [];
    for (const { id, email } of [verified, unverified, { id: undefined, email: 'stranger@example.com' }]) {
      if (id !== undefined) assert.ok((await admin(server, method, `/users/${id}/${path}`, body)).status < 300);
      const browser = browserOf();
      const { status, location } = await askRecovery(server, browser, email);
      const wrong = await browser.submit(await browser.get('/recover/code'), { sent_code: '000000' });
      pages.push([status, location?.pathname, wrong.status, wrong.text.replaceAll(/value="[\w-]{43}"/g, '')]);
    }
    assert.deepEqual(pages[0], pages[2]);
    assert.deepEqual(pages[1], pages[2]);
    const [told] = (await mailsTo(server, verified.email)).filter(({ subject }) => /^Your account is/.test(subject));
    assert.match(told?.text ?? '', text);
    assert.ok(!told?.text.includes('/recover/link'));
    assert.deepEqual(await mailsTo(server, unverified.email), []);
  });
}

test('after five wrong codes the right one is not accepted, with the same answer, in another browser too', async () => {
  const user = await newUser(server);
  const browser = browserOf();
  await askRecovery(server, browser, user.email);
  const first = await newestMail(server, user.email, 'recovery');
  const type = async (code: string) => browser.submit(await browser.get('/recover/code'), { sent_code: code });
  for (let guess = 0; guess < 5; guess++) assert.equal((await type('wrong')).status, 400);
  const limited = await type(first.code ?? '');
  assert.equal(limited.status, 400);
  server.advance(1);
  const other = browserOf();
  await askRecovery(server, other, user.email);
  const { code = '', link = '' } = await newestMail(server, user.email, 'recovery');
  assert.equal((await other.submit(await other.get('/recover/code'), { sent_code: code })).status, 400);
  assert.equal((await useLink(other, link, NEW)).location?.pathname, '/account', 'the link is the way round');
});

/** What makes a link stale after it was sent. */
const stale: Record<string, (user: Person) => Promise<unknown>> = {
  'thirty minutes': async () => server.advance(30 * MINUTE),
  'a newer link': async (user) => {
    server.advance(1);
    await askRecovery(server, browserOf(), user.email);
  },
  'a new password': async (user) => admin(server, 'PATCH', `/users/${user.id}`, { password: 'another long password' }),
  'signing out everywhere': async (user) => admin(server, 'DELETE', `/users/${user.id}/sessions`),
  'a ban': async (user) => admin(server, 'PUT', `/users/${user.id}/ban`, {}),
  'a ban that was lifted': async (user) => {
    await admin(server, 'PUT', `/users/${user.id}/ban`, {});
    await admin(server, 'DELETE', `/users/${user.id}/ban`);
  },
  'the end of the account': async (user) => admin(server, 'DELETE', `/users/${user.id}`),
};
for (const [title, end] of Object.entries(stale)) {
  test(`a link does not work after ${title}, nor does its code`, async () => {
    const user = await newUser(server);
    const browser = browserOf();
    await askRecovery(server, browser, user.email);
    const { link = '', code = '' } = await newestMail(server, user.email, 'recovery');
    const page = await browser.get(link);
    const codePage = await browser.get('/recover/code');
    await end(user);
    assert.equal((await browser.submit(page, { password: NEW }, '/recover/link')).status, 410);
    const typed = await browser.submit(codePage, { sent_code: code });
    // A code may still lead to the page of the link, which says the same.
    const status = typed.location === undefined ? typed.status : (await browser.get(typed.location.href)).status;
    assert.ok([400, 410].includes(status), `${status}`);
    assert.notEqual(await statusOf(user, NEW), 303);
  });
}

test('an attacker who held any one credential before holds nothing after', async () => {
  const client = await newClient(server);
  const victim = await newUser(server);
  const attacker = await signedIn(server, victim);
  const tokens = await tokensFor(server, client, victim, { scope: 'openid email' }, { browser: attacker });
  const code = await codeFor(server, client, victim, {}, { browser: attacker });
  const consent = await attacker.get(authorizeUrl(client, { prompt: 'consent' }));
  const consentPage = await attacker.get(consent.location?.href ?? '');
  const accountPage = await attacker.get('/account/security');
  const loginPage = await browserOf().get('/login');
  // A recovery that the attacker began, and the link of an operator.
  await askRecovery(server, attacker, victim.email);
  const old = await newestMail(server, victim.email, 'recovery');
  server.advance(1);
  await recover(server, victim.email, NEW);

  const none: Record<string, () => Promise<boolean>> = {
    password: async () => (await statusOf(victim, PASSWORD)) === 303,
    session: async () => (await attacker.get('/account')).status === 200,
    'account form': async () =>
      (await attacker.submit(accountPage, { current: PASSWORD, password: 'mine all mine' }, '/account/password'))
        .status === 200,
    'access token': async () => (await userinfo(server, tokens.access_token)).status === 200,
    'refresh token': async () => (await refresh(server, client, tokens.refresh_token)).status === 200,
    code: async () => (await redeem(server, client, code)).status === 200,
    'consent page': async () =>
      (await attacker.submit(consentPage, { decision: 'allow' })).location?.searchParams.has('code') === true,
    'old link': async () => (await useLink(attacker, old.link ?? '', 'mine all mine')).status !== 410,
    'old code': async () =>
      (await attacker.submit(await attacker.get('/recover/code'), { sent_code: old.code ?? '' })).location !==
      undefined,
    'known browser': async () => {
      // Ten wrong passwords from strangers lock the sign-in; a browser that is known has its own count.
      for (let guess = 0; guess < 11; guess++) await statusOf(victim, 'wrong password');
      const page = await attacker.get('/login');
      return (await attacker.submit(page, { identifier: victim.username, password: PASSWORD })).status !== 429;
    },
  };
  assert.ok(loginPage.status === 200);
  for (const [name, holds] of Object.entries(none)) assert.equal(await holds(), false, name);
  // Where the address was not verified before, another person may have given the apps their consent.
  assert.deepEqual((await admin(server, 'GET', `/users/${victim.id}/connections`)).body.items, []);
});

test('the apps of a verified person keep their consent, and ask for a sign-in again', async () => {
  const client = await newClient(server);
  const user = await newUser(server, { emailVerified: true });
  const tokens = await tokensFor(server, client, user, { scope: 'openid email' });
  await recover(server, user.email, NEW);
  assert.equal((await userinfo(server, tokens.access_token)).status, 401);
  assert.equal((await admin(server, 'GET', `/users/${user.id}/connections`)).body.items.length, 1);
});

test('a weak password is refused, and the link still works', async () => {
  const user = await newUser(server);
  const browser = browserOf();
  await askRecovery(server, browser, user.email);
  const { link = '' } = await newestMail(server, user.email, 'recovery');
  for (const password of ['short', 'password1', user.username + user.username]) {
    const answer = await useLink(browser, link, password);
    assert.equal(answer.status, 400, password);
  }
  assert.equal((await useLink(browser, link, NEW)).location?.pathname, '/account');
});

test('an account without a password gets one by mail', async () => {
  const created = await admin(server, 'POST', '/users', {
    username: 'nopassword',
    displayName: 'No Password',
    email: 'nopassword@example.com',
  });
  assert.equal(created.status, 201);
  const done = await recover(server, 'nopassword@example.com', NEW);
  assert.equal(done.location?.pathname, '/account');
});

test('a request whose message cannot be made delays no other, and is given up after six attempts', async () => {
  const user = await newUser();
  await withData(server, async ({ database, sealer }) => {
    const id = 'broken';
    const sealed = (await sealer()).seal('no request', `mail request ${id}`);
    await database.commit(() => insertRequest({ id, purpose: 'recover', sealed, now: server.now() - 1 }));
  });
  await askRecovery(server, browserOf(), user.email);
  await newestMail(server, user.email, 'recovery');
  for (let attempt = 2; attempt <= 6; attempt++) {
    assert.equal((await query(server, 'SELECT id FROM mail_request')).length, 1, `before attempt ${attempt}`);
    await server.sendRequestedMail();
    server.advance(5 * MINUTE);
    await server.sendRequestedMail();
  }
  assert.deepEqual(await query(server, 'SELECT id FROM mail_request'), []);
  const { body } = await admin(server, 'GET', '/audit-events?type=mail.given_up');
  const problem = 'the message could not be made: see the log';
  assert.deepEqual(body.items[0].details, { kind: 'recovery', attempts: 6, problem });
});

test('a recovery during a sign-in for an app goes on with it', async () => {
  const client = await newClient(server);
  const user = await newUser(server);
  const browser = browserOf();
  const start = await browser.get(authorizeUrl(client, { prompt: 'login' }));
  const login = await browser.get(start.location?.href ?? '');
  const [, ask = ''] = /href="(\/recover\?request=[^"]+)"/.exec(login.text) ?? [];
  const asked = await browser.submit(await browser.get(ask), { identifier: user.email });
  assert.match(asked.location?.search ?? '', /request=/);
  await server.sendRequestedMail();
  const { link = '' } = await newestMail(server, user.email, 'recovery');
  const done = await useLink(browser, link, NEW);
  assert.equal(done.location?.pathname, '/login');
  const next = await browser.get(done.location?.href ?? '');
  assert.match(next.location?.pathname ?? '', /consent/);
});

test('the Security page says which ways into the account remain', async () => {
  const user = await newUser(server, { emailVerified: true });
  const waysOf = async (browser: Awaited<ReturnType<typeof signedIn>>) => {
    const { text } = await browser.get('/account/security');
    const [, list = ''] = /id="recovery".*?<ul>(.*?)<\/ul>/s.exec(text) ?? [];
    return [...list.matchAll(/<li>(.*?)<\/li>/g)].map(([, way]) => way);
  };
  const before = await waysOf(await signedIn(server, user));
  assert.equal(before.length, 2);
  assert.match(before.join(), /password.*A link to your email address, which/);
  const factor = await enroll(server, user);
  const after = await waysOf(await signedInWith(user, factor));
  assert.match(after.join(), /password.*with a code of your authenticator app.*with one of your recovery codes/);
});

test('without mail the page says whom to ask', async () => {
  const silent = await startServer({ TESSERA_CONTACT: 'help@example.com' });
  try {
    const page = await agent(silent.baseUrl).get('/recover');
    assert.match(page.text, /mailto:help@example.com/);
    assert.doesNotMatch(page.text, /<form/);
  } finally {
    await silent.close();
  }
});

test('two uses of one link at a time: one is right', async () => {
  const user = await newUser(server);
  const browser = browserOf();
  await askRecovery(server, browser, user.email);
  const { link = '', code = '' } = await newestMail(server, user.email, 'recovery');
  const pages = [await browser.get(link), await browserOf().get(link)];
  const codePage = await browser.get('/recover/code');
  const answers = await Promise.all([
    ...pages.map((page, at) =>
      (at === 0 ? browser : browser).submit(page, { password: `${NEW} ${at}` }, '/recover/link'),
    ),
    browser.submit(codePage, { sent_code: code }),
  ]);
  const set = answers.slice(0, 2).filter(({ location }) => location?.pathname === '/account');
  assert.ok(set.length <= 1);
  const notices = (await mailsTo(server, user.email)).filter(({ subject }) => /recovered/.test(subject));
  assert.equal(notices.length, set.length);
});

test('where an authenticator app is set up, a link alone is not enough: each code once, five tries', async () => {
  const user = await newUser(server, { emailVerified: true });
  const factor = await enroll(server, user);
  const browser = browserOf();
  await askRecovery(server, browser, user.email);
  const { link = '' } = await newestMail(server, user.email, 'recovery');
  assert.equal((await useLink(browser, link, NEW)).status, 400);
  assert.equal((await useLink(browser, link, NEW, { factor: 'wrong-code' })).status, 400);
  const code = totpCode(factor, server.now());
  assert.equal((await useLink(browser, link, NEW, { factor: code })).location?.pathname, '/account');
  assert.equal(await statusOf(user, PASSWORD), 401);
  // The app is still set up, and its code was used.
  const { browser: next, page } = await atSecondStepWith(user, NEW);
  assert.equal((await typeCode(next, page, code)).status, 401);

  await askRecovery(server, browser, user.email);
  const again = (await newestMail(server, user.email, 'recovery')).link ?? '';
  const [recoveryCode = ''] = factor.recoveryCodes;
  // No recovery code was shown, so the codes may be another person's.
  assert.equal((await useLink(browser, again, PASSWORD, { factor: recoveryCode })).status, 400);
  const notices = (await mailsTo(server, user.email)).filter(({ kind }) => kind === 'security notice');
  assert.ok(notices.some(({ text }) => /recovery codes no longer work/.test(text)));
  server.advance(15 * MINUTE);
  const next2 = totpCode(factor, server.now());
  assert.equal((await useLink(browser, again, PASSWORD, { factor: next2 })).location?.pathname, '/account');
  server.advance(15 * MINUTE);
  await askRecovery(server, browser, user.email);
  const third = (await newestMail(server, user.email, 'recovery')).link ?? '';
  for (const status of [400, 400, 400, 400, 400, 429]) {
    assert.equal((await useLink(browserOf(), third, NEW, { factor: recoveryCode })).status, status);
  }
});

test('a recovery code that is shown keeps the others', async () => {
  const user = await newUser(server, { emailVerified: true });
  const { recoveryCodes } = await enroll(server, user);
  for (const [time, factor] of recoveryCodes.slice(0, 2).entries()) {
    const browser = browserOf();
    await askRecovery(server, browser, user.email);
    const { link = '' } = await newestMail(server, user.email, 'recovery');
    assert.equal((await useLink(browser, link, `${NEW} ${time}`, { factor })).location?.pathname, '/account');
    server.advance(MINUTE);
  }
});

async function atSecondStepWith(user: Person, password: string) {
  const browser = browserOf();
  const answer = await browser.submit(await browser.get('/login'), { identifier: user.username, password });
  assert.equal(answer.location?.pathname, '/login/verify');
  return { browser, page: await browser.get('/login/verify') };
}

test('a link of an operator keeps the second factor, unless it resets it; it signs no browser in', async () => {
  const user = await newUser(server, { emailVerified: true });
  const factor = await enroll(server, user);
  const linkFor = async (body: object) => (await admin(server, 'POST', `/users/${user.id}/recovery-link`, body)).body;
  const session = await signedInWith(user, factor);
  const kept = await linkFor({});
  assert.equal(kept.expiresAt, new Date(server.now() + 30 * MINUTE).toISOString());
  const told = (await mailsTo(server, user.email)).map(({ subject }) => subject);
  assert.ok(told.includes('A recovery link was made for your account'), told.join());
  assert.equal((await useLink(browserOf(), kept.url, NEW)).status, 400);
  assert.equal((await session.get('/account')).status, 200, 'nothing ends before it is used');
  const reset = await linkFor({ resetFactors: true });
  assert.equal((await browserOf().get(kept.url)).status, 410, 'replaced');
  const browser = browserOf();
  assert.equal((await useLink(browser, reset.url, NEW)).status, 200);
  assert.equal(browser.cookie('tessera_session'), undefined);
  assert.equal((await session.get('/account')).status, 302);
  assert.equal(
    (await browser.submit(await browser.get('/login'), { identifier: user.username, password: NEW })).location
      ?.pathname,
    '/account',
  );
  assert.equal((await account(user)).emailVerified, true);
  assert.equal((await browserOf().get(reset.url)).status, 410);
});

async function signedInWith(user: Person, factor: { readonly seed: string }) {
  const { browser, page } = await atSecondStep(server, user);
  assert.equal((await typeCode(browser, page, totpCode(factor, server.now(), -1))).status, 303);
  return browser;
}

test('a link of an operator does not prove the address, and a stranger who asks for mail does not end it', async () => {
  const user = await newUser(server);
  const { url } = (await admin(server, 'POST', `/users/${user.id}/recovery-link`, {})).body;
  await askRecovery(server, browserOf(), user.email);
  assert.equal((await useLink(browserOf(), url, NEW)).status, 200);
  assert.equal((await account(user)).emailVerified, false);
});

/** What happens to the account at the same time as a recovery: whichever is first, the account is whole and nothing of before lives. */
const meanwhile: Record<string, (user: Person) => Promise<unknown>> = {
  'a sign-in': (user) => statusOf(user, PASSWORD),
  'a new password': (user) => admin(server, 'PATCH', `/users/${user.id}`, { password: 'another long password' }),
  'a ban': (user) => admin(server, 'PUT', `/users/${user.id}/ban`, {}),
  'another recovery': async (user) => {
    await askRecovery(server, browserOf(), user.email);
  },
};
for (const [title, act] of Object.entries(meanwhile)) {
  test(`a recovery and ${title} at the same time`, async () => {
    const user = await newUser(server);
    const before = await signedIn(server, user);
    const browser = browserOf();
    await askRecovery(server, browser, user.email);
    const { link = '' } = await newestMail(server, user.email, 'recovery');
    const page = await browser.get(link);
    const [done] = await Promise.all([browser.submit(page, { password: NEW }, '/recover/link'), act(user)]);
    const recovered = done.location?.pathname === '/account';
    assert.ok(recovered || [403, 410].includes(done.status), `${done.status}`);
    if (recovered) assert.equal((await before.get('/account')).status, 302);
    if (title === 'a ban') assert.equal((await browser.get('/account')).status, 302);
    const worked = await Promise.all(
      [NEW, 'another long password', PASSWORD].map((password) => statusOf(user, password)),
    );
    assert.ok(worked.filter((status) => status === 303).length <= 1, worked.join());
    if (recovered) assert.notEqual(worked[2], 303, 'the old password is gone');
  });
}

test('a form from another site, or without its token, does nothing', async () => {
  const user = await newUser(server);
  const browser = browserOf();
  await askRecovery(server, browser, user.email);
  const { link = '', code = '' } = await newestMail(server, user.email, 'recovery');
  const token = new URL(link).searchParams.get('token') ?? '';
  const forms = { '': { identifier: user.email }, '/code': { sent_code: code }, '/link': { token, password: NEW } };
  for (const [end, fields] of Object.entries(forms)) {
    assert.equal((await browser.post(`/recover${end}`, fields)).status, 400, end);
    const { status } = await browser.post(`/recover${end}`, fields, { 'sec-fetch-site': 'cross-site' });
    assert.equal(status, 403, end);
  }
  assert.equal(await statusOf(user, PASSWORD), 303);
  assert.equal((await useLink(browser, link, NEW)).location?.pathname, '/account');
});

test('what becomes of other providers is said before, after and by mail, to those who have some', async () => {
  const said = /Other providers are disconnected/;
  const [connected, plain] = [await newUser(server), await newUser(server)];
  await connectIdentity(server, connected.id);
  for (const user of [connected, plain]) {
    const asking = browserOf();
    await askRecovery(server, asking, user.email);
    const { link = '' } = await newestMail(server, user.email, 'recovery');
    const elsewhere = browserOf();
    const page = await elsewhere.get(link);
    const done = await elsewhere.submit(page, { password: NEW }, '/recover/link');
    const { text: told } = await newestMail(server, user.email, 'security notice');
    const has = user === connected;
    assert.equal(said.test(page.text), has, page.text);
    assert.equal(said.test(done.text), has, done.text);
    assert.equal(/Other providers were disconnected/.test(told), has, told);
  }
  await connectIdentity(server, connected.id);
  const here = browserOf();
  await recover(server, connected.email, NEW, here);
  assert.match((await here.get('/account')).text, said, 'also where the person is signed in at once');
});
