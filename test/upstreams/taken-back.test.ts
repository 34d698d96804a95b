// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, newUser, signedIn, type TestUser } from '../support/flow.ts';
import { DAY, query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';
import type { Members } from '../support/upstream-provider.ts';
import { newUpstream, type TestUpstream, throughUpstream } from './people.ts';

// An identity at another provider is a way in, as the password is: an owner who takes the account back ends it, however old it is.

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
const { person, press, moveTo, freshAddress, undoLinks, reportLink, recoverAt } = takenBack(server);
let upstream: TestUpstream;
before(async () => {
  upstream = await newUpstream(server, { signUp: 'anyone', claimsMap: { groups: '/groups' } });
  const made = await admin(server, 'POST', '/groups', { name: 'ops', upstreamId: upstream.id });
  assert.equal(made.status, 201, JSON.stringify(made.body));
});
after(async () => {
  await upstream.provider[Symbol.asyncDispose]();
  await server.close();
});

async function connect(browser: Agent, identity: Members): Promise<void> {
  upstream.provider.person = identity;
  const left = await browser.get(`/account/security/connect/${upstream.name}`);
  const back = await browser.get(upstream.provider.authorize(left.location?.href ?? '').href);
  const question = await browser.get(back.location?.href ?? '');
  const done = await browser.submit(question, {}, `/account/security/connect/${upstream.name}/confirm`);
  assert.ok(done.status < 400, done.text);
}

/** Whether somebody gets in by an identity, and the browser in which they did. */
async function through(identity: Members): Promise<{ readonly browser: Agent; readonly isIn: boolean }> {
  upstream.provider.person = identity;
  const browser = agent(server.baseUrl);
  await throughUpstream(browser, upstream);
  return { browser, isIn: (await browser.get('/account')).status === 200 };
}

let count = 0;

/** In how many groups a person is. */
const groupsOf = async ({ id }: TestUser) =>
  (await query(server, 'SELECT id FROM group_member WHERE account_id = ?', id)).length;

/** An account whose identity at the provider another person has taken over by now, and who signs in with it. */
async function robbed(): Promise<{ user: TestUser; email: string; identity: Members; thief: Agent }> {
  const ada = await person();
  const identity = { sub: `taken-${++count}`, email: `taken-${count}@upstream.example`, groups: ['ops'] };
  await connect(await signedIn(server, ada.user), identity);
  // A provider proves no change that a password proves, so this account has none.
  await query(server, 'UPDATE account SET password_hash = NULL WHERE id = ?', ada.user.id);
  server.advance(20 * DAY);
  const { browser, isIn } = await through(identity);
  assert.ok(isIn);
  assert.equal(await groupsOf(ada.user), 1);
  return { ...ada, identity, thief: browser };
}

test('a report of a sign-in ends the identity through which it came', async () => {
  const { user, email, identity } = await robbed();
  const { isIn } = await through(identity);
  assert.ok(isIn);
  assert.equal(await press(await reportLink(email)), 200);
  assert.equal((await through(identity)).isIn, false);
  assert.equal(await groupsOf(user), 0, 'its groups go with it');
  assert.equal(await recoverAt(email, ''), 200);
  assert.equal((await through(identity)).isIn, false);
});

test('the undo of a change of address ends the identity through which it was made', async () => {
  const { user, email, identity, thief } = await robbed();
  await moveTo(thief, freshAddress());
  const [undo = ''] = await undoLinks(email);
  assert.equal(await press(undo), 200);
  assert.equal((await through(identity)).isIn, false);
  assert.equal(await groupsOf(user), 0, 'its groups go with it');
});

test('an operator’s link that gives the address back ends it as well', async () => {
  const { user, email, identity, thief } = await robbed();
  await moveTo(thief, freshAddress());
  const made = await admin(server, 'POST', `/users/${user.id}/recovery-link`, { address: email });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  assert.equal((await through(identity)).isIn, false);
});

test('a ban and its end leave an identity as they leave the password', async () => {
  const user = await newUser(server, { emailVerified: true });
  const identity = { sub: `banned-${++count}`, email: `banned-${count}@upstream.example` };
  await connect(await signedIn(server, user), identity);
  await admin(server, 'PUT', `/users/${user.id}/ban`, {});
  assert.equal((await through(identity)).isIn, false);
  await admin(server, 'DELETE', `/users/${user.id}/ban`);
  assert.equal((await through(identity)).isIn, true);
});
