// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { newUser, PASSWORD, signedIn } from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { enroll, totpCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

// Decisions §11: dangerous changes ask for the strongest factor that was set up before the session, within ten minutes.

const server = await startServer();
after(() => server.close());
const CONFIRM = '/account/confirm?next=password';

/** Whether a dangerous change asks for a proof first. */
const asks = async (browser: Agent): Promise<boolean> => (await browser.get(CONFIRM)).status === 200;

test('a sign-in is a proof for ten minutes', async () => {
  const browser = await signedIn(server, await newUser(server));
  server.advance(10 * MINUTE - 1);
  assert.equal(await asks(browser), false);
  server.advance(1);
  assert.equal(await asks(browser), true);
});

test('a proof gives the session another secret, its name and its end stay, and it lasts ten minutes', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  server.advance(10 * MINUTE);
  const before = browser.cookie('tessera_session') ?? '';
  const page = await browser.get(CONFIRM);
  assert.equal((await browser.submit(page, { current: 'not the password' }, '/account/confirm')).status, 400);
  assert.equal(browser.cookie('tessera_session'), before);
  const answer = await browser.submit(page, { current: PASSWORD }, '/account/confirm');
  assert.deepEqual([answer.status, answer.location?.pathname], [303, '/account/security']);
  assert.notEqual(browser.cookie('tessera_session'), before);
  const thief = agent(server.baseUrl);
  thief.setCookie('tessera_session', before);
  assert.equal(
    (await thief.get('/account')).status,
    302,
    'a secret that was known before is not raised with the session',
  );
  assert.equal(await asks(browser), false);
  server.advance(10 * MINUTE);
  assert.equal(await asks(browser), true);
});

test('who has an authenticator app is asked for its code, and the password does not do', async () => {
  const user = await newUser(server);
  const factor = await enroll(server, user);
  server.advance(2 * MINUTE);
  const browser = agent(server.baseUrl);
  const first = await browser.submit(
    await browser.get('/login'),
    { identifier: user.username, password: PASSWORD },
    '/login',
  );
  const verify = await browser.get(first.location?.href ?? '');
  await browser.submit(verify, { code: totpCode(factor, server.now()), with: 'app' }, '/login/verify');
  assert.equal(await asks(browser), false, 'the code of the sign-in was the proof');
  server.advance(10 * MINUTE);
  const page = await browser.get(CONFIRM);
  assert.doesNotMatch(page.text, /name="current"/);
  assert.equal((await browser.submit(page, { current: PASSWORD }, '/account/confirm')).status, 400);
  const change = { current: PASSWORD, password: 'another good password' };
  const refused = await browser.submit(await browser.get('/account/security'), change, '/account/password');
  assert.equal(refused.location?.pathname, '/account/confirm', 'nor does the form of the password go round it');
  const code = totpCode(factor, server.now());
  const done = await browser.submit(page, { code, with: 'app' }, '/account/confirm');
  assert.equal(done.location?.pathname, '/account/security');
});

test('another person’s proof, and one in a session that has ended, change nothing', async () => {
  const [ada, bob] = [await newUser(server), await newUser(server)];
  const [hers, his] = [await signedIn(server, ada), await signedIn(server, bob)];
  server.advance(10 * MINUTE);
  const page = await hers.get(CONFIRM);
  assert.equal((await his.submit(page, { current: PASSWORD }, '/account/confirm')).status, 400);
  assert.equal(await asks(his), true);
  await hers.submit(await hers.get('/account'), {}, '/logout');
  const late = await hers.submit(page, { current: PASSWORD }, '/account/confirm');
  assert.equal(late.location?.pathname, '/login');
});
