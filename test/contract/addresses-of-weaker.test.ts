// store: SQLite, PostgreSQL
/**
 * Nobody takes over somebody who may do more by an address that they once gave to the account (decisions §12), nor by what was got by it. The
 * role waits, and nothing of the account changes.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { askRecovery, newestMail, recover, useLink } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';

const server = await startServer({
  ...{ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_RECIPIENT: 'off', TESSERA_LIMIT_MAIL_ADDRESS: 'off' },
});
after(() => server.close());
const { moveTo } = takenBack(server);

async function ok(method: string, path: string, body?: object, key?: string) {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
const { adminKey: weaker } = await ok('POST', '/admin-keys', { name: 'an admin', role: 'admin' });
const TAKEN = 'chosen by the weaker one 9';
const OWN = 'chosen by the person 7';
let count = 0;

/** A person whose address an admin replaces by one of their own. */
async function withGivenAddress() {
  const user = await newUser(server, { emailVerified: true });
  const address = `mailbox-${++count}@weaker.example`;
  server.advance(MINUTE);
  await ok('PATCH', `/users/${user.id}`, { email: address, emailVerified: true }, weaker);
  server.advance(MINUTE);
  return { user, address };
}
async function makeOwner({ id }: TestUser): Promise<number> {
  const { status, body } = await admin(server, 'PUT', `/users/${id}/roles/owner`, {});
  server.advance(MINUTE);
  if (status === 409) assert.equal(body.error, 'conflict');
  return status;
}
const declare = ({ id }: TestUser, key?: string) => ok('PATCH', `/users/${id}`, { emailVerified: true }, key);
async function opens({ username }: TestUser, password: string): Promise<boolean> {
  const browser = agent(server.baseUrl);
  const login = await browser.get('/login');
  return (await browser.submit(login, { identifier: username, password }, '/login')).status === 303;
}

test('the role is given when an owner has declared the address verified, and the person has recovered the account since', async () => {
  const { user, address } = await withGivenAddress();
  assert.equal(await makeOwner(user), 409);
  const { emailVerified } = await ok('GET', `/users/${user.id}`);
  assert.deepEqual([emailVerified, await opens(user, PASSWORD)], [true, true], 'the account is as it was');
  await declare(user, weaker);
  assert.equal(await makeOwner(user), 409, 'not by a weaker operator');
  await declare(user);
  assert.equal(await makeOwner(user), 409, 'it may have been recovered before');
  await recover(server, address, OWN, agent(server.baseUrl));
  assert.equal(await makeOwner(user), 200);
  assert.equal(await opens(user, OWN), true);
});

test('a recovery link from before the declaration does nothing after it', async () => {
  const { user, address } = await withGivenAddress();
  const thief = agent(server.baseUrl);
  await askRecovery(server, thief, address);
  const { link = '' } = await newestMail(server, address, 'recovery');
  await declare(user);
  assert.equal((await useLink(thief, link, TAKEN)).status, 410);
  assert.equal(await opens(user, TAKEN), false);
});

test('a session and a password that were got by such an address get no role, and end with the recovery', async () => {
  for (const setUp of ['as created', 'with another address']) {
    const made = await withGivenAddress();
    let { user, address } = made;
    if (setUp === 'as created') {
      address = `created-${count}@weaker.example`;
      const fields = { username: `created-${count}`, displayName: 'Created', email: address, password: PASSWORD };
      user = { ...user, ...(await ok('POST', '/users', fields, weaker)), username: fields.username };
      server.advance(MINUTE);
    }
    const thief = agent(server.baseUrl);
    await recover(server, address, TAKEN, thief);
    assert.equal(await makeOwner(user), 409, setUp);
    const owners = `owner-${count}-${setUp.length}@example.com`;
    await ok('PATCH', `/users/${user.id}`, { email: owners, emailVerified: true });
    assert.equal(await makeOwner(user), 409, setUp);
    await recover(server, owners, OWN, agent(server.baseUrl));
    assert.notEqual((await thief.get('/account')).status, 200, setUp);
    assert.equal(await opens(user, TAKEN), false, setUp);
    assert.equal(await makeOwner(user), 200, setUp);
  }
});

test('an account that a weaker operator has moved to their own mailbox by a password gets no role, however long they wait', async () => {
  const user = await newUser(server, { emailVerified: true });
  server.advance(MINUTE);
  await ok('PATCH', `/users/${user.id}`, { password: TAKEN }, weaker);
  server.advance(MINUTE);
  const own = `moved-${++count}@weaker.example`;
  await moveTo(await signedIn(server, user, TAKEN), own);
  server.advance(30 * DAY);
  await recover(server, own, OWN, agent(server.baseUrl));
  assert.equal(await makeOwner(user), 409);
});

test('an address that the person proved by what is not of the operator’s asks for nothing', async () => {
  const user = await newUser(server, { emailVerified: true });
  const own = `proved-${++count}@example.com`;
  await moveTo(await signedIn(server, user, PASSWORD), own);
  server.advance(MINUTE);
  assert.equal(await makeOwner(user), 200);
});
