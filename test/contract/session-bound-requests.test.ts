// store: SQLite, PostgreSQL
/** What a person began with a fresh proof ends with the session in which they gave it: decisions §11. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Agent } from '../support/agent.ts';
import { admin, PASSWORD, signedIn } from '../support/flow.ts';
import type { SentMail } from '../support/mail.ts';
import { newestMail } from '../support/recovery.ts';
import { atSecondStep, totpCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';
import { type TwoStep, takenBack } from '../support/taken-back.ts';

const MINUTE = 60_000;
const PAGE = '/account/email';
const server = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off' });
after(() => server.close());
const { freshAddress, submit, twoStep, person, signedInWith } = takenBack(server);

/** Signs a thief in with one code, in a browser that is then trusted, who asks for another address. */
async function askedByThief(ada: TwoStep): Promise<{ readonly thief: Agent; readonly mail: SentMail }> {
  const { browser: thief, page } = await atSecondStep(server, ada.user);
  await thief.submit(page, { code: totpCode(ada.factor, server.now()), trust: 'on' }, '/login/verify');
  const evil = freshAddress();
  assert.equal((await submit(thief, PAGE, { email: evil })).status, 200);
  return { thief, mail: await newestMail(server, evil, 'address change') };
}

const ends: Readonly<Record<string, (ada: TwoStep) => Promise<void>>> = {
  async 'the owner'(ada) {
    const owner = await signedInWith(ada, ada.factor);
    await submit(owner, '/account/sessions', { session: 'others' });
  },
  async 'an operator'({ user }) {
    const { items } = (await admin(server, 'GET', `/users/${user.id}/sessions`)).body;
    for (const { id } of items) await admin(server, 'DELETE', `/users/${user.id}/sessions/${id}`);
  },
};

for (const [who, end] of Object.entries(ends)) {
  test(`a change of address ends with its session, which ${who} ended: neither link nor code changes anything`, async () => {
    const ada = await twoStep();
    const { thief, mail } = await askedByThief(ada);
    const opened = await thief.get(mail.link ?? '');
    await end(ada);
    assert.equal((await thief.get('/account')).status, 302, 'the session is over');
    const signedOut = await thief.get(mail.link ?? '');
    assert.equal(signedOut.status, 410);
    assert.match(signedOut.text, /only as long as you stayed signed in where you asked for it/);
    server.advance(MINUTE);
    // The browser is trusted: the password is enough to sign in, and not for a change.
    const known = { identifier: ada.user.username, password: PASSWORD };
    assert.equal((await thief.submit(await thief.get('/login'), known, '/login')).status, 303);
    assert.equal((await thief.get('/account')).status, 200);
    const dead = await thief.get(mail.link ?? '');
    assert.equal(dead.status, 410);
    assert.match(dead.text, /only as long as you stayed signed in where you asked for it/);
    assert.ok([303, 410].includes((await thief.submit(opened, {}, '/verify')).status), 'a page from before');
    const page = await thief.get(PAGE);
    assert.doesNotMatch(page.text, /name="code"/, 'no request waits');
    const token = /<main.*?name="form_token" value="([^"]+)"/s.exec((await thief.get('/account')).text)?.[1] ?? '';
    const typed = await thief.post(`${PAGE}/code`, { form_token: token, code: mail.code ?? '' });
    assert.equal(typed.status, 400);
    assert.match(typed.text, /signed out of the session in which you asked for it/);
    assert.equal((await admin(server, 'GET', `/users/${ada.user.id}`)).body.email, ada.email);
  });
}

test('a change of address outlives another fresh proof in its session', async () => {
  const ada = await person();
  const browser = await signedIn(server, ada.user);
  const email = freshAddress();
  await submit(browser, PAGE, { email });
  server.advance(11 * MINUTE);
  await submit(browser, '/account/confirm?next=export', { current: PASSWORD }, '/account/confirm');
  const mail = await newestMail(server, email, 'address change');
  assert.equal((await browser.submit(await browser.get(mail.link ?? ''), {})).status, 200);
  assert.equal((await admin(server, 'GET', `/users/${ada.user.id}`)).body.email, email);
});
