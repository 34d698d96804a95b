// store: SQLite, PostgreSQL
/** Nobody opens, as an operator, their own account or that of who gave them their rights, or opened their account, lately: decisions §§11 and 12. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type OperatorInBrowser, operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { newOperator, open } from '../support/console.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { askRecovery } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';
import { RECOVERED, takenBack } from '../support/taken-back.ts';

const server = await startServer({
  ...{ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off', TESSERA_LIMIT_MAIL_RECIPIENT: 'off' },
});
after(() => server.close());
const { addApp, browserOf, press, recoverAt, signedInWith, submit } = takenBack(server);

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
        assert.match(description, /^This is your own account/);
      }
      const about = await admin(server, 'PATCH', `/users/${user.id}`, { about: 'of no use to a thief' }, key);
      assert.equal(about.status, 200, JSON.stringify(about.body));
    }
    assert.equal(await addressOf(user), email);
    assert.equal(await press(told.link), 200);
    assert.equal((await admin(server, 'GET', '/users', undefined, direct)).status, 401);
  });

  test(`nor does an older one that the account of an ${role} made, or that was made with it`, async () => {
    const { user, token, email } = await operatorWithToken(role);
    const direct = await newKey(role, token);
    const next = await newKey(role, direct);
    server.advance(20 * DAY);
    for (const key of [direct, next]) {
      for (const [status, description] of [...(await opens(user, key)), ...(await deletes(user, key))]) {
        assert.equal(status, 403, description);
        assert.match(description, /^This is your own account/);
      }
    }
    assert.equal(await addressOf(user), email);
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
  const { user, token } = await operatorWithToken('owner');
  const friend = await operatorInBrowser(server, { emailVerified: true });
  await give(friend.user, 'owner', token);
  const lately = await newKey('owner', await signInOnCommandLine(server, friend));
  const colleague = await operatorWithToken('owner');
  const byColleague = await newKey('owner', colleague.token);
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

/** A colleague with a role and an app, whose account an operator opens by their token. */
async function openedBy(token: string, role: string) {
  const colleague = await operatorInBrowser(server, { emailVerified: true });
  await give(colleague.user, role);
  const path = `/users/${colleague.user.id}`;
  assert.ok((await admin(server, 'DELETE', `${path}/factors/totp`, undefined, token)).status < 300);
  assert.equal((await admin(server, 'PATCH', path, { password: PASSWORD }, token)).status, 200);
  server.advance(MINUTE);
  return colleague.user;
}

/** Somebody who signs in with a password, and adds an app, on the command line. */
async function enter(user: TestUser, password = PASSWORD) {
  const browser = await signedIn(server, user, password);
  const { seed } = await addApp(browser);
  // The command line asks for the password of tests.
  if (password !== PASSWORD) {
    await submit(browser, '/account/security', { current: password, password: PASSWORD }, '/account/password');
  }
  server.advance(MINUTE);
  const factor = { seed, recoveryCodes: [] };
  return {
    user,
    email: await addressOf(user),
    factor,
    token: await signInOnCommandLine(server, { user, browser, factor }),
  };
}
const entered = async (user: TestUser, password = PASSWORD): Promise<string> => (await enter(user, password)).token;

/** The command line of the same person some days later. */
async function tokenAgain(person: Omit<OperatorInBrowser, 'browser'> & { readonly email: string }): Promise<string> {
  const browser = await signedInWith(person, person.factor);
  server.advance(MINUTE);
  return signInOnCommandLine(server, { ...person, browser });
}

for (const role of ['owner', 'admin'] as const) {
  test(`who acts through an account that an ${role} opened does not open that one’s, and the report of a later act ends it`, async () => {
    const operator = await operatorWithToken(role);
    const { user, token, email } = operator;
    const through = await enter(await openedBy(token, role));
    const made = await newKey(role, through.token);
    server.advance(6 * DAY);
    await newKey(role, await tokenAgain(operator));
    const told = (await mailsTo(server, email)).find(({ subject }) => /used as an operator/.test(subject));
    assert.ok(told?.link !== undefined);
    // The report reaches back from here for six days more.
    server.advance(6 * DAY);
    for (const key of [await tokenAgain(through), made]) {
      for (const [status, description] of await opens(user, key)) {
        assert.equal(status, 403, description);
        assert.match(description, /This person set in the last two weeks|was given by this person/);
      }
    }
    assert.equal(await addressOf(user), email);
    assert.equal(await press(told.link), 200);
  });
}

test('nor does it where another operator opened the account as well, and another opened account between them', async () => {
  const { user, token } = await operatorWithToken('owner');
  const first = await openedBy(token, 'owner');
  const byFirst = await entered(first);
  const second = await openedBy(byFirst, 'owner');
  const colleague = await operatorWithToken('owner');
  const named = { email: await addressOf(second), password: PASSWORD };
  const bySecond = await entered(second);
  assert.equal((await admin(server, 'PATCH', `/users/${second.id}`, named, colleague.token)).status, 200);
  assert.equal((await admin(server, 'GET', '/users', undefined, bySecond)).status, 401);
  server.advance(MINUTE);
  assert.ok(
    (await admin(server, 'DELETE', `/users/${second.id}/factors/totp`, undefined, colleague.token)).status < 300,
  );
  for (const key of [byFirst, await entered(second)]) {
    for (const [status, description] of await opens(user, key)) assert.equal(status, 403, description);
  }
});

test('who has taken the account back by mail helps, and everybody after two weeks', async () => {
  const { user, token } = await operatorWithToken('owner');
  const [back, stays] = [await openedBy(token, 'owner'), await openedBy(token, 'owner')];
  const email = await addressOf(back);
  await askRecovery(server, browserOf(), email);
  assert.equal(await recoverAt(email, ''), 200);
  server.advance(5 * MINUTE);
  const byOwner = await entered(back, RECOVERED);
  const about = { password: 'a password by a colleague' };
  assert.equal((await admin(server, 'PATCH', `/users/${user.id}`, about, byOwner)).status, 200);
  const through = await enter(stays);
  assert.equal((await admin(server, 'PATCH', `/users/${user.id}`, about, through.token)).status, 403);
  server.advance(14 * DAY);
  const later = await tokenAgain(through);
  assert.equal((await admin(server, 'PATCH', `/users/${user.id}`, about, later)).status, 200);
});

/** Every way of deleting an account as an operator. */
async function deletes({ id }: TestUser, key: string): Promise<readonly (readonly [number, string])[]> {
  const answers = [
    await admin(server, 'DELETE', `/users/${id}?endMade=true`, undefined, key),
    await admin(server, 'DELETE', `/users/${id}`, undefined, key),
    await admin(server, 'PUT', `/users/${id}/deletion`, { days: 1 }, key),
  ];
  return answers.map(({ status, body }) => [status, body.error_description] as const);
}

for (const role of ['owner', 'admin'] as const) {
  test(`an ${role} does not delete the own account as an operator, nor does what they gave a right to or opened`, async () => {
    const { user, token, email } = await operatorWithToken(role);
    const friend = await operatorInBrowser(server, { emailVerified: true });
    await give(friend.user, role, token);
    const key = await newKey(role, token);
    const told = (await mailsTo(server, email)).find(({ subject }) => /used as an operator/.test(subject));
    const expected = [
      [token, /^This is your own account.*Delete it on the pages/],
      [key, /^This is your own account.*Delete it on the pages/],
      [
        await signInOnCommandLine(server, friend),
        /was given by this person in the last seven days, so you cannot delete their account/,
      ],
      [await entered(await openedBy(token, role)), /set in the last two weeks.*cannot delete/],
    ] as const;
    for (const [by, why] of expected) {
      for (const [status, description] of await deletes(user, by)) {
        assert.equal(status, 403, description);
        assert.match(description, why);
      }
    }
    assert.equal(await press(told?.link ?? ''), 200);
    assert.deepEqual((await admin(server, 'GET', `/users/${friend.user.id}/roles`)).body.items, []);
  });
}

test('who got a right from them calls off their deletion, and deletes them seven days after it was given', async () => {
  const { user, token } = await operatorWithToken('owner');
  const friend = await operatorInBrowser(server, { emailVerified: true });
  await give(friend.user, 'owner', token);
  const key = await newKey('owner', await signInOnCommandLine(server, friend));
  const other = await newUser(server);
  assert.ok((await admin(server, 'DELETE', `/users/${other.id}`, undefined, key)).status < 300);
  assert.equal((await admin(server, 'PUT', `/users/${user.id}/deletion`, { days: 30 })).status, 200);
  assert.equal((await admin(server, 'DELETE', `/users/${user.id}/deletion`, undefined, key)).status, 200);
  assert.equal((await admin(server, 'DELETE', `/users/${user.id}/suspension`)).status, 200);
  assert.equal((await admin(server, 'DELETE', `/users/${user.id}`, undefined, key)).status, 403);
  server.advance(7 * DAY);
  assert.ok((await admin(server, 'DELETE', `/users/${user.id}`, undefined, key)).status < 300);
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
