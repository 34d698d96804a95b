// store: SQLite, PostgreSQL with --all
/**
 * What another person added to an account ends when its owner takes it back: the access of apps, a membership, a deletion, factors. And what
 * was added before stays, whatever the clocks of the nodes say.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  newClient,
  newUser,
  PASSWORD,
  signedIn,
  type TestUser,
  tokensFor,
} from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { takeAccountLock } from '../support/other-writer.ts';
import { query } from '../support/outcome.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { totpCode } from '../support/second-factor.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';

const MINUTE = 60_000;
const SECOND = 1000;
const server = spread(
  await startServer(
    { TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off', TESSERA_LIMIT_MAIL_RECIPIENT: '5/h' },
    SEVERAL,
  ),
);
after(() => server.close());

const browserOf = (): Agent => agent(server.baseUrl, server.nodeInTurn);
let names = 0;
const freshAddress = (): string => `added-${++names}@example.com`;

/** A person who signed in an hour ago, and a thief who has just signed in with their password in another browser, which was told. */
async function robbed(): Promise<{ user: TestUser; email: string; owner: Agent; thief: Agent }> {
  const user = await newUser(server, { emailVerified: true });
  const owner = await signedIn(server, user);
  server.advance(60 * MINUTE);
  const thief = await signedIn(server, user);
  server.advance(MINUTE);
  return { user, email: (await admin(server, 'GET', `/users/${user.id}`)).body.email, owner, thief };
}

const submit = async (browser: Agent, page: string, fields = {}, action = page): Promise<Answer> =>
  browser.submit(await browser.get(page), fields, action);

async function press(link: string): Promise<Answer> {
  const browser = browserOf();
  return browser.submit(await browser.get(link), {});
}

async function moveTo(browser: Agent, email: string): Promise<void> {
  assert.equal((await submit(browser, '/account/email', { email })).status, 200);
  const page = await browser.get((await newestMail(server, email, 'address change')).link ?? '');
  assert.equal((await browser.submit(page, {})).status, 200);
}

async function addApp(browser: Agent): Promise<void> {
  const path = '/account/security/authenticator';
  const page = await browser.get(path);
  const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
  assert.equal((await browser.submit(page, { code: totpCode({ seed }, server.now()) }, path)).status, 200);
}

async function newOrganization(requireSecondFactor = false): Promise<string> {
  const name = `added-${++names}`;
  const { id } = (await admin(server, 'POST', '/organizations', { name, domain: `${name}.example` })).body;
  if (requireSecondFactor) await admin(server, 'PATCH', `/organizations/${id}`, { requireSecondFactor });
  return id;
}

const invitationTo = async (organizationId: string): Promise<string> =>
  (await admin(server, 'POST', '/invitations', { organizationId })).body.link;

const join = async (browser: Agent, link: string): Promise<Answer> =>
  browser.submit(await browser.get(link), {}, '/invitation');

const isMember = async ({ id }: TestUser): Promise<boolean> =>
  (await query(server, 'SELECT 1 FROM membership WHERE account_id = ?', id)).length > 0;

const hasApp = async ({ id }: TestUser): Promise<boolean> =>
  (await query(server, 'SELECT 1 FROM totp_secret WHERE account_id = ?', id)).length > 0;

/** How an app without a page is answered, in the owner's browser. */
async function silently(browser: Agent, client: Parameters<typeof authorizeUrl>[0]): Promise<string | null> {
  const { location } = await browser.get(authorizeUrl(client, { prompt: 'none' }));
  return location?.searchParams.get('error') ?? null;
}

const RETURNS: Readonly<Record<string, (it: { email: string; owner: Agent }) => Promise<unknown>>> = {
  'reports the sign-in': async ({ email }) => {
    const { link = '' } = await newestMail(server, email, 'security notice');
    assert.equal((await press(link)).status, 200);
    const recovery = await newestMail(server, email, 'recovery');
    assert.equal((await useLink(browserOf(), recovery.link ?? '', 'a password of the owner')).status, 200);
  },
  'recovers the account by mail': async ({ email }) => {
    const browser = browserOf();
    await askRecovery(server, browser, email);
    const { link = '' } = await newestMail(server, email, 'recovery');
    assert.equal((await useLink(browser, link, 'a password of the owner')).location?.pathname, '/account');
  },
};
for (const [how, comeBack] of Object.entries(RETURNS)) {
  test(`an owner who ${how} ends the consents and the membership of a thief, and keeps their own`, async () => {
    const [own, thiefs] = [await newClient(server), await newClient(server)];
    const user = await newUser(server, { emailVerified: true });
    const owner = await signedIn(server, user);
    await tokensFor(server, own, user, {}, { browser: owner });
    server.advance(60 * MINUTE);
    const thief = await signedIn(server, user);
    await tokensFor(server, thiefs, user, {}, { browser: thief });
    assert.equal((await join(thief, await invitationTo(await newOrganization(true)))).status, 200);
    assert.ok(await isMember(user));
    const { email } = (await admin(server, 'GET', `/users/${user.id}`)).body;
    await comeBack({ email, owner });
    const again = await signedIn(server, user, 'a password of the owner');
    assert.equal(await silently(again, thiefs), 'consent_required');
    assert.equal(await silently(again, own), null);
    assert.equal(await isMember(user), false);
  });
}

test('a person joins with a fresh proof, in the session that was shown the form, and is told', async () => {
  const { user, email, owner, thief } = await robbed();
  const link = await invitationTo(await newOrganization());
  const page = await thief.get(link);
  const next = await signedIn(server, user);
  assert.equal((await join(owner, link)).location?.pathname, '/account/confirm', 'the sign-in is an hour old');
  server.advance(10 * MINUTE);
  assert.equal((await thief.submit(page, {}, '/invitation')).location?.pathname, '/account/confirm');
  const moved = browserOf();
  await submit(moved, '/login', { identifier: user.username, password: PASSWORD });
  const shown = await moved.get(link);
  await submit(moved, '/account', {}, '/logout');
  await submit(moved, '/login', { identifier: user.username, password: PASSWORD });
  assert.equal((await moved.submit(shown, {}, '/invitation')).location?.pathname, '/invitation', 'another session');
  assert.equal(await isMember(user), false);

  const gate = await next.get((await join(next, link)).location?.href ?? '');
  const proved = await next.submit(gate, { current: PASSWORD }, '/account/confirm');
  assert.equal(`${proved.location?.pathname}${proved.location?.search}`, '/invitation');
  assert.equal((await submit(next, '/invitation')).status, 200);
  assert.ok(await isMember(user));
  assert.equal(next.cookie('tessera_invitation'), undefined);
  const told = await newestMail(server, email, 'security notice');
  assert.match(told.text, /An invitation was accepted with your account, which is now a member of added-/);
});

test('an invitation that was accepted when the account was created, and a membership from an operator, stay', async () => {
  const { user, email } = await robbed();
  const id = await newOrganization();
  await admin(server, 'PUT', `/organizations/${id}/members/${user.id}`, { role: 'MEMBER' });
  await RETURNS['recovers the account by mail']?.({ email, owner: browserOf() });
  assert.ok(await isMember(user));

  const link = await invitationTo(id);
  const invited = browserOf();
  const address = freshAddress();
  const fields = { displayName: 'G', username: `guest-${++names}`, password: PASSWORD, email: address };
  const form = await invited.get(`/signup?invitation=${new URL(link).searchParams.get('link')}`);
  await invited.submit(form, fields);
  const { code = '' } = await newestMail(server, address, 'verify address');
  assert.equal((await submit(invited, '/signup/verify', { code })).status, 303);
  const [account] = (await admin(server, 'GET', `/users?q=${fields.username}`)).body.items;
  await submit(browserOf(), '/login', { identifier: fields.username, password: PASSWORD });
  await RETURNS['reports the sign-in']?.({ email: address, owner: invited });
  assert.ok(await isMember(account));
});

test('what a thief adds on a node whose clock is behind came after the change of address all the same', async () => {
  const { user, email, thief } = await robbed();
  await moveTo(thief, freshAddress());
  server.setBack(30 * SECOND);
  await addApp(thief);
  const undo = (await mailsTo(server, email)).find(({ link }) => link?.includes('/undo-address-change'));
  assert.equal((await press(undo?.link ?? '')).status, 200, 'the app of the thief is not asked for');
  assert.equal(await hasApp(user), false);
  server.advance(30 * SECOND);
});

test('what an owner set up on a node whose clock is ahead came before the change of address all the same', async () => {
  const user = await newUser(server, { emailVerified: true });
  const { email } = (await admin(server, 'GET', `/users/${user.id}`)).body;
  const owner = await signedIn(server, user);
  await addApp(owner);
  // As if the message about the app had been sent more than a week ago.
  await query(server, 'DELETE FROM challenge WHERE account_id = ?', user.id);
  server.setBack(30 * SECOND);
  await moveTo(owner, freshAddress());
  server.advance(30 * SECOND);
  const undo = (await mailsTo(server, email)).find(({ link }) => link?.includes('/undo-address-change'));
  assert.equal((await press(undo?.link ?? '')).status, 400, 'a code of the app is asked for');
  assert.ok(await hasApp(user));
});

test('an undo that is under way while its right is ended does nothing', async () => {
  const { user, email, thief } = await robbed();
  const moved = freshAddress();
  await moveTo(thief, moved);
  const undo = (await mailsTo(server, email)).find(({ link }) => link?.includes('/undo-address-change'));
  const browser = browserOf();
  const page = await browser.get(undo?.link ?? '');
  const other = await takeAccountLock(server, user.id, () => browserOf().get('/login'));
  const pressed = browser.submit(page, {});
  await other.awaited(pressed);
  await other.run('DELETE FROM address_change WHERE account_id = ?', user.id);
  await other.commit();
  assert.equal((await pressed).status, 410);
  assert.equal((await admin(server, 'GET', `/users/${user.id}`)).body.email, moved);
});

test('a stranger who names the address of an owner uses up no message of the owner’s return', async () => {
  const { user, email, owner, thief } = await robbed();
  const stranger = await signedIn(server, await newUser(server, { emailVerified: true }));
  const askOften = async () => {
    for (let time = 0; time < 7; time++)
      assert.equal((await submit(stranger, '/account/email', { email })).status, 200);
  };
  // While it is the address of the account, its owner is told; while it is reserved, nobody is.
  await askOften();
  await moveTo(thief, freshAddress());
  await askOften();
  assert.equal((await owner.get('/account')).location?.pathname, '/login');
  await moveTo(await signedIn(server, user), email);
  assert.equal((await admin(server, 'GET', `/users/${user.id}`)).body.email, email);
});

test('a change of address beyond the limit that is refused when it is confirmed is recorded', async () => {
  const { user, thief } = await robbed();
  await moveTo(thief, freshAddress());
  const late = freshAddress();
  assert.equal((await submit(thief, '/account/email', { email: late })).status, 200);
  // As if other changes had been confirmed since this one was asked for.
  await query(server, 'UPDATE rate_count SET count = 3 WHERE bucket LIKE ?', `address changes ${user.id} %`);
  const { code = '' } = await newestMail(server, late, 'address change');
  assert.equal((await submit(thief, '/account/email', { code }, '/account/email/code')).status, 429);
  const { items } = (await admin(server, 'GET', `/audit-events?userId=${user.id}&type=limit.exceeded`)).body;
  assert.deepEqual(
    items.map(({ details }: { details: object }) => details),
    [{ limit: 'addressAccount' }],
  );
});
