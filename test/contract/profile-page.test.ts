// store: SQLite, PostgreSQL with --all
/** The form of the profile: who may send it, and that nothing else can be changed by it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import {
  admin,
  claimsOf,
  newClient,
  newSignedInUser,
  newUser,
  PASSWORD,
  signedIn,
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer();
after(() => server.close());

const PAGE = '/account/profile';
const send = async (browser: Agent, fields: Readonly<Record<string, string>>) =>
  browser.submit(await browser.get('/account'), fields, PAGE);
const recordOf = async ({ id }: TestUser) => (await admin(server, 'GET', `/users/${id}`)).body;

test('without a session: redirect to the sign-in page', async () => {
  const browser = agent(server.baseUrl);
  for (const answer of [await browser.get('/account'), await browser.post(PAGE, { displayName: 'X' })]) {
    assert.equal(answer.location?.pathname, '/login');
  }
});

test('a password manager finds where to change the password, and that nothing else is there', async () => {
  const { status, headers } = await agent(server.baseUrl).get('/.well-known/change-password');
  assert.deepEqual([status, headers.get('location')], [302, '/account/security?row=change-password#change-password']);
  const browser = await signedIn(server, await newUser(server));
  assert.match((await browser.get('/account/security')).text, / id="password"/);
  const nothing = '/.well-known/resource-that-should-not-exist-whose-status-code-should-not-be-200';
  assert.equal((await agent(server.baseUrl).get(nothing)).status, 404);
});

test('a form without the page’s token, or of another person, changes nothing', async () => {
  const [ada, bob] = [await newUser(server), await newUser(server)];
  const [hers, his] = [await signedIn(server, ada), await signedIn(server, bob)];
  const before = await recordOf(ada);
  assert.equal((await hers.post(PAGE, { displayName: 'Mallory' })).status, 400);
  const foreign = await his.get('/account');
  assert.equal((await hers.submit(foreign, { displayName: 'Mallory' }, PAGE)).status, 400);
  const elsewhere = await hers.post(PAGE, { displayName: 'Mallory' }, { origin: 'https://evil.example' });
  assert.equal(elsewhere.status, 403);
  assert.deepEqual(await recordOf(ada), before);
});

test('a form cannot change fields that only operators may change', async () => {
  const { user, browser } = await newSignedInUser(server);
  const before = await recordOf(user);
  const more = {
    username: 'root',
    email: 'root@example.com',
    emailVerified: 'true',
    password: 'x'.repeat(12),
    id: '1',
  };
  const answer = await send(browser, { displayName: 'Only this', ...more });
  assert.equal(answer.status, 200, answer.text);
  const { displayName, updatedAt: _updated, ...rest } = await recordOf(user);
  const { displayName: _name, updatedAt: _before, ...same } = before;
  assert.equal(displayName, 'Only this');
  assert.deepEqual(rest, same);
});

test('US-06: no form of a person vouches for an address, a number, a role or an id', async () => {
  const trust = {
    ...{ emailVerified: 'true', email_verified: 'true', isVerified: 'true', verified: '1', phoneVerified: 'true' },
    ...{ phone_number_verified: 'true', organization: 'acme', role: 'OWNER', id: '1', sub: '1', status: 'active' },
    ...{ 'email[isVerified]': 'true', 'user.email.isVerified': 'true', createdAt: '2001-01-01T00:00:00Z' },
  };
  const browser = agent(server.baseUrl);
  const own = { displayName: 'Self', username: 'self-made', email: 'self-made@example.com', password: PASSWORD };
  assert.equal((await browser.submit(await browser.get('/signup'), { ...own, ...trust })).status, 303);
  const scope = 'openid email phone organization.read';
  const [{ id = '' } = {}] = (await admin(server, 'GET', '/users?q=self-made')).body.items;
  const user = { id, username: own.username };
  const assertUntouched = async () => {
    const tokens = await tokensFor(server, await newClient(server), user, { scope }, { browser });
    const contract = (await userinfo(server, tokens.access_token)).body;
    assert.deepEqual([contract.id, contract.sub, contract.user.organization], [id, id, null]);
    assert.deepEqual(contract.user.email, { username: 'self-made', domain: 'example.com', isVerified: false });
    assert.equal(contract.createdAt, new Date(server.now()).toISOString());
    const standard = (await userinfo(server, tokens.access_token, '/oidc/userinfo')).body;
    assert.deepEqual([standard.sub, standard.email_verified], [id, false]);
    assert.notEqual(standard.phone_number_verified, true);
    assert.equal(claimsOf(tokens.id_token).email_verified, false);
  };
  await assertUntouched();
  assert.equal((await send(browser, { displayName: 'Self', phone: '+905551234567', ...trust })).status, 200);
  await assertUntouched();
  const change = { current: PASSWORD, password: 'a new passphrase', ...trust };
  assert.equal((await browser.submit(await browser.get('/account/security'), change, '/account/password')).status, 200);
  await assertUntouched();
});

test('an edit is recorded with the names of its fields, ends no session and no token, and is seen at once', async () => {
  const { user, browser } = await newSignedInUser(server);
  const tokens = await tokensFor(server, await newClient(server), user, {}, { browser });
  await send(browser, { displayName: 'Seen at once' });
  const seen = await userinfo(server, tokens.access_token);
  assert.equal(seen.body.user.displayName, 'Seen at once');
  assert.equal((await browser.get('/account')).status, 200);
  const events = await query(
    server,
    "SELECT details, actor_id FROM audit_event WHERE type = 'account.updated' AND account_id = ?",
    user.id,
  );
  assert.equal(events.length, 1);
  assert.equal(String(events[0]?.['actor_id']), user.id);
  assert.deepEqual(JSON.parse(String(events[0]?.['details'])), { fields: ['displayName'] });
});

test('a name in which nothing is visible is refused at sign-up as on the profile', async () => {
  const { user, browser } = await newSignedInUser(server);
  const before = await recordOf(user);
  const problem = /id="displayName-note">Enter a name of 1 to 64 characters, at least one of them visible\./;
  for (const displayName of ['\u3164', '\u2800\u200b', '\u115f\u1160']) {
    const changed = await send(browser, { displayName });
    assert.equal(changed.status, 400);
    assert.match(changed.text, problem);
    const stranger = agent(server.baseUrl);
    const fields = { username: 'unseen', email: 'unseen@example.com', password: 'some passphrase', displayName };
    const made = await stranger.submit(await stranger.get('/signup'), fields);
    assert.equal(made.status, 400);
    assert.match(made.text, problem);
  }
  assert.deepEqual(await recordOf(user), before);
  assert.deepEqual((await admin(server, 'GET', '/users?q=unseen')).body.items, []);
});

test('what cannot be taken is said at its field, what was typed stays, and nothing is half done', async () => {
  const { user, browser } = await newSignedInUser(server);
  const answer = await send(browser, {
    displayName: 'New name',
    website: 'javascript:alert(1)',
    phone: '12"><script>',
  });
  assert.equal(answer.status, 400);
  assert.match(answer.text, /id="website"[^>]*aria-invalid="true"/);
  assert.match(answer.text, /id="phone"[^>]*value="12&quot;&gt;&lt;script&gt;"/);
  assert.match(answer.text, /id="displayName"[^>]*value="New name"/);
  assert.notEqual((await recordOf(user)).displayName, 'New name');
});
