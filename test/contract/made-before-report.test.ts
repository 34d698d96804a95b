// store: SQLite, PostgreSQL
/**
 * Decisions §11: what a thief of a session makes before the first act that would be told anyway does not outlive the owner's return. An act
 * as an operator is told by mail; the apps of the last days have to ask again.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { signInOnCommandLine } from '../support/command-line.ts';
import { act, newOperator } from '../support/console.ts';
import { admin, authorizeUrl, newClient, newUser, PASSWORD, signedIn, standard, tokensFor } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { newestMail } from '../support/recovery.ts';
import { enroll } from '../support/second-factor.ts';
import { SEVERAL, startServer } from '../support/server.ts';
import { RECOVERED, takenBack } from '../support/taken-back.ts';
import { newUpstream } from '../upstreams/people.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on' }, SEVERAL);
after(() => server.close());
// There is another owner, so that what is tried here is never kept for the sake of the last one.
const keeper = await newUser(server, { password: undefined });
await admin(server, 'PUT', `/users/${keeper.id}/roles/owner`, {});
const story = takenBack(server);

const MINUTE = 60_000;
const DAY = 86_400_000;

const works = async (key: string) => (await admin(server, 'GET', '/users', undefined, key)).status === 200;
const emailOf = async (id: string): Promise<string> => (await admin(server, 'GET', `/users/${id}`)).body.email;

/** An operator who has been signed in for an hour, so that the mails of the sign-in are of the past. */
async function signedInOperator(role: 'owner' | 'admin' = 'admin') {
  const operator = await newOperator(server, role);
  server.advance(60 * MINUTE);
  return { operator, email: await emailOf(operator.id) };
}

async function makeKey({ operator }: Awaited<ReturnType<typeof signedInOperator>>): Promise<string> {
  const page = await act(server, operator, '/console/keys/new', {}, { name: 'deploy', role: 'admin' });
  const key = /tak_[\w-]{43}/.exec(page.text)?.[0];
  assert.ok(key !== undefined, page.text);
  return key;
}

test('a key that is made in the console is told by mail, and ends with the report of that mail', async () => {
  const thief = await signedInOperator();
  const key = await makeKey(thief);
  const [mail] = await mailsTo(server, thief.email);
  assert.equal(mail?.subject, 'Your account was used as an operator');
  assert.ok(mail?.text.includes('the admin key “deploy”'), mail?.text);
  assert.ok(await works(key));
  assert.equal(await story.press(await story.reportLink(thief.email)), 200);
  assert.equal(await works(key), false);
});

test('also what is closed is told by mail', async () => {
  const { operator, email } = await signedInOperator('owner');
  const app = await newClient(server, { name: 'Ledger', access: 'everyone' });
  const upstream = await newUpstream(server, { signUp: 'anyone' });
  after(() => upstream.provider[Symbol.asyncDispose]());
  const token = await signInOnCommandLine(server, { user: operator, ...operator });
  for (const [path, change, what] of [
    [`/clients/${app.clientId}`, { access: 'assigned' }, 'settings of the app “Ledger” (access)'],
    [`/upstreams/${upstream.id}`, { signUp: 'nobody' }, upstream.name],
  ] as const) {
    assert.equal((await admin(server, 'PATCH', path, change, token)).status, 200);
    const [mail] = await mailsTo(server, email);
    assert.equal(mail?.subject, 'Your account was used as an operator');
    assert.ok(mail?.text.includes(what), mail?.text);
  }
});

test('it ends with the report of a later act as well', async () => {
  const thief = await signedInOperator();
  const key = await makeKey(thief);
  await story.setPassword(thief.operator.browser, PASSWORD, 'a thief knows this one');
  assert.ok(await works(key));
  assert.equal(await story.press(await story.reportLink(thief.email)), 200);
  assert.equal(await works(key), false);
});

test('a scope that is asked for after the reported act waits no longer; that of somebody else does', async () => {
  const developer = await newOperator(server, 'developer');
  const own = await signInOnCommandLine(server, { user: developer, ...developer });
  const redirectUris = ['https://app.example/cb'];
  const app = (await admin(server, 'POST', '/clients', { name: 'App', redirectUris }, own)).body.clientId;
  const requests = `/clients/${app}/scope-requests`;
  const ask = async (scope: string, token?: string) =>
    assert.equal((await admin(server, 'POST', requests, { scope, reason: 'For the app.' }, token)).status, 201);
  await ask('phone');
  server.advance(60 * MINUTE);
  assert.equal((await admin(server, 'POST', `/clients/${app}/secrets`, {}, own)).status, 201);
  server.advance(MINUTE);
  await ask('roles', own);
  assert.equal(await story.press(await story.reportLink(await emailOf(developer.id))), 200);
  const { items } = (await admin(server, 'GET', requests)).body;
  assert.deepEqual(
    items.map(({ scope, status }: { scope: string; status: string }) => [scope, status]),
    [
      ['roles', 'ended'],
      ['phone', 'waiting'],
    ],
  );
});

test('a role is told, and an invitation that gives one; a plain invitation is not', async () => {
  const { operator, email } = await signedInOperator('owner');
  const told = async () =>
    (await mailsTo(server, email)).filter(({ kind }) => kind === 'security notice').map(({ text }) => text);
  const before = (await told()).length;
  await act(server, operator, '/console/invitations/new', {}, { email: 'guest@example.com' });
  assert.equal((await told()).length, before);
  const friend = await newUser(server);
  const granted = await act(server, operator, '/console/operators/grant', { user: friend.id }, { role: 'auditor' });
  assert.equal(granted.status, 200, granted.text);
  const [latest] = await told();
  assert.match(latest ?? '', /the role auditor for a person/);
});

test('an app that somebody connected in the week before the first told act has to ask again after the report', async () => {
  const ada = await story.person();
  const [old, recent] = [standard(await newClient(server)), standard(await newClient(server))];
  const browser = await signedIn(server, ada.user);
  await tokensFor(server, old, ada.user, {}, { browser });
  server.advance(10 * DAY);
  await tokensFor(server, recent, ada.user, {}, { browser });
  await story.setPassword(browser, PASSWORD, 'a thief knows this one');
  assert.equal(await story.press(await story.reportLink(ada.email)), 200);
  assert.equal(await story.recoverAt(ada.email, ''), 200);
  const again = await signedIn(server, ada.user, RECOVERED);
  const silent = async (app: typeof old) =>
    (await again.get(authorizeUrl(app, { prompt: 'none' }))).location?.searchParams.get('error') ?? 'code';
  assert.deepEqual([await silent(old), await silent(recent)], ['code', 'consent_required']);
});

/** What somebody made as an operator, with what others rest on by now, and how much of it there is. */
async function successors(by: string) {
  const call = async (method: string, path: string, body: object, key = by) => {
    const answer = await admin(server, method, path, body, key);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const { adminKey: key } = await call('POST', '/admin-keys', { name: 'deploy', role: 'admin' });
  const next = await newUser(server);
  await call('PUT', `/users/${next.id}/roles/auditor`, {});
  const { clientId } = await call('POST', '/clients', { name: 'App', redirectUris: ['https://app.example/cb'] });
  const group = await call('POST', '/groups', { name: `successors-${next.id}` });
  await call('PUT', `/groups/${group.id}/members/${next.id}`, {});
  const created = (
    await call('POST', '/users', {
      ...{ username: `made-${next.id}`, displayName: 'Made', email: `made-${next.id}@example.com`, password: PASSWORD },
    })
  ).id;
  server.advance(MINUTE);
  // Of the key that was made, and so of a successor.
  const { adminKey: later } = await call('POST', '/admin-keys', { name: 'later', role: 'admin' }, key);
  const status = async (path: string) => (await admin(server, 'GET', path)).body;
  return {
    clientId,
    left: async () => ({
      keys: [await works(key), await works(later)],
      roles: (await status(`/users/${next.id}/roles`)).items.length,
      app: (await status(`/clients/${clientId}`)).status,
      members: (await status(`/groups/${group.id}/members`)).items.length,
      created: (await status(`/users/${created}`)).status,
    }),
  };
}
const GOES_ON = { keys: [true, true], roles: 1, app: 'active', members: 1, created: 'active' };
const ENDED = { keys: [false, false], roles: 0, app: 'disabled', members: 0, created: 'suspended' };

async function makingOperator(role: 'owner' | 'admin' = 'admin') {
  const { operator, email } = await signedInOperator(role);
  const token = await signInOnCommandLine(server, { user: operator, ...operator });
  return { operator, email, token, path: `/users/${operator.id}/roles` };
}
const take = async (path: string, key?: string) => {
  server.advance(MINUTE);
  assert.equal((await admin(server, 'DELETE', path, undefined, key)).status, 200);
};

test('what another operator let go on who took the role away goes on after a report, and is told', async () => {
  const { email, token, path, operator } = await makingOperator();
  const { clientId, left } = await successors(token);
  const honest = (await admin(server, 'POST', '/admin-keys', { name: 'honest', role: 'owner' })).body.adminKey;
  await take(`${path}/admin`, honest);
  assert.equal(await story.press(await story.reportLink(email)), 200);
  assert.deepEqual(await left(), GOES_ON);
  const { text } = await newestMail(server, email, 'recovery');
  assert.match(text, /The operator let it go on, and it does: 2 admin keys or roles that were given, what was done to/);
  assert.ok(text.includes(`what was done to these apps: ${clientId}`), text);
  const { items } = (await admin(server, 'GET', `/audit-events?userId=${operator.id}&type=account.secured`)).body;
  assert.equal(items[0].details.left.adminKeys.length, 1);
  assert.deepEqual(items[0].details.left.apps, [{ clientId, acts: ['registered'] }]);
  // Who ends the rest then still does.
  const bar = await admin(server, 'PUT', `/users/${operator.id}/suspension?endMade=true`, { reason: 'stolen' });
  assert.equal(bar.status, 200);
  assert.deepEqual(await left(), ENDED);
});

test('what came to be by a role that is left ends with the report, and so does what is made later', async () => {
  const { email, token, path } = await makingOperator('owner');
  const { left } = await successors(token);
  const owned = (await admin(server, 'POST', '/admin-keys', { name: 'all', role: 'owner' }, token)).body.adminKey;
  await admin(server, 'PUT', `${path}/admin`, {});
  await take(`${path}/owner`);
  const after = (await admin(server, 'POST', '/admin-keys', { name: 'after', role: 'admin' }, token)).body.adminKey;
  assert.equal(await story.press(await story.reportLink(email)), 200);
  assert.deepEqual(await left(), ENDED);
  assert.deepEqual([await works(owned), await works(after)], [true, false]);
});

test('nothing is let go on by who rests on the reported account, or by that account', async () => {
  const stolen = await makingOperator();
  const made = await successors(stolen.token);
  const accomplice = (await admin(server, 'POST', '/admin-keys', { name: 'own', role: 'admin' }, stolen.token)).body;
  const link = await story.reportLink(stolen.email);
  await take(`${stolen.path}/admin`, accomplice.adminKey);
  assert.equal(await story.press(link), 200);
  assert.deepEqual(await made.left(), ENDED);

  const own = await makingOperator();
  const gained = await successors(own.token);
  await take(`${own.path}/admin`, own.token);
  assert.equal(await story.press(await story.reportLink(own.email)), 200);
  assert.deepEqual(await gained.left(), ENDED);
});

for (const depth of [1, 2, 3])
  test(`nothing is let go on by an older key of the reported account, made with ${depth - 1} others`, async () => {
    const stolen = await makingOperator();
    let { token: key } = stolen;
    for (let at = 0; at < depth; at++) {
      key = (await admin(server, 'POST', '/admin-keys', { name: 'older', role: 'admin' }, key)).body.adminKey;
    }
    server.advance(20 * DAY);
    const browser = await story.signedInWith({ user: stolen.operator, email: stolen.email }, stolen.operator.factor);
    const token = await signInOnCommandLine(server, { user: stolen.operator, ...stolen.operator, browser });
    const made = await successors(token);
    await take(`${stolen.path}/admin`, key);
    assert.equal(await story.press(await story.reportLink(stolen.email)), 200);
    assert.deepEqual(await made.left(), ENDED);
  });

test('nothing is let go on by the account itself before the first act that is told', async () => {
  const { operator, email, token, path } = await makingOperator('owner');
  assert.equal((await admin(server, 'PUT', `${path}/developer`, {})).status, 200);
  const input = { displayName: 'Made', email: `quiet-${operator.id}@example.com`, password: PASSWORD };
  const made = await admin(server, 'POST', '/users', { username: `quiet-${operator.id}`, ...input }, token);
  assert.equal(made.status, 201);
  await take(`${path}/owner`, token);
  server.advance(MINUTE);
  const app = { name: 'Told', redirectUris: ['https://told.example/cb'] };
  assert.equal((await admin(server, 'POST', '/clients', app, token)).status, 201);
  assert.equal(await story.press(await story.reportLink(email)), 200);
  assert.equal((await admin(server, 'GET', `/users/${made.body.id}`)).body.status, 'suspended');
});

test('who leaves an organization with the reported account lets nothing go on; who removes that account does', async () => {
  for (const isRemoved of [false, true]) {
    const { user, email } = await story.person();
    const fields = { name: `left-${user.id}`, domain: `left-${user.id}.example` };
    const { id } = (await admin(server, 'POST', '/organizations', fields)).body;
    const path = `/organizations/${id}/members`;
    const next = await newUser(server);
    for (const [person, role] of [
      [user, 'ADMIN'],
      [next, 'MEMBER'],
    ] as const) {
      assert.equal((await admin(server, 'PUT', `${path}/${person.id}`, { role })).status, 200);
    }
    server.advance(60 * MINUTE);
    const browser = await signedIn(server, user);
    const token = await signInOnCommandLine(server, { user, browser, factor: await enroll(server, user) });
    assert.equal((await admin(server, 'PUT', `${path}/${next.id}`, { role: 'ADMIN' }, token)).status, 200);
    server.advance(MINUTE);
    const honest = (await admin(server, 'POST', '/admin-keys', { name: 'honest', role: 'owner' })).body.adminKey;
    if (isRemoved) await take(`${path}/${user.id}`, honest);
    else
      assert.equal(
        (await story.submit(browser, '/account/organization', {}, '/account/organization/leave')).status,
        200,
      );
    server.advance(MINUTE);
    await story.setPassword(browser, PASSWORD, 'a thief knows this one');
    assert.equal(await story.press(await story.reportLink(email)), 200);
    const { members } = (await admin(server, 'GET', `/organizations/${id}`)).body;
    assert.deepEqual(
      members.map(({ role }: { role: string }) => role),
      [isRemoved ? 'ADMIN' : 'MEMBER'],
    );
  }
});
