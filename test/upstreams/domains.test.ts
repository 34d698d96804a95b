// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser, PASSWORD, signedIn, standard } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';
import { newUpstream, type TestUpstream, throughUpstream } from './people.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
  TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
  TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off',
});
let staff: TestUpstream;
let other: TestUpstream;
before(async () => {
  staff = await newUpstream(server, { domains: ['Staff.Example'], signUp: 'domains' });
  other = await newUpstream(server, { signUp: 'anyone' });
});
after(async () => {
  await staff.provider[Symbol.asyncDispose]();
  await other.provider[Symbol.asyncDispose]();
  await server.close();
});

const browserOf = (): Agent => agent(server.baseUrl);
const verified = (sub: string) => ({ sub, name: 'A Person', email: `${sub}@staff.example`, email_verified: true });
const change = (upstream: TestUpstream, fields: object) => admin(server, 'PATCH', `/upstreams/${upstream.id}`, fields);
const identitiesOf = (accountId: string) =>
  query(server, `SELECT id FROM upstream_identity WHERE account_id = '${accountId}'`);

/** The page of a person who has no connected account. */
async function stranger(upstream: TestUpstream, person: Readonly<Record<string, unknown>>, browser = browserOf()) {
  upstream.provider.person = person;
  const back = await throughUpstream(browser, upstream);
  assert.equal(back.location?.pathname, `/login/with/${upstream.name}/new`, back.text.slice(0, 1500));
  return { browser, page: await browser.get(back.location.href), path: back.location.pathname };
}

describe('a domain', () => {
  test('is exact, in ASCII and lower case, and at one provider', async () => {
    assert.deepEqual((await admin(server, 'GET', `/upstreams/${staff.id}`)).body.domains, ['staff.example']);
    const taken = await change(other, { domains: ['staff.example'] });
    assert.equal(taken.status, 409);
    assert.deepEqual((await admin(server, 'GET', `/upstreams/${other.id}`)).body.domains, [], 'nothing is kept of it');
    assert.equal((await change(other, { domains: ['sub.staff.example', 'bücher.example'] })).status, 200);
    assert.equal((await change(other, { domains: [] })).status, 200);
  });

  test('of public mail is refused', async () => {
    for (const domain of ['gmail.com', 'outlook.com', 'privaterelay.appleid.com']) {
      assert.equal((await change(other, { domains: [domain] })).status, 400, domain);
    }
  });

  test('is refused where nobody answers for addresses', async () => {
    const github = { name: 'gh', preset: 'github', clientId: 'a', clientSecret: 'b', domains: ['corp.example'] };
    assert.equal((await admin(server, 'POST', '/upstreams', github)).status, 400);
    const entra = { name: 'ms', preset: 'entra', clientId: 'a', domains: ['corp.example'] };
    const personal = '9188040d-6c67-4c5b-b112-36a304b66dad';
    for (const at of ['organizations', 'common', personal]) {
      assert.equal((await admin(server, 'POST', '/upstreams', { ...entra, at })).status, 400, at);
    }
    const issuer = `https://login.microsoftonline.com/${personal.toUpperCase()}/v2.0`;
    const typed = { name: 'ms', issuer, clientId: 'a', domains: ['corp.example'] };
    assert.equal((await admin(server, 'POST', '/upstreams', typed)).status, 400);
    const tenant = await admin(server, 'POST', '/upstreams', { ...entra, at: '11111111-2222-3333-4444-555555555555' });
    assert.equal(tenant.status, 201);
    await admin(server, 'PATCH', `/upstreams/${tenant.body.id}`, { domains: [] });
  });
});

describe('an account of a domain', () => {
  test('is created without a message, with the address that the provider verified', async () => {
    const { browser, page, path } = await stranger(staff, verified('joins'));
    assert.doesNotMatch(page.text, /name="email"/);
    const fields = { displayName: 'Joins', username: 'joins', email: 'another@staff.example' };
    const done = await browser.submit(page, fields, path);
    assert.equal(done.location?.pathname, '/account', done.text.slice(0, 1500));
    const [row] = await query(server, `SELECT email, email_verified FROM account WHERE username = 'joins'`);
    assert.equal(row?.['email'], 'joins@staff.example');
    assert.equal(Number(row?.['email_verified']), 1);
    assert.deepEqual(await mailsTo(server, 'joins@staff.example'), []);
  });

  test('needs a message where the provider has not verified the address', async () => {
    for (const email_verified of [false, undefined, 'yes', 1]) {
      const { browser, page, path } = await stranger(staff, { ...verified('doubtful'), email_verified });
      const fields = { displayName: 'D', username: 'doubtful', email: 'doubtful@staff.example' };
      assert.equal((await browser.submit(page, fields, path)).location?.pathname, '/signup/verify');
    }
  });

  test('needs a message for a domain below it, and at a provider that is not authoritative', async () => {
    const below = await stranger(staff, { ...verified('below'), email: 'below@sub.staff.example' });
    assert.match(below.page.text, /name="email"/);
    const elsewhere = await stranger(other, verified('elsewhere'));
    assert.match(elsewhere.page.text, /name="email"/);
  });

  test('is not created with the word of a provider that lost the domain meanwhile', async () => {
    const { browser, page, path } = await stranger(staff, verified('too-late'));
    await change(staff, { domains: [], signUpDomains: ['staff.example'] });
    const fields = { displayName: 'Late', username: 'too-late', email: 'too-late@staff.example' };
    const sent = await browser.submit(page, fields, path);
    await change(staff, { domains: ['staff.example'], signUpDomains: [] });
    assert.equal(sent.location?.pathname, '/signup/verify');
  });
});

describe('linking at the first sign-in', () => {
  test('asks for what the account had before, and tells its owner', async () => {
    const user = await newUser(server, { username: 'links', email: 'links@staff.example', emailVerified: true });
    const { browser, page } = await stranger(staff, verified('links'));
    assert.match(page.text, /has an account here/);
    assert.doesNotMatch(page.text, /name="username"/, 'no second account');
    const confirm = `/account/security/connect/${staff.name}/confirm`;
    assert.match(page.text, new RegExp(`href="${confirm}"`));
    assert.deepEqual(await identitiesOf(user.id), []);
    assert.equal((await browser.get(confirm)).location?.pathname, '/login', 'nobody is signed in yet');
    const signIn = await browser.submit(await browser.get('/login'), {
      identifier: user.username,
      password: PASSWORD,
    });
    assert.equal(signIn.location?.pathname, confirm);
    assert.deepEqual(await identitiesOf(user.id), [], 'it is asked first');
    const connected = await browser.submit(await browser.get(confirm), {}, confirm);
    assert.equal(connected.status, 200);
    assert.equal((await identitiesOf(user.id)).length, 1);
    const [mail] = await mailsTo(server, 'links@staff.example');
    assert.match(mail?.text ?? '', /signing in with/);
    staff.provider.person = verified('links');
    assert.equal((await throughUpstream(browserOf(), staff)).location?.pathname, '/account');
  });

  test('goes on with the app that asked', async () => {
    const user = await newUser(server, {
      username: 'for-an-app',
      email: 'for-an-app@staff.example',
      emailVerified: true,
    });
    const client = standard(await newClient(server));
    const browser = browserOf();
    const asked = await browser.get(authorizeUrl(client, { scope: 'openid' }));
    staff.provider.person = verified('for-an-app');
    const back = await throughUpstream(browser, staff, asked.location?.search);
    await browser.get(back.location?.href ?? '');
    const confirm = `/account/security/connect/${staff.name}/confirm`;
    await browser.get(confirm);
    await browser.submit(await browser.get('/login'), { identifier: user.username, password: PASSWORD });
    const connected = await browser.submit(await browser.get(confirm), {}, confirm);
    assert.equal(connected.location?.pathname, '/login');
    const next = await browser.get(connected.location.href);
    assert.equal(next.location?.pathname, '/consent', next.text.slice(0, 1000));
  });

  test('does nothing for a thief of an account with another address who is signed in here', async () => {
    const thief = await newUser(server, { username: 'thief', email: 'thief@example.com', emailVerified: true });
    const owner = await newUser(server, { username: 'robbed', email: 'robbed@staff.example', emailVerified: true });
    const browser = await signedIn(server, thief);
    await stranger(staff, verified('robbed'), browser);
    assert.equal((await browser.get(`/account/security/connect/${staff.name}/confirm`)).status, 400);
    assert.deepEqual([await identitiesOf(thief.id), await identitiesOf(owner.id)], [[], []]);
  });

  test('is not offered by a provider that is not authoritative', async () => {
    const victim = await newUser(server, { username: 'victim', email: 'victim@staff.example', emailVerified: true });
    const { browser, page } = await stranger(other, verified('victim'));
    assert.doesNotMatch(page.text, /has an account here/);
    const confirm = `/account/security/connect/${other.name}/confirm`;
    await browser.submit(await browser.get('/login'), { identifier: victim.username, password: PASSWORD });
    assert.equal((await browser.get(confirm)).status, 400);
    assert.deepEqual(await identitiesOf(victim.id), []);
  });

  test('is not offered for an address that the provider has not verified', async () => {
    await newUser(server, { username: 'unproved', email: 'unproved@staff.example', emailVerified: true });
    const { page } = await stranger(staff, { ...verified('unproved'), email_verified: false });
    assert.doesNotMatch(page.text, /has an account here/);
  });

  test('an account that never verified the address loses it, with its sessions', async () => {
    const squatter = await newUser(server, {
      username: 'squatter',
      email: 'squatted@staff.example',
      emailVerified: false,
    });
    const squatters = await signedIn(server, squatter);
    const { browser, page, path } = await stranger(staff, verified('squatted'));
    assert.doesNotMatch(page.text, /has an account here/);
    const done = await browser.submit(page, { displayName: 'Owner', username: 'rightful' }, path);
    assert.equal(done.location?.pathname, '/account');
    assert.equal((await squatters.get('/account')).location?.pathname, '/login');
    assert.deepEqual(await identitiesOf(squatter.id), []);
  });
});

describe('the sign-in page', () => {
  const typed = async (identifier: string, password = '') => {
    const browser = browserOf();
    return browser.submit(await browser.get('/login'), { identifier, password });
  };
  /** A page without what differs from one request to the next. */
  const plain = (text: string, identifier: string): string =>
    text.replaceAll(identifier, 'SOMEBODY').replace(/value="[\w.-]{40,}"/g, 'TOKEN');

  test('leads an address of a domain to its provider, and tells nothing of accounts', async () => {
    await newUser(server, { username: 'known', email: 'known@staff.example', emailVerified: true });
    const known = await typed('known@staff.example');
    const unknown = await typed('nobody@staff.example');
    assert.match(known.text, new RegExp(`href="/login/with/${staff.name}">Continue with .*sign-in`));
    assert.equal(known.status, unknown.status);
    assert.equal(plain(known.text, 'known@staff.example'), plain(unknown.text, 'nobody@staff.example'));
    const wrong = await typed('known@staff.example', 'a wrong password');
    assert.equal(
      plain(wrong.text, 'known@staff.example'),
      plain((await typed('nobody@staff.example', 'a wrong password')).text, 'nobody@staff.example'),
    );
    assert.match(wrong.text, /sign-in<\/a>/);
  });

  test('says nothing of other domains, or of one whose provider is disabled', async () => {
    const asks = /People with an address of this domain/;
    assert.doesNotMatch((await typed('a@sub.staff.example')).text, asks);
    assert.doesNotMatch((await typed('staff.example')).text, asks);
    await admin(server, 'POST', `/upstreams/${staff.id}/disable`, {});
    server.advance(11_000);
    assert.doesNotMatch((await typed('a@staff.example')).text, asks);
    await admin(server, 'POST', `/upstreams/${staff.id}/enable`, {});
    server.advance(11_000);
    assert.match((await typed('a@staff.example')).text, asks);
  });

  test('an app leads there by domain_hint or login_hint', async () => {
    const client = standard(await newClient(server));
    const browser = browserOf();
    const asked = await browser.get(authorizeUrl(client, { scope: 'openid', domain_hint: 'STAFF.example' }));
    const led = await browser.get(asked.location?.href ?? '');
    assert.equal(led.location?.pathname, `/login/with/${staff.name}`);
    const unknown = await browser.get(authorizeUrl(client, { scope: 'openid', domain_hint: 'else.example' }));
    assert.equal((await browser.get(unknown.location?.href ?? '')).status, 200);
    const hinted = await browser.get(authorizeUrl(client, { scope: 'openid', login_hint: 'a@staff.example' }));
    assert.match((await browser.get(hinted.location?.href ?? '')).text, /People with an address of this domain/);
  });
});

describe('an invitation', () => {
  let invited: TestUpstream;
  before(async () => {
    invited = await newUpstream(server, { signUp: 'invited' });
  });
  after(() => invited.provider[Symbol.asyncDispose]());

  async function opened(fields: object): Promise<Agent> {
    const { body } = await admin(server, 'POST', '/invitations', fields);
    const [mail] = body.link === undefined ? await mailsTo(server, (fields as { email: string }).email) : [];
    const link = new URL(body.link ?? mail?.link ?? '');
    const browser = browserOf();
    const page = await browser.get(link.pathname + link.search);
    assert.match(page.text, new RegExp(`name="upstream" value="${invited.name}"`));
    const left = await browser.submit(page, { upstream: invited.name }, '/invitation');
    assert.equal(left.location?.pathname, `/login/with/${invited.name}`);
    return browser;
  }

  test('lets a person create an account with a provider that takes only invited ones', async () => {
    const organization = await admin(server, 'POST', '/organizations', { name: 'invites', domain: 'invites.example' });
    const browser = await opened({
      email: 'guest@elsewhere.example',
      organizationId: organization.body.id,
      role: 'MEMBER',
    });
    const { page, path } = await stranger(invited, { sub: 'guest', email: 'other@else.example' }, browser);
    const done = await browser.submit(page, { displayName: 'Guest', username: 'invited-guest' }, path);
    assert.equal(done.location?.pathname, '/account', done.text.slice(0, 1500));
    const [row] = await query(
      server,
      `SELECT a.email, a.email_verified, m.role FROM account a JOIN membership m ON m.account_id = a.id WHERE a.username = 'invited-guest'`,
    );
    assert.deepEqual(
      [row?.['email'], Number(row?.['email_verified']), row?.['role']],
      ['guest@elsewhere.example', 1, 'MEMBER'],
    );
  });

  test('is used once', async () => {
    const browser = await opened({ email: 'once@elsewhere.example' });
    const one = await stranger(invited, { sub: 'once-1' }, browser);
    await browser.submit(one.page, { displayName: 'One', username: 'once-one' }, one.path);
    const again = browserOf();
    const two = await stranger(invited, { sub: 'once-2' }, again);
    assert.doesNotMatch(two.page.text, /name="username"/);
  });

  test('without one nobody creates an account there', async () => {
    const { page, browser, path } = await stranger(invited, { sub: 'uninvited' });
    assert.doesNotMatch(page.text, /name="username"/);
    assert.equal(
      (await browser.post(path, { username: 'uninvited', displayName: 'U', email: 'u@example.com' })).status,
      400,
    );
  });
});

test('without mail, a typed address of the domain creates no account', async () => {
  const dark = await startServer({});
  const strict = await newUpstream(dark, { signUp: 'domains', signUpDomains: ['staff.example'] });
  const set = (domains: readonly string[]) => admin(dark, 'PATCH', `/upstreams/${strict.id}`, { domains });
  const { page } = await stranger(strict, verified('typed'), agent(dark.baseUrl));
  assert.doesNotMatch(page.text, /name="username"/);
  assert.match(page.text, /needs a verified email address/);
  await set(['staff.example']);
  const { browser, ...form } = await stranger(strict, verified('typed'), agent(dark.baseUrl));
  await set([]);
  const fields = { displayName: 'Typed', username: 'typed', email: 'typed@staff.example' };
  const refused = await browser.submit(form.page, fields, form.path);
  assert.equal(refused.status, 403);
  assert.match(refused.text, /needs a verified email address/);
  assert.deepEqual(await query(dark, `SELECT id FROM account WHERE username = 'typed'`), []);
  await set(['staff.example']);
  const done = await browser.submit(form.page, fields, form.path);
  assert.equal(done.location?.pathname, '/account', done.text.slice(0, 1000));
  await strict.provider[Symbol.asyncDispose]();
  await dark.close();
});
