// store: SQLite, PostgreSQL
/**
 * A second factor that was renewed in the days before an account is taken back: the owner, who may have the new one alone, is never locked
 * out; who reads the mail alone does not get in; and the earlier factor beats the one that replaced it.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, formOf } from '../support/agent.ts';
import { operatorInBrowser, signInOnCommandLine } from '../support/command-line.ts';
import { admin, newUser, PASSWORD, signedIn } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { addPasskeyOnPage, newPasskey, passkeyForm, undoByPasskey, usePasskey } from '../support/passkeys.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { requireCode } from '../support/recovery-setting.ts';
import { giveRecoveryCodes, totpCode } from '../support/second-factor.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { RECOVERED, type Robbed, type TwoStep, takenBack } from '../support/taken-back.ts';

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
  removeApp,
  renewCodes,
  undoLinks,
  patch,
  profileOf,
  hasApp,
  person,
  twoStep,
  signedInWith,
  setPassword,
  reportLink,
  recoverAt,
} = takenBack(server);

type App = { readonly seed: string };
const codeOf = (app: App): string => {
  server.advance(MINUTE);
  return totpCode(app, server.now());
};

/** Whether a password, and then a code, sign in. */
async function signsIn({ user }: Robbed, password: string, code: string, kind = 'app'): Promise<boolean> {
  const browser = browserOf();
  const login = await browser.get('/login');
  const first = await browser.submit(login, { identifier: user.username, password }, '/login');
  if (first.location?.pathname !== '/login/verify') return false;
  const page = await browser.get(first.location.href);
  return (await browser.submit(page, { code, with: kind }, '/login/verify')).status === 303;
}

async function recoverAnew({ email }: Robbed, factor: string): Promise<number> {
  await askRecovery(server, browserOf(), email);
  return recoverAt(email, factor);
}

// The owner has the new factor alone.

interface Renewed {
  readonly ada: TwoStep;
  readonly owner: Agent;
  /** Makes a code of what the owner has now. */
  readonly code: () => string;
}
const RENEWALS: Readonly<Record<string, () => Promise<Renewed>>> = {
  'the app': async () => {
    const ada = await twoStep();
    const owner = await signedInWith(ada, ada.factor);
    const app = await addApp(owner);
    return { ada, owner, code: () => codeOf(app) };
  },
  'the app twice': async () => {
    const ada = await twoStep();
    const owner = await signedInWith(ada, ada.factor);
    await addApp(owner);
    const app = await addApp(owner);
    return { ada, owner, code: () => codeOf(app) };
  },
  'the recovery codes': async () => {
    const ada = await twoStep();
    const owner = await signedInWith(ada, ada.factor);
    const codes = [...(await renewCodes(owner))];
    return { ada, owner, code: () => codes.shift() ?? '' };
  },
};
for (const [what, renew] of Object.entries(RENEWALS)) {
  test(`an owner who renewed ${what}, and then reports something, gets in with the new ones alone`, async () => {
    const { ada, code } = await renew();
    assert.equal(await press(await reportLink(ada.email)), 200);
    assert.notEqual(await recoverAt(ada.email, ''), 200, 'the mail alone');
    assert.equal(await recoverAt(ada.email, code()), 200);
    assert.ok(await hasApp(ada));
  });

  test(`an owner who renewed ${what} undoes a thief’s change with the new ones alone`, async () => {
    const { ada, owner, code } = await renew();
    await moveTo(owner, freshAddress());
    const [undo = ''] = await undoLinks(ada.email);
    assert.equal(await press(undo), 400, 'the mail alone');
    assert.equal(await press(undo, { code: code() }), 200);
    assert.notEqual(await recoverAt(ada.email, ''), 200, 'the mail alone');
    assert.equal(await recoverAt(ada.email, code()), 200);
  });
}

test('an owner who renewed the app, and reports something, recovers however much later', async () => {
  const ada = await twoStep();
  const app = await addApp(await signedInWith(ada, ada.factor));
  assert.equal(await press(await reportLink(ada.email)), 200);
  server.advance(40 * DAY);
  // As housekeeping does.
  await query(server, 'DELETE FROM replaced_value WHERE expires_at <= ?', server.now());
  assert.equal(await recoverAnew(ada, codeOf(app)), 200);
  assert.ok(await signsIn(ada, RECOVERED, codeOf(app)));
});

test('who goes back by the form keeps the factor with which they signed in', async () => {
  const ada = await twoStep();
  const owner = await signedInWith(ada, ada.factor);
  const app = await addApp(owner);
  const away = freshAddress();
  await moveTo(owner, away);
  await moveTo(await signedInWith(ada, app), ada.email);
  assert.deepEqual(await undoLinks(away), []);
  await signedInWith(ada, app);
});

test('an owner who removed the app is asked for nothing, even where a thief has set up another one since', async () => {
  const ada = await twoStep();
  const owner = await signedInWith(ada, ada.factor);
  await removeApp(owner);
  await addApp(owner);
  assert.equal(await press(await reportLink(ada.email)), 200);
  assert.equal(await hasApp(ada), false);
  assert.equal(await recoverAt(ada.email, ''), 200);
});

test('a factor that an operator removed is not asked for either', async () => {
  const ada = await twoStep();
  await addApp(await signedInWith(ada, ada.factor));
  assert.equal((await admin(server, 'DELETE', `/users/${ada.user.id}/factors/totp`)).status, 200);
  assert.equal(await press(await reportLink(ada.email)), 200);
  assert.equal(await recoverAt(ada.email, ''), 200);
});

// The mail alone is not enough.

test('who reads the earlier mailbox alone undoes no change after a passkey was replaced', async () => {
  const ada = await person();
  const lost = await newPasskey(server, ada.user.id);
  const [code = ''] = await giveRecoveryCodes(server, ada.user);
  const owner = browserOf();
  await usePasskey(owner, lost);
  server.advance(MINUTE);
  await addPasskeyOnPage(server, owner, ada.user.id);
  await passkeyForm(owner, { action: 'remove', id: lost.id });
  await moveTo(owner, freshAddress());
  const [undo = ''] = await undoLinks(ada.email);
  assert.equal(await press(undo, { code: '' }), 400);
  assert.equal(await press(undo, { code }), 200);
});

for (const [what, used] of [
  ['that could still be used', 0],
  ['that were used up', 1],
] as const) {
  test(`new codes in place of some ${what} do not end the choice that mail alone is not enough`, async () => {
    const ada = await person();
    const passkey = await newPasskey(server, ada.user.id);
    await giveRecoveryCodes(server, ada.user);
    await requireCode(server, ada.user);
    server.advance(MINUTE);
    if (used > 0) await query(server, 'UPDATE recovery_code SET used_at = ? WHERE account_id = ?', 1, ada.user.id);
    const owner = browserOf();
    await usePasskey(owner, passkey);
    const [code = ''] = await renewCodes(owner);
    assert.equal(await press(await reportLink(ada.email)), 200);
    assert.notEqual(await recoverAt(ada.email, ''), 200, 'the mail alone');
    assert.equal(await recoverAt(ada.email, code), 200);
  });
}

test('an older address does not let the password alone go back to a younger one, past a passkey from before', async () => {
  const ada = await person();
  const second = freshAddress();
  await moveTo(await signedIn(server, ada.user), second);
  server.advance(60 * MINUTE);
  const passkey = await newPasskey(server, ada.user.id);
  await query(server, 'UPDATE passkey SET created_at = ? WHERE account_id = ?', server.now(), ada.user.id);
  server.advance(6.8 * DAY);
  const owner = browserOf();
  await usePasskey(owner, passkey);
  await moveTo(owner, freshAddress());
  server.advance(6.5 * DAY);
  const again = browserOf();
  await usePasskey(again, passkey);
  const third = (await profileOf(ada)).email;
  await moveTo(again, freshAddress());
  server.advance(60 * MINUTE);
  const thief = await signedIn(server, ada.user);
  const page = await thief.get('/account/confirm?next=email');
  const { hidden } = formOf(page.text, '/account/confirm');
  const sent = await thief.post('/account/email', { ...hidden, email: third });
  assert.equal(sent.location?.search, '?next=email');
});

test('who reads the earlier mailbox alone undoes no change after the app was removed at the later address', async () => {
  const ada = await twoStep();
  const owner = await signedInWith(ada, ada.factor);
  await moveTo(owner, freshAddress());
  await removeApp(owner);
  const [undo = ''] = await undoLinks(ada.email);
  assert.equal(await press(undo), 400);
  assert.equal(await press(undo, { code: codeOf(ada.factor) }), 200);
  assert.ok(await hasApp(ada), 'what was shown is kept');
});

test('an app that was removed at the later address is there again after an undo by a recovery code', async () => {
  const ada = await twoStep();
  const [code = '', another = ''] = ada.factor.recoveryCodes;
  const thief = await signedInWith(ada, ada.factor);
  await moveTo(thief, freshAddress());
  await removeApp(thief);
  const [undo = ''] = await undoLinks(ada.email);
  assert.equal(await press(undo, { code }), 200);
  assert.ok(await hasApp(ada));
  assert.notEqual(await recoverAt(ada.email, ''), 200, 'the mail alone');
  assert.equal(await recoverAt(ada.email, another), 200);
});

// A second factor of then stands in the way of the password, whatever became of it.

const REMOVALS: Readonly<Record<string, () => Promise<{ readonly ada: Robbed; readonly away: string }>>> = {
  'the last passkey': async () => {
    const ada = await person();
    const passkey = await newPasskey(server, ada.user.id);
    const away = freshAddress();
    const owner = browserOf();
    await usePasskey(owner, passkey);
    await moveTo(owner, away);
    await passkeyForm(owner, { action: 'remove', id: passkey.id });
    return { ada, away };
  },
  'a lost passkey, which an operator removed': async () => {
    const ada = await person();
    const passkey = await newPasskey(server, ada.user.id);
    const away = freshAddress();
    const owner = browserOf();
    await usePasskey(owner, passkey);
    await moveTo(owner, away);
    const removed = await admin(server, 'DELETE', `/users/${ada.user.id}/factors/${passkey.id}`);
    assert.equal(removed.status, 200, JSON.stringify(removed.body));
    return { ada, away };
  },
  'the app': async () => {
    const ada = await twoStep();
    const away = freshAddress();
    const owner = await signedInWith(ada, ada.factor);
    await moveTo(owner, away);
    await removeApp(owner);
    return { ada, away };
  },
};
for (const [what, remove] of Object.entries(REMOVALS)) {
  test(`after ${what} was removed, the password and the earlier mailbox take nothing from the later address`, async () => {
    const { ada, away } = await remove();
    server.advance(60 * MINUTE);
    const thief = await signedIn(server, ada.user);
    assert.doesNotMatch((await thief.get('/account/email')).text, /Go back to/);
    // An ordinary change.
    await moveTo(thief, ada.email);
    const [undo = ''] = await undoLinks(away);
    assert.equal(await press(undo), 200);
    assert.equal((await profileOf(ada)).email, away);
  });

  test(`after ${what} was removed, the password goes back with nothing that was set up since`, async () => {
    const { ada, away } = await remove();
    server.advance(60 * MINUTE);
    const thiefs = await addApp(await signedIn(server, ada.user));
    await moveTo(await signedInWith(ada, thiefs), ada.email);
    assert.equal((await undoLinks(away)).length, 1);
  });
}

for (const then of ['reports', 'recovers'] as const) {
  for (const [what, remove] of Object.entries(REMOVALS)) {
    test(`after ${what} was removed, who changes the address to the earlier one and ${then} takes nothing from the later one`, async () => {
      const { ada, away } = await remove();
      server.advance(60 * MINUTE);
      const thief = await signedIn(server, ada.user);
      await moveTo(thief, ada.email);
      if (then === 'recovers') assert.equal(await recoverAnew(ada, ''), 200);
      else {
        await setPassword(thief, PASSWORD, 'a password of a thief');
        assert.equal(await press(await reportLink(ada.email)), 200);
        assert.equal(await recoverAt(ada.email, ''), 200);
      }
      const [undo = ''] = await undoLinks(away);
      assert.equal(await press(undo), 200);
      assert.equal((await profileOf(ada)).email, away);
    });
  }
}

test('who reads the earlier mailbox alone undoes no change of an account with a passkey, and its owner does', async () => {
  const ada = await person();
  const passkey = await newPasskey(server, ada.user.id);
  const thief = browserOf();
  await usePasskey(thief, passkey);
  server.advance(MINUTE);
  const thiefs = await addPasskeyOnPage(server, thief, ada.user.id);
  const away = freshAddress();
  await moveTo(thief, away);
  const later = await addPasskeyOnPage(server, thief, ada.user.id);
  await passkeyForm(thief, { action: 'remove', id: passkey.id });
  // Which removes every passkey.
  await askRecovery(server, browserOf(), away);
  assert.equal(await recoverAt(away, ''), 200);
  const [undo = ''] = await undoLinks(ada.email);
  assert.equal(await press(undo), 400);
  assert.equal(await press(undo, { code: '123456' }), 400);
  assert.equal(await undoByPasskey(browserOf(), undo, later), 400, 'a passkey from after the change');
  assert.equal(await undoByPasskey(browserOf(), undo, passkey, { origin: 'https://elsewhere.example' }), 400);
  assert.equal(await undoByPasskey(browserOf(), undo, passkey), 200);
  assert.equal((await profileOf(ada)).email, ada.email);
  assert.equal(await recoverAt(ada.email, ''), 200);
  for (const one of [thiefs, later]) assert.notEqual((await usePasskey(browserOf(), one)).status, 303);
});

test('no device forgets a passkey that a thief removed, as long as it undoes the change of the address', async () => {
  const ada = await person();
  const passkey = await newPasskey(server, ada.user.id);
  const thief = browserOf();
  await usePasskey(thief, passkey);
  await moveTo(thief, freshAddress());
  await passkeyForm(thief, { action: 'remove', id: passkey.id });
  const tried = await usePasskey(browserOf(), passkey);
  assert.match(tried.text, /no longer set up/);
  assert.doesNotMatch(tried.text, /data-unknown-passkey/);
  assert.ok((await thief.get('/account/security')).text.includes(`data-accepted-passkeys="${passkey.id}"`));
  const [undo = ''] = await undoLinks(ada.email);
  assert.equal(await undoByPasskey(browserOf(), undo, passkey), 200);
  assert.equal((await usePasskey(browserOf(), passkey)).status, 303, 'it is there again');
  assert.equal(await recoverAt(ada.email, ''), 200);
  assert.match((await usePasskey(browserOf(), passkey)).text, /data-unknown-passkey/);
});

for (const what of ['removed after the change', 'replaced before it'] as const)
  test(`an operator who gives the address back gives a passkey back that a thief ${what}, and the password is not enough`, async () => {
    const ada = await person();
    const passkey = await newPasskey(server, ada.user.id);
    const thief = browserOf();
    await usePasskey(thief, passkey);
    if (what === 'replaced before it') {
      server.advance(MINUTE);
      await addPasskeyOnPage(server, thief, ada.user.id);
      await passkeyForm(thief, { action: 'remove', id: passkey.id });
    }
    await moveTo(thief, freshAddress());
    if (what === 'removed after the change') await passkeyForm(thief, { action: 'remove', id: passkey.id });
    await patch(ada, { email: ada.email, emailVerified: true });
    assert.match((await newestMail(server, ada.email, 'address changed')).text, /works again: your earlier passkey/);
    const again = await signedIn(server, ada.user);
    assert.doesNotMatch((await again.get('/account/confirm?next=email')).text, /name="current"/);
    assert.equal((await usePasskey(browserOf(), passkey)).status, 303);
  });

for (const which of ['the earlier', 'the new']) {
  test(`an owner who replaced the passkey undoes a change with ${which} one, and the mailbox alone does not`, async () => {
    const ada = await person();
    const earlier = await newPasskey(server, ada.user.id);
    const owner = browserOf();
    await usePasskey(owner, earlier);
    server.advance(MINUTE);
    const next = await addPasskeyOnPage(server, owner, ada.user.id);
    await passkeyForm(owner, { action: 'remove', id: earlier.id });
    await moveTo(owner, freshAddress());
    const [undo = ''] = await undoLinks(ada.email);
    assert.equal(await press(undo), 400);
    assert.equal(await undoByPasskey(browserOf(), undo, which === 'the new' ? next : earlier), 200);
  });
}

test('wrong codes at a link that undoes a change are limited by the day', async () => {
  const ada = await twoStep();
  await moveTo(await signedInWith(ada, ada.factor), freshAddress());
  const [undo = ''] = await undoLinks(ada.email);
  const tries: number[] = [];
  for (let quarter = 0; quarter < 5; quarter++) {
    for (let turn = 0; turn < 5; turn++) tries.push(await press(undo, { code: '000000' }));
    server.advance(16 * MINUTE);
  }
  assert.equal(tries.filter((status) => status === 400).length, 20);
  assert.equal(await press(undo, { code: codeOf(ada.factor) }), 429);
  server.advance(DAY);
  assert.equal(await press(undo, { code: codeOf(ada.factor) }), 200);
});

test('an operator’s link that resets nothing does not end the choice that mail alone is not enough, and gives new codes', async () => {
  const ada = await person();
  await giveRecoveryCodes(server, ada.user);
  await requireCode(server, ada.user);
  const made = await admin(server, 'POST', `/users/${ada.user.id}/recovery-link`, {});
  const done = await useLink(browserOf(), String(made.body.url), RECOVERED);
  const [code = ''] = done.text.match(/\b[0-9a-z]{4}(?:-[0-9a-z]{4}){2}\b/g) ?? [];
  assert.notEqual(await recoverAnew(ada, ''), 200, 'the mail alone');
  assert.equal(await recoverAnew(ada, code), 200);
});

// A thief renewed it.

test('an owner recovers by mail with the app from before a thief replaced it', async () => {
  const ada = await twoStep();
  const thiefs = await addApp(await signedInWith(ada, ada.factor));
  assert.equal(await recoverAnew(ada, codeOf(ada.factor)), 200);
  const told = (await newestMail(server, ada.email, 'security notice')).text;
  assert.match(told, /earlier authenticator app, so that one works again/);
  assert.match(told, /If this was you, there is nothing else to do\./);
  assert.equal(await signsIn(ada, RECOVERED, codeOf(thiefs)), false);
  assert.ok(await signsIn(ada, RECOVERED, codeOf(ada.factor)));
});

test('an operator’s link accepts the app from before a thief replaced it', async () => {
  const ada = await twoStep();
  const thiefs = await addApp(await signedInWith(ada, ada.factor));
  const made = await admin(server, 'POST', `/users/${ada.user.id}/recovery-link`, {});
  assert.match((await newestMail(server, ada.email, 'security notice')).text, /If you expected this, and did/);
  const factor = codeOf(ada.factor);
  assert.equal((await useLink(browserOf(), String(made.body.url), RECOVERED, { factor })).status, 200);
  assert.equal(await signsIn(ada, RECOVERED, codeOf(thiefs)), false);
});

test('a recovery code from before leaves no app that was renewed since', async () => {
  const ada = await twoStep();
  await addApp(await signedInWith(ada, ada.factor));
  assert.equal(await recoverAnew(ada, ada.factor.recoveryCodes[0] ?? ''), 200);
  assert.equal(await hasApp(ada), false);
  assert.match(
    (await newestMail(server, ada.email, 'security notice')).text,
    /your authenticator app had been replaced .* so it was removed/,
  );
});

test('the earlier app beats the one that replaced it, whatever a thief did with that', async () => {
  const ada = await twoStep();
  const first = await addApp(await signedInWith(ada, ada.factor));
  // This thief reads the mail as well.
  assert.equal(await press(await reportLink(ada.email)), 200);
  assert.equal(await recoverAt(ada.email, codeOf(first)), 200);
  const thief = await signedInWith(ada, first, RECOVERED);
  const second = await addApp(thief);
  const away = freshAddress();
  await moveTo(thief, away);
  const [undo = ''] = await undoLinks(ada.email);
  assert.equal(await press(undo, { code: codeOf(ada.factor) }), 200);
  assert.equal(await recoverAt(ada.email, codeOf(ada.factor)), 200);
  for (const thiefs of [first, second]) assert.equal(await signsIn(ada, RECOVERED, codeOf(thiefs)), false);
  assert.ok(await signsIn(ada, RECOVERED, codeOf(ada.factor)));
  assert.deepEqual(await undoLinks(away), []);
});

test('an operator who gives the address back leaves no app with which a thief signs in', async () => {
  const ada = await twoStep();
  const thief = await signedInWith(ada, ada.factor);
  const thiefs = await addApp(thief);
  await moveTo(thief, freshAddress());
  await patch(ada, { email: ada.email, emailVerified: true });
  assert.equal(await signsIn(ada, PASSWORD, codeOf(thiefs)), false);
  assert.ok(await signsIn(ada, PASSWORD, codeOf(ada.factor)));
});

test('an owner who renewed the app is told the way in after an operator gave the address back', async () => {
  const ada = await twoStep();
  const owner = await signedInWith(ada, ada.factor);
  const app = await addApp(owner);
  await moveTo(owner, freshAddress());
  await patch(ada, { email: ada.email, emailVerified: true });
  const told = await newestMail(server, ada.email, 'address changed');
  assert.match(told.text, /replaced it yourself.*choose “Forgot your password\?”/);
  assert.equal(await recoverAnew(ada, codeOf(app)), 200);
  assert.ok(await signsIn(ada, RECOVERED, codeOf(app)));
});

test('a passkey of a thief, older than the owner’s session, does not close the way back to an earlier address', async () => {
  const ada = await person();
  const thief = await signedIn(server, ada.user);
  server.advance(MINUTE);
  const passkey = await addPasskeyOnPage(server, thief, ada.user.id);
  const away = freshAddress();
  await moveTo(thief, away);
  server.advance(MINUTE);
  const owner = await signedIn(server, ada.user);
  server.advance(11 * MINUTE);
  const page = await owner.get('/account/email');
  assert.match(page.text, /href="\/account\/confirm\?next=return"/);
  await submit(owner, '/account/confirm?next=return', { current: PASSWORD }, '/account/confirm');
  const other = await submit(owner, '/account/email', { email: freshAddress() });
  assert.equal(other.location?.search, '?next=email', 'for another address, the passkey is asked for');
  await moveTo(owner, ada.email);
  assert.deepEqual(await undoLinks(away), []);
  assert.notEqual((await usePasskey(browserOf(), passkey)).status, 303);
});

test('a passkey of the owner, older than the change of the address, is asked for on the way back', async () => {
  const ada = await person();
  const passkey = await newPasskey(server, ada.user.id);
  const thief = browserOf();
  await usePasskey(thief, passkey);
  await moveTo(thief, freshAddress());
  const other = await signedIn(server, ada.user);
  const page = await other.get('/account/confirm?next=return');
  assert.doesNotMatch(page.text, /name="current"/);
  const { hidden } = formOf(page.text, '/account/confirm');
  const sent = await other.post('/account/email', { ...hidden, email: ada.email });
  assert.equal(sent.location?.search, '?next=email');
});

test('an admin key and a role that a thief made with the account of an operator end with the report', async () => {
  const path = (user: { readonly id: string }) => `/users/${user.id}/roles/owner`;
  const operator = await operatorInBrowser(server, { emailVerified: true });
  const [keeper, accomplice] = [await newUser(server), await newUser(server)];
  for (const { id } of [keeper, operator.user])
    assert.equal((await admin(server, 'PUT', path({ id }), {})).status, 200);
  const { email } = (await admin(server, 'GET', `/users/${operator.user.id}`)).body;
  server.advance(MINUTE);
  const thief = { ...operator, browser: await signedInWith({ user: operator.user, email }, operator.factor) };
  server.advance(MINUTE);
  const token = await signInOnCommandLine(server, thief);
  server.advance(MINUTE);
  const key = (await admin(server, 'POST', '/admin-keys', { name: 'thief', role: 'owner' }, token)).body.adminKey;
  assert.equal((await admin(server, 'PUT', path(accomplice), {}, token)).status, 200);
  assert.equal((await admin(server, 'GET', '/users?limit=1', undefined, key)).status, 200);
  assert.equal(await press(await reportLink(email)), 200);
  assert.equal((await admin(server, 'GET', '/users?limit=1', undefined, key)).status, 401);
  assert.deepEqual((await admin(server, 'GET', `/users/${accomplice.id}/roles`)).body.items, []);
  assert.equal((await admin(server, 'GET', `/users/${keeper.id}/roles`)).body.items.length, 1);
});

test('an app that a thief registered with the account of a developer is disabled with the report, earlier ones are not', async () => {
  const operator = await operatorInBrowser(server, { emailVerified: true });
  const { user } = operator;
  for (const role of ['owner', 'developer']) {
    assert.equal((await admin(server, 'PUT', `/users/${user.id}/roles/${role}`, {})).status, 200);
  }
  // Of two owners, one may lose the role.
  assert.equal((await admin(server, 'PUT', `/users/${(await newUser(server)).id}/roles/owner`, {})).status, 200);
  const { email } = (await admin(server, 'GET', `/users/${user.id}`)).body;
  server.advance(MINUTE);
  const token = await signInOnCommandLine(server, operator);
  const keyOf = async (name: string): Promise<string> =>
    (await admin(server, 'POST', '/admin-keys', { name, role: 'developer' }, token)).body.adminKey;
  const register = async (key: string): Promise<string> => {
    const made = await admin(
      server,
      'POST',
      '/clients',
      { name: 'App', redirectUris: ['https://app.example/cb'] },
      key,
    );
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return made.body.clientId;
  };
  const earlierKey = await keyOf('own');
  const earlier = await register(earlierKey);
  assert.equal((await admin(server, 'DELETE', `/users/${user.id}/roles/owner`)).status, 200);
  server.advance(8 * DAY);
  const thief = { ...operator, browser: await signedInWith({ user, email }, operator.factor) };
  server.advance(MINUTE);
  const byPerson = await register(await signInOnCommandLine(server, thief));
  const byKey = await register(earlierKey);
  assert.equal(await press(await reportLink(email)), 200);
  const statusOf = async (id: string) => (await admin(server, 'GET', `/clients/${id}`)).body.status;
  assert.deepEqual(await Promise.all([earlier, byPerson, byKey].map(statusOf)), ['active', 'disabled', 'active']);
  assert.match(
    (await newestMail(server, email, 'recovery')).text,
    /an app that was registered, enabled or changed, which is disabled/,
  );
});
