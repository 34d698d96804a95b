// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { act, newOperator, open, type TestOperator } from '../support/console.ts';
import { admin, newClient, newUser, refresh, signedIn, standard, tokensFor } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { joinedThrough, newUpstream, type TestUpstream, throughUpstream } from './people.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
let upstream: TestUpstream;
let providerName: string;
let owner: TestOperator;
let auditor: TestOperator;
const client = standard(await newClient(server));

before(async () => {
  upstream = await newUpstream(server, { signUp: 'anyone' });
  providerName = (await admin(server, 'GET', `/upstreams/${upstream.id}`)).body.displayName;
  owner = await newOperator(server, 'owner');
  auditor = await newOperator(server, 'auditor');
});
after(async () => {
  await upstream.provider[Symbol.asyncDispose]();
  await server.close();
});

let count = 0;

interface Person {
  readonly id: string;
  readonly sub: string;
  readonly username: string;
  readonly email: string;
  /** Signed in through the provider. */
  readonly browser: Agent;
  readonly identityId: string;
}

/** A person who signs in through a provider, and can get into the account by mail as well. */
async function newPerson(at = upstream): Promise<Person> {
  const sub = `person-${++count}`;
  const email = `${sub}@example.com`;
  const person = { sub, name: 'Alice', email: `${sub}@upstream.example` };
  const browser = await joinedThrough(server, at, { person, username: sub, email });
  const [row] = await query(server, `SELECT id FROM account WHERE username = '${sub}'`);
  const id = String(row?.['id']);
  const [identity] = (await admin(server, 'GET', `/users/${id}/identities`)).body.items;
  return { id, sub, username: sub, email, browser, identityId: identity.id };
}

const remove = ({ id }: Pick<Person, 'id'>, identityId: string) =>
  admin(server, 'DELETE', `/users/${id}/identities/${identityId}`);

const isSignedIn = async (browser: Agent): Promise<boolean> => (await browser.get('/account')).status === 200;

describe('the providers that a person connected', () => {
  test('are listed with the ID by which the provider knows the person, without what it calls them', async () => {
    const { id, sub, identityId } = await newPerson();
    const { status, body } = await admin(server, 'GET', `/users/${id}/identities`);
    assert.equal(status, 200);
    const { createdAt, lastUsedAt, ...listed } = body.items[0];
    assert.deepEqual(listed, {
      ...{ id: identityId, upstreamId: upstream.id, displayName: providerName, issuer: upstream.provider.issuer },
      ...{ subject: sub, isActive: true },
    });
    assert.match(createdAt, /^\d{4}-/);
    assert.equal(lastUsedAt, null);
    assert.doesNotMatch(JSON.stringify(body), /upstream\.example/);
    const viewed = await admin(server, 'GET', `/audit-events?type=account.viewed&userId=${id}`);
    assert.equal(viewed.body.items[0].details.part, 'identities');
    assert.equal((await admin(server, 'GET', '/users/1/identities')).status, 404);
  });
});

describe('an operator removes a provider from an account', () => {
  test('with everything that was signed in; the person is told, and it is on record', async () => {
    const person = await newPerson();
    const elsewhere = agent(server.baseUrl);
    upstream.provider.person = { sub: person.sub };
    assert.equal((await throughUpstream(elsewhere, upstream)).location?.pathname, '/account');
    const { refresh_token } = await tokensFor(
      server,
      client,
      { id: person.id, username: person.username },
      { scope: 'openid offline_access', prompt: 'consent' },
      { browser: elsewhere },
    );
    const { status, body } = await remove(person, person.identityId);
    assert.deepEqual([status, body], [200, { removed: true, ended: { sessions: 2 } }]);
    assert.deepEqual([await isSignedIn(person.browser), await isSignedIn(elsewhere)], [false, false]);
    assert.equal((await refresh(server, client, refresh_token)).status, 400);
    assert.deepEqual((await admin(server, 'GET', `/users/${person.id}/identities`)).body.items, []);
    const back = await throughUpstream(agent(server.baseUrl), upstream);
    assert.notEqual(back.location?.pathname, '/account', 'nobody is known by it any more');
    const found = await admin(server, 'GET', `/audit-events?type=account.factor_removed&userId=${person.id}`);
    assert.deepEqual(found.body.items[0].details, { actorRole: 'owner', factor: 'upstream', name: providerName });
    const told = (await mailsTo(server, person.email)).find(({ text }) => /An operator of this service did/.test(text));
    assert.match(told?.text ?? '', new RegExp(`removed from your account: signing in with “${providerName}”`));
    assert.deepEqual((await remove(person, person.identityId)).body, { removed: false, ended: { sessions: 0 } });
  });

  test('and what a key removed is listed with it', async () => {
    const person = await newPerson();
    const { body: key } = await admin(server, 'POST', '/admin-keys', { name: 'stolen', role: 'owner' });
    const path = `/users/${person.id}/identities/${person.identityId}`;
    assert.equal((await admin(server, 'DELETE', path, undefined, key.adminKey)).body.removed, true);
    const { body } = await admin(server, 'GET', `/admin-keys/${key.id}`);
    assert.deepEqual(body.made.accounts, [{ userId: person.id, acts: ['factor_removed'], ends: false }]);
  });

  test('of nobody else', async () => {
    const [one, other] = [await newPerson(), await newPerson()];
    assert.equal((await remove(one, other.identityId)).body.removed, false);
    assert.equal(await isSignedIn(other.browser), true);
    assert.equal((await remove({ id: '1' }, other.identityId)).status, 404);
  });

  test('and the groups that it maintains are left', async () => {
    const mine = await newUpstream(server, { signUp: 'anyone', claimsMap: { groups: '/groups' } });
    const group = await admin(server, 'POST', '/groups', { name: 'removed-from', upstreamId: mine.id });
    const person = await newPerson(mine);
    mine.provider.person = { sub: person.sub, groups: ['removed-from'] };
    await throughUpstream(agent(server.baseUrl), mine);
    const members = async () => (await admin(server, 'GET', `/groups/${group.body.id}/members`)).body.items.length;
    assert.equal(await members(), 1);
    assert.equal((await remove(person, person.identityId)).body.removed, true);
    assert.equal(await members(), 0);
    await mine.provider[Symbol.asyncDispose]();
  });

  test('while a sign-in through it waits for the second step, which is refused then', async () => {
    const person = await newPerson();
    const browser = agent(server.baseUrl);
    upstream.provider.person = { sub: person.sub };
    const left = await browser.get(`/login/with/${upstream.name}`);
    const callback = upstream.provider.authorize(left.location?.href ?? '');
    assert.equal((await remove(person, person.identityId)).status, 200);
    await browser.get(callback.href);
    assert.equal(await isSignedIn(browser), false);
  });
});

describe('the last way into an account', () => {
  test('stays, and a recovery link leads on', async () => {
    const person = await newPerson();
    // Nothing else opens the account: no password, and an address that nobody verified.
    await query(server, `UPDATE account SET email_verified = 0 WHERE id = ${person.id}`).catch(() =>
      query(server, `UPDATE account SET email_verified = false WHERE id = ${person.id}`),
    );
    const refused = await remove(person, person.identityId);
    assert.equal(refused.status, 409);
    assert.match(refused.body.error_description, /no way into this account.*recovery link/);
    assert.equal(await isSignedIn(person.browser), true);
    const page = await act(server, owner, '/console/people/remove-identity', {
      id: person.id,
      identity: person.identityId,
    });
    assert.equal(page.status, 409);
    assert.match(page.text, /recovery link/);
    const link = await admin(server, 'POST', `/users/${person.id}/recovery-link`, {});
    assert.equal(link.status, 201);
    const recovering = agent(server.baseUrl);
    const { pathname, search } = new URL(link.body.url);
    const form = await recovering.get(pathname + search);
    await recovering.submit(form, { password: 'a wholly other passphrase' }, '/recover/link');
    assert.deepEqual((await admin(server, 'GET', `/users/${person.id}/identities`)).body.items, []);
  });
});

describe('in the console', () => {
  test('the page of a person shows what they connected, and the act says what is removed and what ends', async () => {
    const person = await newPerson();
    const page = await open(server, owner, `/console/people/${person.id}`);
    assert.match(page.text, new RegExp(providerName));
    assert.match(page.text, new RegExp(`aria-label="Remove ${providerName}"`));
    const asked = await open(
      server,
      owner,
      `/console/people/remove-identity?${new URLSearchParams({ id: person.id, identity: person.identityId })}`,
    );
    assert.match(asked.text, new RegExp(`${providerName}.*from the account of`, 's'));
    assert.ok(asked.text.includes(person.sub) && asked.text.includes(upstream.provider.issuer));
    assert.match(asked.text, /One browser is signed out/);
    const done = await owner.browser.submit(asked, {}, '/console/people/remove-identity');
    assert.equal(done.status, 200);
    assert.match(done.text, /One browser was signed out/);
    assert.equal(await isSignedIn(person.browser), false);
    const again = await owner.browser.submit(asked, {}, '/console/people/remove-identity');
    assert.equal(again.status, 404);
    assert.match(again.text, /may have been removed before/);
  });

  test('an auditor sees it, and is not offered the removal', async () => {
    const person = await newPerson();
    const page = await open(server, auditor, `/console/people/${person.id}`);
    assert.match(page.text, new RegExp(providerName));
    assert.doesNotMatch(page.text, /remove-identity/);
    const query = new URLSearchParams({ id: person.id, identity: person.identityId });
    const refused = await auditor.browser.get(`/console/people/remove-identity?${query}`);
    assert.equal(refused.status, 403);
    assert.match(refused.text, /users\.remove_factor/);
  });

  test('nobody removes it from an operator who holds more', async () => {
    const person = await newPerson();
    await admin(server, 'PUT', `/users/${person.id}/roles/owner`, {});
    const support = await newOperator(server, 'support');
    const query = new URLSearchParams({ id: person.id, identity: person.identityId });
    assert.equal((await support.browser.get(`/console/people/remove-identity?${query}`)).status, 403);
    assert.equal(await isSignedIn(person.browser), true);
  });
});

test('a person with a password signs in with it once their provider is removed', async () => {
  const user = await newUser(server, { emailVerified: true });
  const browser = await signedIn(server, user);
  const left = await browser.get(`/account/security/connect/${upstream.name}`);
  upstream.provider.person = { sub: `of-${user.username}` };
  const back = await browser.get(upstream.provider.authorize(left.location?.href ?? '').href);
  const path = back.location?.pathname ?? '';
  await browser.submit(await browser.get(path), {}, path);
  const [identity] = (await admin(server, 'GET', `/users/${user.id}/identities`)).body.items;
  assert.equal((await remove(user, identity.id)).body.removed, true);
  assert.equal(await isSignedIn(await signedIn(server, user)), true);
});
