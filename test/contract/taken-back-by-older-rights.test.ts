// store: SQLite, PostgreSQL
/** With what a person proves that an account was theirs before, and that no act of an operator forgets since when it may not have been. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { addPasskeyOnPage, newPasskey, passkeyForm, undoByPasskey, usePasskey } from '../support/passkeys.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import type { SoftAuthenticator } from '../support/soft-authenticator.ts';

const MINUTE = 60_000;
const WEEK = 7 * 24 * 60 * MINUTE;
const EMAIL = '/account/email';
const server = spread(await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off' }, SEVERAL));
after(() => server.close());

const browserOf = (): Agent => agent(server.baseUrl, server.nodeInTurn);
let names = 0;
const freshAddress = (): string => `older-${++names}@example.com`;

const submit = async (browser: Agent, page: string, fields = {}, action = page): Promise<Answer> =>
  browser.submit(await browser.get(page), fields, action);

const press = async (link: string): Promise<number> => {
  const browser = browserOf();
  const page = await browser.get(link);
  return page.status === 200 ? (await browser.submit(page, {})).status : page.status;
};

async function moveTo(browser: Agent, email: string): Promise<void> {
  server.advance(MINUTE);
  assert.equal((await submit(browser, EMAIL, { email })).status, 200);
  const page = await browser.get((await newestMail(server, email, 'address change')).link ?? '');
  assert.equal((await browser.submit(page, {})).status, 200);
}

/** Adds an authenticator app. */
async function addApp(browser: Agent): Promise<void> {
  server.advance(MINUTE);
  const path = '/account/security/authenticator';
  const page = await browser.get(path);
  const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
  assert.equal((await browser.submit(page, { code: totpCode({ seed }, server.now()) }, path)).status, 200);
}

const undoLinks = async (address: string): Promise<readonly string[]> =>
  (await mailsTo(server, address)).flatMap(({ link }) => (link?.includes('/undo-address-change') ? [link] : []));

interface Robbed {
  readonly user: TestUser;
  readonly email: string;
}
const profileOf = async ({ user }: Robbed) => (await admin(server, 'GET', `/users/${user.id}`)).body;
const patch = async ({ user }: Robbed, body: object): Promise<void> => {
  const answer = await admin(server, 'PATCH', `/users/${user.id}`, body);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
};
const hasApp = async ({ user }: Robbed): Promise<boolean> =>
  (await query(server, 'SELECT 1 FROM totp_secret WHERE account_id = ?', user.id)).length > 0;

/** A person with a verified address, who signed in an hour ago. */
async function person(): Promise<Robbed> {
  const user = await newUser(server, { emailVerified: true });
  await signedIn(server, user);
  server.advance(60 * MINUTE);
  return { user, email: (await admin(server, 'GET', `/users/${user.id}`)).body.email };
}

/** One who has a passkey as well. */
async function personWithPasskey(): Promise<Robbed & { readonly passkey: SoftAuthenticator }> {
  const ada = await person();
  return { ...ada, passkey: await newPasskey(server, ada.user.id) };
}

async function signedInBy(passkey: SoftAuthenticator): Promise<Agent> {
  const browser = browserOf();
  assert.equal((await usePasskey(browser, passkey)).status, 303);
  return browser;
}

const removePasskey = async (browser: Agent, { id }: SoftAuthenticator): Promise<void> => {
  await passkeyForm(browser, { action: 'remove', id });
};

/** Presses “No longer mine”, as a thief who forges the form would. */
async function close(browser: Agent, address: string): Promise<number> {
  const page = await browser.get(EMAIL);
  const token = /action="\/account\/email" [\s\S]*?name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
  return (await browser.post(`${EMAIL}/earlier`, { form_token: token, address })).status;
}

test('a passkey of a thief that was used and removed does not end the right of the owner’s address', async () => {
  const ada = await personWithPasskey();
  const thief = await signedInBy(ada.passkey);
  server.advance(MINUTE);
  const own = await addPasskeyOnPage(server, thief, ada.user.id);
  await moveTo(thief, freshAddress());
  const later = await signedInBy(own);
  server.advance(MINUTE);
  await removePasskey(later, own);
  assert.equal(await close(later, ada.email), 403);
  const [undo = ''] = await undoLinks(ada.email);
  assert.equal(await undoByPasskey(browserOf(), undo, ada.passkey), 200);
  assert.equal((await profileOf(ada)).email, ada.email);
});

test('a report ends the passkey with which the reported sign-in was made, and leaves another one', async () => {
  const ada = await personWithPasskey();
  server.advance(MINUTE);
  const kept = await newPasskey(server, ada.user.id);
  server.advance(10 * 24 * 60 * MINUTE);
  const thief = await signedInBy(ada.passkey);
  assert.equal(await press((await newestMail(server, ada.email, 'security notice')).link ?? ''), 200);
  assert.equal((await thief.get('/account')).status, 302);
  assert.notEqual((await usePasskey(browserOf(), ada.passkey)).status, 303);
  const { text, link = '' } = await newestMail(server, ada.email, 'recovery');
  assert.match(text, /The passkey with which this was done no longer works/);
  // Nobody is in who could end the recovery.
  assert.equal((await browserOf().get(link)).status, 200);
  await signedInBy(kept);
});

test('a report of a sign-in by the password leaves passkeys', async () => {
  const ada = await personWithPasskey();
  await signedInBy(ada.passkey);
  server.advance(MINUTE);
  await signedIn(server, ada.user);
  assert.equal(await press((await newestMail(server, ada.email, 'security notice')).link ?? ''), 200);
  await signedInBy(ada.passkey);
});

test('a passkey from before proves the owner’s return, whatever a thief added', async () => {
  const ada = await personWithPasskey();
  const thief = await signedInBy(ada.passkey);
  const away = freshAddress();
  server.advance(MINUTE);
  const added = await addPasskeyOnPage(server, thief, ada.user.id);
  await moveTo(thief, away);
  await moveTo(await signedInBy(ada.passkey), ada.email);
  assert.deepEqual(await undoLinks(away), []);
  const browser = browserOf();
  assert.notEqual((await usePasskey(browser, added)).status, 303, 'what was added is removed');
});

test('each undo link of an address undoes everything since the account gave that address up for the first time', async () => {
  const ada = await person();
  const [second, third] = [freshAddress(), freshAddress()];
  const thief = await signedIn(server, ada.user);
  await moveTo(thief, second);
  server.advance(MINUTE);
  const password = 'a passphrase of the thief';
  const page = await thief.get('/account/security');
  assert.equal((await thief.submit(page, { current: PASSWORD, password }, '/account/password')).status, 200);
  // With what was set since, going back is an ordinary change, which gives the second address a right.
  server.advance(11 * MINUTE);
  await submit(thief, '/account/confirm?next=email', { current: password }, '/account/confirm');
  await moveTo(thief, ada.email);
  await moveTo(thief, third);
  const [newest = '', oldest = ''] = await undoLinks(ada.email);
  const [younger = ''] = await undoLinks(second);
  assert.equal(await press(newest), 200);
  assert.equal((await profileOf(ada)).email, ada.email);
  for (const link of [oldest, younger, newest]) assert.equal(await press(link), 410);
});

test('the account has its username again when its owner takes it back', async () => {
  const ada = await person();
  const thief = await signedIn(server, ada.user);
  server.advance(MINUTE);
  for (const username of [`${ada.user.username}-2`, `${ada.user.username}-3`]) {
    assert.equal((await submit(thief, '/account', { username }, '/account/username')).status, 200);
    server.advance(MINUTE);
  }
  await moveTo(thief, freshAddress());
  const [undo = ''] = await undoLinks(ada.email);
  assert.equal(await press(undo), 200);
  assert.equal((await profileOf(ada)).username, ada.user.username);

  const eve = await person();
  const other = await signedIn(server, eve.user);
  server.advance(MINUTE);
  await submit(other, '/account', { username: `${eve.user.username}-2` }, '/account/username');
  await moveTo(other, freshAddress());
  await moveTo(await signedIn(server, { ...eve.user, username: `${eve.user.username}-2` }), eve.email);
  assert.equal((await profileOf(eve)).username, eve.user.username);
});

test('a person is told of a new username, and the report gives the earlier one back', async () => {
  const ada = await person();
  const known = await signedIn(server, ada.user);
  server.advance(6 * 24 * 60 * MINUTE);
  await submit(known, '/account/confirm?next=username', { current: PASSWORD }, '/account/confirm');
  server.advance(MINUTE);
  const username = `${ada.user.username}-2`;
  assert.equal((await submit(known, '/account', { username }, '/account/username')).status, 200);
  const told = await newestMail(server, ada.email, 'security notice');
  assert.match(told.subject, /Your username was changed/);
  assert.ok(told.text.includes(`from ${ada.user.username}`));
  assert.equal(await press(told.link ?? ''), 200);
  assert.equal((await profileOf(ada)).username, ada.user.username);
});

/** A thief with the password signs in, in a browser that is new to the account, and adds an app. */
async function robbed(): Promise<Robbed & { readonly thief: Agent }> {
  const ada = await person();
  const thief = await signedIn(server, ada.user);
  await addApp(thief);
  return { ...ada, thief };
}

test('naming the present address again ends a thief’s change, and forgets nothing that was reported', async () => {
  const ada = await robbed();
  await submit(ada.thief, EMAIL, { email: freshAddress() });
  await patch(ada, { email: ada.email });
  const again = await newestMail(server, ada.email, 'security notice');
  assert.match(again.subject, /signed out everywhere/);
  assert.equal(await press(again.link ?? ''), 200);
  assert.equal(await hasApp(ada), false);
});

test('a new password with the address forgets nothing either', async () => {
  const ada = await robbed();
  const email = freshAddress();
  await patch(ada, { email, password: 'a password by an operator' });
  assert.ok(await hasApp(ada), 'what the person added a while ago may be their own');
  const told = await newestMail(server, email, 'security notice');
  assert.match(told.subject, /password was changed/);
  assert.equal(await press(told.link ?? ''), 200);
  assert.equal(await hasApp(ada), false);
});

test('another address after a change that can be undone removes what was added since, and calls a deletion off', async () => {
  const ada = await robbed();
  await moveTo(ada.thief, freshAddress());
  await submit(ada.thief, '/account/data', { confirm: 'yes' }, '/account/deletion');
  assert.notEqual((await profileOf(ada)).deletion, null);
  const email = freshAddress();
  await patch(ada, { email, emailVerified: true });
  const { deletion, email: present } = await profileOf(ada);
  assert.deepEqual([deletion, present], [null, email]);
  assert.equal(await hasApp(ada), false);
});

test('the address that an operator took away is not told the new one', async () => {
  const ada = await person();
  const email = freshAddress();
  await patch(ada, { email });
  const [told] = await mailsTo(server, ada.email);
  assert.match(told?.subject ?? '', /address of your account was changed/);
  assert.ok(told !== undefined && !told.text.includes(email));
  const [own] = await mailsTo(server, email);
  assert.ok(own?.text.includes(ada.email));
});

const route = ({ user }: Robbed, path: string) => `/users/${user.id}/${path}`;
const BARRED: Readonly<Record<string, (ada: Robbed & { readonly thief: Agent }) => Promise<unknown>>> = {
  'a ban and its end': async (ada) => {
    await admin(server, 'PUT', route(ada, 'ban'), {});
    await admin(server, 'DELETE', route(ada, 'ban'));
  },
  'a suspension and its end': async (ada) => {
    await admin(server, 'PUT', route(ada, 'suspension'), {});
    await admin(server, 'DELETE', route(ada, 'suspension'));
  },
  'an operator who calls a deletion off': async (ada) => {
    await submit(ada.thief, '/account/data', { confirm: 'yes' }, '/account/deletion');
    await admin(server, 'DELETE', route(ada, 'deletion'));
  },
};
for (const [what, act] of Object.entries(BARRED)) {
  test(`after ${what}, the owner can still say that what came before was not them`, async () => {
    const ada = await robbed();
    const before = await newestMail(server, ada.email, 'security notice');
    server.advance(MINUTE);
    await act(ada);
    assert.equal((await browserOf().get(before.link ?? '')).status, 410, 'the link from before');
    const { link = '' } = await newestMail(server, ada.email, 'security notice');
    assert.notEqual(link, before.link);
    assert.equal(await press(link), 200);
    assert.equal(await hasApp(ada), false);
  });
}

test('a ban of somebody of whom nothing was reported tells them nothing', async () => {
  const ada = await person();
  server.advance(8 * 24 * 60 * MINUTE);
  const told = (await mailsTo(server, ada.email)).length;
  await admin(server, 'PUT', route(ada, 'ban'), {});
  assert.equal((await mailsTo(server, ada.email)).length, told);
});

test('an undo at its last moment does not outlast the older right', async () => {
  const ada = await person();
  const second = freshAddress();
  const thief = await signedIn(server, ada.user);
  await moveTo(thief, second);
  server.advance(MINUTE);
  const password = 'a passphrase of the thief';
  const page = await thief.get('/account/security');
  assert.equal((await thief.submit(page, { current: PASSWORD, password }, '/account/password')).status, 200);
  server.advance(11 * MINUTE);
  await submit(thief, '/account/confirm?next=email', { current: password }, '/account/confirm');
  // With what was set since, going back is an ordinary change: the second address gets a right, which is the younger one.
  await moveTo(thief, ada.email);
  const [own = ''] = await undoLinks(ada.email);
  const [younger = ''] = await undoLinks(second);
  server.advance(WEEK - MINUTE);
  assert.equal(await press(younger), 200);
  const [told] = await mailsTo(server, ada.email);
  assert.match(told?.text ?? '', /gives the account back to this address/);
  server.advance(6 * 24 * 60 * MINUTE);
  assert.equal(await press(own), 200);
  assert.equal((await profileOf(ada)).email, ada.email);
});

test('an owner who calls a deletion off on the way back returns to the address as if there had been none', async () => {
  const ada = await personWithPasskey();
  const away = freshAddress();
  const thief = await signedInBy(ada.passkey);
  await moveTo(thief, away);
  await submit(thief, '/account/data', { confirm: 'yes' }, '/account/deletion');
  const owner = browserOf();
  const answer = await usePasskey(owner, ada.passkey);
  const page = await owner.get(answer.location?.href ?? '');
  assert.equal((await owner.submit(page, {}, '/login/come-back')).status, 303);
  await moveTo(owner, ada.email);
  assert.deepEqual(await undoLinks(away), []);
});

test('an owner who sets a new password first still returns by the one from before', async () => {
  const ada = await person();
  const away = freshAddress();
  await moveTo(await signedIn(server, ada.user), away);
  const owner = await signedIn(server, ada.user);
  server.advance(MINUTE);
  const page = await owner.get('/account/security');
  const changed = { current: PASSWORD, password: 'a new password of the owner' };
  assert.equal((await owner.submit(page, changed, '/account/password')).status, 200);
  await moveTo(owner, ada.email);
  assert.deepEqual(await undoLinks(away), []);
});

test('nobody ends the links of an owner faster than they can be opened', async () => {
  const ada = await person();
  const thief = await signedIn(server, ada.user);
  let [current, password] = [PASSWORD, ''];
  let status = 200;
  for (let turn = 0; turn < 12 && status === 200; turn++) {
    server.advance(MINUTE / 3);
    password = `a passphrase of the thief ${turn}`;
    const page = await thief.get('/account/security');
    ({ status } = await thief.submit(page, { current, password }, '/account/password'));
    if (status === 200) current = password;
  }
  assert.equal(status, 429);
  assert.equal((await submit(thief, '/account/security', {}, '/account/sign-out-everywhere')).status, 429);
  const { link = '' } = await newestMail(server, ada.email, 'security notice');
  server.advance(5 * MINUTE);
  assert.equal(await press(link), 200, 'what the owner got last still works');
});

test('what an operator gave to a thief’s address, another operator takes back whole', async () => {
  const ada = await person();
  const thiefs = freshAddress();
  await patch(ada, { email: thiefs, emailVerified: true });
  const thief = browserOf();
  await askRecovery(server, thief, thiefs);
  const { link = '' } = await newestMail(server, thiefs, 'recovery');
  await useLink(thief, link, 'a password of the thief');
  await addApp(await signedIn(server, ada.user, 'a password of the thief'));
  await patch(ada, { email: ada.email, emailVerified: true });
  assert.equal(await hasApp(ada), false);
  const login = browserOf();
  const typed = { identifier: ada.user.username, password: 'a password of the thief' };
  assert.equal((await submit(login, '/login', typed)).status, 401);
});

const DECEIVED: Readonly<Record<string, (it: Robbed & { readonly thiefs: string }) => Promise<number>>> = {
  'names the address of a thief again': async ({ user, thiefs }) =>
    (await admin(server, 'PATCH', `/users/${user.id}`, { email: thiefs })).status,
  'keeps it with a recovery link': async ({ user }) =>
    (await admin(server, 'POST', `/users/${user.id}/recovery-link`, { address: 'keep' })).status,
};
for (const [what, decide] of Object.entries(DECEIVED)) {
  test(`an operator who ${what} can still take the account back whole`, async () => {
    const ada = await person();
    const thiefs = freshAddress();
    await moveTo(await signedIn(server, ada.user), thiefs);
    assert.ok([200, 201].includes(await decide({ ...ada, thiefs })));
    const thief = browserOf();
    await askRecovery(server, thief, thiefs);
    await useLink(thief, (await newestMail(server, thiefs, 'recovery')).link ?? '', 'a password of the thief');
    await addApp(await signedIn(server, ada.user, 'a password of the thief'));
    await patch(ada, { email: ada.email, emailVerified: true });
    assert.equal(await hasApp(ada), false);
  });
}

test('an undo asks for a factor from before the change, and a thief’s newer code is none', async () => {
  const ada = await person();
  const factor = await enroll(server, ada.user);
  const { browser: thief, page } = await atSecondStep(server, ada.user);
  await typeCode(thief, page, totpCode(factor, server.now()));
  await moveTo(thief, freshAddress());
  server.advance(MINUTE);
  const made = await thief.submit(await thief.get('/account/security'), {}, '/account/security/recovery-codes');
  const [code = ''] = /[0-9a-z]{4}(?:-[0-9a-z]{4})+/i.exec(made.text) ?? [];
  assert.notEqual(code, '');
  const [undo = ''] = await undoLinks(ada.email);
  const browser = browserOf();
  assert.equal((await browser.submit(await browser.get(undo), { code })).status, 400);
  server.advance(MINUTE);
  const own = await browser.submit(await browser.get(undo), { code: totpCode(factor, server.now()) });
  assert.equal(own.status, 200);
});

test('a recovery with an app that was added since a report does not answer the report', async () => {
  const ada = await person();
  const thief = await signedIn(server, ada.user);
  const path = '/account/security/authenticator';
  server.advance(MINUTE);
  const page = await thief.get(path);
  const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
  await thief.submit(page, { code: totpCode({ seed }, server.now()) }, path);
  server.advance(MINUTE);
  const mailbox = browserOf();
  await askRecovery(server, mailbox, ada.email);
  const { link = '' } = await newestMail(server, ada.email, 'recovery');
  const factor = totpCode({ seed }, server.now());
  assert.ok([200, 303].includes((await useLink(mailbox, link, 'a password of the thief', { factor })).status));
  const report = await newestMail(server, ada.email, 'security notice');
  assert.equal(await press(report.link ?? ''), 200);
  assert.equal(await hasApp(ada), false);
});
