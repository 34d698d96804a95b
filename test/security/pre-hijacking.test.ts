// store: SQLite, PostgreSQL
/**
 * An attacker prepares an account with the address of a person who has none yet, and waits: the five attacks of Sudhodanan and Paverd,
 * "Pre-hijacked accounts" (USENIX Security 2022). After the person has shown that they read the address, the attacker has nothing.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, agent } from '../support/agent.ts';
import { admin, newClient, newUser, PASSWORD, refresh, signedIn, type TestUser, tokensFor } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off' });
after(() => server.close());

const OWN = 'twelve green bicycles';
const PAGE = '/account/email';
const browserOf = () => agent(server.baseUrl);
const isSignedIn = async (browser: Agent) => (await browser.get('/account')).status === 200;
const recordOf = async ({ id }: Pick<TestUser, 'id'>) => (await admin(server, 'GET', `/users/${id}`)).body;
const signInStatus = async (identifier: string, password: string): Promise<number> => {
  const browser = browserOf();
  return (await browser.submit(await browser.get('/login'), { identifier, password })).status;
};

/** An account that the attacker made with the address of the victim, as was possible before this server had mail. */
async function prepared() {
  const user = await newUser(server, { emailVerified: false });
  const { email } = await recordOf(user);
  return { user, email: email as string, attacker: await signedIn(server, user) };
}

/** The victim recovers the account that they find under their address. */
async function recovers(email: string): Promise<Agent> {
  const victim = browserOf();
  await askRecovery(server, victim, email);
  const { link = '' } = await newestMail(server, email, 'recovery');
  await useLink(victim, link, OWN);
  assert.ok(await isSignedIn(victim));
  return victim;
}

/** The victim signs up with their address, by the code that was sent to it. */
async function signsUp(email: string, username: string): Promise<Agent> {
  const victim = browserOf();
  const fields = { displayName: 'Victim', username, email, password: OWN };
  await victim.submit(await victim.get('/signup'), fields);
  const [mail] = await mailsTo(server, email);
  const done = await victim.submit(await victim.get('/signup/verify'), { code: mail?.code ?? '' });
  assert.equal(done.location?.pathname, '/account', done.text);
  return victim;
}

test('classic-federated merge: an account with the attacker’s password is not what the victim signs up to', async () => {
  const { user, email, attacker } = await prepared();
  const victim = await signsUp(email, 'classic-victim');
  assert.notEqual((await recordOf(user)).email, email, 'the attacker’s account lost the address');
  assert.equal(await isSignedIn(attacker), false);
  assert.equal(await signInStatus(email, PASSWORD), 401);
  assert.equal(await signInStatus(email, OWN), 303);
  assert.ok(await isSignedIn(victim));
});

test('unexpired session: sessions and tokens from before the recovery end with it', async () => {
  const { user, email, attacker } = await prepared();
  const client = await newClient(server);
  const tokens = await tokensFor(server, client, user, {}, { browser: attacker });
  await recovers(email);
  assert.equal(await isSignedIn(attacker), false);
  assert.notEqual((await refresh(server, client, tokens.refresh_token)).status, 200);
  assert.equal(await signInStatus(email, PASSWORD), 401);
  const { items } = (await admin(server, 'GET', `/users/${user.id}/connections`)).body;
  assert.deepEqual(items, [], 'what the attacker consented to is revoked');
});

test('trojan identifier: the attacker adds no address and no factor that survives the recovery', async () => {
  const { user, email, attacker } = await prepared();
  // The attacker gives the account their own address, and then, with a link that waits, that of the victim again.
  const own = 'trojan@attacker.example';
  await attacker.submit(await attacker.get(PAGE), { email: own }, PAGE);
  const [mail] = await mailsTo(server, own);
  await recovers(email);
  await attacker.get(mail?.link ?? '');
  assert.equal(
    (await attacker.post('/verify', { token: new URL(mail?.link ?? '').searchParams.get('token') ?? '' })).status,
    303,
  );
  assert.deepEqual([(await recordOf(user)).email, (await recordOf(user)).emailVerified], [email, true]);
  assert.equal(await signInStatus(own, PASSWORD), 401);
});

test('unexpired email change: a change that the attacker began does not complete after the victim came', async () => {
  const { user, email, attacker } = await prepared();
  const own = 'change@attacker.example';
  await attacker.submit(await attacker.get(PAGE), { email: own }, PAGE);
  const [mail] = await mailsTo(server, own);
  const page = await attacker.get(mail?.link ?? '');
  const codes = await attacker.get(PAGE);
  await recovers(email);
  assert.notEqual((await attacker.submit(page, {})).status, 200);
  assert.equal((await attacker.submit(codes, { code: mail?.code ?? '' }, `${PAGE}/code`)).location?.pathname, '/login');
  assert.equal((await recordOf(user)).email, email);
  // And no undo: an address that was never verified is not given back to anyone.
  assert.ok(!(await mailsTo(server, own)).some(({ subject }) => subject.includes('was changed')));
});

test('non-verifying provider: an address counts as verified only by what this server sent to it', async () => {
  const { user, email, attacker } = await prepared();
  // The attacker asks to verify the victim's address, and the victim opens the link: nothing happens.
  await attacker.submit(await attacker.get(PAGE), {}, `${PAGE}/verify`);
  const [mail] = await mailsTo(server, email);
  const victim = browserOf();
  const page = await victim.get(mail?.link ?? '');
  assert.match(page.text, /Continue where you began/);
  assert.doesNotMatch(page.text, /<form/);
  assert.equal((await recordOf(user)).emailVerified, false);
  assert.equal(victim.cookie('tessera_session'), undefined);
  // An account of theirs takes the address; that of the attacker keeps nothing of it.
  await signsUp(email, 'provider-victim');
  assert.match((await recordOf(user)).email, /@unverified\.invalid$/);
  assert.doesNotMatch((await attacker.get(mail?.link ?? '')).text, /<form/);
});
