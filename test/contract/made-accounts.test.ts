// store: SQLite, PostgreSQL
/** Accounts that a stolen key or account created or changed are listed where it ends; those that nobody took over are suspended with it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { newOperator, open } from '../support/console.ts';
import { admin, newClient, newUser, PASSWORD, signedIn, type TestUser, tokensFor, userinfo } from '../support/flow.ts';
import { DAY, MINUTE } from '../support/outcome.ts';
import { newestMail, useLink } from '../support/recovery.ts';
import { enroll } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';
import { takenBack } from '../support/taken-back.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
after(() => server.close());
const { addApp, signedInWith, reportLink, press, setPassword } = takenBack(server);
const keeper = await newUser(server, { password: undefined });
await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {});
const app = await newClient(server);

const call = async (method: string, path: string, body?: object, key?: string) => {
  const answer = await admin(server, method, path, body, key);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};
let count = 0;
const newKey = (role = 'owner', by?: string): Promise<{ id: string; adminKey: string }> =>
  call('POST', '/admin-keys', { name: 'stolen', role }, by);
/** An account that an operator creates. */
const created = (by: string, fields: object = {}): Promise<TestUser> => {
  const username = `made-${++count}`;
  const named = { username, displayName: 'Made', email: `${username}@example.com`, password: PASSWORD };
  return call('POST', '/users', { ...named, ...fields }, by);
};
const endWithMade = async (id: string) => (await call('DELETE', `/admin-keys/${id}?endMade=true`)).made;
const listed = async (id: string) => (await call('GET', `/admin-keys/${id}`)).made.accounts;
const statusOf = async ({ id }: TestUser): Promise<string> => (await call('GET', `/users/${id}`)).status;
const entry = ({ id: userId }: TestUser, ends: boolean, ...acts: string[]) => ({ userId, acts, ends });

test('an account that a key created is listed, and suspended where it ends with what it made; earlier ones go on', async () => {
  const key = await newKey('admin');
  const [mallory, earlier] = [await created(key.adminKey), await newUser(server)];
  const { access_token } = await tokensFor(server, app, mallory);
  assert.deepEqual(await listed(key.id), [entry(mallory, true, 'created')]);
  const { accounts, hasMoreAccounts } = await endWithMade(key.id);
  assert.deepEqual([accounts, hasMoreAccounts], [[entry(mallory, true, 'created')], false]);
  assert.deepEqual([await statusOf(mallory), await statusOf(earlier)], ['suspended', 'active']);
  assert.equal((await userinfo(server, access_token)).body.error_description, 'Account is suspended');
  const { items } = await call('GET', `/audit-events?userId=${mallory.id}&type=account.suspended`);
  assert.equal(items[0]?.details.madeBy, key.id);
});

test('it goes on, and is listed, where only the key is revoked', async () => {
  const key = await newKey();
  const mallory = await created(key.adminKey);
  const { made } = await call('DELETE', `/admin-keys/${key.id}`);
  assert.deepEqual(made.accounts, [entry(mallory, true, 'created')]);
  assert.equal(await statusOf(mallory), 'active');
});

test('what a key of a key created is suspended with the first one', async () => {
  const key = await newKey();
  const second = await newKey('admin', key.adminKey);
  const mallory = await created(second.adminKey);
  await endWithMade(key.id);
  assert.equal(await statusOf(mallory), 'suspended');
});

test('an account whose owner set a password of their own, or another way in, goes on and is listed', async () => {
  const key = await newKey();
  const [withPassword, withApp, given] = [
    await created(key.adminKey),
    await created(key.adminKey, { emailVerified: true }),
    await created(key.adminKey),
  ];
  await setPassword(await signedIn(server, withPassword), PASSWORD, 'a password of my own');
  await enroll(server, withApp);
  await call('PATCH', `/users/${given.id}`, { password: 'given by the operator', emailVerified: true }, key.adminKey);
  const accounts = await endWithMade(key.id);
  assert.deepEqual(accounts.accounts, [
    entry(withPassword, false, 'created'),
    entry(withApp, false, 'created'),
    entry(given, true, 'password_set', 'address_changed', 'created'),
  ]);
  assert.deepEqual(
    [await statusOf(withPassword), await statusOf(withApp), await statusOf(given)],
    ['active', 'active', 'suspended'],
  );
});

test('an address that its person verified shows an owner, one that the operator declared verified does not', async () => {
  const key = await newKey();
  const [verified, declared] = [await created(key.adminKey), await created(key.adminKey, { emailVerified: true })];
  const browser = await signedIn(server, verified);
  await browser.submit(await browser.get('/account/email'), {}, '/account/email/verify');
  const { email } = await call('GET', `/users/${verified.id}`);
  const { link = '' } = await newestMail(server, email, 'verify address');
  assert.equal((await browser.submit(await browser.get(link), {})).status, 200);
  await endWithMade(key.id);
  assert.deepEqual([await statusOf(verified), await statusOf(declared)], ['active', 'suspended']);
});

test('a role that others gave keeps an account, one that the key gave does not; the last owner stays', async () => {
  const key = await newKey();
  const [colleague, mallory] = [await created(key.adminKey), await created(key.adminKey)];
  await call('PUT', `/users/${colleague.id}/roles/auditor`, {});
  await call('PUT', `/users/${mallory.id}/roles/owner`, {}, key.adminKey);
  assert.deepEqual(await listed(key.id), [entry(colleague, false, 'created'), entry(mallory, true, 'created')]);
  await endWithMade(key.id);
  assert.deepEqual([await statusOf(colleague), await statusOf(mallory)], ['active', 'suspended']);

  const second = await newKey();
  const last = await created(second.adminKey);
  await call('PUT', `/users/${last.id}/roles/owner`, {}, second.adminKey);
  await call('DELETE', `/users/${keeper.id}/roles/owner`);
  await endWithMade(second.id);
  assert.equal(await statusOf(last), 'active');
  await call('PUT', `/users/${keeper.id}/roles/owner`, {});
  await call('DELETE', `/users/${last.id}/roles/owner`);
});

test('accounts that a key changed go on, and are listed with what was changed', async () => {
  const key = await newKey();
  const [moved, robbed, renamed, weakened, freed, recovered, untouched] = [
    await newUser(server),
    await newUser(server),
    await newUser(server),
    await newUser(server, { emailVerified: true }),
    await newUser(server),
    await newUser(server),
    await newUser(server),
  ];
  await enroll(server, weakened);
  await call('PUT', `/users/${freed.id}/suspension`, {});
  const path = ({ id }: TestUser) => `/users/${id}`;
  await call('PATCH', path(moved), { email: `thief-${++count}@example.com` }, key.adminKey);
  await call('PATCH', path(robbed), { password: 'known to the thief' }, key.adminKey);
  await call('PATCH', path(renamed), { username: `renamed-${++count}` }, key.adminKey);
  await call('DELETE', `${path(weakened)}/factors/totp`, undefined, key.adminKey);
  await call('DELETE', `${path(freed)}/suspension`, undefined, key.adminKey);
  const { url } = await call('POST', `${path(recovered)}/recovery-link`, {}, key.adminKey);
  assert.equal((await useLink(agent(server.baseUrl), url, 'known to the thief')).status, 200);
  await call('PATCH', path(untouched), { about: 'Nothing that lets anybody in' }, key.adminKey);
  const expected = [
    entry(moved, false, 'address_changed'),
    entry(robbed, false, 'password_set'),
    entry(renamed, false, 'username_changed'),
    entry(weakened, false, 'factor_removed'),
    entry(freed, false, 'let_in_again'),
    entry(recovered, false, 'recovered'),
  ];
  assert.deepEqual(await listed(key.id), expected);
  assert.deepEqual((await endWithMade(key.id)).accounts, expected);
  for (const user of [moved, robbed, renamed, weakened, freed, recovered]) {
    assert.equal(await statusOf(user), 'active');
  }
});

test('the last operator who did the same counts', async () => {
  const [first, second, person] = [await newKey(), await newKey(), await newUser(server)];
  for (const key of [first, second]) {
    await call('PATCH', `/users/${person.id}`, { password: `set by ${key.id}` }, key.adminKey);
  }
  assert.deepEqual(await listed(first.id), []);
  assert.deepEqual(await listed(second.id), [entry(person, false, 'password_set')]);
});

test('an account that came to be by the invitation of a key is listed', async () => {
  const key = await newKey();
  const { link } = await call('POST', '/invitations', {}, key.adminKey);
  const browser = agent(server.baseUrl);
  const username = `invited-${++count}`;
  const fields = { username, displayName: 'Invited', email: `${username}@example.com`, password: PASSWORD };
  const form = await browser.get(`/signup?invitation=${new URL(link).searchParams.get('link')}`);
  await browser.submit(form, fields);
  const { code = '' } = await newestMail(server, fields.email, 'verify address');
  const done = await browser.submit(await browser.get('/signup/verify'), { code }, '/signup/verify');
  assert.equal(done.status, 303, done.text);
  const { items } = await call('GET', `/users?q=${username}`);
  assert.deepEqual(await listed(key.id), [entry(items[0], false, 'invited')]);
});

test('what was set through an account that a key created ends with the key, also where the account has lost its role', async () => {
  const trap = 'https://trap.example/callback';
  const [key, client] = [await newKey(), await newClient(server, { access: 'assigned' })];
  const eve = await created(key.adminKey, { emailVerified: true });
  server.advance(MINUTE);
  await call('PUT', `/users/${eve.id}/roles/owner`, {});
  const browser = await signedIn(server, eve);
  const factor = { ...(await addApp(browser)), recoveryCodes: [] };
  server.advance(MINUTE);
  const token = await signInOnCommandLine(server, { user: eve, browser, factor });
  const path = `/clients/${client.clientId}`;
  await call('PATCH', path, { redirectUris: [client.redirectUri, trap], access: 'everyone' }, token);
  await call('POST', `${path}/assignments`, { userId: (await newUser(server)).id }, token);
  server.advance(MINUTE);
  await call('DELETE', `/users/${eve.id}/roles/owner`);
  const { through } = await endWithMade(key.id);
  assert.deepEqual(
    through.map(({ userId }: { userId: string }) => userId),
    [eve.id],
  );
  const { redirectUris, access } = await call('GET', path);
  assert.deepEqual([redirectUris, access], [[client.redirectUri], 'assigned']);
  assert.deepEqual((await call('GET', `${path}/assignments`)).items, []);
});

test('of very many accounts all are suspended', async () => {
  const key = await newKey();
  const users: TestUser[] = [];
  for (let done = 0; done < 105; done += 7) {
    users.push(...(await Promise.all(Array.from({ length: 7 }, () => created(key.adminKey, { password: undefined })))));
  }
  const { accounts, hasMoreAccounts } = await endWithMade(key.id);
  assert.deepEqual([accounts.length, hasMoreAccounts], [50, true]);
  const states = await Promise.all(users.map(statusOf));
  assert.deepEqual([...new Set(states)], ['suspended']);
});

test('accounts that a thief created and changed with the account of an operator end with the report, or are named', async () => {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  await call('PUT', `/users/${operator.user.id}/roles/admin`, {});
  const { email } = await call('GET', `/users/${operator.user.id}`);
  server.advance(MINUTE);
  const early = await created(await signInOnCommandLine(server, operator));
  server.advance(9 * DAY);
  const thief = { ...operator, browser: await signedInWith({ user: operator.user, email }, operator.factor) };
  server.advance(MINUTE);
  const token = await signInOnCommandLine(server, thief);
  const [late, victim] = [await created(token), await newUser(server)];
  await call('PATCH', `/users/${victim.id}`, { password: 'known to the thief' }, token);
  assert.equal(await press(await reportLink(email)), 200);
  assert.deepEqual(
    [await statusOf(early), await statusOf(late), await statusOf(victim)],
    ['active', 'suspended', 'active'],
  );
  const { text } = await newestMail(server, email, 'recovery');
  assert.match(text, /an account that was created, which is suspended/);
  assert.match(text, new RegExp(`These accounts were created or changed[^.]*: ${victim.id}\\.`));
});

test('the console lists them before a key is revoked, and says afterwards which go on', async () => {
  const [owner, key] = [await newOperator(server, 'owner'), await newKey()];
  const [mallory, victim] = [await created(key.adminKey), await newUser(server)];
  await call('PATCH', `/users/${victim.id}`, { password: 'known to the thief' }, key.adminKey);
  const page = await open(server, owner, `/console/keys/revoke?id=${key.id}`);
  assert.match(page.text, /\(created\)/);
  assert.match(page.text, /\(password set\)/);
  const done = await owner.browser.submit(page, { made: 'end' }, '/console/keys/revoke');
  const [ended = '', others = ''] = done.text.split('These accounts go on');
  assert.ok(ended.includes(`id=${mallory.id}`) || ended.includes(`/${mallory.id}`));
  assert.ok(others.includes(victim.id) && !others.includes(mallory.id));
  assert.equal(await statusOf(mallory), 'suspended');
});
