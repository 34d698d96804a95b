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
import { SEVERAL, startServer } from '../support/server.ts';
import { RECOVERED, takenBack } from '../support/taken-back.ts';

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
