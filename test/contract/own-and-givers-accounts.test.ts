// store: SQLite, PostgreSQL
/** Nobody opens, as an operator, their own account or that of who gave them their rights lately: decisions §§11 and 12. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { newOperator, open } from '../support/console.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';

const server = await startServer({
  ...{ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off', TESSERA_LIMIT_MAIL_RECIPIENT: 'off' },
});
after(() => server.close());
const { press } = takenBack(server);

const THIEFS = { email: 'thief@evil.example', emailVerified: false, password: 'a password of the thief' };
const give = async ({ id }: TestUser, role: string, key?: string) =>
  assert.ok((await admin(server, 'PUT', `/users/${id}/roles/${role}`, {}, key)).status < 300);
const addressOf = async ({ id }: TestUser): Promise<string> => (await admin(server, 'GET', `/users/${id}`)).body.email;

/** A person with a role, and the token of their command line. */
async function operatorWithToken(role: 'owner' | 'admin') {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await give(operator.user, role);
  const token = await signInOnCommandLine(server, operator);
  server.advance(MINUTE);
  return { ...operator, token, email: await addressOf(operator.user) };
}
async function newKey(role: string, by: string): Promise<string> {
  const { status, body } = await admin(server, 'POST', '/admin-keys', { name: 'made', role }, by);
  assert.equal(status, 201, JSON.stringify(body));
  server.advance(MINUTE);
  return body.adminKey;
}

/** Every way of opening an account as an operator. */
async function opens(user: TestUser, key: string): Promise<readonly (readonly [number, string])[]> {
  const factors = (await admin(server, 'GET', `/users/${user.id}/factors`)).body.items as readonly { id: string }[];
  const path = `/users/${user.id}`;
  const answers = [
    ...Object.entries(THIEFS).map(([name, value]) => admin(server, 'PATCH', path, { [name]: value }, key)),
    admin(server, 'PATCH', path, { displayName: 'Other', ...THIEFS }, key),
    admin(server, 'POST', `${path}/recovery-link`, undefined, key),
    admin(server, 'DELETE', `${path}/factors/${factors[0]?.id ?? '1'}`, undefined, key),
    admin(server, 'DELETE', `${path}/identities/some-identity`, undefined, key),
  ];
  return (await Promise.all(answers)).map(({ status, body }) => [status, body.error_description] as const);
}

for (const role of ['owner', 'admin'] as const) {
  test(`an ${role} does not open the own account as an operator, and stays its ${role}`, async () => {
    const { user, token, email } = await operatorWithToken(role);
    for (const [status, description] of await opens(user, token)) {
      assert.equal(status, 403, description);
      assert.match(description, /^This is your own account.*on the pages of your account/);
    }
    assert.equal(await addressOf(user), email);
    await signedIn(server, user, PASSWORD);
    const renamed = await admin(server, 'PATCH', `/users/${user.id}`, { displayName: 'Renamed', email }, token);
    assert.equal(renamed.status, 200, JSON.stringify(renamed.body));
    assert.equal(renamed.body.displayName, 'Renamed');
  });

  test(`a key that the account of an ${role} made does not open that account, and the report of the key ends it`, async () => {
    const { user, token, email } = await operatorWithToken(role);
    const direct = await newKey(role, token);
    const told = (await mailsTo(server, email)).find(({ subject }) => /used as an operator/.test(subject));
    assert.ok(told?.link !== undefined);
    for (const key of [direct, await newKey(role, direct)]) {
      for (const [status, description] of await opens(user, key)) {
        assert.equal(status, 403, description);
        assert.match(description, /was given by this person in the last seven days/);
      }
      const about = await admin(server, 'PATCH', `/users/${user.id}`, { about: 'of no use to a thief' }, key);
      assert.equal(about.status, 200, JSON.stringify(about.body));
    }
    assert.equal(await addressOf(user), email);
    assert.equal(await press(told.link), 200);
    assert.equal((await admin(server, 'GET', '/users', undefined, direct)).status, 401);
  });
}

test('nor does a person who got the role from that account', async () => {
  const { user, token, email } = await operatorWithToken('owner');
  const friend = await operatorInBrowser(server, { emailVerified: true });
  await give(friend.user, 'owner', token);
  const byFriend = await signInOnCommandLine(server, friend);
  for (const [status] of await opens(user, byFriend)) assert.equal(status, 403);
  assert.equal(await addressOf(user), email);
});

test('who has the right from somebody else helps, and who got it longer ago', async () => {
  const { user, token } = await operatorWithToken('admin');
  const lately = await newKey('admin', token);
  const colleague = await operatorWithToken('admin');
  const byColleague = await newKey('admin', colleague.token);
  const changed = await admin(
    server,
    'PATCH',
    `/users/${user.id}`,
    { password: 'a password by a colleague' },
    byColleague,
  );
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  assert.equal(
    (await admin(server, 'PATCH', `/users/${user.id}`, { password: 'another password' }, lately)).status,
    403,
  );
  const other = await newUser(server);
  assert.equal((await admin(server, 'PATCH', `/users/${other.id}`, THIEFS, lately)).status, 200);
  server.advance(7 * DAY);
  assert.equal(
    (await admin(server, 'PATCH', `/users/${user.id}`, { password: 'another password' }, lately)).status,
    200,
  );
});

test('the console offers on one’s own record what one may do there, and says where the rest is', async () => {
  const owner = await newOperator(server, 'owner', { emailVerified: true });
  const page = await open(server, owner, `/console/people/${owner.id}`);
  assert.match(page.text, /This is your own account/);
  assert.ok(!/people\/(remove-factor|recovery)/.test(page.text), page.text);
  const form = await open(server, owner, `/console/people/correct?id=${owner.id}`);
  const named = { displayName: 'Corrected', username: owner.username, email: await addressOf(owner) };
  const kept = await owner.browser.submit(form, { ...named, verified: 'yes' }, '/console/people/correct');
  assert.match(kept.text, /Corrected/);
  const again = await open(server, owner, `/console/people/correct?id=${owner.id}`);
  const moved = { ...named, email: THIEFS.email, verified: 'yes' };
  const refused = await owner.browser.submit(again, moved, '/console/people/correct');
  assert.equal(refused.status, 403);
  assert.match(refused.text, /You cannot change how this person signs in[\s\S]*on the pages of your account/);
  assert.equal(await addressOf(owner), named.email);
});
