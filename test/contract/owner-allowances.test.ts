// store: SQLite, PostgreSQL with --all
/** What somebody else asks for, or types wrong, uses up nothing of what gets the owner of an account back. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Agent, Answer } from '../support/agent.ts';
import { PASSWORD } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { DAY, MINUTE, query } from '../support/outcome.ts';
import { newestMail } from '../support/recovery.ts';
import { totpCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';
import { type Robbed, takenBack } from '../support/taken-back.ts';

const EMAIL = '/account/email';
const server = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off' });
after(() => server.close());
const { browserOf, press, person, twoStep, signedInWith, moveTo, freshAddress, undoLinks, profileOf } =
  takenBack(server);

let places = 0;

/** From now on everybody acts at another IP address: what was counted was counted for one elsewhere. */
const moveAway = (): Promise<unknown> =>
  query(server, `UPDATE rate_count SET bucket = replace(bucket, ' from 127.0.0.1', ' from 203.0.113.${++places}')`);

/** Types wrong codes at a link for hours. @returns how many were looked at */
async function useUp(link: string): Promise<number> {
  let looked = 0;
  for (let quarter = 0; quarter < 5; quarter++) {
    for (let turn = 0; turn < 5; turn++) if ((await press(link, { code: '000000' })) === 400) looked++;
    server.advance(16 * MINUTE);
  }
  return looked;
}

/** A person with an authenticator app whose address was changed, and the link that undoes it. */
async function moved() {
  const ada = await twoStep();
  await moveTo(await signedInWith(ada, ada.factor), freshAddress());
  const [undo = ''] = await undoLinks(ada.email);
  return { ada, undo, appCode: () => totpCode(ada.factor, server.now()), spare: ada.factor.recoveryCodes };
}

test('a reader of the earlier mailbox who types wrong codes all day uses up no tries of the owner elsewhere', async () => {
  const { ada, undo, appCode } = await moved();
  assert.equal(await useUp(undo), 20);
  assert.equal(await press(undo, { code: appCode() }), 429);
  await moveAway();
  assert.equal(await press(undo, { code: appCode() }), 200);
  assert.equal((await profileOf(ada)).email, ada.email);
});

test('codes of an app at a link are limited for all IP addresses together, and a recovery code still counts', async () => {
  const { undo, appCode, spare } = await moved();
  let looked = 0;
  for (let place = 0; place < 7; place++) {
    looked += await useUp(undo);
    await moveAway();
  }
  assert.equal(looked, 100);
  assert.equal(await press(undo, { code: appCode() }), 429);
  assert.equal(await press(undo, { code: spare[0] ?? '' }), 200);
});

test('guesses at recovery codes are limited for each IP address', async () => {
  const { undo, spare } = await moved();
  for (let turn = 0; turn < 5; turn++) assert.equal(await press(undo, { code: 'aaaa-bbbb-cccc' }), 400);
  assert.equal(await press(undo, { code: spare[0] ?? '' }), 429);
  server.advance(DAY);
  assert.equal(await press(undo, { code: spare[0] ?? '' }), 200);
});

async function signIn({ user }: Robbed): Promise<Agent> {
  const browser = browserOf();
  const answer = await browser.submit(
    await browser.get('/login'),
    { identifier: user.username, password: PASSWORD },
    '/login',
  );
  assert.equal(answer.status, 303, answer.text);
  return browser;
}

const ask = async (browser: Agent, email: string): Promise<Answer> =>
  browser.submit(await browser.get(EMAIL), { email }, EMAIL);

const returnMails = async (address: string): Promise<number> =>
  (await mailsTo(server, address)).filter(({ link }) => link?.includes('/verify')).length;

/** A person with a password alone, whose address a thief of the password has changed. */
async function robbed(): Promise<Robbed> {
  const ada = await person();
  await moveTo(await signIn(ada), freshAddress());
  return ada;
}

test('a thief who asks to go back again and again leaves the owner the message and its link', async () => {
  const ada = await robbed();
  const thief = await signIn(ada);
  for (let turn = 0; turn < 12; turn++) assert.equal((await ask(thief, ada.email)).status, 200);
  const before = await returnMails(ada.email);
  assert.equal(before, 10, 'what one IP address asks for is limited');
  await moveAway();
  const owner = await signIn(ada);
  assert.equal((await ask(owner, ada.email)).status, 200);
  assert.equal(await returnMails(ada.email), before + 1);
  const { link = '' } = await newestMail(server, ada.email, 'address change');
  // The thief asks for the same, and for another address.
  await moveAway();
  for (const address of [ada.email, freshAddress()]) assert.equal((await ask(await signIn(ada), address)).status, 200);
  const done = await owner.submit(await owner.get(link), {});
  assert.equal(done.status, 200, done.text);
  assert.equal((await profileOf(ada)).email, ada.email);
});

test('messages that go back are limited for all IP addresses together', async () => {
  const ada = await robbed();
  const counts: number[] = [];
  for (let place = 0; place < 6; place++) {
    const thief = await signIn(ada);
    for (let turn = 0; turn < 10; turn++) await ask(thief, ada.email);
    counts.push(await returnMails(ada.email));
    await query(server, 'DELETE FROM mail');
    await moveAway();
  }
  assert.deepEqual(counts, [10, 10, 10, 10, 10, 0]);
});
