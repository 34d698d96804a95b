// store: SQLite, PostgreSQL
/**
 * Decisions §§11 and 12: a role that somebody gives changes nothing of how its person signs in and takes the account back. So neither a thief
 * who accepts an invitation in the account, nor an honest operator who raises its person, ends what the owner has. Where a weaker operator, or
 * one who has ended, set how the person signs in, the role waits.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  PASSWORD,
  signedIn,
  standard,
  type TestUser,
  tokensFor,
} from '../support/flow.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { askRecovery, newestMail } from '../support/recovery.ts';
import { enroll } from '../support/second-factor.ts';
import { SEVERAL, startServer } from '../support/server.ts';
import { RECOVERED, takenBack } from '../support/taken-back.ts';

const server = await startServer(
  { TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_RECIPIENT: 'off', TESSERA_LIMIT_MAIL_ADDRESS: 'off' },
  SEVERAL,
);
after(() => server.close());
const { browserOf, freshAddress, hasApp, moveTo, press, recoverAt, reportLink, setUsername, submit, undoLinks } =
  takenBack(server);

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

let count = 0;

/** A person whom nobody weaker than an owner has given anything. */
async function person(): Promise<{ readonly user: TestUser; readonly email: string }> {
  const user = await newUser(server, { emailVerified: true });
  server.advance(DAY);
  return { user, email: (await call('GET', `/users/${user.id}`)).email };
}

/** One whose address, or password, a key has set that was revoked since. */
async function setByEndedKey(set: 'address' | 'password') {
  const { user, email } = await person();
  const key = await call('POST', '/admin-keys', { name: 'staff', role: 'owner' });
  const address = `staff-${user.username}@example.com`;
  await call(
    'PATCH',
    `/users/${user.id}`,
    set === 'address' ? { email: address, emailVerified: true } : { password: PASSWORD },
    key.adminKey,
  );
  server.advance(60 * DAY);
  await call('DELETE', `/admin-keys/${key.id}`);
  return { user, email: set === 'address' ? address : email };
}

/** An organization, and what its admin does. */
async function organization() {
  const { id } = await call('POST', '/organizations', { name: `org${++count}`, domain: `org${count}.example` });
  const { adminKey } = await call('POST', '/admin-keys', { name: 'org', role: 'admin', organizationId: id });
  const raise = async ({ id: userId }: TestUser): Promise<number> =>
    (await admin(server, 'PUT', `/organizations/${id}/members/${userId}`, { role: 'ADMIN' }, adminKey)).status;
  const join = ({ id: userId }: TestUser) => call('PUT', `/organizations/${id}/members/${userId}`, { role: 'MEMBER' });
  return {
    join,
    raise,
    async invite(email: string, browser: Agent) {
      await call('POST', '/invitations', { email, organizationId: id, role: 'ADMIN' }, adminKey);
      const { link = '' } = await newestMail(server, email, 'invitation');
      return await browser.submit(await browser.get(link), {}, '/invitation');
    },
  };
}

const isOwners = async ({ id }: TestUser, email: string): Promise<boolean> => {
  const { email: present, emailVerified } = await call('GET', `/users/${id}`);
  return present === email && emailVerified;
};

describe('the owner undoes the change of address of a thief', () => {
  test('who then accepted an invitation of an organization of theirs, where a key that ended had given the address', async () => {
    const { user, email } = await setByEndedKey('address');
    const thief = await signedIn(server, user);
    const at = freshAddress();
    await moveTo(thief, at);
    const refused = await (await organization()).invite(at, thief);
    assert.equal(refused.status, 409);
    assert.match(refused.text, /Choose a new password with “Forgot your password\?”, then open this invitation again/);
    assert.equal(await press((await undoLinks(email))[0] ?? ''), 200);
    assert.equal(await isOwners(user, email), true);
    assert.equal(await recoverAt(email, ''), 200);
    assert.notEqual((await thief.get('/account')).status, 200);
  });

  test('while an admin of an organization, or an owner, tried to raise its person', async () => {
    const { user, email } = await setByEndedKey('address');
    const { join, raise } = await organization();
    await join(user);
    await moveTo(await signedIn(server, user), freshAddress());
    assert.equal(await raise(user), 409);
    assert.equal((await admin(server, 'PUT', `/users/${user.id}/roles/owner`, {})).status, 409);
    assert.equal(await press((await undoLinks(email))[0] ?? ''), 200);
    assert.equal(await isOwners(user, email), true);
  });

  test('whose person was raised, where nobody weaker had set anything', async () => {
    const { user, email } = await person();
    const { join, raise } = await organization();
    await join(user);
    await moveTo(await signedIn(server, user), freshAddress());
    assert.equal(await raise(user), 200);
    assert.equal(await press((await undoLinks(email))[0] ?? ''), 200);
    assert.equal(await isOwners(user, email), true);
  });
});

describe('the authenticator app of the owner is asked for as before', () => {
  for (const set of ['address', 'password'] as const) {
    test(`where a key that ended had set the ${set} before, and operators try to raise the person`, async () => {
      const { user, email } = await setByEndedKey(set);
      await enroll(server, user);
      const { join, raise } = await organization();
      await join(user);
      assert.equal(await raise(user), 409);
      assert.equal((await admin(server, 'PUT', `/users/${user.id}/roles/owner`, {})).status, 409);
      assert.equal(await hasApp({ user, email }), true);
      const thief = browserOf();
      const signIn = await submit(thief, '/login', { identifier: user.username, password: PASSWORD });
      assert.equal(signIn.location?.pathname, '/login/verify');
      server.advance(MINUTE);
      await askRecovery(server, browserOf(), email);
      assert.equal(await recoverAt(email, ''), 400, 'the mailbox alone');
    });
  }

  test('where the person is raised, since nobody weaker had set anything', async () => {
    const { user, email } = await person();
    await enroll(server, user);
    assert.equal((await admin(server, 'PUT', `/users/${user.id}/roles/owner`, {})).status, 200);
    assert.equal(await hasApp({ user, email }), true);
  });
});

for (const set of ['nothing', 'password'] as const) {
  test(`a report from before an operator raises the person works after it, where a key had set ${set}`, async () => {
    const { user, email } = set === 'nothing' ? await person() : await setByEndedKey(set);
    const { join, raise } = await organization();
    await join(user);
    const scope = 'openid profile email offline_access';
    const app = standard(await newClient(server, { scopes: scope.split(' ') }));
    const thief = await signedIn(server, user);
    await tokensFor(server, app, user, { scope }, { browser: thief });
    await setUsername(thief, `x${user.username}`);
    server.advance(MINUTE);
    const report = await reportLink(email);
    assert.equal(await raise(user), set === 'nothing' ? 200 : 409);
    assert.equal(await press(report), 200);
    assert.equal(await recoverAt(email, ''), 200);
    assert.equal((await call('GET', `/users/${user.id}`)).username, user.username);
    server.advance(MINUTE);
    const owner = await signedIn(server, user, RECOVERED);
    assert.equal((await owner.get(authorizeUrl(app, { scope }))).location?.pathname, '/consent');
  });
}
