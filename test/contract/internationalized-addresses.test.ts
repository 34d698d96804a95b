// store: SQLite, PostgreSQL with --all
/** Email addresses with internationalized domains: one address, however it is typed. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import {
  admin,
  claimsOf,
  newClient,
  newUser,
  PASSWORD,
  signedIn,
  standard,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { allMails, mailsTo } from '../support/mail.ts';
import { askRecovery, newestMail } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_SIGN_UP: 'domains',
  TESSERA_SIGN_UP_DOMAINS: 'BÜCHER.example,москва.example',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
after(() => server.close());

let names = 0;
const newLocal = (): string => `jorg${++names}`;
const ASCII = 'xn--bcher-kva.example';
/** The spellings of one domain. */
const SPELLINGS = [
  'bücher.example',
  'BÜCHER.Example',
  'bu\u0308cher.example',
  'bücher。example',
  ASCII,
  'XN--BCHER-KVA.example',
];

const attempt = async (identifier: string) => {
  const browser = agent(server.baseUrl);
  return (await browser.submit(await browser.get('/login'), { identifier, password: PASSWORD })).status;
};

const signUp = async (browser: Agent, email: string) => {
  const page = await browser.get('/signup');
  return browser.submit(page, { displayName: 'A. Person', username: newLocal(), email, password: 'quartz lamp river' });
};

test('every spelling is one account: creation, sign-in, conflicts and searches', async () => {
  const local = newLocal();
  const created = await admin(server, 'POST', '/users', {
    ...{ username: `${local}-user`, displayName: 'Jörg', email: `${local}@Bücher.example`, password: PASSWORD },
  });
  assert.deepEqual([created.status, created.body.email], [201, `${local}@${ASCII}`]);
  for (const domain of SPELLINGS) {
    const email = `${local}@${domain}`;
    assert.equal(await attempt(email.toUpperCase()), 303, email);
    const other = { username: newLocal(), displayName: 'Other', email };
    assert.equal((await admin(server, 'POST', '/users', other)).status, 409, email);
    const { body } = await admin(server, 'GET', `/users?q=${encodeURIComponent(email)}`);
    assert.deepEqual(
      body.items.map(({ id }: { id: string }) => id),
      [created.body.id],
      email,
    );
  }
  for (const q of ['@bücher.example', 'BÜCHER']) {
    const { body } = await admin(server, 'GET', `/users?q=${encodeURIComponent(q)}`);
    assert.ok(
      body.items.some(({ id }: { id: string }) => id === created.body.id),
      q,
    );
  }
  // The same address in another spelling is no change.
  await admin(server, 'PATCH', `/users/${created.body.id}`, { emailVerified: true });
  const same = await admin(server, 'PATCH', `/users/${created.body.id}`, { email: `${local}@bücher.example` });
  assert.deepEqual([same.body.email, same.body.emailVerified], [`${local}@${ASCII}`, true]);
});

test('failed sign-ins with different spellings are counted together', async () => {
  const local = newLocal();
  const statuses: number[] = [];
  for (let round = 0; round < 6; round++) {
    for (const domain of ['bücher.example', ASCII]) statuses.push(await attempt(`${local}@${domain}`));
  }
  assert.deepEqual([statuses[9], statuses[10]], [401, 429]);
});

test('claims have the ASCII form, and pages the readable one unless it mixes scripts', async () => {
  const client = await newClient(server);
  for (const [domain, ascii, shown] of [
    ['bücher.example', ASCII, 'bücher.example'],
    ['pаypal.example', 'xn--pypal-4ve.example', 'xn--pypal-4ve.example'],
  ] as const) {
    const local = newLocal();
    const user = await newUser(server, { email: `${local}@${domain}` });
    const tokens = await tokensFor(server, client, user, { scope: 'openid email' });
    assert.equal(claimsOf(tokens.access_token).email, `${local}@${ascii}`);
    assert.equal(claimsOf(tokens.id_token).email, `${local}@${ascii}`);
    const { username, domain: sent } = (await userinfo(server, tokens.access_token)).body.user.email;
    assert.deepEqual([username, sent], [local, ascii]);
    const oidc = await tokensFor(server, standard(client), user, { scope: 'openid email' });
    assert.equal((await userinfo(server, oidc.access_token, '/oidc/userinfo')).body.email, `${local}@${ascii}`);
    const page = await (await signedIn(server, user)).get('/account/email');
    assert.ok(page.text.includes(`>${local}@${shown}<`), page.text);
  }
});

test('sign-up: the domains of the setting, the mail and the account are in ASCII', async () => {
  const browser = agent(server.baseUrl);
  const local = newLocal();
  const begun = await signUp(browser, `${local}@bücher.example`);
  assert.equal(begun.status, 303, begun.text);
  const page = await browser.get(begun.location?.href ?? '');
  assert.ok(page.text.includes(`${local}@bücher.example`), page.text);
  const { to, code = '' } = await newestMail(server, `${local}@${ASCII}`, 'verify address');
  assert.equal(to, `${local}@${ASCII}`);
  const done = await browser.submit(page, { code }, '/signup/verify');
  assert.equal(done.status, 303, done.text);
  const { body } = await admin(server, 'GET', `/users?q=${local}@${ASCII}`);
  assert.deepEqual([body.items[0]?.email, body.items[0]?.emailVerified], [`${local}@${ASCII}`, true]);
  // Another spelling belongs to the same person, who is told.
  assert.equal((await signUp(agent(server.baseUrl), `${local}@xn--bcher-kva.example`)).status, 303);
  assert.equal((await newestMail(server, `${local}@${ASCII}`, 'account exists')).to, `${local}@${ASCII}`);
  for (const other of ['bucher.example', 'xn--bcher-kvb.example', 'bücher.example.com']) {
    const refused = await signUp(agent(server.baseUrl), `${newLocal()}@${other}`);
    assert.equal(refused.status, 400, other);
    if (!other.startsWith('xn--')) assert.match(refused.text, /@bücher\.example/);
  }
});

test('recovery and a change of address take what people type', async () => {
  const local = newLocal();
  const user = await newUser(server, { email: `${local}@${ASCII}`, emailVerified: true });
  await askRecovery(server, agent(server.baseUrl), `${local}@BÜCHER.example`);
  assert.equal((await newestMail(server, `${local}@${ASCII}`, 'recovery')).to, `${local}@${ASCII}`);

  const browser = await signedIn(server, user);
  const page = '/account/email';
  const change = async (email: string) => browser.submit(await browser.get(page), { email }, page);
  assert.match((await change(`${local}@bücher.example`)).text, /This is your address already/);
  const next = newLocal();
  await change(`${next}@москва.example`);
  const mail = await newestMail(server, `${next}@xn--80adxhks.example`, 'address change');
  const confirm = await browser.get(mail.link ?? '');
  assert.ok(confirm.text.includes(`${next}@москва.example`), confirm.text);
  await browser.submit(confirm, {});
  const { body } = await admin(server, 'GET', `/users/${user.id}`);
  assert.deepEqual([body.email, body.emailVerified], [`${next}@xn--80adxhks.example`, true]);
  const [lost] = await mailsTo(server, `${local}@${ASCII}`);
  assert.ok(lost?.text.includes(`${next}@москва.example`), 'mail is for people, too');
});

test('an invitation is for the address, however it is typed; the domain of an organization is in ASCII', async () => {
  const organization = await admin(server, 'POST', '/organizations', { name: newLocal(), domain: 'Bücher.Example' });
  assert.deepEqual([organization.status, organization.body.domain], [201, ASCII]);
  const local = newLocal();
  const email = `${local}@bücher.example`;
  const invited = await admin(server, 'POST', '/invitations', { email, organizationId: organization.body.id });
  assert.equal(invited.body.email, `${local}@${ASCII}`);
  const { link = '' } = await newestMail(server, `${local}@${ASCII}`, 'invitation');
  const user = await newUser(server, { email: `${local}@${ASCII}`, emailVerified: true });
  const browser = await signedIn(server, user);
  const accepted = await browser.submit(await browser.get(link), {}, '/invitation');
  assert.equal(accepted.status, 200, accepted.text);
  const { body } = await admin(server, 'GET', `/organizations/${organization.body.id}`);
  assert.deepEqual(
    body.members.map(({ username }: { username: string }) => username),
    [user.username],
  );
});

test('other characters than ASCII before the at sign are refused with the reason, and nothing is stored', async () => {
  const email = 'jörg@bücher.example';
  const refused = /only ASCII characters before the @; got ö there\. The domain after it may be in any script/;
  const { id } = await newUser(server);
  for (const [method, path, body] of [
    ['POST', '/users', { username: newLocal(), displayName: 'Jörg', email }],
    ['PATCH', `/users/${id}`, { email }],
    ['POST', '/invitations', { email }],
    ['POST', '/clients', { name: 'App', redirectUris: ['https://app.example/cb'], contacts: [email] }],
  ] as const) {
    const answer = await admin(server, method, path, body);
    assert.equal(answer.status, 400, path);
    assert.match(answer.body.error_description, refused);
    assert.match(answer.body.error_description, /^(email|contacts\[0\]) /);
  }
  const page = await signUp(agent(server.baseUrl), email);
  assert.equal(page.status, 400);
  assert.match(page.text, /Before the @, an address can have only unaccented letters, digits and signs; yours has ö/);
  const browser = await signedIn(server, await newUser(server, { username: 'ada-before' }));
  const change = await browser.submit(await browser.get('/account/email'), { email }, '/account/email');
  assert.equal(change.status, 400);
  assert.match(change.text, /yours has ö/);
  assert.deepEqual((await admin(server, 'GET', `/users?q=${encodeURIComponent(email)}`)).body.items, []);
  assert.deepEqual(
    (await allMails(server)).filter(({ to }) => to.startsWith('j\u00f6')),
    [],
  );
});

test('contacts of an app are in ASCII', async () => {
  const registered = await admin(server, 'POST', '/clients', {
    ...{ name: 'App', redirectUris: ['https://app.example/cb'], contacts: ['jorg@bücher.example'] },
  });
  assert.deepEqual(registered.body.contacts, [`jorg@${ASCII}`]);
});
