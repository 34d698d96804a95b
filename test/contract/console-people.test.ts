// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { act, newOperator, open } from '../support/console.ts';
import { admin, newClient, newUser, PASSWORD, refresh, signedIn, tokensFor, userinfo } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { HOUR, MINUTE } from '../support/outcome.ts';
import { newPasskey } from '../support/passkeys.ts';
import { enroll } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

// The console's pages about people: decisions §13.

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
});
after(() => server.close());
const owner = await newOperator(server, 'owner', { displayName: 'Olive Owner' });
const client = await newClient(server, { name: 'Acme Notes' });

const status = async ({ id }: { readonly id: string }) => (await admin(server, 'GET', `/users/${id}`)).body.status;
const titleOf = (text: string): string => /<h1>(.*?)<\/h1>/s.exec(text)?.[1]?.replaceAll(/<[^>]+>/g, '') ?? '';

test('who is not signed in signs in, and comes back to the page', async () => {
  const user = await newUser(server);
  const browser = agent(server.baseUrl);
  const away = await browser.get(`/console/people?q=${user.username}`);
  assert.deepEqual([away.status, away.location?.pathname], [302, '/login']);
  const page = await browser.get('/login');
  assert.match(page.text, /Sign in to open this page/);
  const answer = await browser.submit(page, { identifier: user.username, password: PASSWORD }, '/login');
  assert.equal(answer.location?.href, `${server.baseUrl}/console/people?q=${user.username}`);
});

test('who has no role is told so, and how to get one', async () => {
  const user = await newUser(server);
  const answer = await (await signedIn(server, user)).get('/console');
  assert.equal(answer.status, 403);
  assert.match(answer.text, /The console is for operators/);
  assert.ok(answer.text.includes(`tessera user grant-role ${user.username}`));
});

test('an operator without a second factor sets one up first', async () => {
  const user = await newUser(server, { emailVerified: true });
  await admin(server, 'PUT', `/users/${user.id}/roles/admin`, {});
  const answer = await (await signedIn(server, user)).get('/console/people');
  assert.equal(answer.status, 403);
  assert.match(answer.text, /Set up a second factor first/);
});

test('a session from before the second factor was set up does not open the console', async () => {
  const user = await newUser(server, { emailVerified: true });
  await admin(server, 'PUT', `/users/${user.id}/roles/admin`, {});
  const browser = await signedIn(server, user);
  await newPasskey(server, user.id);
  server.advance(HOUR);
  const answer = await browser.get('/console/people');
  assert.ok(answer.status === 403 || answer.location?.pathname === '/account/confirm', String(answer.location));
  assert.ok(!answer.text.includes(owner.username));
});

test('a person is found by the beginning of the username or address, by the ID, and inside of the name', async () => {
  const ada = await newUser(server, {
    username: 'ada.lovelace',
    displayName: 'Ada Lovelace',
    email: 'Countess@engines.example',
  });
  const find = async (q: string) => (await owner.browser.get(`/console/people?q=${encodeURIComponent(q)}`)).text;
  for (const q of ['ada.lovelace', 'ADA.', 'ada', 'countess@engines.example', 'Countess@', ada.id, 'Lovelace']) {
    assert.ok((await find(q)).includes(`/console/people/${ada.id}"`), q);
  }
  for (const q of ['nobody-at-all', '%', '_da', '<script>', ' '.repeat(300)]) {
    const text = await find(q);
    assert.ok(q.trim() === '' || !text.includes(`/console/people/${ada.id}"`), q);
    assert.ok(!text.includes('<script>'));
  }
  assert.match(await find('nobody-at-all'), /No results for <bdi>nobody-at-all</);
  // A list that shows its first people alone is no list to save.
  assert.doesNotMatch(await find('ada.'), /Save to a file/);
  assert.match(await find('Lovelace'), /href="[^"]*[?]q=Lovelace">Save to a file/);
});

test('the list goes on by the last account, the newest first, and a link of another list begins at the start', async () => {
  for (let index = 0; index < 30; index++) await newUser(server, { displayName: `Listed ${index}` });
  const first = await owner.browser.get('/console/people');
  const ids = ({ text }: { readonly text: string }) =>
    [...text.matchAll(/\/console\/people\/(\d+)"/g)].map(([, id = '']) => id);
  assert.equal(ids(first).length, 25);
  const older = /href="([^"]*before=\d+)"/.exec(first.text)?.[1] ?? '';
  const second = await owner.browser.get(older);
  assert.ok(ids(second).every((id) => BigInt(id) < BigInt(ids(first).at(-1) ?? '0')));
  assert.equal((await owner.browser.get('/console/people?before=no-id')).status, 200);
});

test('a page says who it is, how they sign in, and why the last sign-in failed', async () => {
  const user = await newUser(server, { displayName: 'Grace <b>Hopper</b>', emailVerified: true });
  await enroll(server, user);
  const browser = agent(server.baseUrl);
  const login = await browser.get('/login');
  await browser.submit(login, { identifier: user.username, password: 'not this one' }, '/login');
  const page = await owner.browser.get(`/console/people/${user.id}`);
  assert.equal(page.status, 200);
  assert.ok(page.text.includes('Grace &lt;b&gt;Hopper&lt;/b&gt;'));
  assert.match(page.text, /The password was wrong/);
  assert.match(page.text, /Authenticator app/);
  const { body } = await admin(server, 'GET', `/audit-events?type=account.viewed&userId=${user.id}`);
  assert.deepEqual(body.items[0].actor, { type: 'user', id: owner.id });
});

test('the parts of a page show browsers, apps and groups', async () => {
  const user = await newUser(server, { emailVerified: true });
  const browser = await signedIn(server, user);
  await tokensFor(server, client, user, {}, { browser });
  const group = await admin(server, 'POST', '/groups', { name: 'analysts', displayName: 'Analysts' });
  await admin(server, 'PUT', `/groups/${group.body.id}/members/${user.id}`);
  const part = async (name: string) => (await owner.browser.get(`/console/people/${user.id}/${name}`)).text;
  assert.match(await part('sessions'), /Acme Notes/);
  assert.match(await part('apps'), /Acme Notes/);
  assert.match(await part('memberships'), /analysts/);
});

test('signing a person out everywhere says what ends, ends it, and says what holds now', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const tokens = await tokensFor(server, client, user, {}, { browser });
  const page = await owner.browser.get(`/console/people/end-sessions?id=${user.id}`);
  assert.ok(page.text.includes(`<title>${titleOf(page.text)} – Console`), 'the title says what the page is about');
  assert.match(page.text, /The person, by mail/);
  assert.match(page.text, /One browser is signed out/);
  assert.match(page.text, /Acme Notes/);
  const done = await owner.browser.submit(page, {}, '/console/people/end-sessions');
  assert.equal(done.status, 200);
  assert.match(titleOf(done.text), /is signed out everywhere/);
  assert.match(done.text, /Signed in nowhere/);
  assert.equal((await browser.get('/account')).status, 302);
  assert.equal((await userinfo(server, tokens.access_token)).status, 401);
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 400);
  const [mail] = await mailsTo(server, `${user.username}@example.com`);
  assert.match(mail?.text ?? '', /An operator of this service did this/);
});

test('what an operator did, and not from where, stands in the activity of the person', async () => {
  const user = await newUser(server);
  await act(server, owner, '/console/people/end-sessions', { id: user.id });
  const page = await (await signedIn(server, user)).get('/account/activity');
  assert.match(page.text, /All browsers were signed out, and all apps\. An operator of this service did this/);
});

test('a suspension and a ban hold from the answer on, and lifting them too', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const suspended = await act(
    server,
    owner,
    '/console/people/suspend',
    { id: user.id },
    { reason: 'Lent the account' },
  );
  assert.match(titleOf(suspended.text), /is suspended/);
  assert.equal(await status(user), 'suspended');
  assert.equal((await browser.get('/account')).status, 302);
  assert.match((await owner.browser.get(`/console/people/${user.id}`)).text, /Lent the account/);
  await act(server, owner, '/console/people/reinstate', { id: user.id });
  assert.equal(await status(user), 'active');
  const until = new Date(server.now() + 24 * HOUR).toISOString().slice(0, 10);
  const banned = await act(server, owner, '/console/people/ban', { id: user.id }, { until, reason: '' });
  assert.match(banned.text, /Banned until/);
  assert.equal((await admin(server, 'GET', `/users/${user.id}`)).body.ban.until, `${until}T23:59:59.000Z`);
  await act(server, owner, '/console/people/unban', { id: user.id });
  assert.equal(await status(user), 'active');
});

test('a ban until a day that is over changes nothing, and keeps what was typed', async () => {
  const user = await newUser(server);
  for (const until of ['2020-01-01', 'soon', '2026-13-45']) {
    const answer = await act(server, owner, '/console/people/ban', { id: user.id }, { until, reason: 'kept reason' });
    assert.equal(answer.status, 400, until);
    assert.match(answer.text, /Choose a day from today on/);
    assert.match(answer.text, /kept reason/);
  }
  assert.equal(await status(user), 'active');
});

test('recovery goes to the person alone, and the page shows neither link nor code', async () => {
  const user = await newUser(server, { emailVerified: true });
  const done = await act(server, owner, '/console/people/send-recovery', { id: user.id });
  assert.match(titleOf(done.text), /Recovery is on the way/);
  const mail = (await mailsTo(server, `${user.username}@example.com`)).find(({ link }) => link?.includes('/recover'));
  assert.ok(mail?.link !== undefined);
  assert.ok(!done.text.includes(mail.link) && (mail.code === undefined || !done.text.includes(mail.code)));
});

test('what cannot be done says why, and changes nothing', async () => {
  const user = await newUser(server, { emailVerified: false });
  const answer = await act(server, owner, '/console/people/send-recovery', { id: user.id });
  assert.equal(answer.status, 409);
  assert.match(answer.text, /is not verified/);
});

test('a lost factor is removed, an address is asked for, and a wait is ended', async () => {
  const user = await newUser(server, { emailVerified: false });
  await enroll(server, user);
  const removed = await act(server, owner, '/console/people/remove-factor', { id: user.id, factor: 'totp' });
  assert.match(titleOf(removed.text), /is removed/);
  assert.match(
    (await act(server, owner, '/console/people/remove-factor', { id: user.id, factor: 'totp' })).text,
    /nothing left to do/,
  );
  assert.match(
    titleOf((await act(server, owner, '/console/people/remind-verification', { id: user.id })).text),
    /on the way/,
  );
  assert.match(titleOf((await act(server, owner, '/console/people/unlock', { id: user.id })).text), /can try again/);
});

test('a lost passkey is removed by the link of its row', async () => {
  const user = await newUser(server, { emailVerified: true });
  const { id: factor } = await newPasskey(server, user.id);
  const removed = await act(server, owner, '/console/people/remove-factor', { id: user.id, factor });
  assert.match(titleOf(removed.text), /is removed/);
  assert.ok(!(await open(server, owner, `/console/people/${user.id}`)).text.includes('Test passkey'));
});

test('one browser is signed out, and an app loses its access', async () => {
  const user = await newUser(server);
  const [one, other] = [await signedIn(server, user), await signedIn(server, user)];
  const tokens = await tokensFor(server, client, user, {}, { browser: other });
  const sessions = (await admin(server, 'GET', `/users/${user.id}/sessions`)).body.items;
  const without = sessions.find(({ apps }: { apps: readonly unknown[] }) => apps.length === 0);
  assert.match(
    titleOf((await act(server, owner, '/console/people/end-session', { id: user.id, session: without.id })).text),
    /signed out/,
  );
  assert.deepEqual([(await one.get('/account')).status, (await other.get('/account')).status], [302, 200]);
  const revoked = await act(server, owner, '/console/people/revoke-app', { id: user.id, app: client.clientId });
  assert.match(titleOf(revoked.text), /no access/);
  assert.equal((await userinfo(server, tokens.access_token)).status, 403);
});

test('what a role may not do is absent, and a link to it names the permission', async () => {
  const user = await newUser(server);
  const support = await newOperator(server, 'support');
  const page = (await support.browser.get(`/console/people/${user.id}`)).text;
  assert.match(page, /\/console\/people\/suspend\?/);
  assert.doesNotMatch(page, /\/console\/people\/ban\?/);
  assert.doesNotMatch(page, /\/memberships/);
  for (const address of [`/console/people/ban?id=${user.id}`, `/console/people/${user.id}/memberships`]) {
    const answer = await support.browser.get(address);
    assert.equal(answer.status, 403, address);
    assert.match(answer.text, /users\.ban|groups\.read/);
    assert.match(answer.text, /Ask somebody who has one of them/);
  }
  const { token } = { token: /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? '' };
  const sent = await support.browser.post('/console/people/ban', { form_token: token, id: user.id });
  assert.ok([400, 403].includes(sent.status));
  assert.equal(await status(user), 'active');
});

test('nobody acts on an operator who holds more, and the page says so instead', async () => {
  const support = await newOperator(server, 'support');
  const page = (await support.browser.get(`/console/people/${owner.id}`)).text;
  assert.match(page, /holds a permission that you lack/);
  assert.doesNotMatch(page, /\/console\/people\/suspend\?/);
  const answer = await support.browser.get(`/console/people/suspend?id=${owner.id}`);
  assert.equal(answer.status, 403);
});

test('a role that was taken away ends the console with the answer', async () => {
  const admined = await newOperator(server, 'admin');
  const user = await newUser(server);
  const page = await admined.browser.get(`/console/people/suspend?id=${user.id}`);
  assert.equal(page.status, 200);
  await admin(server, 'DELETE', `/users/${admined.id}/roles/admin`);
  const answer = await admined.browser.submit(page, {}, '/console/people/suspend');
  assert.equal(answer.status, 403);
  assert.equal(await status(user), 'active');
});

test('an act asks for a fresh proof, and leads back to its page', async () => {
  const user = await newUser(server);
  server.advance(11 * MINUTE);
  const address = `/console/people/suspend?id=${user.id}`;
  const away = await owner.browser.get(address);
  assert.equal(away.location?.pathname, '/account/confirm');
  assert.equal((await open(server, owner, address)).status, 200);
});

test('what is no id, and who is not there, is not found', async () => {
  for (const address of ['/console/people/1', '/console/people/nobody', '/console/people/suspend?id=x']) {
    const answer = await owner.browser.get(address);
    assert.equal(answer.status, 404, address);
    assert.match(answer.text, /There is no user/);
    assert.match(answer.text, /href="\/console\/search">Search the console/);
  }
});

test('each act is on record, with who did it and in which role', async () => {
  const { body } = await admin(server, 'GET', `/audit-events?actorId=${owner.id}&limit=200&type=account`);
  const types = new Set(body.items.map(({ type }: { type: string }) => type));
  for (const type of ['signed_out_everywhere', 'suspended', 'reinstated', 'banned', 'unbanned', 'factor_removed']) {
    assert.ok(types.has(`account.${type}`), type);
  }
  for (const type of ['verification_reminded', 'unlocked', 'viewed']) assert.ok(types.has(`account.${type}`), type);
  for (const { details } of body.items) assert.ok(details.actorRole === 'owner' || details.actorRole === undefined);
  for (const type of ['recovery.requested', 'session.ended', 'consent.revoked']) {
    const found = await admin(server, 'GET', `/audit-events?actorId=${owner.id}&type=${type}`);
    assert.equal(found.body.items[0]?.details.actorRole, 'owner', type);
  }
});
