// store: SQLite, PostgreSQL with --all
/** Whom a provider vouches for is kept by the browser until the person decides what follows, and no longer. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { newUser, signedIn } from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { joinedThrough, newUpstream, type TestUpstream, throughUpstream } from './people.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on' });
let staff: TestUpstream;
before(async () => {
  staff = await newUpstream(server, { signUp: 'anyone' });
});
after(async () => {
  await staff.provider[Symbol.asyncDispose]();
  await server.close();
});

const kept = (browser: Agent): boolean => (browser.cookie('tessera_upstream') ?? '') !== '';

/** A person who is signed in and came back from the provider to connect it, and has not answered yet. */
async function atTheQuestion(username: string): Promise<Agent> {
  const browser = await signedIn(server, await newUser(server, { username, emailVerified: true }));
  staff.provider.person = { sub: username };
  const left = await browser.get(`/account/security/connect/${staff.name}`);
  const back = await browser.get(staff.provider.authorize(left.location?.href ?? '').href);
  assert.match(back.location?.pathname ?? '', /\/confirm$/);
  assert.ok(kept(browser));
  return browser;
}

test('a sign-out takes it from the browser', async () => {
  const browser = await atTheQuestion('signs-out');
  await browser.submit(await browser.get('/account'), {}, '/logout');
  assert.equal(kept(browser), false);
});

test('so does a sign-out from an app', async () => {
  const browser = await atTheQuestion('signs-out-of-apps');
  await browser.submit(await browser.get('/oidc/logout'), {}, '/oidc/logout/confirm');
  assert.equal(kept(browser), false);
});

test('so does a sign-out everywhere', async () => {
  const browser = await atTheQuestion('signs-out-everywhere');
  await browser.submit(await browser.get('/account/security'), {}, '/account/sign-out-everywhere');
  assert.equal(kept(browser), false);
});

test('so does a request to delete the account', async () => {
  const browser = await atTheQuestion('is-deleted');
  await browser.submit(await browser.get('/account/data'), { confirm: 'yes' }, '/account/deletion');
  assert.equal(kept(browser), false);
});

test('it is gone from the browser of a person who joined by a code', async () => {
  const person = { sub: 'joins-by-mail' };
  const browser = await joinedThrough(server, staff, {
    person,
    username: person.sub,
    email: 'joins-by-mail@example.com',
  });
  assert.equal(kept(browser), false);
});

test('it is gone after a sign-in as another person of the provider', async () => {
  const known = { sub: 'is-known' };
  await joinedThrough(server, staff, { person: known, username: known.sub, email: 'is-known@example.com' });
  const browser = agent(server.baseUrl);
  staff.provider.person = { sub: 'is-not-known' };
  await throughUpstream(browser, staff);
  assert.ok(kept(browser));
  staff.provider.person = known;
  await throughUpstream(browser, staff);
  assert.equal(kept(browser), false);
});
