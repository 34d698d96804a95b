// store: SQLite, PostgreSQL with --all
/** What people are told about their accounts by mail, and "This was not me". */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, newClient, newUser, PASSWORD, refresh, signedIn, type TestUser, tokensFor } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { startServer } from '../support/server.ts';

const HOUR = 3_600_000;
const server = await startServer({ TESSERA_MAILBOX: 'on' });
after(() => server.close());

const addressOf = async ({ id }: TestUser): Promise<string> => (await admin(server, 'GET', `/users/${id}`)).body.email;
const mails = async (user: TestUser) => mailsTo(server, await addressOf(user));
const subjects = async (user: TestUser) => (await mails(user)).map(({ subject }) => subject);
/** A new user who has signed in, and whose first hour is over. */
async function newPerson(): Promise<{ user: TestUser; browser: Agent }> {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  server.advance(HOUR);
  return { user, browser };
}
const report = async (link: string, browser = agent(server.baseUrl)) => browser.submit(await browser.get(link), {});
const linkTo = async (user: TestUser, subject: string): Promise<string> => {
  const found = (await mailsTo(server, await addressOf(user))).find((mail) => mail.subject === subject);
  assert.ok(found?.link !== undefined, subject);
  return found.link;
};

const passwordPage = async (browser: Agent) =>
  browser.get((await browser.get('/.well-known/change-password')).location?.href ?? '');

const NEW_DEVICE = 'New sign-in to your account';
const NEW_PASSWORD = 'Your password was changed';

test('a sign-in in a new browser is told, but not the first one, nor one in a browser that is known', async () => {
  const { user, browser } = await newPerson();
  assert.deepEqual(await subjects(user), []);
  browser.setCookie('tessera_session', '');
  assert.equal(
    (await browser.submit(await browser.get('/login'), { identifier: user.username, password: PASSWORD })).status,
    303,
  );
  assert.deepEqual(await subjects(user), []);
  await signedIn(server, user);
  assert.deepEqual(await subjects(user), [NEW_DEVICE]);
});

test('a new password is told, whoever sets it', async () => {
  const { user, browser } = await newPerson();
  const page = await passwordPage(browser);
  const password = 'quite another passphrase';
  assert.equal((await browser.submit(page, { current: PASSWORD, password }, '/account/password')).status, 200);
  assert.deepEqual(await subjects(user), [NEW_PASSWORD]);
  await admin(server, 'PATCH', `/users/${user.id}`, { password: 'and another passphrase' });
  const [told] = await mailsTo(server, await addressOf(user));
  assert.match(told?.text ?? '', /An operator of this service did this/);
});

test('an operator’s change of the address is told to both addresses', async () => {
  const { user } = await newPerson();
  const before = await addressOf(user);
  const email = `new-${before}`;
  await admin(server, 'PATCH', `/users/${user.id}`, { email });
  for (const address of [before, email]) {
    const [told] = await mailsTo(server, address);
    assert.equal(told?.subject, 'The email address of your account was changed', address);
  }
});

test('“This was not me” ends everything once, and begins the recovery', async () => {
  const { user, browser } = await newPerson();
  const client = await newClient(server);
  const tokens = await tokensFor(server, client, user, {}, { browser });
  // A consent from a minute before might be one of a node whose clock is behind.
  server.advance(2 * 60_000);
  const thief = await signedIn(server, user);
  const link = await linkTo(user, NEW_DEVICE);

  // A scanner opens the link: nothing changes.
  const scanner = agent(server.baseUrl);
  assert.match((await scanner.get(link)).text, /This was not me: end everything/);
  await fetch(link, { method: 'HEAD' });
  assert.equal(
    (await scanner.post('/secure-account', { token: new URL(link).searchParams.get('token') ?? '' })).status,
    303,
  );
  assert.equal((await thief.get('/account')).status, 200);

  const pressed = await report(link);
  assert.equal(pressed.status, 200, pressed.text);
  assert.equal((await thief.get('/account')).location?.pathname, '/login');
  assert.equal((await browser.get('/account')).location?.pathname, '/login');
  assert.equal((await refresh(server, client, tokens.refresh_token)).body.error, 'invalid_grant');
  const again = agent(server.baseUrl);
  const answer = await again.submit(await again.get('/login'), { identifier: user.username, password: PASSWORD });
  assert.equal(answer.status, 401, 'the password no longer signs in');
  const [recovery] = await mailsTo(server, await addressOf(user));
  assert.deepEqual([recovery?.kind, recovery?.code], ['recovery', undefined], 'no browser asked, so none takes a code');
  assert.match(recovery?.text ?? '', /^Your account .* is secured: every browser and every app is signed out/);
  assert.equal((await again.get(link)).status, 410);
  const events = await admin(server, 'GET', `/audit-events?userId=${user.id}&type=account.secured`);
  assert.equal(events.body.items.length, 1);
});

test('a report calls the deletion off, and the message of it leads to the recovery: no password is left', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const asked = await browser.submit(await browser.get('/account/data'), { confirm: 'yes' }, '/account/deletion');
  assert.equal(asked.status, 200, asked.text);
  const link = await linkTo(user, 'The deletion of your account was requested');
  assert.match((await agent(server.baseUrl).get(link)).text, /The deletion of the account is canceled\./);
  assert.equal((await report(link)).status, 200);
  const told = (await mails(user)).find(({ subject }) => subject === 'Your account will not be deleted');
  assert.equal(told?.link, `${server.baseUrl}/recover`);
  assert.match(told?.text ?? '', /The password no longer works: recover your account/);
});

test('the page of the link says since when what is taken back, and what was never told', async () => {
  const { user, browser } = await newPerson();
  await signedIn(server, user);
  const since = new Date(server.now()).toISOString().slice(0, 16);
  const says = async (subject: string) => (await browser.get(await linkTo(user, subject))).text;
  const ofSignIn = await says(NEW_DEVICE);
  assert.match(ofSignIn, new RegExp(`What was added since <time datetime="${since}`));
  assert.match(ofSignIn, /Apps lose the access that they were given since then\./);
  server.advance(5 * 60_000);
  await browser.submit(
    await passwordPage(browser),
    { current: PASSWORD, password: 'one more passphrase' },
    '/account/password',
  );
  // It stands for the sign-in as well, which nobody answered.
  assert.match(await says(NEW_PASSWORD), new RegExp(`What was added since <time datetime="${since}`));
  const { user: other, browser: own } = await newPerson();
  await own.submit(
    await passwordPage(own),
    { current: PASSWORD, password: 'one more passphrase' },
    '/account/password',
  );
  assert.match(
    (await own.get(await linkTo(other, NEW_PASSWORD))).text,
    /Apps lose the access that they were given since then or in the seven days before\./,
  );
});

test('of an act of an operator, the page asks about what came before, and promises a banned person no link', async () => {
  const { user, browser } = await newPerson();
  await signedIn(server, user);
  assert.match((await browser.get(await linkTo(user, NEW_DEVICE))).text, /We send a link to your email address/);
  await admin(server, 'PUT', `/users/${user.id}/ban`, { reason: 'spam' });
  const [told] = await mails(user);
  assert.equal(told?.subject, 'Your account was banned');
  assert.match(told?.text ?? '', /Somebody else used my account.*and says how you get back in/s);
  const { text } = await agent(server.baseUrl).get(told?.link ?? '');
  assert.match(text, /<h1>Did somebody else use your account\?/);
  assert.match(text, /no link to set a new password is sent/);
  assert.doesNotMatch(text, /Was this you|We send a link/);
});

test('of several presses at once, one acts', async () => {
  const { user } = await newPerson();
  await signedIn(server, user);
  const link = await linkTo(user, NEW_DEVICE);
  const browsers = [agent(server.baseUrl), agent(server.baseUrl), agent(server.baseUrl)];
  const pages = await Promise.all(browsers.map(async (browser) => ({ browser, page: await browser.get(link) })));
  const statuses = await Promise.all(pages.map(async ({ browser, page }) => (await browser.submit(page, {})).status));
  assert.deepEqual(statuses.sort(), [200, 410, 410]);
});

test('each report works until the account is secured again, and for seven days', async () => {
  const { user, browser } = await newPerson();
  await signedIn(server, user);
  const first = await linkTo(user, NEW_DEVICE);
  await signedIn(server, user);
  assert.equal((await agent(server.baseUrl).get(first)).status, 200, 'a second report leaves the first');
  const page = await passwordPage(browser);
  const password = 'quite another passphrase';
  assert.equal((await browser.submit(page, { current: PASSWORD, password }, '/account/password')).status, 200);
  assert.equal((await agent(server.baseUrl).get(first)).status, 410);
  const second = await linkTo(user, NEW_PASSWORD);
  assert.equal((await agent(server.baseUrl).get(second)).status, 200);
  server.advance(7 * 24 * HOUR);
  assert.equal((await agent(server.baseUrl).get(second)).status, 410);
});

test('a thief of the password cannot fill the mailbox: what comes beyond five messages is told in one', async () => {
  const { user } = await newPerson();
  for (let browsers = 0; browsers < 22; browsers++) await signedIn(server, user);
  const [last, ...others] = await mails(user);
  assert.equal(others.length, 5);
  assert.equal(last?.subject, NEW_DEVICE);
  assert.match(last?.text ?? '', /in a new browser\. When: 17 times, first .+, last /);
  for (const { text } of others) assert.doesNotMatch(text, / times/);
  server.advance(24 * HOUR);
  await signedIn(server, user);
  // Messages of the day before may be removed at any time.
  const links = new Set([last, ...others].map((mail) => mail?.link));
  const told = (await mails(user)).filter(({ link }) => !links.has(link));
  assert.deepEqual(
    told.map(({ subject }) => subject),
    [NEW_DEVICE],
    'reports of another day silence none',
  );
});

test('no flood of harmless acts keeps a decisive one from being told, with a link that works', async () => {
  const { user, browser } = await newPerson();
  for (let browsers = 0; browsers < 12; browsers++) await signedIn(server, user);
  const page = await passwordPage(browser);
  assert.equal(
    (await browser.submit(page, { current: PASSWORD, password: 'of the thief' }, '/account/password')).status,
    200,
  );
  const [last] = await mails(user);
  // The message that was held goes with it, and at once: a later one does not join it.
  assert.equal(last?.subject, `${NEW_PASSWORD}, and more`);
  assert.match(last?.text ?? '', /sign-in to your account in a new browser\. When: 7 times/);
  assert.match(last?.text ?? '', /The password of your account was changed\. When: \d/);
  const shown = await agent(server.baseUrl).get(last?.link ?? '');
  assert.match(shown.text, /The password of your account was changed/);
  assert.match(shown.text, /7 times/);

  // The thief's next password is one of too many, and is told within ten minutes.
  for (let change = 0; change < 7; change++) {
    await admin(server, 'PATCH', `/users/${user.id}`, { password: `passphrase number ${change}` });
  }
  const [latest, before] = await mails(user);
  assert.notEqual(latest?.link, before?.link);
  assert.equal((await agent(server.baseUrl).get(before?.link ?? '')).status, 410);
  assert.equal((await report(latest?.link ?? '')).status, 200);
  assert.equal((await mails(user))[0]?.kind, 'recovery');
});

test('the present and the oldest address are told, and none between them', async () => {
  const user = await newUser(server, { emailVerified: true });
  const browser = await signedIn(server, user);
  const first = await addressOf(user);
  for (const email of [`second-${first}`, `third-${first}`]) {
    server.advance(1000);
    await browser.submit(await browser.get('/account/email'), { email }, '/account/email');
    const [{ link = '' } = {}] = await mailsTo(server, email);
    assert.equal((await browser.submit(await browser.get(link), {})).status, 200);
  }
  server.advance(HOUR);
  await signedIn(server, user);
  const toldOf = async (address: string) =>
    (await mailsTo(server, address)).filter(({ kind }) => kind === 'security notice').map(({ subject }) => subject);
  assert.deepEqual(await toldOf(first), [NEW_DEVICE]);
  assert.deepEqual(await toldOf(`second-${first}`), []);
  assert.deepEqual(await toldOf(`third-${first}`), [NEW_DEVICE]);
});
