// store: SQLite, PostgreSQL
/** An owner who takes an account back has it as it was: with the second factor, the username and the address from before, and all changes left. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import { admin, newUser, PASSWORD, signedIn } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { addPasskeyOnPage, newPasskey, passkeyForm, usePasskey } from '../support/passkeys.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { giveRecoveryCodes, totpCode } from '../support/second-factor.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { type Robbed, takenBack } from '../support/taken-back.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const server = spread(await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off' }, SEVERAL));
after(() => server.close());
const {
  browserOf,
  submit,
  freshAddress,
  press,
  moveTo,
  addApp,
  renewCodes,
  setPassword,
  setUsername,
  undoLinks,
  profileOf,
  patch,
  hasApp,
  person,
  twoStep,
  signedInWith,
  reportLink,
  recoverAt,
  removeApp,
} = takenBack(server);

// With what the owner goes back.

test('the session in which an app was replaced goes back by the one from before', async () => {
  const ada = await twoStep();
  const away = freshAddress();
  await moveTo(await signedInWith(ada, ada.factor), away);
  const owner = await signedInWith(ada, ada.factor);
  await addApp(owner);
  await moveTo(owner, ada.email);
  assert.deepEqual(await undoLinks(away), []);
});

test('a password from before goes back, whatever newer factor the account asks for', async () => {
  const ada = await twoStep();
  const away = freshAddress();
  await moveTo(await signedInWith(ada, ada.factor), away);
  const newer = await addApp(await signedInWith(ada, ada.factor));
  await moveTo(await signedInWith(ada, newer), ada.email);
  assert.deepEqual(await undoLinks(away), []);
});

test('the session in which a passkey was replaced goes back by the one from before', async () => {
  const ada = await person();
  const lost = await newPasskey(server, ada.user.id);
  const away = freshAddress();
  const finder = browserOf();
  await usePasskey(finder, lost);
  await moveTo(finder, away);
  const owner = browserOf();
  await usePasskey(owner, lost);
  server.advance(MINUTE);
  await addPasskeyOnPage(server, owner, ada.user.id);
  await passkeyForm(owner, { action: 'remove', id: lost.id });
  await moveTo(owner, ada.email);
  assert.deepEqual(await undoLinks(away), []);
});

test('who goes back to an address, and has no way in from before, gets a link that says so', async () => {
  const ada = await person();
  const browser = await signedIn(server, ada.user);
  await moveTo(browser, freshAddress());
  await addPasskeyOnPage(server, browser, ada.user.id);
  assert.equal((await submit(browser, '/account/security', {}, '/account/security/remove-password')).status, 200);
  await moveTo(browser, ada.email);
  const mail = await newestMail(server, ada.email, 'recovery');
  assert.match(mail.text, /Every way to sign in to it was added after the change of its address/);
  assert.equal(mail.code, undefined, 'there is no browser in which it could be typed');
  assert.ok((await recoverAt(ada.email, '')) < 400);
});

// A second factor that was renewed, by its owner or by a thief.

const RENEWALS: Readonly<Record<string, (owner: Agent) => Promise<unknown>>> = {
  'an app': addApp,
  'recovery codes': renewCodes,
  'an app and recovery codes': async (owner) => {
    await addApp(owner);
    await renewCodes(owner);
  },
};
for (const [what, renew] of Object.entries(RENEWALS)) {
  test(`who reads the mailbox alone reports that ${what} were renewed, and does not get in`, async () => {
    const ada = await twoStep();
    const owner = await signedInWith(ada, ada.factor);
    await renew(owner);
    assert.equal(await press(await reportLink(ada.email)), 200);
    assert.notEqual(await recoverAt(ada.email, ''), 200);
    server.advance(MINUTE);
    assert.equal(await recoverAt(ada.email, totpCode(ada.factor, server.now())), 200);
  });

  test(`who reads the earlier mailbox alone undoes no change after ${what} were renewed`, async () => {
    const ada = await twoStep();
    const owner = await signedInWith(ada, ada.factor);
    await renew(owner);
    await moveTo(owner, freshAddress());
    const [undo = ''] = await undoLinks(ada.email);
    assert.equal(await press(undo, { code: '' }), 400);
    assert.equal(await press(undo, { code: ada.factor.recoveryCodes[0] }), 200);
    server.advance(MINUTE);
    assert.equal(await recoverAt(ada.email, ada.factor.recoveryCodes[0] ?? ''), 400, 'it was used up');
    assert.equal(await recoverAt(ada.email, ada.factor.recoveryCodes[1] ?? ''), 200);
  });
}

test('a thief who replaces the app and the codes keeps the owner out neither of the undo nor of the account', async () => {
  const ada = await twoStep();
  const thief = await signedInWith(ada, ada.factor);
  await moveTo(thief, freshAddress());
  const own = await addApp(thief);
  const [code = ''] = await renewCodes(thief);
  const [undo = ''] = await undoLinks(ada.email);
  assert.match(code, /^.{4}-.{4}-.{4}$/);
  assert.equal(await press(undo, { code }), 400, 'a recovery code of the thief');
  server.advance(MINUTE);
  assert.equal(await press(undo, { code: totpCode(own, server.now()) }), 400, 'the app of the thief');
  server.advance(MINUTE);
  assert.equal(await press(undo, { code: totpCode(ada.factor, server.now()) }), 200);
  assert.equal(await recoverAt(ada.email, totpCode(ada.factor, server.now())), 400, 'the same code again');
  server.advance(MINUTE);
  assert.equal(await recoverAt(ada.email, totpCode(ada.factor, server.now())), 200);
});

test('an app that was removed is not asked for', async () => {
  const ada = await twoStep();
  await removeApp(await signedInWith(ada, ada.factor));
  assert.equal(await press(await reportLink(ada.email)), 200);
  assert.equal(await hasApp(ada), false);
  assert.equal(await recoverAt(ada.email, ''), 200);
});

test('renewed codes do not end the choice that mail alone is not enough', async () => {
  const ada = await person();
  const passkey = await newPasskey(server, ada.user.id);
  const [code = ''] = await giveRecoveryCodes(server, ada.user);
  const owner = browserOf();
  await usePasskey(owner, passkey);
  await query(
    server,
    'INSERT INTO recovery_setting (account_id, code_required_at) VALUES (?, ?)',
    ada.user.id,
    server.now() - 8 * DAY,
  );
  await renewCodes(owner);
  assert.equal(await press(await reportLink(ada.email)), 200);
  assert.notEqual(await recoverAt(ada.email, ''), 200);
  assert.equal(await recoverAt(ada.email, code), 200);
});

test('the owner is told what was removed and what works again', async () => {
  const ada = await twoStep();
  const thief = await signedInWith(ada, ada.factor);
  server.advance(MINUTE);
  await addPasskeyOnPage(server, thief, ada.user.id);
  await moveTo(thief, freshAddress());
  await addApp(thief);
  const [undo = ''] = await undoLinks(ada.email);
  assert.equal(await press(undo, { code: ada.factor.recoveryCodes[0] }), 200);
  const { text } = await newestMail(server, ada.email, 'recovery');
  assert.match(text, /was removed: an authenticator app and a passkey\./);
  assert.match(text, /works again: your earlier authenticator app\./);
});

test('what an operator reset does not come back', async () => {
  const ada = await twoStep();
  const owner = await signedInWith(ada, ada.factor);
  await addApp(owner);
  const made = await admin(server, 'POST', `/users/${ada.user.id}/recovery-link`, { resetFactors: true });
  assert.equal((await useLink(browserOf(), String(made.body.url), 'a new password by mail')).status, 200);
  assert.equal(await press(await reportLink(ada.email)), 200);
  assert.equal(await hasApp(ada), false);
});

// Usernames.

test('the username comes back that the account had, however often it was changed', async () => {
  const ada = await person();
  const name = ada.user.username;
  const thief = await signedIn(server, ada.user);
  for (const username of [`${name}-x`, name, `${name}-y`]) await setUsername(thief, username);
  await moveTo(thief, freshAddress());
  const [undo = ''] = await undoLinks(ada.email);
  assert.equal(await press(undo), 200);
  assert.equal((await profileOf(ada)).username, name);
});

test('a recovery by mail gives the username back, too, and says so', async () => {
  const ada = await person();
  const thief = await signedIn(server, ada.user);
  await setUsername(thief, `${ada.user.username}-x`);
  await askRecovery(server, browserOf(), ada.email);
  assert.equal(await recoverAt(ada.email, ''), 200);
  assert.equal((await profileOf(ada)).username, ada.user.username);
  assert.ok((await newestMail(server, ada.email, 'security notice')).text.includes(`${ada.user.username} again`));
});

test('a username that an operator chose stays', async () => {
  const ada = await person();
  await setUsername(await signedIn(server, ada.user), `${ada.user.username}-x`);
  await patch(ada, { username: `${ada.user.username}-z` });
  assert.equal(await press(await reportLink(ada.email)), 200);
  assert.equal((await profileOf(ada)).username, `${ada.user.username}-z`);
});

// An address that was never verified.

test('an owner goes back to an address that was never verified, and the address in between undoes nothing', async () => {
  const ada = await person({});
  const thiefs = freshAddress();
  const thief = await signedIn(server, ada.user);
  await moveTo(thief, thiefs);
  assert.deepEqual(await undoLinks(ada.email), [], 'a stranger may have it');
  await addApp(await signedIn(server, ada.user));
  await query(server, 'DELETE FROM totp_secret WHERE account_id = ?', ada.user.id);
  await moveTo(await signedIn(server, ada.user), ada.email);
  assert.deepEqual(await undoLinks(thiefs), []);
  const { email, emailVerified } = await profileOf(ada);
  assert.deepEqual([email, emailVerified], [ada.email, true]);
});

test('an address that was never verified is not reserved, and is whose who verifies it', async () => {
  const eve = await person({});
  await moveTo(await signedIn(server, eve.user), freshAddress());
  const owner = await newUser(server, { emailVerified: true });
  await moveTo(await signedIn(server, owner), eve.email);
  const back = await signedIn(server, eve.user);
  server.advance(MINUTE);
  await submit(back, '/account/email', { email: eve.email });
  const told = (await mailsTo(server, eve.email)).filter(({ kind }) => kind === 'address change');
  assert.equal(told.length, 1, 'that of the person who verified it');
});

test('an operator who gives back an address that was never verified removes what was added since', async () => {
  const ada = await person({});
  const thief = await signedIn(server, ada.user);
  await moveTo(thief, freshAddress());
  await addApp(thief);
  await patch(ada, { email: ada.email, emailVerified: true });
  assert.equal(await hasApp(ada), false);
});

// What an undo gives back besides, and what it must not.

test('the changes of address that were undone do not count', async () => {
  const ada = await person();
  const thief = await signedIn(server, ada.user);
  for (let turn = 0; turn < 3; turn++) await moveTo(thief, freshAddress());
  const undo = (await undoLinks(ada.email)).at(-1) ?? '';
  assert.equal(await press(undo), 200);
  assert.equal(await recoverAt(ada.email, ''), 200);
  await moveTo(await signedIn(server, ada.user, 'a new password by mail'), freshAddress());
});

test('the changes of address that going back by the form undid do not count', async () => {
  const ada = await person();
  const thief = await signedIn(server, ada.user);
  for (let turn = 0; turn < 3; turn++) await moveTo(thief, freshAddress());
  await moveTo(await signedIn(server, ada.user), ada.email);
  for (let turn = 0; turn < 3; turn++) await moveTo(await signedIn(server, ada.user), freshAddress());
});

test('an operator’s decision on the address calls a deletion off, whatever came before', async () => {
  const ada = await person();
  const thief = await signedIn(server, ada.user);
  server.advance(MINUTE);
  await submit(thief, '/account/data', { confirm: 'yes' }, '/account/deletion');
  assert.notEqual((await profileOf(ada)).deletion, null);
  await patch(ada, { email: freshAddress() });
  assert.equal((await profileOf(ada)).deletion, null);
});

const answers: Readonly<Record<string, (link: string, ada: Robbed) => Promise<unknown>>> = {
  'a report': (link) => press(link),
  'an operator’s decision on the address': (_, ada) => patch(ada, { email: freshAddress() }),
};
for (const [name, answer] of Object.entries(answers))
  test(`${name} leaves the deletion that an operator scheduled, and calls off the person’s own`, async () => {
    const [offboarded, left] = [await person(), await person()];
    const deletionOf = async (ada: Robbed) => (await profileOf(ada)).deletion;
    await setPassword(await signedIn(server, offboarded.user), PASSWORD, 'another long password');
    await admin(server, 'PUT', `/users/${offboarded.user.id}/deletion`, { days: 30 });
    const scheduled = await deletionOf(offboarded);
    await submit(await signedIn(server, left.user), '/account/data', { confirm: 'yes' }, '/account/deletion');
    server.advance(MINUTE);
    await admin(server, 'PUT', `/users/${left.user.id}/suspension`, {});
    for (const ada of [offboarded, left]) await answer(await reportLink(ada.email), ada);
    assert.deepEqual([await deletionOf(offboarded), await deletionOf(left)], [scheduled, null]);
  });

test('an operator who names the present address ends a change whose link was used a moment ago', async () => {
  const ada = await person();
  const thief = await signedIn(server, ada.user);
  await submit(thief, '/account/email', { email: freshAddress() });
  // The link is used up in a commit of its own, before the one that changes the address.
  const used = 'UPDATE challenge SET used_at = ? WHERE account_id = ? AND purpose = ?';
  await query(server, used, server.now(), ada.user.id, 'change address');
  await patch(ada, { email: ada.email });
  assert.equal((await thief.get('/account')).location?.pathname, '/login');
});

test('an address is reserved for four weeks at most, however often the account is moved', async () => {
  const ada = await person();
  const mover = await signedIn(server, ada.user);
  await moveTo(mover, freshAddress());
  for (let week = 0; week < 4; week++) {
    server.advance(6.5 * DAY);
    await submit(mover, '/account/confirm?next=email', { current: PASSWORD }, '/account/confirm');
    await moveTo(mover, freshAddress());
  }
  const other = await newUser(server, { emailVerified: true });
  assert.equal((await admin(server, 'PATCH', `/users/${other.id}`, { email: ada.email })).status, 409);
  server.advance(3 * DAY);
  assert.equal((await admin(server, 'PATCH', `/users/${other.id}`, { email: ada.email })).status, 200);
});

test('a passkey that was added by a clock that is ahead is asked for after a sign-in with it', async () => {
  const ada = await person();
  const passkey = await newPasskey(server, ada.user.id);
  await query(server, 'UPDATE passkey SET created_at = ? WHERE account_id = ?', server.now() + 20_000, ada.user.id);
  const browser = browserOf();
  await usePasskey(browser, passkey);
  server.advance(11 * MINUTE);
  const page = await browser.get('/account/confirm?next=email');
  assert.doesNotMatch(page.text, /name="current"/);
});

test('a new password makes no factor of the session an older one', async () => {
  const ada = await person();
  const thief = await signedIn(server, ada.user);
  const app = await addApp(thief);
  await setPassword(thief, PASSWORD, 'a passphrase of the thief');
  server.advance(11 * MINUTE);
  const page = await thief.get('/account/confirm?next=email');
  assert.match(page.text, /name="current"/, 'the password is asked for, not the app');
  assert.ok(app.seed !== '');
});
