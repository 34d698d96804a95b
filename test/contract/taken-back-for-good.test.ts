// store: SQLite, PostgreSQL
/**
 * What the owner of an account has ended stays ended when the account is taken back later, and the passkey goes with which another person
 * changed its address.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { userHandleOf } from '../../src/account-actions/authentication/passkey.ts';
import type { Agent } from '../support/agent.ts';
import { admin, PASSWORD } from '../support/flow.ts';
import {
  addPasskeyOnPage,
  newPasskey,
  passkeyForm,
  passkeyOptions,
  undoByPasskey,
  usePasskey,
} from '../support/passkeys.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { requireCode } from '../support/recovery-setting.ts';
import { giveRecoveryCodes } from '../support/second-factor.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { type SoftAuthenticator, softAuthenticator } from '../support/soft-authenticator.ts';
import { RECOVERED, type Robbed, takenBack } from '../support/taken-back.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const server = spread(await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off' }, SEVERAL));
after(() => server.close());
const { browserOf, press, freshAddress, moveTo, undoLinks, person, patch, profileOf, recoverAt } = takenBack(server);

const statusOf = async (passkey: SoftAuthenticator): Promise<number> => (await usePasskey(browserOf(), passkey)).status;

async function signedInBy(passkey: SoftAuthenticator): Promise<Agent> {
  server.advance(MINUTE);
  const browser = browserOf();
  assert.equal((await usePasskey(browser, passkey)).status, 303);
  return browser;
}

/** A person without a password, whose passkey of a month ago is on a phone that is stolen. */
async function passwordless(): Promise<Robbed & { readonly stolen: SoftAuthenticator }> {
  const username = `ended-${process.pid}-${server.now()}`;
  const email = `${username}@example.com`;
  const fields = { username, displayName: 'Ada', email, emailVerified: true };
  const { id } = (await admin(server, 'POST', '/users', fields)).body;
  const stolen = await newPasskey(server, id);
  server.advance(30 * DAY);
  return { user: { id, username } as Robbed['user'], email, stolen };
}

/** How the owner ends the stolen passkey, and has another one. */
type End = (ada: Robbed & { readonly stolen: SoftAuthenticator }) => Promise<SoftAuthenticator>;
const byRecovery: End = async ({ user, email }) => {
  const browser = browserOf();
  await askRecovery(server, browser, email);
  const { link = '' } = await newestMail(server, email, 'recovery');
  const token = new URL(link).searchParams.get('token') ?? '';
  const form = await browser.get(`${link}&with=passkey`);
  const own = softAuthenticator(server.baseUrl, userHandleOf(user.id));
  const passkey = own.create(await passkeyOptions(browser, `/recover/passkey?token=${token}`));
  const done = await browser.submit(form, { passkey }, '/recover/link');
  assert.equal(done.status, 200, done.text);
  return own;
};
const ENDS: Readonly<Record<string, End>> = {
  'a recovery by mail': byRecovery,
  'the form of the Security page': async ({ user, stolen }) => {
    const browser = await signedInBy(stolen);
    server.advance(MINUTE);
    const own = await addPasskeyOnPage(server, browser, user.id);
    server.advance(MINUTE);
    await passkeyForm(browser, { action: 'remove', id: stolen.id });
    return own;
  },
  'the form, in a session of the new passkey,': async ({ user, stolen }) => {
    const browser = await signedInBy(stolen);
    server.advance(MINUTE);
    const own = await addPasskeyOnPage(server, browser, user.id);
    await passkeyForm(await signedInBy(own), { action: 'remove', id: stolen.id });
    return own;
  },
};

/** How the account gets its first address again. */
const WAYS_BACK: Readonly<Record<string, (ada: Robbed, own: SoftAuthenticator) => Promise<unknown>>> = {
  'the undo link': async ({ email }, own) => {
    const [undo = ''] = await undoLinks(email);
    assert.equal(await undoByPasskey(browserOf(), undo, own), 200);
  },
  'an operator’s link': async ({ user, email }) => {
    const made = await admin(server, 'POST', `/users/${user.id}/recovery-link`, { address: email });
    assert.equal(made.status, 201, JSON.stringify(made.body));
  },
  'an operator’s change of the record': (ada) => patch(ada, { email: ada.email, emailVerified: true }),
};

for (const [how, end] of Object.entries(ENDS)) {
  for (const [way, goBack] of Object.entries(WAYS_BACK)) {
    test(`a passkey that ${how} ended does not come back by ${way}`, async () => {
      const ada = await passwordless();
      const own = await end(ada);
      assert.equal(await statusOf(ada.stolen), 401);
      server.advance(2 * DAY);
      await moveTo(await signedInBy(own), freshAddress());
      server.advance(60 * MINUTE);
      await goBack(ada, own);
      assert.equal((await profileOf(ada)).email, ada.email);
      server.advance(MINUTE);
      assert.equal(await statusOf(ada.stolen), 401);
      if (way === 'the undo link') assert.equal(await statusOf(own), 303, 'what was shown stays');
    });
  }

  test(`a passkey that ${how} ended undoes no change, and the one of the owner does`, async () => {
    const ada = await passwordless();
    const own = await end(ada);
    server.advance(60 * MINUTE);
    const away = freshAddress();
    await moveTo(await signedInBy(own), away);
    server.advance(60 * MINUTE);
    const [undo = ''] = await undoLinks(ada.email);
    assert.equal(await press(undo, { code: '' }), 400, 'the mailbox alone');
    assert.equal(await undoByPasskey(browserOf(), undo, ada.stolen), 400);
    assert.equal((await profileOf(ada)).email, away);
    assert.deepEqual([await statusOf(ada.stolen), await statusOf(own)], [401, 303]);
    assert.equal(await undoByPasskey(browserOf(), undo, own), 200);
  });
}

/** Somebody with a password and two passkeys. */
async function twoPasskeys() {
  const ada = await person();
  const stolen = await newPasskey(server, ada.user.id);
  server.advance(MINUTE);
  const kept = await newPasskey(server, ada.user.id);
  server.advance(20 * DAY);
  return { ...ada, stolen, kept };
}

for (const remover of ['the owner', 'an operator'] as const) {
  test(`a passkey that ${remover} removed after a thief’s change does not come back by the undo`, async () => {
    const ada = await twoPasskeys();
    await moveTo(await signedInBy(ada.stolen), freshAddress());
    server.advance(MINUTE);
    if (remover === 'the owner') {
      await passkeyForm(await signedInBy(ada.kept), { action: 'remove', id: ada.stolen.id });
    } else {
      const removed = await admin(server, 'DELETE', `/users/${ada.user.id}/factors/${ada.stolen.id}`);
      assert.equal(removed.status, 200, JSON.stringify(removed.body));
    }
    server.advance(MINUTE);
    const [undo = ''] = await undoLinks(ada.email);
    assert.equal(await undoByPasskey(browserOf(), undo, ada.stolen), 400);
    assert.equal(await undoByPasskey(browserOf(), undo, ada.kept), 200);
    assert.deepEqual([await statusOf(ada.stolen), await statusOf(ada.kept)], [401, 303]);
  });
}

const RETURNS: typeof WAYS_BACK = {
  ...WAYS_BACK,
  'the form': async ({ email }, kept) => moveTo(await signedInBy(kept), email),
};
for (const [way, goBack] of Object.entries(RETURNS)) {
  for (const act of ['with it', 'with one that they added'] as const) {
    test(`the passkey of a thief who changed the address ${act} ends when the account is taken back by ${way}`, async () => {
      const ada = await twoPasskeys();
      const thief = await signedInBy(ada.stolen);
      if (act === 'with it') await moveTo(thief, freshAddress());
      else {
        const own = await addPasskeyOnPage(server, thief, ada.user.id);
        await moveTo(await signedInBy(own), freshAddress());
      }
      server.advance(MINUTE);
      await goBack(ada, ada.kept);
      assert.equal((await profileOf(ada)).email, ada.email);
      server.advance(MINUTE);
      assert.deepEqual([await statusOf(ada.stolen), await statusOf(ada.kept)], [401, 303]);
      const kind = way === 'the undo link' ? 'recovery' : 'address changed';
      if (way === 'an operator’s link') return;
      assert.match(
        (await newestMail(server, ada.email, kind)).text,
        /passkey with which this was done no longer works/,
      );
    });
  }
}

test('a passkey with which a thief recovered the account ends with the report', async () => {
  const ada = await passwordless();
  const thiefs = await byRecovery(ada);
  assert.equal(await statusOf(thiefs), 303);
  const { link = '' } = await newestMail(server, ada.email, 'security notice');
  assert.equal(await press(link), 200);
  assert.deepEqual([await statusOf(thiefs), await statusOf(ada.stolen)], [401, 401]);
});

test('an operator who gives the address back leaves no password alone that was not enough before', async () => {
  const ada = await person();
  const stolen = await newPasskey(server, ada.user.id);
  server.advance(20 * DAY);
  await moveTo(await signedInBy(stolen), freshAddress());
  await patch(ada, { email: ada.email, emailVerified: true });
  assert.equal(await statusOf(stolen), 401);
  const browser = browserOf();
  const fields = { identifier: ada.user.username, password: PASSWORD };
  assert.equal((await browser.submit(await browser.get('/login'), fields, '/login')).status, 401);
  await askRecovery(server, browserOf(), ada.email);
  assert.equal(await recoverAt(ada.email, ''), 200);
});

test('recovery codes that a recovery ended open nothing any more', async () => {
  const ada = await person();
  await newPasskey(server, ada.user.id);
  const copied = await giveRecoveryCodes(server, ada.user);
  await requireCode(server, ada.user);
  server.advance(20 * DAY);
  const { url } = (await admin(server, 'POST', `/users/${ada.user.id}/recovery-link`, {})).body;
  const done = await useLink(browserOf(), String(url), RECOVERED);
  const fresh = done.text.match(/\b[0-9a-z]{4}(?:-[0-9a-z]{4}){2}\b/g) ?? [];
  assert.ok(fresh.length >= 10);
  server.advance(6 * DAY);
  await askRecovery(server, browserOf(), ada.email);
  for (const factor of ['', copied[0] ?? '']) assert.equal(await recoverAt(ada.email, factor), 400);
  assert.equal(await recoverAt(ada.email, fresh[0] ?? ''), 200);
});
