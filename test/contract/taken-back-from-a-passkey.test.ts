// store: SQLite, PostgreSQL
/** A report ends the passkey of a thief, whatever the thief did after the message that names it. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import { signedIn } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { addPasskeyOnPage, newPasskey, passkeyForm, usePasskey } from '../support/passkeys.ts';
import { newestMail } from '../support/recovery.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import type { SoftAuthenticator } from '../support/soft-authenticator.ts';
import { type Robbed, takenBack } from '../support/taken-back.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const server = spread(await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off' }, SEVERAL));
after(() => server.close());
const { browserOf, press, submit, person, patch, setUsername } = takenBack(server);

async function signedInBy(passkey: SoftAuthenticator): Promise<Agent> {
  const browser = browserOf();
  assert.equal((await usePasskey(browser, passkey)).status, 303);
  return browser;
}

const ACTS: Readonly<Record<string, (thief: Agent, ada: Robbed) => Promise<unknown>>> = {
  'signed out everywhere': (thief) => submit(thief, '/account/security', {}, '/account/sign-out-everywhere'),
  'signed out everywhere, and again after a sign-in by the password': async (thief, { user }) => {
    await submit(thief, '/account/security', {}, '/account/sign-out-everywhere');
    server.advance(MINUTE);
    await submit(await signedIn(server, user), '/account/security', {}, '/account/sign-out-everywhere');
  },
  'added a passkey, and removed it in a session of its own': async (thief, { user }) => {
    const own = await addPasskeyOnPage(server, thief, user.id);
    server.advance(MINUTE);
    const later = await signedInBy(own);
    server.advance(MINUTE);
    await passkeyForm(later, { action: 'remove', id: own.id });
  },
  'changed the username': (thief, { user }) => setUsername(thief, `${user.username}-x`),
  'changed the username, and signed in by the password': async (thief, { user }) => {
    await setUsername(thief, `${user.username}-x`);
    server.advance(MINUTE);
    await signedIn(server, { ...user, username: `${user.username}-x` });
  },
  'asked for another address, until an operator named the present one again': async (thief, ada) => {
    await submit(thief, '/account/email', { email: `x-${ada.email}` });
    await patch(ada, { email: ada.email });
  },
};
for (const [what, act] of Object.entries(ACTS)) {
  test(`the newest report ends the passkey of a thief who ${what}, and leaves another one`, async () => {
    const ada = await person();
    const stolen = await newPasskey(server, ada.user.id);
    server.advance(MINUTE);
    const kept = await newPasskey(server, ada.user.id);
    server.advance(20 * DAY);
    const thief = await signedInBy(stolen);
    server.advance(MINUTE);
    await act(thief, ada);
    server.advance(MINUTE);
    const reports = (await mailsTo(server, ada.email)).filter(({ kind }) => kind === 'security notice');
    const answers: number[] = [];
    for (const { link = '' } of reports) answers.push(await press(link));
    assert.equal(answers[0], 200);
    assert.notEqual((await usePasskey(browserOf(), stolen)).status, 303);
    const { text } = await newestMail(server, ada.email, 'recovery');
    assert.match(text, /The passkey with which this was done no longer works/);
    await signedInBy(kept);
  });
}
