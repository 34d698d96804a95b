// store: SQLite, PostgreSQL
/** Nobody takes over somebody who may do more by a password that they once set (decisions §12), also where it was changed since with it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { MINUTE } from '../support/outcome.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());
const weaker = (await admin(server, 'POST', '/admin-keys', { name: 'Weaker', role: 'admin' })).body.adminKey;

const SET = 'set by an operator 1';
const CHOSEN = 'chosen by its holder 2';
const AGAIN = 'chosen once more 3';

async function change(browser: Awaited<ReturnType<typeof signedIn>>, current: string, password: string) {
  const page = await browser.get('/account/security');
  const answer = await browser.submit(page, { current, password }, '/account/password');
  assert.ok(answer.status < 400 && !/role="alert"/.test(answer.text), answer.text);
  server.advance(MINUTE);
}
const setPassword = async ({ id }: TestUser) => {
  server.advance(MINUTE);
  assert.equal((await admin(server, 'PATCH', `/users/${id}`, { password: SET }, weaker)).status, 200);
  server.advance(MINUTE);
};
const makeOwner = async ({ id }: TestUser): Promise<number> =>
  (await admin(server, 'PUT', `/users/${id}/roles/owner`, {})).status;
const opens = async (user: TestUser, password: string): Promise<boolean> => {
  const browser = agent(server.baseUrl);
  const login = await browser.get('/login');
  const { status } = await browser.submit(login, { identifier: user.username, password }, '/login');
  return status === 303;
};

test('no role is given beside a password that was chosen by proving one of a weaker operator, however often it was changed', async () => {
  for (const chosen of [[CHOSEN], [CHOSEN, AGAIN]]) {
    const user = await newUser(server, { emailVerified: true });
    await setPassword(user);
    const browser = await signedIn(server, user, SET);
    let current = SET;
    for (const password of chosen) {
      await change(browser, current, password);
      current = password;
    }
    assert.equal(await makeOwner(user), 409);
    assert.equal(await opens(user, current), true);
  }
});

test('nor beside one that was chosen by proving the password with which a weaker operator created the account', async () => {
  const account = { username: 'made-with', displayName: 'Made', email: 'made-with@example.com', password: SET };
  const { body } = await admin(server, 'POST', '/users', account, weaker);
  server.advance(MINUTE);
  const user = { ...body, username: 'made-with' } as TestUser;
  await change(await signedIn(server, user, SET), SET, CHOSEN);
  assert.equal(await makeOwner(user), 409);
});

test('a role is given beside a password that was chosen with a factor from before, and one that nobody else gave; both stay', async () => {
  const own = await newUser(server, { emailVerified: true });
  await change(await signedIn(server, own), PASSWORD, CHOSEN);
  assert.equal(await makeOwner(own), 200);
  assert.equal(await opens(own, CHOSEN), true);

  const user = await newUser(server, { emailVerified: true });
  const factor = await enroll(server, user);
  await setPassword(user);
  const { browser, page } = await atSecondStep(server, user, agent(server.baseUrl), SET);
  await typeCode(browser, page, totpCode(factor, server.now()));
  await change(browser, SET, CHOSEN);
  assert.equal(await makeOwner(user), 200);
  assert.equal(await opens(user, CHOSEN), true);
});
