// store: SQLite, PostgreSQL with --all
/** One's own data (decisions §11): the username, and leaving with a way back. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import {
  admin,
  newClient,
  newUser,
  PASSWORD,
  refresh,
  signedIn,
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { sweepDeletions } from '../support/personal-data.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_USERNAME_ACCOUNT: '3/720h',
  TESSERA_LIMIT_GENERATION_ACCOUNT: 'off',
});
after(() => server.close());
const DAY = 24 * 60 * 60 * 1000;
const PAGE = '/account/data';

const rename = async (browser: Agent, username: string): Promise<Answer> =>
  browser.submit(await browser.get('/account'), { username }, '/account/username');
const leave = async (browser: Agent): Promise<Answer> =>
  browser.submit(await browser.get(PAGE), { confirm: 'yes' }, '/account/deletion');
const userOf = async ({ id }: TestUser) => (await admin(server, 'GET', `/users/${id}`)).body;

/** Signs in to an account that waits for its deletion. */
async function atTheWayBack({ username }: TestUser): Promise<{ browser: Agent; page: Answer }> {
  const browser = agent(server.baseUrl);
  const answer = await browser.submit(await browser.get('/login'), { identifier: username, password: PASSWORD });
  assert.equal(answer.location?.pathname, '/login/come-back');
  assert.equal(browser.cookie('tessera_session'), undefined);
  return { browser, page: await browser.get('/login/come-back') };
}

test('a username that was given up is held for 90 days, for all but its former owner', async () => {
  const [user, other] = [await newUser(server), await newUser(server)];
  const browser = await signedIn(server, user);
  const next = `${user.username}-next`;
  assert.match((await rename(browser, next)).text, /Your username is now/);
  assert.equal((await userOf(user)).username, next);
  const taken = await rename(await signedIn(server, other), user.username);
  assert.equal(taken.status, 409);
  assert.match(taken.text, /held until/);
  const created = { username: user.username, displayName: 'X', email: `${next}@example.com` };
  const refused = await admin(server, 'POST', '/users', created);
  assert.deepEqual([refused.status, refused.body.error], [409, 'conflict']);
  assert.match(refused.body.error_description, /held until/);
  assert.equal((await rename(browser, user.username)).status, 200, 'its former owner may take it back');
  assert.equal((await rename(browser, next)).status, 200);
  assert.equal((await rename(browser, `${next}-2`)).status, 429);
  server.advance(91 * DAY);
  assert.equal((await admin(server, 'POST', '/users', created)).status, 201);
});

test('asking for deletion ends everything at once; coming back revives nothing that ended', async () => {
  const user = await newUser(server);
  const client = await newClient(server);
  const browser = await signedIn(server, user);
  const tokens = await tokensFor(server, client, user, {}, { browser });
  const left = await leave(browser);
  assert.equal(left.status, 200);
  assert.match(left.text, /you can come back/);
  const assertEnded = async () => {
    assert.equal((await userinfo(server, tokens.access_token)).status, 401);
    const answer = await refresh(server, client, tokens.refresh_token);
    assert.deepEqual([answer.status, answer.body.error], [400, 'invalid_grant']);
    assert.equal((await browser.get('/account')).location?.pathname, '/login');
  };
  await assertEnded();
  const { requestedAt, dueAt } = (await userOf(user)).deletion;
  assert.equal(Date.parse(dueAt) - Date.parse(requestedAt), 14 * DAY);

  const back = await atTheWayBack(user);
  assert.equal((await back.browser.get('/account')).location?.pathname, '/login', 'nothing else is reached');
  const other = await atTheWayBack(user);
  const answer = await back.browser.submit(back.page, {}, '/login/come-back');
  assert.equal(answer.location?.pathname, '/account');
  assert.equal((await back.browser.get('/account')).status, 200);
  assert.equal((await userOf(user)).deletion, null);
  await assertEnded();
  // What another browser had proved before belongs to the generation that ended.
  const late = await other.browser.submit(other.page, {}, '/login/come-back');
  assert.equal(late.location?.pathname, '/login');
});

test('leaving and coming back, over and over, makes a bounded number of messages, and the last of them tells the rest', async () => {
  const user = await newUser(server);
  let browser = await signedIn(server, user);
  for (let times = 0; times < 10; times++) {
    server.advance(1);
    assert.equal((await leave(browser)).status, 200);
    const back = await atTheWayBack(user);
    await back.browser.submit(back.page, {}, '/login/come-back');
    browser = back.browser;
  }
  const mails = await mailsTo(server, (await userOf(user)).email);
  const count = (kind: string) => mails.filter((mail) => mail.kind === kind).length;
  // Five notices of each of three kinds, since coming back is a sign-in in a new browser, and one of all that came after.
  assert.deepEqual([count('deletion'), count('security notice'), mails.length], [0, 16, 16]);
  assert.match(
    mails[0]?.text ?? '',
    /was requested\. Unless you sign in and choose to keep it, it will be deleted on [^.]+\. When: 5 times/,
  );
  assert.match(mails[0]?.text ?? '', /called off after a sign-in\. When: 5 times/);
});

test('an operator cancels a deletion: the person is told, signs in again, and nothing that ended is valid', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  await leave(browser);
  const waiting = await atTheWayBack(user);
  const path = `/users/${user.id}/deletion`;
  const canceled = await admin(server, 'DELETE', path);
  assert.deepEqual([canceled.status, canceled.body.deletion], [200, null]);
  assert.equal((await admin(server, 'DELETE', path)).status, 200, 'again changes nothing');
  const events = await admin(server, 'GET', `/audit-events?userId=${user.id}&type=account.deletion_cancelled`);
  assert.deepEqual(
    events.body.items.map(({ actor }: { actor: { type: string } }) => actor.type),
    ['admin'],
  );
  const [told] = await mailsTo(server, canceled.body.email);
  assert.equal(told?.subject, 'Your account will not be deleted');
  assert.match(told?.text ?? '', /Sign in again: .* there is nothing else to do\./s);
  const late = await waiting.browser.submit(waiting.page, {}, '/login/come-back');
  assert.equal(late.location?.pathname, '/login', 'the sign-in that could come back ended');
  assert.equal((await browser.get('/account')).location?.pathname, '/login');
  assert.equal((await (await signedIn(server, user)).get('/account')).status, 200);
  server.advance(15 * DAY);
  await sweepDeletions(server);
  assert.equal((await admin(server, 'GET', `/users/${user.id}`)).status, 200);
  assert.equal((await admin(server, 'DELETE', '/users/1/deletion')).status, 404);
});

test('after 14 days the account is deleted, and its username is held', async () => {
  const user = await newUser(server);
  await leave(await signedIn(server, user));
  server.advance(14 * DAY - 1);
  await sweepDeletions(server);
  assert.equal((await admin(server, 'GET', `/users/${user.id}`)).status, 200);
  server.advance(1);
  await sweepDeletions(server);
  assert.equal((await admin(server, 'GET', `/users/${user.id}`)).status, 404);
  const again = { username: user.username, displayName: 'X', email: `${user.username}@example.com` };
  assert.match((await admin(server, 'POST', '/users', again)).body.error_description, /held until/);
});

test('the last owner of an organization cannot delete; one of two who leave together stays', async () => {
  const [one, two] = [await newUser(server), await newUser(server)];
  const { body } = await admin(server, 'POST', '/organizations', { name: 'leavers', domain: 'leavers.example' });
  const join = ({ id }: TestUser) => admin(server, 'PUT', `/organizations/${body.id}/members/${id}`, { role: 'OWNER' });
  await join(one);
  const alone = await leave(await signedIn(server, one));
  assert.equal(alone.status, 409);
  assert.match(alone.text, /only owner.* or contact the operator of /);
  assert.equal((await userOf(one)).deletion, null);
  await join(two);
  const browsers = [await signedIn(server, one), await signedIn(server, two)];
  const answers = await Promise.all(browsers.map(leave));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
});

test('of a return and an operator’s deletion one wins, and nobody is signed in to a deleted account', async () => {
  const user = await newUser(server);
  await leave(await signedIn(server, user));
  const { browser, page } = await atTheWayBack(user);
  await Promise.all([browser.submit(page, {}, '/login/come-back'), admin(server, 'DELETE', `/users/${user.id}`)]);
  assert.equal((await browser.get('/account')).location?.pathname, '/login');
});
