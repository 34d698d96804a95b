// store: SQLite, PostgreSQL with --all
/** What happens to an account while a sign-in, a step-up or a recovery is under way: decisions §11. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ACR_MFA } from '../../src/authenticators/rules/authentication-context.ts';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { holdCommits } from '../support/held-commits.ts';
import { MINUTE, query } from '../support/outcome.ts';
import { passkeyOptions } from '../support/passkeys.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { atSecondStep, enroll, totpCode } from '../support/second-factor.ts';
import { SEVERAL, startServer } from '../support/server.ts';

const commits = holdCommits();
const off = Object.fromEntries(
  ['SIGN_IN_ADDRESS', 'MAIL_ADDRESS', 'MAIL_RECIPIENT'].map((name) => [`TESSERA_LIMIT_${name}`, 'off']),
);
const server = await startServer({ TESSERA_MAILBOX: 'on', ...off }, SEVERAL, undefined, {
  database: commits.database,
});
after(() => server.close());
const app = await newClient(server);
const strictApp = await newClient(server, { requireSecondFactor: true });

const VERIFY = '/login/verify';
const isSignedIn = async (browser: Agent): Promise<boolean> => (await browser.get('/account')).status === 200;
const sessionsOf = async ({ id }: TestUser): Promise<readonly { id: string }[]> =>
  (await admin(server, 'GET', `/users/${id}/sessions`)).body.items;

type Send = (header: Readonly<Record<string, string>>) => Promise<Answer>;

/** The form of the page that asks for a code, to be sent with a header. */
function codeForm(browser: Agent, page: Answer, fields: Readonly<Record<string, string>>): Send {
  const { hidden } = formOf(page.text, VERIFY);
  return (header) => browser.post(VERIFY, { ...hidden, ...fields }, header);
}

/** How many commits a form makes that nothing disturbs. */
async function commitsOf(send: Send): Promise<number> {
  let last = 0;
  const { header } = commits.watch(async (commit) => {
    last = commit;
  });
  assert.equal((await send(header)).status, 303);
  return last;
}

/** Sends a form, and does something else right before its last commit. */
function before(send: Send, last: number, act: () => Promise<unknown>): Promise<Answer> {
  const { header } = commits.watch(async (commit) => {
    if (commit === last) await act();
  });
  return send(header);
}

/** A person in a session of the password, at the page that asks for a code for an app. */
async function atStepUp(): Promise<{ readonly user: TestUser; readonly browser: Agent; readonly send: Send }> {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const factor = await enroll(server, user);
  const { location } = await browser.get(authorizeUrl(app, { scope: 'openid', acr_values: ACR_MFA }));
  assert.equal(location?.pathname, VERIFY);
  const page = await browser.get(location.href);
  return { user, browser, send: codeForm(browser, page, { code: totpCode(factor, server.now()), with: 'app' }) };
}

/** What ends one session, and leaves the account as it is. */
const ends: Readonly<Record<string, (user: TestUser, browser: Agent) => Promise<unknown>>> = {
  'an operator ends': async (user) => {
    for (const { id } of await sessionsOf(user)) await admin(server, 'DELETE', `/users/${user.id}/sessions/${id}`);
  },
  'the person signs out of': async (_user, browser) => {
    const tab = agent(server.baseUrl);
    for (const name of ['tessera_session', 'tessera_browser']) tab.setCookie(name, browser.cookie(name) ?? '');
    const done = await tab.submit(await tab.get('/account'), {}, '/logout');
    assert.equal(done.location?.pathname, '/login');
  },
};

for (const [who, end] of Object.entries(ends)) {
  test(`a step-up that is under way does not revive the session that ${who}`, async () => {
    const last = await commitsOf((await atStepUp()).send);
    const { user, browser, send } = await atStepUp();
    const answer = await before(send, last, () => end(user, browser));
    assert.ok(answer.status < 500, answer.text);
    assert.deepEqual(await sessionsOf(user), []);
    assert.equal(await isSignedIn(browser), false);
  });
}

/** A person at the second step of a sign-in, with a recovery code typed. */
async function atRecoveryCode(): Promise<{ readonly user: TestUser; readonly browser: Agent; readonly send: Send }> {
  const user = await newUser(server);
  const { recoveryCodes } = await enroll(server, user);
  const { browser, page } = await atSecondStep(server, user, agent(server.baseUrl));
  return { user, browser, send: codeForm(browser, page, { code: recoveryCodes[0] ?? '', with: 'recovery-code' }) };
}

test('a sign-in is completed only by a method that it still asks for', async () => {
  const last = await commitsOf((await atRecoveryCode()).send);
  const { user, browser, send } = await atRecoveryCode();
  // A recovery code stands in for the app, which is not there any more.
  const answer = await before(send, last, () => query(server, 'DELETE FROM totp_secret WHERE account_id = ?', user.id));
  assert.equal(answer.status, 409, answer.text);
  assert.deepEqual(await sessionsOf(user), []);
  assert.equal(await isSignedIn(browser), false);
});

/** A verified person whose account waits for its deletion, and a browser in which they can come back. */
async function leaving(): Promise<{ readonly user: TestUser; readonly email: string; readonly browser: Agent }> {
  const user = await newUser(server, { emailVerified: true });
  const browser = await signedIn(server, user);
  const page = await browser.get('/account/data');
  assert.equal((await browser.submit(page, { confirm: 'yes' }, '/account/deletion')).status, 200);
  const typed = { identifier: user.username, password: PASSWORD };
  const { location } = await browser.submit(await browser.get('/login'), typed, '/login');
  assert.equal(location?.pathname, '/login/come-back');
  return { user, email: `${user.username}@example.com`, browser };
}

test('who comes back ends what was begun while the account waited for its deletion', async () => {
  const { user, email, browser } = await leaving();
  const other = agent(server.baseUrl);
  await askRecovery(server, other, email);
  const { link: recovery = '' } = await newestMail(server, email, 'recovery');
  const { link: report = '' } = await newestMail(server, email, 'security notice');
  const made = await admin(server, 'POST', `/users/${user.id}/recovery-link`, {});
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const links = [recovery, report, made.body.url];
  for (const link of links) assert.equal((await other.get(link)).status, 200, link);

  const back = await browser.submit(await browser.get('/login/come-back'), {}, '/login/come-back');
  assert.equal(back.location?.pathname, '/account');
  for (const link of links) assert.equal((await other.get(link)).status, 410, link);
  const { link: newest = '' } = await newestMail(server, email, 'security notice');
  assert.notEqual(newest, report);
  assert.equal((await other.get(newest)).status, 200, 'the report of coming back');
});

/** The options for a new passkey in an authorization request. */
const passkeyFor = (browser: Agent, request: string): Promise<Answer> =>
  browser.get(`/login/enroll/passkey?request=${encodeURIComponent(request)}`, { accept: 'application/json' });

const requestOf = (location: URL | undefined, path: string): string => {
  assert.equal(location?.pathname, path);
  return location?.searchParams.get('request') ?? '';
};

test('an authorization request gives options for a passkey only where it asks to set one up', async () => {
  const { browser } = await verified();
  const asking = requestOf((await browser.get(authorizeUrl(strictApp, { scope: 'openid' }))).location, '/login/enroll');
  await passkeyOptions(browser, `/login/enroll/passkey?request=${asking}`);
  const consenting = requestOf((await browser.get(authorizeUrl(app, { scope: 'openid' }))).location, '/consent');
  assert.equal((await passkeyFor(browser, consenting)).status, 404, 'nothing is to be set up');
  server.advance(10 * MINUTE);
  assert.equal((await passkeyFor(browser, asking)).status, 404, 'the proof is no longer fresh');
});

async function verified(): Promise<{ readonly user: TestUser; readonly browser: Agent }> {
  const user = await newUser(server, { emailVerified: true });
  return { user, browser: await signedIn(server, user) };
}

for (const [title, method, path] of [
  ['banned', 'PUT', 'ban'],
  ['suspended', 'PUT', 'suspension'],
] as const) {
  test(`the link of an operator sets no password while the person is ${title}`, async () => {
    const { user } = await verified();
    assert.ok((await admin(server, method, `/users/${user.id}/${path}`, {})).status < 300);
    const { body } = await admin(server, 'POST', `/users/${user.id}/recovery-link`, {});
    const [hash] = await query(server, 'SELECT password_hash FROM account WHERE id = ?', user.id);
    const answer = await useLink(agent(server.baseUrl), body.url, 'another good password');
    assert.equal(answer.status, 403, answer.text);
    assert.match(answer.text, new RegExp(title));
    assert.deepEqual(await query(server, 'SELECT password_hash FROM account WHERE id = ?', user.id), [hash]);
  });
}
