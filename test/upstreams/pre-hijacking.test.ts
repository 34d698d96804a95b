// store: SQLite, PostgreSQL
/**
 * The five attacks of Sudhodanan and Paverd, "Pre-hijacked accounts" (USENIX Security 2022), and nOAuth, with another provider at the one end or
 * the other: an attacker prepares an account, or an identity, with the address of a person who then comes through the provider, or had come.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { randomIdentifier } from '../../src/platform/crypto/secrets.ts';
import { type Agent, agent } from '../support/agent.ts';
import { admin, newClient, newUser, PASSWORD, refresh, signedIn, standard, tokensFor } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { askRecovery, newestMail, recover, useLink } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';
import { joinedThrough, newUpstream, type TestUpstream, throughUpstream } from './people.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
  TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off',
});
/** Its word on addresses is only a proposal. */
let open: TestUpstream;
/** It is authoritative for the domain of the victims. */
let staff: TestUpstream;
before(async () => {
  open = await newUpstream(server, { signUp: 'anyone' });
  staff = await newUpstream(server, { signUp: 'domains', domains: ['staff.example'] });
});
after(async () => {
  await open.provider[Symbol.asyncDispose]();
  await staff.provider[Symbol.asyncDispose]();
  await server.close();
});

const OWN = 'twelve green bicycles';
const PAGE = '/account/email';
const browserOf = (): Agent => agent(server.baseUrl);
const isSignedIn = async (browser: Agent): Promise<boolean> => (await browser.get('/account')).status === 200;
const recordOf = async (id: string) => (await admin(server, 'GET', `/users/${id}`)).body;
const identitiesOf = (id: string) => query(server, `SELECT subject FROM upstream_identity WHERE account_id = ${id}`);
const signInStatus = async (identifier: string, password: string): Promise<number> => {
  const browser = browserOf();
  return (await browser.submit(await browser.get('/login'), { identifier, password })).status;
};
const idOf = async (username: string): Promise<string> =>
  String((await query(server, `SELECT id FROM account WHERE username = '${username}'`))[0]?.['id']);

let count = 0;

/** An account that the attacker made with the address of a victim, as was possible before this server had mail. */
async function prepared() {
  const name = `victim-${++count}`;
  const email = `${name}@staff.example`;
  const user = await newUser(server, { username: `attacker-${count}`, email, emailVerified: false });
  return { user, email, name, attacker: await signedIn(server, user) };
}

interface Victim {
  readonly browser: Agent;
  readonly id: string;
}

/** The victim comes through a provider for the first time, and proves the address, or has it proved by the provider. */
const WAYS: Readonly<Record<string, (name: string, email: string) => Promise<Victim>>> = {
  async 'with an address that is proved here'(name, email) {
    const browser = await joinedThrough(server, open, { person: { sub: name, email }, username: name, email });
    return { browser, id: await idOf(name) };
  },
  async 'with an address that the provider answers for'(name, email) {
    staff.provider.person = { sub: name, email, email_verified: true };
    const browser = browserOf();
    const back = await throughUpstream(browser, staff);
    const page = await browser.get(back.location?.href ?? '');
    assert.doesNotMatch(page.text, /has an account here/, 'an account that never verified it does not count');
    const done = await browser.submit(page, { displayName: 'Victim', username: name }, back.location?.pathname);
    assert.equal(done.location?.pathname, '/account', done.text.slice(0, 1000));
    return { browser, id: await idOf(name) };
  },
};

for (const [way, comes] of Object.entries(WAYS)) {
  describe(`the victim comes through a provider ${way}`, () => {
    test('classic-federated merge: the victim gets an account of their own, which the attacker’s password does not open', async () => {
      const { user, email, name, attacker } = await prepared();
      const victim = await comes(name, email);
      assert.notEqual(victim.id, user.id);
      assert.ok(await isSignedIn(victim.browser));
      assert.deepEqual(await identitiesOf(user.id), [], 'nothing is merged');
      const { email: has, emailVerified } = await recordOf(victim.id);
      assert.deepEqual([has, emailVerified], [email, true]);
      assert.match((await recordOf(user.id)).email, /@unverified\.invalid$/, 'the attacker’s account lost the address');
      assert.equal(await isSignedIn(attacker), false);
      for (const identifier of [email, name]) assert.equal(await signInStatus(identifier, PASSWORD), 401, identifier);
    });

    test('unexpired session: a session and tokens of the attacker end when the victim comes', async () => {
      const { user, email, name, attacker } = await prepared();
      const client = standard(await newClient(server));
      const asked = { scope: 'openid offline_access', prompt: 'consent' };
      const { refresh_token } = await tokensFor(server, client, user, asked, { browser: attacker });
      const victim = await comes(name, email);
      assert.equal(await isSignedIn(attacker), false);
      assert.equal((await refresh(server, client, refresh_token)).status, 400);
      assert.deepEqual((await admin(server, 'GET', `/users/${victim.id}/connections`)).body.items, []);
      assert.ok(await isSignedIn(victim.browser));
    });

    test('trojan identifier: an identity that the attacker connected before does not lead to the victim’s account', async () => {
      const { user, email, name } = await prepared();
      await trojan(user.id, `trojan-${name}`);
      const victim = await comes(name, email);
      assert.deepEqual(
        (await identitiesOf(victim.id)).map(({ subject }) => subject),
        [name],
      );
      open.provider.person = { sub: `trojan-${name}`, email };
      const attacker = browserOf();
      await throughUpstream(attacker, open);
      assert.doesNotMatch((await attacker.get('/account')).text, new RegExp(name));
      // The identity of the victim is theirs alone.
      const stolen = await connectAs(attacker, name);
      assert.equal(stolen, 'refused');
    });

    test('unexpired email change: a change that the attacker began moves no address after the victim came', async () => {
      const { user, email, name, attacker } = await prepared();
      const own = `${name}@attacker.example`;
      await attacker.submit(await attacker.get(PAGE), { email: own }, PAGE);
      const [mail] = await mailsTo(server, own);
      const page = await attacker.get(mail?.link ?? '');
      const codes = await attacker.get(PAGE);
      const victim = await comes(name, email);
      assert.match(page.text, /<form/);
      assert.match((await attacker.submit(page, {})).text, /This link no longer works/, 'the session has ended');
      const sent = await attacker.submit(codes, { code: mail?.code ?? '' }, `${PAGE}/code`);
      assert.equal(sent.location?.pathname, '/login');
      assert.deepEqual([(await recordOf(victim.id)).email, (await recordOf(victim.id)).emailVerified], [email, true]);
      assert.notEqual((await recordOf(user.id)).email, own);
      // Nor does one to the victim's address, which another account of the attacker began.
      const other = await newUser(server, { email: `other-${name}@attacker.example`, emailVerified: true });
      const browser = await signedIn(server, other);
      await browser.submit(await browser.get(PAGE), { email }, PAGE);
      const kinds = (await mailsTo(server, email)).map(({ kind }) => kind);
      assert.ok(!kinds.includes('change address'), kinds.join());
      assert.equal((await recordOf(other.id)).email, `other-${name}@attacker.example`);
    });
  });
}

/** An identity of the attacker in the account that they made, as it could be connected where this server had no mail. */
async function trojan(accountId: string, sub: string): Promise<void> {
  const browser = agent(server.baseUrl);
  open.provider.person = { sub };
  await throughUpstream(browser, open);
  const values = [randomIdentifier(), open.id, open.provider.issuer, sub, accountId, server.now()];
  await query(
    server,
    `INSERT INTO upstream_identity (id, upstream_id, issuer, subject, account_id, created_at) VALUES (${values.map((value) => `'${value}'`).join(', ')})`,
  );
}

/** Tries to connect an identity at the open provider to the account of a browser. */
async function connectAs(browser: Agent, sub: string): Promise<'connected' | 'refused'> {
  const left = await browser.get(`/account/security/connect/${open.name}`);
  if (left.location?.origin !== open.provider.issuer) return 'refused';
  open.provider.person = { sub };
  const back = await browser.get(open.provider.authorize(left.location.href).href);
  const page = await browser.get(back.location?.href ?? '');
  const done = await browser.submit(page, {}, back.location?.pathname);
  return done.status === 200 ? 'connected' : 'refused';
}

describe('the victim recovers the account that they find under their address', () => {
  test('trojan identifier: the attacker’s identity is disconnected, and opens nothing', async () => {
    const { user, email, name } = await prepared();
    await trojan(user.id, `trojan-${name}`);
    open.provider.person = { sub: `trojan-${name}` };
    const attacker = browserOf();
    assert.equal((await throughUpstream(attacker, open)).location?.pathname, '/account', 'it opened it before');
    assert.equal((await recover(server, email, OWN)).status, 303);
    assert.deepEqual(await identitiesOf(user.id), []);
    assert.equal(await isSignedIn(attacker), false);
    assert.equal((await throughUpstream(browserOf(), open)).location?.pathname, `/login/with/${open.name}/new`);
  });

  test('unexpired session: what the attacker got through a provider ends, and is not continued by the victim’s', async () => {
    const { user, email, name } = await prepared();
    await trojan(user.id, `session-${name}`);
    open.provider.person = { sub: `session-${name}` };
    const attacker = browserOf();
    await throughUpstream(attacker, open);
    const victim = browserOf();
    await askRecovery(server, victim, email);
    const { link = '' } = await newestMail(server, email, 'recovery');
    await useLink(victim, link, OWN);
    const confirmation = await victim.get('/account/confirm?next=connect');
    await victim.submit(confirmation, { current: OWN }, '/account/confirm');
    assert.equal(await connectAs(victim, name), 'connected');
    assert.equal(await isSignedIn(attacker), false);
    open.provider.person = { sub: name };
    assert.equal((await throughUpstream(browserOf(), open)).location?.pathname, '/account', 'the victim comes in');
  });
});

test('trojan identifier: no identity is connected to an account whose address was never verified', async () => {
  const { user, attacker, name } = await prepared();
  assert.equal(await connectAs(attacker, `early-${name}`), 'refused');
  assert.deepEqual(await identitiesOf(user.id), []);
});

describe('non-verifying provider: an address that it says is verified', () => {
  test('makes no account, and none that the victim’s sign-up merges with', async () => {
    const name = `victim-${++count}`;
    const email = `${name}@staff.example`;
    open.provider.person = { sub: `liar-${name}`, email, email_verified: true };
    const attacker = browserOf();
    const back = await throughUpstream(attacker, open);
    const page = await attacker.get(back.location?.href ?? '');
    const fields = { displayName: 'Liar', username: `liar-${count}`, email };
    const sent = await attacker.submit(page, fields, back.location?.pathname);
    assert.equal(sent.location?.pathname, '/signup/verify', 'the code is in a message to the victim');
    assert.deepEqual(await query(server, `SELECT id FROM account WHERE email = '${email}'`), []);
    const [toVictim] = await mailsTo(server, email);
    // The victim follows the link of that message, in a browser of their own: nothing is made for the attacker.
    const other = browserOf();
    assert.doesNotMatch((await other.get(toVictim?.link ?? '')).text, /<form/);
    const made = await query(server, `SELECT id FROM upstream_identity WHERE subject = 'liar-${name}'`);
    assert.deepEqual(made, []);

    const victim = browserOf();
    await victim.submit(await victim.get('/signup'), { displayName: 'V', username: name, email, password: OWN });
    const { code = '' } = await newestMail(server, email, 'verify address');
    const done = await victim.submit(await victim.get('/signup/verify'), { code }, '/signup/verify');
    assert.equal(done.location?.pathname, '/account', done.text.slice(0, 1000));
    assert.deepEqual(await identitiesOf(await idOf(name)), []);
    const again = await throughUpstream(browserOf(), open);
    assert.equal(again.location?.pathname, `/login/with/${open.name}/new`, 'the attacker is still nobody here');
  });

  test('signs in to no account that has it', async () => {
    const name = `victim-${++count}`;
    const email = `${name}@staff.example`;
    const user = await newUser(server, { username: name, email, emailVerified: true });
    open.provider.person = { sub: `liar-${name}`, email, email_verified: true };
    const attacker = browserOf();
    assert.equal((await throughUpstream(attacker, open)).location?.pathname, `/login/with/${open.name}/new`);
    assert.equal(await isSignedIn(attacker), false);
    assert.deepEqual(await identitiesOf(user.id), []);
  });

  test('is not believed where the provider that answers for its domain does not say so', async () => {
    const name = `victim-${++count}`;
    const email = `${name}@staff.example`;
    const user = await newUser(server, { username: name, email, emailVerified: true });
    for (const email_verified of [false, undefined, 'true', 'yes', 1, null]) {
      staff.provider.person = { sub: `liar-${name}`, email, email_verified };
      const attacker = browserOf();
      const back = await throughUpstream(attacker, staff);
      const { text } = await attacker.get(back.location?.href ?? '');
      if (email_verified !== 'true') assert.doesNotMatch(text, /has an account here/, String(email_verified));
      assert.equal(await isSignedIn(attacker), false);
    }
    assert.deepEqual(await identitiesOf(user.id), []);
  });
});

describe('nOAuth: a person who writes another’s address into their own account at the provider', () => {
  const claimsOf = (name: string, email: string) => ({
    ...{ sub: `mallory-${name}`, email, email_verified: true, preferred_username: email, upn: email },
    ...{ unique_name: email, verified_primary_email: [email], name: 'Victim' },
  });

  test('is somebody else, at a provider where the victim is connected, too', async () => {
    const name = `victim-${++count}`;
    const email = `${name}@staff.example`;
    const victim = await joinedThrough(server, open, { person: { sub: name, email }, username: name, email });
    const id = await idOf(name);
    const before = await recordOf(id);
    open.provider.person = claimsOf(name, email);
    const attacker = browserOf();
    assert.equal((await throughUpstream(attacker, open)).location?.pathname, `/login/with/${open.name}/new`);
    assert.equal(await isSignedIn(attacker), false);
    assert.deepEqual(await recordOf(id), before);
    assert.deepEqual(
      (await identitiesOf(id)).map(({ subject }) => subject),
      [name],
    );
    assert.ok(await isSignedIn(victim));
    // The honest twin: the victim changes the address there, and is the same person here.
    open.provider.person = { sub: name, email: 'renamed@elsewhere.example', email_verified: true };
    assert.equal((await throughUpstream(browserOf(), open)).location?.pathname, '/account');
  });

  test('gets no further, where the provider answers for the domain, than to the question for what the victim knows', async () => {
    const name = `victim-${++count}`;
    const email = `${name}@staff.example`;
    const user = await newUser(server, { username: name, email, emailVerified: true });
    staff.provider.person = claimsOf(name, email);
    const attacker = browserOf();
    const back = await throughUpstream(attacker, staff);
    const page = await attacker.get(back.location?.href ?? '');
    assert.match(page.text, /has an account here/);
    const confirm = `/account/security/connect/${staff.name}/confirm`;
    assert.equal((await attacker.get(confirm)).location?.pathname, '/login');
    const wrong = await attacker.submit(await attacker.get('/login'), { identifier: name, password: OWN });
    assert.equal(wrong.status, 401);
    assert.equal((await attacker.get(confirm)).location?.pathname, '/login');
    assert.deepEqual(await identitiesOf(user.id), []);
    // Signed in as somebody else, the attacker does not connect it either, nor an account of their own with that address.
    const mallory = await newUser(server, { email: `mallory-${name}@attacker.example`, emailVerified: true });
    const own = await signedIn(server, mallory);
    await throughUpstream(own, staff);
    assert.equal((await own.get(confirm)).status, 400);
    assert.deepEqual([await identitiesOf(user.id), await identitiesOf(mallory.id)], [[], []]);
  });
});
