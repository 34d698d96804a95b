// store: SQLite, PostgreSQL
/** Nobody takes over somebody who may do more by an address that they once gave to the account (decisions §12), nor by what was got by it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { MINUTE } from '../support/outcome.ts';
import { askRecovery, newestMail, recover, useLink } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({
  ...{ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_RECIPIENT: 'off', TESSERA_LIMIT_MAIL_ADDRESS: 'off' },
});
after(() => server.close());

async function ok(method: string, path: string, body?: object, key?: string) {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path} ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
const { adminKey: weaker } = await ok('POST', '/admin-keys', { name: 'an admin', role: 'admin' });
const TAKEN = 'chosen by the weaker one 9';
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
async function becomesOwner({ id }: TestUser) {
  await ok('PUT', `/users/${id}/roles/owner`, {});
  server.advance(MINUTE);
}
const recoveriesAt = async (address: string) =>
  (await mailsTo(server, address)).filter(({ kind }) => kind === 'recovery').length;
async function opens({ username }: TestUser, password: string): Promise<boolean> {
  const browser = agent(server.baseUrl);
  const login = await browser.get('/login');
  return (await browser.submit(login, { identifier: username, password }, '/login')).status === 303;
}

test('nothing is recovered by such an address after the grant; the person keeps their password', async () => {
  const { user, address } = await withGivenAddress();
  await becomesOwner(user);
  await askRecovery(server, agent(server.baseUrl), address);
  assert.equal(await recoveriesAt(address), 0);
  assert.equal((await ok('GET', `/users/${user.id}`)).emailVerified, false);
  assert.equal((await admin(server, 'POST', `/users/${user.id}/recovery`)).status, 409);
  assert.equal(await opens(user, PASSWORD), true);
});

test('a recovery link from before the grant does nothing after it', async () => {
  const { user, address } = await withGivenAddress();
  const thief = agent(server.baseUrl);
  await askRecovery(server, thief, address);
  const { link = '' } = await newestMail(server, address, 'recovery');
  await becomesOwner(user);
  assert.equal((await useLink(thief, link, TAKEN)).status, 410);
  assert.equal(await opens(user, TAKEN), false);
});

test('a session and a password that were got by such an address end with the grant', async () => {
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
    assert.equal((await thief.get('/account')).status, 200);
    await becomesOwner(user);
    assert.notEqual((await thief.get('/account')).status, 200, setUp);
    assert.equal(await opens(user, TAKEN), false, setUp);
  }
});

test('an address that the person proved, or that an owner gives, recovers the account as before', async () => {
  const proved = await withGivenAddress();
  await becomesOwner(proved.user);
  const browser = await signedIn(server, proved.user, PASSWORD);
  await browser.submit(await browser.get('/account/email'), {}, '/account/email/verify');
  const { code = '' } = await newestMail(server, proved.address, 'verify address');
  await browser.submit(await browser.get('/account/email'), { code }, '/account/email/code');
  assert.equal((await ok('GET', `/users/${proved.user.id}`)).emailVerified, true);

  const given = await withGivenAddress();
  await becomesOwner(given.user);
  await ok('PATCH', `/users/${given.user.id}`, { emailVerified: true });
  for (const { address } of [proved, given]) {
    server.advance(MINUTE);
    await askRecovery(server, agent(server.baseUrl), address);
    assert.equal(await recoveriesAt(address), 1);
  }
});
