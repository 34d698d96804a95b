// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { MINUTE } from '../../src/platform/clock.ts';
import { type Agent, agent, formOf } from '../support/agent.ts';
import { admin, newUser as newTestUser, PASSWORD, signedIn } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { recover } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';
import type { Members } from '../support/upstream-provider.ts';
import { joinedThrough, newUpstream, type TestUpstream, throughUpstream } from './people.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
let upstream: TestUpstream;
before(async () => {
  upstream = await newUpstream(server, { signUp: 'anyone' });
});
after(async () => {
  await upstream.provider[Symbol.asyncDispose]();
  await server.close();
});

const newUser = (fields: Members = {}) => newTestUser(server, { emailVerified: true, ...fields });
const personOf = (sub: string) => ({ sub, name: 'Alice', email: `${sub}@upstream.example` });
const CONNECT = () => `/account/security/connect/${upstream.name}`;

/** Goes to the provider from the Security page, and comes back to the question. */
async function toQuestion(browser: Agent, person: Members) {
  upstream.provider.person = person;
  const left = await browser.get(CONNECT());
  assert.equal(left.location?.origin, upstream.provider.issuer, left.text.slice(0, 500));
  const back = await browser.get(upstream.provider.authorize(left.location.href).href);
  assert.equal(back.location?.pathname, `${CONNECT()}/confirm`);
  return browser.get(back.location.href);
}

async function connect(browser: Agent, person: Members) {
  return browser.submit(await toQuestion(browser, person), {}, `${CONNECT()}/confirm`);
}

const identitiesOf = (id: string) =>
  query(server, `SELECT id, subject FROM upstream_identity WHERE account_id = ${id}`);

describe('connecting a provider', () => {
  test('asks which account it is, tells the owner, and then signs in', async () => {
    const user = await newUser({ email: 'connects@example.com' });
    const browser = await signedIn(server, user);
    const question = await toQuestion(browser, personOf('connects'));
    assert.match(question.text, /connects@upstream\.example/);
    assert.deepEqual(await identitiesOf(user.id), [], 'nothing is connected before the answer');
    const done = await browser.submit(question, {}, `${CONNECT()}/confirm`);
    assert.equal(done.status, 200);
    assert.match(done.text, /is connected/);
    const [mail] = await mailsTo(server, 'connects@example.com');
    assert.match(mail?.text ?? '', /signing in with/);
    assert.equal((await throughUpstream(agent(server.baseUrl), upstream)).location?.pathname, '/account');
    const again = await browser.submit(question, {}, `${CONNECT()}/confirm`);
    assert.equal(again.status, 400, 'the answer is used up');
  });

  test('needs a fresh proof', async () => {
    const browser = await signedIn(server, await newUser());
    server.advance(11 * MINUTE);
    assert.equal((await browser.get(CONNECT())).location?.pathname, '/account/confirm');
    const page = await browser.get('/account/confirm?next=connect');
    assert.match(
      page.text,
      /href="\/account\/security\?row=upstreams|href="\/account\/security#upstreams/,
      'and can be cancelled',
    );
    const proved = await browser.submit(page, { current: PASSWORD }, '/account/confirm');
    assert.equal(proved.location?.pathname, '/account/security/connect');
    const on = await browser.get(proved.location.href);
    assert.equal(on.location?.pathname, CONNECT(), 'the act goes on');
    assert.equal((await browser.get(on.location.href)).location?.origin, upstream.provider.issuer);
    const nothing = await browser.get('/account/security/connect');
    assert.equal(nothing.location?.pathname, '/account/security', 'once');
  });

  test('goes on with the question where the proof has grown old at the provider', async () => {
    const user = await newUser();
    const browser = await signedIn(server, user);
    const question = await toQuestion(browser, personOf('slow'));
    server.advance(11 * MINUTE);
    const sent = await browser.submit(question, {}, `${CONNECT()}/confirm`);
    assert.equal(sent.location?.search, '?next=connect', sent.text.slice(0, 500));
    const proved = await browser.submit(
      await browser.get(sent.location.href),
      { current: PASSWORD },
      '/account/confirm',
    );
    const on = await browser.get(proved.location?.href ?? '');
    assert.equal(on.location?.pathname, `${CONNECT()}/confirm`);
    const done = await browser.submit(await browser.get(on.location.href), {}, on.location.pathname);
    assert.equal(done.status, 200, done.text.slice(0, 500));
    assert.equal((await identitiesOf(user.id)).length, 1);
  });

  test('needs a verified address', async () => {
    const browser = await signedIn(server, await newTestUser(server, { emailVerified: false }));
    assert.equal((await browser.get(CONNECT())).status, 403);
  });

  test('is not done by a link from another site: the person is asked', async () => {
    const user = await newUser();
    const browser = await signedIn(server, user);
    await toQuestion(browser, personOf('of-an-attacker'));
    assert.deepEqual(await identitiesOf(user.id), []);
  });

  test('in the session in which it began alone', async () => {
    const [one, other] = [await newUser(), await newUser()];
    const browser = await signedIn(server, one);
    const question = await toQuestion(browser, personOf('switches'));
    await browser.submit(await browser.get('/account'), {}, '/logout');
    await browser.submit(await browser.get('/login'), { identifier: other.username, password: PASSWORD }, '/login');
    await browser.submit(question, {}, `${CONNECT()}/confirm`);
    assert.equal((await browser.get(`${CONNECT()}/confirm`)).status, 400);
    assert.deepEqual([await identitiesOf(one.id), await identitiesOf(other.id)], [[], []]);
  });

  test('of a person who is connected elsewhere is refused', async () => {
    const [one, other] = [await newUser(), await newUser()];
    assert.equal((await connect(await signedIn(server, one), personOf('shared'))).status, 200);
    const refused = await connect(await signedIn(server, other), personOf('shared'));
    assert.equal(refused.status, 409);
    assert.ok(!refused.text.includes(one.username), 'it is not said whose');
    const twice = await connect(await signedIn(server, one), personOf('shared'));
    assert.match(twice.text, /already connected/);
  });

  test('cancelled there, leads back to the account', async () => {
    const browser = await signedIn(server, await newUser());
    const left = await browser.get(CONNECT());
    upstream.provider.tricks = { callback: (parameters) => parameters.set('error', 'access_denied') };
    const back = await browser.get(upstream.provider.authorize(left.location?.href ?? '').href);
    upstream.provider.tricks = {};
    assert.equal(back.location?.pathname, '/account');
    assert.match((await browser.get('/account')).text, /was not connected/);
  });
});

describe('disconnecting a provider', () => {
  test('signs out everything else, and the provider signs in no more', async () => {
    const user = await newUser({ email: 'leaves@example.com' });
    const browser = await signedIn(server, user);
    await connect(browser, personOf('leaves'));
    const other = agent(server.baseUrl);
    await throughUpstream(other, upstream);
    const [identity] = await identitiesOf(user.id);
    const page = await browser.get('/account/security');
    const done = await browser.submit(page, { id: String(identity?.['id']) }, '/account/security/disconnect');
    assert.match(done.text, /<\/bdi> was disconnected: it no longer signs you in\./);
    assert.equal((await other.get('/account')).location?.pathname, '/login');
    const back = await throughUpstream(agent(server.baseUrl), upstream);
    assert.equal(back.location?.pathname, `/login/with/${upstream.name}/new`);
  });

  test('of another account does nothing', async () => {
    const [one, other] = [await newUser(), await newUser()];
    await connect(await signedIn(server, one), personOf('not-yours'));
    const [identity] = await identitiesOf(one.id);
    const browser = await signedIn(server, other);
    await connect(browser, personOf('yours'));
    const page = await browser.get('/account/security');
    const answer = await browser.submit(page, { id: String(identity?.['id']) }, '/account/security/disconnect');
    assert.equal(answer.status, 409);
    assert.equal((await identitiesOf(one.id)).length, 1);
  });
});

describe('pre-hijacking', () => {
  test('a recovery removes the identities that another person may have connected', async () => {
    const user = await newUser({ email: 'recovers@example.com' });
    await connect(await signedIn(server, user), personOf('trojan'));
    const done = await recover(server, 'recovers@example.com', 'another password of mine');
    assert.equal(done.status, 303, done.text.slice(0, 500));
    assert.deepEqual(await identitiesOf(user.id), []);
    const back = await throughUpstream(agent(server.baseUrl), upstream);
    assert.equal(back.location?.pathname, `/login/with/${upstream.name}/new`, 'the trojan identity opens nothing');
  });

  test('the sign-in of a provider proves no change that a password proves', async () => {
    const user = await newUser();
    await connect(await signedIn(server, user), personOf('weaker'));
    const browser = agent(server.baseUrl);
    await throughUpstream(browser, upstream);
    assert.equal((await browser.get(CONNECT())).location?.pathname, '/account/confirm');
  });

  test('an account that began with a provider is deleted with its identities', async () => {
    const person = personOf('deleted');
    await joinedThrough(server, upstream, { person, username: 'deleted-one', email: 'deleted@example.com' });
    const [row] = await query(server, `SELECT id FROM account WHERE username = 'deleted-one'`);
    assert.equal((await admin(server, 'DELETE', `/users/${row?.['id']}`)).status, 204);
    upstream.provider.person = person;
    const back = await throughUpstream(agent(server.baseUrl), upstream);
    assert.equal(back.location?.pathname, `/login/with/${upstream.name}/new`);
  });
});

test('where mail needs a recovery code, the last way in is not offered to be removed', async () => {
  const email = 'coded@example.com';
  const browser = await joinedThrough(server, upstream, { person: personOf('coded'), username: 'coded', email });
  const offered = await browser.get('/account/security');
  assert.match(offered.text, /action="\/account\/security\/disconnect"/, 'mail is enough');
  const [account] = await query(server, "SELECT id FROM account WHERE username = 'coded'");
  const id = String(account?.['id']);
  await query(server, 'INSERT INTO recovery_setting (account_id, code_required_at) VALUES (?, 1)', id);
  await query(
    server,
    "INSERT INTO recovery_code (account_id, hash, created_at) VALUES (?, 'a code that is left', 1)",
    id,
  );
  const security = await browser.get('/account/security');
  assert.match(security.text, /only way to sign in/);
  assert.doesNotMatch(
    security.text,
    /action="\/account\/security\/disconnect"/,
    'a code is used up, so that this would be refused',
  );
});

test('without mail, the last way in is kept', async () => {
  const dark = await startServer({});
  const only = await newUpstream(dark, { signUp: 'anyone' });
  only.provider.person = personOf('only');
  const browser = agent(dark.baseUrl);
  const back = await throughUpstream(browser, only);
  const page = await browser.get(back.location?.href ?? '');
  const fields = { displayName: 'Only', username: 'only', email: 'only@example.com' };
  const done = await browser.submit(page, fields, back.location?.pathname);
  assert.equal(done.location?.pathname, '/account', done.text.slice(0, 1000));
  const [identity] = await query(dark, `SELECT id FROM upstream_identity WHERE subject = 'only'`);
  const security = await browser.get('/account/security');
  assert.match(security.text, /only way to sign in/);
  assert.doesNotMatch(security.text, /action="\/account\/security\/disconnect"/, 'the page does not offer it');
  const { hidden } = formOf(security.text, '/account/sign-out-everywhere');
  const refused = await browser.post('/account/security/disconnect', { ...hidden, id: String(identity?.['id']) });
  assert.equal(refused.status, 409);
  assert.match(refused.text, /only way to sign in/);
  await only.provider[Symbol.asyncDispose]();
  await dark.close();
});
