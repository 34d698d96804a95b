// store: SQLite, PostgreSQL
/**
 * Decisions §11: what was made through the account of a colleague, to which a thief could sign in by what a stolen key or account had set,
 * ends with that key or account, down to the last. What the colleague made before, after taking the account back, or behind an authenticator
 * app of their own goes on.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type OperatorInBrowser, operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { act, newOperator, open } from '../support/console.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { totpCode } from '../support/second-factor.ts';
import { SEVERAL, startServer } from '../support/server.ts';
import { RECOVERED, takenBack } from '../support/taken-back.ts';

const server = await startServer(
  { TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_RECIPIENT: 'off', TESSERA_LIMIT_MAIL_ADDRESS: 'off' },
  SEVERAL,
);
after(() => server.close());
const { addApp, browserOf, freshAddress, moveTo, press, recoverAt, reportLink, signedInWith, submit, undoLinks } =
  takenBack(server);
const keeper = await newUser(server, { password: undefined });
await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {});

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

interface Key {
  readonly id: string;
  readonly adminKey: string;
}

let count = 0;
const newKey = (by?: string, role = 'owner'): Promise<Key> =>
  call('POST', '/admin-keys', { name: `key ${++count}`, role }, by);
const works = async ({ adminKey }: Key): Promise<boolean> =>
  (await admin(server, 'GET', '/clients', undefined, adminKey)).status === 200;
const user = ({ id }: TestUser): string => `/users/${id}`;
const endWithMade = async ({ id }: Pick<Key, 'id'>) => (await call('DELETE', `/admin-keys/${id}?endMade=true`)).made;

interface Colleague extends OperatorInBrowser {
  readonly email: string;
  /** A key from before. */
  readonly early: Key;
}

/** An owner with an authenticator app, who made a key some days ago. */
async function newColleague(role = 'owner'): Promise<Colleague> {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `${user(operator.user)}/roles/${role}`, {});
  const { email } = await call('GET', user(operator.user));
  const token = await signInOnCommandLine(server, operator);
  const early = await newKey(role === 'owner' ? token : undefined, role);
  // Nothing of that can be reported any more.
  server.advance(9 * DAY);
  return { ...operator, email, early };
}

const removeApp = (person: TestUser, by?: string) => call('DELETE', `${user(person)}/factors/totp`, undefined, by);
const setPassword = (person: TestUser, by?: string) => call('PATCH', user(person), { password: PASSWORD }, by);

/** Signs in with the password that was given to an account, and adds an app. */
async function signInAndAddApp(person: TestUser): Promise<OperatorInBrowser> {
  server.advance(MINUTE);
  const browser = await signedIn(server, person);
  const { seed } = await addApp(browser);
  server.advance(MINUTE);
  return { user: person, browser, factor: { seed, recoveryCodes: [] } };
}

/** The same, for the command line. */
const enter = async (person: TestUser): Promise<string> => signInOnCommandLine(server, await signInAndAddApp(person));

/** A thief gets into the account of a colleague with what they hold. */
async function breakInto({ user: person }: Pick<Colleague, 'user'>, by: string): Promise<string> {
  await removeApp(person, by);
  await setPassword(person, by);
  return enter(person);
}

/** What is said of the accounts through which something was made. */
const throughOf = (made: { through: readonly { userId: string; ends: boolean; made: { adminKeys: Key[] } }[] }) =>
  made.through.map(({ userId, ends, made: own }) => [userId, ends, own.adminKeys.map(({ id }) => id)]);

test('what was made through the account of a colleague ends with the key that opened it, and is listed before; earlier things go on', async () => {
  const [stolen, ada] = [await newKey(), await newColleague()];
  const token = await breakInto(ada, stolen.adminKey);
  const made = await newKey(token);
  const accomplice = await newUser(server);
  await call('PUT', `${user(accomplice)}/roles/admin`, {}, token);
  const app = await call('POST', '/clients', { name: 'Trap', redirectUris: ['https://trap.example/cb'] }, token);
  await call('POST', '/invitations', {}, made.adminKey);

  const { made: listed } = await call('GET', `/admin-keys/${stolen.id}`);
  assert.deepEqual(throughOf(listed), [[ada.user.id, true, [made.id]]]);
  const [through] = listed.through;
  assert.deepEqual([through.acts, through.until], [['factor_removed', 'password_set'], null]);
  assert.deepEqual(
    through.made.roles.map(({ userId }: { userId: string }) => userId),
    [accomplice.id],
  );
  assert.deepEqual(
    listed.adminKeys.map(({ id }: Key) => id),
    [made.id],
  );

  const ended = await endWithMade(stolen);
  assert.deepEqual(throughOf(ended), [[ada.user.id, true, [made.id]]]);
  assert.equal(await works(made), false);
  assert.deepEqual((await call('GET', `${user(accomplice)}/roles`)).items, []);
  assert.equal((await call('GET', `/clients/${app.clientId}`)).status, 'disabled');
  assert.deepEqual((await call('GET', '/invitations')).items, []);
  assert.ok(await works(ada.early));
  const { items } = await call('GET', `/audit-events?type=admin_key.revoked&limit=10`);
  const event = items.find(({ details }: { details: { adminKeyId: string } }) => details.adminKeyId === stolen.id);
  assert.equal(event.details.made.through[0].userId, ada.user.id);
  assert.deepEqual((await call('GET', `/admin-keys/${made.id}`)).made.through, []);
});

test('the thief is signed out of the account of the colleague, who has the role still and gets in again by mail', async () => {
  const [stolen, ada] = [await newKey(), await newColleague()];
  const token = await breakInto(ada, stolen.adminKey);
  assert.equal((await admin(server, 'GET', '/clients', undefined, token)).status, 200);
  await endWithMade(stolen);
  assert.equal((await admin(server, 'GET', '/clients', undefined, token)).status, 401);
  const browser = browserOf();
  const refused = await submit(browser, '/login', { identifier: ada.user.username, password: PASSWORD });
  assert.notEqual(refused.status, 303, 'the password of the thief is none any more');
  server.advance(MINUTE);
  await askRecovery(server, browserOf(), ada.email);
  assert.equal(await recoverAt(ada.email, ''), 200);
  assert.deepEqual(
    (await call('GET', `${user(ada.user)}/roles`)).items.map(({ role }: { role: string }) => role),
    ['owner'],
  );
  // What the owner makes from now on is theirs, also where the key is ended once more.
  server.advance(2 * MINUTE);
  await setPassword(ada.user);
  const later = await newKey(await enter(ada.user));
  assert.deepEqual(throughOf(await endWithMade(stolen)), []);
  assert.ok(await works(later));
});

/** How a thief opens the account of a colleague. @returns a command line in it */
const OPENED: readonly [what: string, enter: (ada: Colleague, by: string) => Promise<string>][] = [
  ['removed the authenticator app, and set a password', breakInto],
  [
    'set the address, and recovered the account by it',
    async ({ user: person }, by) => {
      await removeApp(person, by);
      const email = freshAddress();
      await call('PATCH', user(person), { email }, by);
      server.advance(MINUTE);
      await askRecovery(server, browserOf(), email);
      const { link = '' } = await newestMail(server, email, 'recovery');
      assert.equal((await useLink(browserOf(), link, PASSWORD)).status, 200);
      return enter(person);
    },
  ],
  [
    'used a recovery link that removes the factors',
    async ({ user: person }, by) => {
      const { url } = await call('POST', `${user(person)}/recovery-link`, { resetFactors: true }, by);
      assert.equal((await useLink(browserOf(), url, PASSWORD)).status, 200);
      return enter(person);
    },
  ],
  [
    'set a password, and another operator removed the app later',
    async ({ user: person }, by) => {
      await setPassword(person, by);
      server.advance(DAY);
      await removeApp(person);
      return enter(person);
    },
  ],
  [
    'got in by a password, and moved the address to recover the account by it',
    async (ada, by) => {
      await breakInto(ada, by);
      const email = freshAddress();
      server.advance(MINUTE);
      await removeApp(ada.user, by);
      const browser = await signedIn(server, ada.user);
      await moveTo(browser, email);
      await askRecovery(server, browserOf(), email);
      const { link = '' } = await newestMail(server, email, 'recovery');
      assert.equal((await useLink(browserOf(), link, PASSWORD)).status, 200);
      server.advance(5 * MINUTE);
      return enter(ada.user);
    },
  ],
];

describe('a key through a colleague ends where a thief with a stolen key', () => {
  for (const [what, opens] of OPENED) {
    test(what, async () => {
      const [stolen, ada] = [await newKey(), await newColleague()];
      const token = await opens(ada, stolen.adminKey);
      const made = await newKey(token);
      assert.deepEqual(throughOf(await endWithMade(stolen)), [[ada.user.id, true, [made.id]]]);
      assert.equal(await works(made), false);
      assert.equal((await admin(server, 'GET', '/clients', undefined, token)).status, 401);
      assert.ok(await works(ada.early));
    });
  }
});

describe('what a colleague made goes on where', () => {
  test('the authenticator app from before was kept, though a password was set', async () => {
    const [stolen, ada] = [await newKey(), await newColleague()];
    await setPassword(ada.user, stolen.adminKey);
    server.advance(MINUTE);
    const browser = await signedIn(server, ada.user);
    const own = await newKey(await signInOnCommandLine(server, { ...ada, browser }));
    const made = await endWithMade(stolen);
    assert.deepEqual(made.through, []);
    assert.deepEqual(
      made.accounts.map(({ userId }: { userId: string }) => userId),
      [ada.user.id],
    );
    assert.ok(await works(own));
    assert.equal((await signedIn(server, ada.user)).cookie === undefined, false);
  });

  test('the colleague took the account back by mail before', async () => {
    const [stolen, ada] = [await newKey(), await newColleague()];
    const token = await breakInto(ada, stolen.adminKey);
    const theirs = await newKey(token);
    // Too late to report it. The thief's app is in the way, so another operator removes it.
    server.advance(9 * DAY);
    await removeApp(ada.user);
    server.advance(MINUTE);
    await askRecovery(server, browserOf(), ada.email);
    assert.equal(await recoverAt(ada.email, ''), 200);
    server.advance(5 * MINUTE);
    const back = await ownToken(ada.user);
    const own = await newKey(back);
    assert.deepEqual(throughOf(await endWithMade(stolen)), [[ada.user.id, false, [theirs.id]]]);
    assert.deepEqual([await works(theirs), await works(own)], [false, true]);
    assert.equal((await admin(server, 'GET', '/clients', undefined, back)).status, 200, 'the owner stays signed in');
  });

  test('the colleague changed the same later, which still ends with their own account', async () => {
    const [stolen, ada] = [await newKey(), await newColleague()];
    const uris = ['home', 'theirs', 'own'].map((name) => `https://${name}.example/cb`);
    const { clientId } = await call('POST', '/clients', { name: 'App', redirectUris: uris.slice(0, 1) });
    const path = `/clients/${clientId}`;
    await call('PATCH', path, { redirectUris: uris.slice(0, 2) }, await breakInto(ada, stolen.adminKey));
    server.advance(9 * DAY);
    await removeApp(ada.user);
    server.advance(MINUTE);
    await askRecovery(server, browserOf(), ada.email);
    assert.equal(await recoverAt(ada.email, ''), 200);
    server.advance(5 * MINUTE);
    await call('PATCH', path, { redirectUris: uris }, await ownToken(ada.user));
    await endWithMade(stolen);
    assert.deepEqual((await call('GET', path)).redirectUris, [uris[0], uris[2]]);
    await call('PUT', `${user(ada.user)}/suspension?endMade=true`, { reason: 'stolen' });
    assert.deepEqual((await call('GET', path)).redirectUris, uris.slice(0, 1));
  });

  test('another operator gave another password, and nothing else was left of the thief', async () => {
    const [stolen, ada] = [await newKey(), await newColleague()];
    await removeApp(ada.user, stolen.adminKey);
    await setPassword(ada.user, stolen.adminKey);
    server.advance(MINUTE);
    await setPassword(ada.user);
    server.advance(5 * MINUTE);
    const own = await newKey(await enter(ada.user));
    assert.deepEqual((await endWithMade(stolen)).through, []);
    assert.ok(await works(own));
  });

  test('the owner undid the change of address of the thief, and recovered the account', async () => {
    const [stolen, ada] = [await newKey(), await newColleague()];
    const token = await breakInto(ada, stolen.adminKey);
    const theirs = await newKey(token);
    server.advance(9 * DAY);
    await removeApp(ada.user, stolen.adminKey);
    server.advance(MINUTE);
    await moveTo(await signedIn(server, ada.user), freshAddress());
    const [link = ''] = await undoLinks(ada.email);
    assert.equal(await press(link), 200);
    assert.equal(await recoverAt(ada.email, ''), 200);
    server.advance(5 * MINUTE);
    const own = await newKey(await ownToken(ada.user));
    await endWithMade(stolen);
    assert.deepEqual([await works(theirs), await works(own)], [false, true]);
  });

  test('the key only changed what lets nobody in', async () => {
    const [stolen, ada] = [await newKey(), await newColleague()];
    await call('PATCH', user(ada.user), { about: 'A colleague', username: `renamed-${++count}` }, stolen.adminKey);
    assert.deepEqual((await endWithMade(stolen)).through, []);
    assert.ok(await works(ada.early));
  });
});

/** The command line of a person who has recovered the account, and sets up an app. */
async function ownToken(person: TestUser): Promise<string> {
  const browser = await signedIn(server, person, RECOVERED);
  const { seed } = await addApp(browser);
  // The command line asks for the password of tests.
  await submit(browser, '/account/security', { current: RECOVERED, password: PASSWORD }, '/account/password');
  server.advance(MINUTE);
  return signInOnCommandLine(server, { user: person, browser, factor: { seed, recoveryCodes: [] } });
}

test('through a colleague of a colleague it ends as well, and each is named', async () => {
  const [stolen, ada, ben] = [await newKey(), await newColleague(), await newColleague()];
  const first = await breakInto(ada, stolen.adminKey);
  const second = await breakInto(ben, first);
  const made = await newKey(second);
  const { made: listed } = await call('GET', `/admin-keys/${stolen.id}`);
  assert.deepEqual(throughOf(listed), [
    [ada.user.id, true, []],
    [ben.user.id, true, [made.id]],
  ]);
  await endWithMade(stolen);
  assert.equal(await works(made), false);
  for (const token of [first, second]) {
    assert.equal((await admin(server, 'GET', '/clients', undefined, token)).status, 401);
  }
  assert.deepEqual([await works(ada.early), await works(ben.early)], [true, true]);
});

test('by a right that was given through a colleague it ends as well', async () => {
  const [stolen, ada] = [await newKey(), await newColleague()];
  const token = await breakInto(ada, stolen.adminKey);
  const helper = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `${user(helper.user)}/roles/owner`, {}, token);
  const made = await newKey(await signInOnCommandLine(server, helper));
  await call('DELETE', `${user(helper.user)}/roles/owner`, undefined, token);
  await endWithMade(stolen);
  assert.equal(await works(made), false);
});

test('it ends where the account of the colleague has been deleted, or has lost its role', async () => {
  for (const path of ['', '/roles/owner']) {
    const [stolen, ada] = [await newKey(), await newColleague()];
    const made = await newKey(await breakInto(ada, stolen.adminKey));
    await call('DELETE', `${user(ada.user)}${path}`, undefined, stolen.adminKey);
    const still = await works(made);
    const { made: listed } = await call('GET', `/admin-keys/${stolen.id}`);
    // Who is in the account might get a role again.
    const isClosed = path !== '';
    assert.deepEqual(throughOf(listed), still ? [[ada.user.id, isClosed, [made.id]]] : []);
    await endWithMade(stolen);
    assert.equal(await works(made), false);
  }
});

/** An operator in whose session a thief has the command line, and somebody whom that operator had helped long before. */
async function newRobbed() {
  const operator = await newColleague();
  const helped = await newColleague();
  const own = await newKey(await breakInto(helped, await tokenOf(operator)));
  const ada = await newColleague();
  return { operator, ada, token: await tokenOf(operator), own };
}

/** The command line of somebody who signs in to use it. */
async function tokenOf({ user: person, email, factor }: Colleague): Promise<string> {
  const browser = await signedInWith({ user: person, email }, factor);
  server.advance(MINUTE);
  return signInOnCommandLine(server, { user: person, browser, factor });
}

test('it ends where the key created the account of the colleague, to whom another operator gave the role', async () => {
  for (const fields of [{ password: PASSWORD }, {}]) {
    const stolen = await newKey();
    const username = `created-${++count}`;
    const account = { username, displayName: 'Created', email: `${username}@example.com`, emailVerified: true };
    const { id } = await call('POST', '/users', { ...account, ...fields }, stolen.adminKey);
    server.advance(MINUTE);
    await call('PUT', `/users/${id}/roles/owner`, {});
    if (!('password' in fields)) {
      await askRecovery(server, browserOf(), account.email);
      const { link = '' } = await newestMail(server, account.email, 'recovery');
      assert.equal((await useLink(browserOf(), link, PASSWORD)).status, 200);
      server.advance(5 * MINUTE);
    }
    const token = await enter({ id, username });
    const made = await newKey(token);
    const { made: listed } = await call('GET', `/admin-keys/${stolen.id}`);
    assert.deepEqual(listed.through[0].acts, ['created']);
    assert.deepEqual(throughOf(await endWithMade(stolen)), [[id, true, [made.id]]]);
    assert.equal(await works(made), false);
    assert.equal((await admin(server, 'GET', '/clients', undefined, token)).status, 401);
  }
});

test('it goes on where another operator named the address of the created account, and its person recovered it', async () => {
  const stolen = await newKey();
  const username = `vouched-${++count}`;
  const email = `${username}@example.com`;
  const { id } = await call('POST', '/users', { username, displayName: 'Vouched', email }, stolen.adminKey);
  server.advance(MINUTE);
  await call('PATCH', `/users/${id}`, { email, emailVerified: true });
  await call('PUT', `/users/${id}/roles/owner`, {});
  await askRecovery(server, browserOf(), email);
  assert.equal(await recoverAt(email, ''), 200);
  server.advance(5 * MINUTE);
  const own = await newKey(await ownToken({ id, username }));
  assert.deepEqual((await endWithMade(stolen)).through, []);
  assert.ok(await works(own));
});

/** A thief gets into an account by a recovery at an address of theirs. */
async function recoverBy(email: string): Promise<void> {
  await askRecovery(server, browserOf(), email);
  assert.equal(await recoverAt(email, ''), 200);
  server.advance(5 * MINUTE);
}

describe('who decides on an address answers for it, be it the present one', () => {
  for (const steps of [[true], [false, true]]) {
    const how = steps.map((isVerified) => (isVerified ? 'verified' : 'not verified')).join(' and then ');
    test(`a key of the stolen key declares it ${how}`, async () => {
      const [stolen, ada] = [await newKey(), await newColleague()];
      const helper = await newKey(stolen.adminKey);
      const email = freshAddress();
      await removeApp(ada.user, stolen.adminKey);
      await call('PATCH', user(ada.user), { email, emailVerified: steps.length > 1 }, stolen.adminKey);
      for (const emailVerified of steps) {
        server.advance(MINUTE);
        await call('PATCH', user(ada.user), { emailVerified }, helper.adminKey);
      }
      server.advance(MINUTE);
      await recoverBy(email);
      const made = await newKey(await ownToken(ada.user));
      assert.deepEqual(throughOf(await endWithMade(stolen)), [[ada.user.id, true, [made.id]]]);
      assert.equal(await works(made), false);
      assert.ok(await works(ada.early));
    });
  }

  test('a key of the stolen key gives it, behind an app that the thief has set up', async () => {
    const [stolen, ada] = [await newKey(), await newColleague()];
    const helper = await newKey(stolen.adminKey);
    await removeApp(ada.user, stolen.adminKey);
    await setPassword(ada.user, stolen.adminKey);
    const { factor } = await signInAndAddApp(ada.user);
    const email = freshAddress();
    await call('PATCH', user(ada.user), { email }, helper.adminKey);
    server.advance(MINUTE);
    await askRecovery(server, browserOf(), email);
    const { link = '' } = await newestMail(server, email, 'recovery');
    const shown = { factor: totpCode(factor, server.now()) };
    assert.equal((await useLink(browserOf(), link, PASSWORD, shown)).status, 200);
    const browser = await signedInWith(ada, factor);
    server.advance(MINUTE);
    const made = await newKey(await signInOnCommandLine(server, { ...ada, browser, factor }));
    assert.deepEqual(throughOf(await endWithMade(stolen)), [[ada.user.id, true, [made.id]]]);
    assert.equal(await works(made), false);
  });

  test('a second stolen key declares an address verified that the first had given, which was ended', async () => {
    const [first, ada] = [await newKey(), await newColleague()];
    const email = freshAddress();
    await removeApp(ada.user, first.adminKey);
    await call('PATCH', user(ada.user), { email }, first.adminKey);
    await endWithMade(first);
    const second = await newKey();
    await call('PATCH', user(ada.user), { emailVerified: true }, second.adminKey);
    await recoverBy(email);
    const made = await newKey(await ownToken(ada.user));
    assert.deepEqual(throughOf(await endWithMade(second)), [[ada.user.id, true, [made.id]]]);
    assert.equal(await works(made), false);
  });

  test('the report of a stolen account ends it as well, of which nobody gets at that account before', async () => {
    const [owner, ada] = [await newColleague(), await newColleague()];
    const browser = await signedInWith(owner, owner.factor);
    server.advance(MINUTE);
    const helper = await newKey(await signInOnCommandLine(server, { ...owner, browser }));
    const report = await reportLink(owner.email);
    const email = freshAddress();
    await removeApp(ada.user, helper.adminKey);
    await call('PATCH', user(ada.user), { email }, helper.adminKey);
    const other = await newKey(helper.adminKey);
    await call('PATCH', user(ada.user), { emailVerified: false }, other.adminKey);
    await call('PATCH', user(ada.user), { emailVerified: true }, other.adminKey);
    await recoverBy(email);
    const token = await ownToken(ada.user);
    const made = await newKey(token);
    assert.equal((await admin(server, 'PATCH', user(owner.user), { email: freshAddress() }, token)).status, 403);
    assert.equal(await press(report), 200);
    assert.deepEqual([await works(helper), await works(made)], [false, false]);
  });

  test('who declares the own address of a colleague verified that is so already opens nothing', async () => {
    const [stolen, ada] = [await newKey(), await newColleague()];
    await call('PATCH', user(ada.user), { emailVerified: true }, stolen.adminKey);
    assert.deepEqual((await endWithMade(stolen)).through, []);
  });
});

test('it ends with the report of the operator’s account; whom the operator had helped before keeps everything', async () => {
  const { operator, ada, token, own } = await newRobbed();
  const entered = await breakInto(ada, token);
  const made = await newKey(entered);
  assert.equal(await press(await reportLink(operator.email)), 200);
  assert.deepEqual([await works(made), await works(own), await works(ada.early)], [false, true, true]);
  assert.equal((await admin(server, 'GET', '/clients', undefined, entered)).status, 401);
  const { text } = await newestMail(server, operator.email, 'recovery');
  assert.match(text, new RegExp(`How these people sign in was set with your account: ${ada.user.id}\\.`));
});

test('an account that was opened or created unseen in the week before the first act that is told ends with the report of that', async () => {
  const [operator, older, ada] = [await newColleague(), await newColleague(), await newColleague()];
  const open = async (colleague: Colleague): Promise<string> => {
    const token = await signInOnCommandLine(server, operator);
    const through = await breakInto(colleague, token);
    server.advance(MINUTE);
    return through;
  };
  const throughOlder = await newKey(await open(older));
  server.advance(2 * DAY);
  const made = await newKey(await open(ada));
  const token = await signInOnCommandLine(server, operator);
  const username = `unseen-${++count}`;
  const account = { username, displayName: 'Unseen', email: `${username}@example.com` };
  const created = await call('POST', '/users', account, token);
  server.advance(6 * DAY);
  const told = await newKey(await signInOnCommandLine(server, operator));
  server.advance(MINUTE);
  assert.equal(await press(await reportLink(operator.email)), 200);
  assert.deepEqual([await works(told), await works(made), await works(throughOlder)], [false, false, true]);
  const isOpen = async ({ user: { username: identifier } }: Colleague): Promise<boolean> =>
    (await submit(browserOf(), '/login', { identifier, password: PASSWORD })).status === 303;
  assert.deepEqual([await isOpen(ada), await isOpen(older)], [false, true]);
  assert.equal((await call('GET', user(created))).status, 'suspended');
  const { text } = await newestMail(server, operator.email, 'recovery');
  assert.match(text, new RegExp(`How these people sign in was set with your account: ${ada.user.id}\\.`));
  assert.match(text, /an account that was created, which is suspended/);
});

const ENDED: readonly [what: string, path: string, method: string][] = [
  ['a ban', 'ban', 'PUT'],
  ['the end of the role', 'roles/owner', 'DELETE'],
];
for (const [what, path, method] of ENDED) {
  test(`it ends with ${what} of the operator, which says how many, and through whom`, async () => {
    const [operator, ada] = [await newColleague(), await newColleague()];
    const made = await newKey(await breakInto(ada, await tokenOf(operator)));
    const body = method === 'PUT' ? {} : undefined;
    const answer = await call(method, `${user(operator.user)}/${path}?endMade=true`, body);
    assert.deepEqual(throughOf(answer.made), [[ada.user.id, true, [made.id]]]);
    assert.equal(answer.made.adminKeys.length, 2, 'the operator’s own key, and that one');
    assert.equal(await works(made), false);
    assert.ok(await works(ada.early));
  });
}

test('what an operator did by a role that is left to them opens nothing that ends', async () => {
  const [ada, operator] = [await newColleague('auditor'), await newColleague()];
  await call('PUT', `${user(operator.user)}/roles/auditor`, {});
  await removeApp(ada.user, await tokenOf(operator));
  const { made } = await call('DELETE', `${user(operator.user)}/roles/auditor?endMade=true`);
  assert.deepEqual(made.through, []);
});

test('the console names the account before a key is revoked, and afterwards', async () => {
  const [owner, stolen, ada] = [await newOperator(server, 'owner'), await newKey(), await newColleague()];
  const made = await newKey(await breakInto(ada, stolen.adminKey));
  const page = await open(server, owner, `/console/keys/revoke?id=${stolen.id}`);
  assert.match(page.text, /made with the account of/);
  assert.match(page.text, /It is signed out and loses its password as well/);
  const done = await owner.browser.submit(page, { made: 'end' }, '/console/keys/revoke');
  assert.match(done.text, /It was signed out and has no password any more/);
  assert.ok(done.text.includes(`/${ada.user.id}`) || done.text.includes(`id=${ada.user.id}`));
  assert.equal(await works(made), false);
});

test('an invitation that was made through a colleague ends, and one of the colleague’s own does not', async () => {
  const [stolen, ada] = [await newKey(), await newColleague()];
  const invite = async ({ user: person, factor }: Pick<OperatorInBrowser, 'user' | 'factor'>): Promise<string> => {
    const browser = await signedInWith({ user: person, email: ada.email }, factor);
    server.advance(MINUTE);
    const made = await act(server, { ...person, browser, factor }, '/console/invitations/new', {}, { days: '30' });
    return /<code>(http[^<]*\/invitation\?link=[\w-]+)<\/code>/.exec(made.text)?.[1] ?? '';
  };
  const isOpen = async (link: string): Promise<boolean> => (await browserOf().get(link)).status === 200;
  const own = await invite(ada);
  server.advance(MINUTE);
  await removeApp(ada.user, stolen.adminKey);
  await setPassword(ada.user, stolen.adminKey);
  const theirs = await invite(await signInAndAddApp(ada.user));
  assert.deepEqual([await isOpen(own), await isOpen(theirs)], [true, true]);
  await endWithMade(stolen);
  assert.deepEqual([await isOpen(own), await isOpen(theirs)], [true, false]);
});
