// store: SQLite, PostgreSQL with --all
/** Verifying and changing an email address, and undoing a change. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import {
  admin,
  newClient,
  newUser,
  PASSWORD,
  refresh,
  signedIn,
  type TestUser,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { mailsTo, type SentMail } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { askRecovery, newestMail } from '../support/recovery.ts';
import { atSecondStep, enroll, totpCode, typeCode as typeFactor } from '../support/second-factor.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const server = spread(await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off' }, SEVERAL));
after(() => server.close());

const PAGE = '/account/email';
interface Person {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly email: string;
}
const recordOf = async ({ id }: TestUser) => (await admin(server, 'GET', `/users/${id}`)).body;
async function person(verified = true): Promise<Person> {
  const user = await newUser(server, { emailVerified: verified });
  return { user, browser: await signedIn(server, user), email: (await recordOf(user)).email };
}
const stateOf = async (user: TestUser) => {
  const { email, emailVerified } = await recordOf(user);
  return [email, emailVerified];
};
const latest = async (address: string): Promise<SentMail> => {
  const [mail] = await mailsTo(server, address);
  assert.ok(mail !== undefined, `no mail to ${address}`);
  return mail;
};
const ask = async ({ browser }: Person, email: string): Promise<Answer> =>
  browser.submit(await browser.get(PAGE), { email }, PAGE);
const askToVerify = async ({ browser }: Person) => browser.submit(await browser.get(PAGE), {}, `${PAGE}/verify`);
const typeCode = async ({ browser }: Person, code: string) =>
  browser.submit(await browser.get(PAGE), { code }, `${PAGE}/code`);
const press = async (browser: Agent, { link = '' }: SentMail, fields = {}) =>
  browser.submit(await browser.get(link), fields);
let names = 0;
const freshAddress = () => `new-address-${++names}@example.com`;
/** Changes an address; the new one and the message to the earlier one. */
async function changed(who: Person): Promise<{ email: string; undo: SentMail }> {
  const email = freshAddress();
  await ask(who, email);
  assert.equal((await press(who.browser, await latest(email))).status, 200);
  return { email, undo: await latest(who.email) };
}
const isSignedIn = async (browser: Agent) => (await browser.get('/account')).status === 200;

test('an address is verified by its link or its code; claims say so, and other browsers are signed out', async () => {
  for (const how of ['link', 'code']) {
    const ada = await person(false);
    const other = await signedIn(server, ada.user);
    await askToVerify(ada);
    const mail = await latest(ada.email);
    const done = how === 'link' ? await press(ada.browser, mail) : await typeCode(ada, mail.code ?? '');
    assert.equal(done.status, 200, done.text);
    assert.deepEqual(await stateOf(ada.user), [ada.email, true]);
    assert.deepEqual([await isSignedIn(ada.browser), await isSignedIn(other)], [true, false]);
    const tokens = await tokensFor(
      server,
      await newClient(server),
      ada.user,
      { scope: 'openid email' },
      { browser: ada.browser },
    );
    assert.equal((await userinfo(server, tokens.access_token)).body.user.email.isVerified, true);
    assert.equal((await agent(server.baseUrl).get(mail.link ?? '')).status, 410, 'used');
  }
});

test('an address is changed with a fresh proof, and both addresses are told', async () => {
  const ada = await person();
  const client = await newClient(server);
  const tokens = await tokensFor(server, client, ada.user, {}, { browser: ada.browser });
  const early = await ada.browser.get(PAGE);
  server.advance(10 * MINUTE);
  assert.match((await ada.browser.get(PAGE)).text, /\/account\/confirm\?next=email/);
  const refused = await ada.browser.submit(early, { email: freshAddress() }, PAGE);
  assert.equal(refused.location?.pathname, '/account/confirm');
  const confirm = await ada.browser.get('/account/confirm?next=email');
  assert.equal((await ada.browser.submit(confirm, { current: PASSWORD })).location?.pathname, PAGE);
  const { email, undo } = await changed(ada);
  assert.deepEqual(await stateOf(ada.user), [email, true]);
  assert.match(undo.text, new RegExp(email));
  assert.match((await latest(email)).text, /We told the earlier address/);
  assert.equal((await refresh(server, client, tokens.refresh_token)).body.error, 'invalid_grant');
  assert.ok(await isSignedIn(ada.browser));
});

test('an earlier address that was never verified is not told, and the new one does not say that it was', async () => {
  const ada = await person(false);
  const email = freshAddress();
  await ask(ada, email);
  const done = await press(ada.browser, await latest(email));
  assert.match(done.text, /<p>Your address is changed\.<\/p>/);
  assert.doesNotMatch((await latest(email)).text, /earlier address/);
  assert.deepEqual(await mailsTo(server, ada.email), []);
});

test('the page of a link says what happens to the account when the address is confirmed', async () => {
  const says = async ({ browser }: Person, mail: SentMail) =>
    (await browser.get(mail.link ?? '')).text.replaceAll(/<[^>]+>/g, '');
  const unproved = /Your password, passkeys and other providers are removed, unless you signed in with them/;
  const eve = await person(false);
  await askToVerify(eve);
  const own = await says(eve, await latest(eve.email));
  assert.match(own, new RegExp(`You confirm that ${eve.email} is the address of your account`));
  assert.match(own, unproved);
  const other = freshAddress();
  await ask(eve, other);
  assert.match(await says(eve, await latest(other)), unproved, 'the present one was never verified');
  const ada = await person();
  const { email } = await changed(ada);
  const next = freshAddress();
  await ask({ ...ada, email }, next);
  const change = await says(ada, await latest(next));
  assert.match(change, new RegExp(`${next} becomes the address of your account ${ada.user.username}`));
  assert.doesNotMatch(change, unproved);
  await ask(ada, ada.email);
  const back = await says(ada, await latest(ada.email));
  assert.match(back, new RegExp(`${ada.email} becomes the address of your account again`));
  assert.match(back, /What was added since .* is removed/);
});

test('nothing but the button in the browser that asked acts: no scanner, no other browser, no form of another', async () => {
  const ada = await person();
  const email = freshAddress();
  await ask(ada, email);
  const mail = await latest(email);
  const link = mail.link ?? '';
  const scanner = agent(server.baseUrl);
  for (const open of [() => scanner.get(link), () => fetch(link, { method: 'HEAD' }), () => ada.browser.get(link)])
    await open();
  const elsewhere = await scanner.get(link);
  assert.match(elsewhere.text, /Continue where you began/);
  assert.match(elsewhere.text, /type the code there\..*<a href="\/account\/email">Ask for a new link/s);
  assert.doesNotMatch(elsewhere.text, /<form/);
  const page = await ada.browser.get(link);
  assert.equal((await scanner.submit(page, {})).status, 303, 'the form of another browser');
  const bob = await person();
  assert.match((await bob.browser.get(link)).text, /Continue where you began/);
  assert.equal((await typeCode({ ...ada, browser: ada.browser }, '000000')).status, 400);
  assert.deepEqual(await stateOf(ada.user), [ada.email, true]);
  assert.equal((await press(ada.browser, mail)).status, 200);
  assert.equal((await ada.browser.get(link)).status, 410);
});

test('links and codes die: after 15 minutes, by a newer request, by five wrong tries, by a new password', async () => {
  const ada = await person();
  const [first, second] = [freshAddress(), freshAddress()];
  await ask(ada, first);
  await ask(ada, second);
  assert.equal((await ada.browser.get((await latest(first)).link ?? '')).status, 410);
  const waiting = await latest(second);
  for (let tries = 0; tries < 5; tries++) assert.equal((await typeCode(ada, 'wrong!')).status, 400);
  assert.equal((await typeCode(ada, waiting.code ?? '')).status, 429);
  server.advance(15 * MINUTE);
  assert.equal((await ada.browser.get(waiting.link ?? '')).status, 410);

  const bob = await person();
  const third = freshAddress();
  await ask(bob, third);
  const security = await bob.browser.get('/account/security');
  const password = 'quite another passphrase';
  assert.equal((await bob.browser.submit(security, { current: PASSWORD, password }, '/account/password')).status, 200);
  assert.equal((await press(bob.browser, await latest(third)).catch(() => undefined))?.status ?? 410, 410);
  assert.deepEqual(await stateOf(bob.user), [bob.email, true]);
});

test('the page of a link that no longer works says why', async () => {
  const why = async (who: Person, mail: SentMail): Promise<string> => {
    const { status, text } = await who.browser.get(mail.link ?? '');
    assert.equal(status, 410);
    return /<h1>This link no longer works<\/h1><p>(.*?)<\/p>/.exec(text)?.[1] ?? '';
  };
  const ada = await person(false);
  await askToVerify(ada);
  const used = await latest(ada.email);
  await press(ada.browser, used);
  assert.match(await why(ada, used), /^It was used already\./);
  const address = freshAddress();
  await ask(ada, address);
  const replaced = await latest(address);
  await ask(ada, freshAddress());
  assert.match(
    await why(ada, replaced),
    /^It was used already, has expired or was replaced by a newer one, or your account/,
  );
  const other = freshAddress();
  await ask(ada, other);
  server.advance(15 * MINUTE);
  assert.match(await why(ada, await latest(other)), /^It has expired\./);
});

test('the page of a link that no longer works offers what its person can do instead', async () => {
  const offered = async (browser: Agent, { link = '' }: SentMail): Promise<string[]> => {
    const { text } = await browser.get(link);
    assert.match(text, /This link no longer works/);
    const [, main = ''] = text.split('<main');
    return [...main.matchAll(/<a class="button[^"]*" href="([^"]+)">/g)].map(([, address = '']) => address);
  };
  const ada = await person(false);
  await askToVerify(ada);
  const verify = await latest(ada.email);
  const page = await ada.browser.get(verify.link ?? '');
  assert.match(page.text, /<header class="masthead">.*Sign out.*<\/header>/s, 'who is signed in');
  const done = await ada.browser.submit(page, {});
  assert.match(done.text, /<header class="masthead">.*Sign out.*<\/header>/s, 'and in the new session');
  assert.deepEqual(await offered(ada.browser, verify), ['/account/email']);
  const bob = await person();
  const { undo } = await changed(bob);
  server.advance(7 * 24 * 60 * MINUTE);
  assert.deepEqual(await offered(agent(server.baseUrl), undo), ['/recover', '/login']);
});

test('a taken address gets the same answer, and its owner a message', async () => {
  const [ada, bob, eve] = [await person(), await person(), await person(false)];
  const bare = (answer: Answer) => [answer.status, answer.text.replaceAll(/value="[^"]*"|[\w-]+@[\w.-]+/g, '')];
  const free = bare(await ask(ada, freshAddress()));
  assert.deepEqual(bare(await ask(ada, bob.email)), free);
  assert.equal((await latest(bob.email)).subject, 'You already have an account');
  // An address that was never verified reserves nothing: whoever verifies it has it.
  assert.deepEqual(bare(await ask(ada, eve.email)), free);
  assert.equal((await press(ada.browser, await latest(eve.email))).status, 200);
  assert.deepEqual(await stateOf(ada.user), [eve.email, true]);
  assert.deepEqual(await stateOf(eve.user), [`${eve.user.id}@unverified.invalid`, false]);
  assert.equal(await isSignedIn(eve.browser), false);
});

test('for seven days the earlier address undoes a change, whatever came since, and is reserved', async () => {
  const ada = await person();
  const first = await changed(ada);
  // What a thief may do with the account: a second change, a new password.
  const second = await changed({ ...ada, email: first.email });
  const security = await ada.browser.get('/account/security');
  const password = 'the passphrase of a thief';
  assert.equal((await ada.browser.submit(security, { current: PASSWORD, password }, '/account/password')).status, 200);
  const mallory = await person();
  await ask(mallory, ada.email);
  assert.equal((await latest(ada.email)).kind !== 'address change', true, 'reserved: no link');
  assert.equal((await admin(server, 'PATCH', `/users/${mallory.user.id}`, { email: ada.email })).status, 409);

  const scanner = agent(server.baseUrl);
  await scanner.get(first.undo.link ?? '');
  await fetch(first.undo.link ?? '', { method: 'HEAD' });
  assert.deepEqual(await stateOf(ada.user), [second.email, true]);

  const owner = agent(server.baseUrl);
  assert.equal((await press(owner, first.undo)).status, 200);
  assert.deepEqual(await stateOf(ada.user), [ada.email, true]);
  assert.equal(await isSignedIn(ada.browser), false);
  assert.equal(owner.cookie('tessera_session'), undefined, 'nobody is signed in by it');
  assert.equal((await latest(ada.email)).kind, 'recovery');
  assert.match((await latest(second.email)).text, /has its earlier email address again/);
  for (const { undo } of [first, second]) assert.equal((await owner.get(undo.link ?? '')).status, 410);
  await assert.rejects(signedIn(server, ada.user, password), /401/);
});

test('the page that undoes a change says since when, and promises a banned person no link', async () => {
  const ada = await person();
  const { undo } = await changed(ada);
  const page = await agent(server.baseUrl).get(undo.link ?? '');
  assert.match(page.text, /We send a link to this address.*What was added since <time/s);
  assert.equal((await admin(server, 'PUT', `/users/${ada.user.id}/ban`, { reason: 'spam' })).status, 200);
  const barred = await agent(server.baseUrl).get(undo.link ?? '');
  assert.match(barred.text, /no link to set a new password is sent/);
  assert.doesNotMatch(barred.text, /We send a link/);
});

test('while a change can be undone, both addresses are told of a request for deletion', async () => {
  const ada = await person();
  const { email } = await changed(ada);
  const left = await ada.browser.submit(
    await ada.browser.get('/account/data'),
    { confirm: 'yes' },
    '/account/deletion',
  );
  assert.equal(left.status, 200);
  for (const address of [ada.email, email]) {
    const mail = await latest(address);
    assert.deepEqual([mail.kind, mail.subject], ['security notice', 'The deletion of your account was requested']);
    assert.match(mail.text, /Unless you sign in and choose to keep it, it will be deleted on \d+ \w+ \d{4}/);
  }
});

test('the undo asks for a second factor from before the change, and removes one from after it', async () => {
  const ada = await person();
  const email = freshAddress();
  await ask(ada, email);
  const factor = await enroll(server, ada.user);
  assert.equal((await press(ada.browser, await latest(email))).status, 200);
  const undo = await latest(ada.email);
  const owner = agent(server.baseUrl);
  const asking = await owner.get(undo.link ?? '');
  assert.match(asking.text, /name="code"/);
  assert.match(asking.text, /You have no code\? Contact /);
  for (const code of ['', '000000']) assert.equal((await press(owner, undo, { code })).status, 400, code);
  assert.deepEqual(await stateOf(ada.user), [email, true]);
  assert.equal((await press(owner, undo, { code: factor.recoveryCodes[0] ?? '' })).status, 200);
  assert.deepEqual(await stateOf(ada.user), [ada.email, true]);
  const countOf = async (user: TestUser) => {
    const [row] = await query(server, 'SELECT count(*) AS n FROM totp_secret WHERE account_id = ?', user.id);
    return Number(row?.['n']);
  };
  assert.equal(await countOf(ada.user), 1, 'kept');

  const bob = await person();
  const change = await changed(bob);
  server.advance(120 * MINUTE);
  await enroll(server, bob.user);
  assert.equal(await countOf(bob.user), 1);
  assert.doesNotMatch((await owner.get(change.undo.link ?? '')).text, /name="code"/);
  assert.equal((await press(owner, change.undo)).status, 200);
  assert.equal(await countOf(bob.user), 0, 'removed');
});

test('after seven days the change is final, and the address free', async () => {
  const ada = await person();
  const { undo } = await changed(ada);
  server.advance(7 * DAY);
  const over = await agent(server.baseUrl).get(undo.link ?? '');
  assert.equal(over.status, 410);
  assert.match(over.text, /has expired/);
  const bob = await person();
  await ask(bob, ada.email);
  assert.equal((await press(bob.browser, await latest(ada.email))).status, 200);
  assert.deepEqual(await stateOf(bob.user), [ada.email, true]);
});

test('of what happens at the same time, one wins', async () => {
  // Two presses of the same link.
  const ada = await person();
  const email = freshAddress();
  await ask(ada, email);
  const mail = await latest(email);
  const page = await ada.browser.get(mail.link ?? '');
  const presses = await Promise.all([ada.browser.submit(page, {}), ada.browser.submit(page, {})]);
  assert.equal(presses.filter(({ status }) => status === 200).length, 1, presses.map(({ status }) => status).join());
  assert.deepEqual(await stateOf(ada.user), [email, true]);

  // Two people confirm the same address.
  const [bob, eve] = [await person(), await person()];
  const wanted = freshAddress();
  await ask(bob, wanted);
  const toBob = await latest(wanted);
  await ask(eve, wanted);
  const toEve = await latest(wanted);
  await Promise.all([press(bob.browser, toBob), press(eve.browser, toEve)]);
  const owners = [await stateOf(bob.user), await stateOf(eve.user)].filter(([address]) => address === wanted);
  assert.equal(owners.length, 1);

  // Undo against another change.
  const cleo = await person();
  const { undo } = await changed(cleo);
  const next = freshAddress();
  await ask(cleo, next);
  const confirm = await latest(next);
  const [confirmPage, undoPage] = [await cleo.browser.get(confirm.link ?? ''), agent(server.baseUrl)];
  const opened = await undoPage.get(undo.link ?? '');
  const [, undone] = await Promise.all([cleo.browser.submit(confirmPage, {}), undoPage.submit(opened, {})]);
  assert.equal(undone.status, 200);
  assert.deepEqual(await stateOf(cleo.user), [cleo.email, true]);
});

test('of a recovery and a change of address at the same time, one wins', async () => {
  const ada = await person();
  const email = freshAddress();
  await ask(ada, email);
  const confirmPage = await ada.browser.get((await latest(email)).link ?? '');
  const owner = agent(server.baseUrl);
  await askRecovery(server, owner, ada.user.username);
  const recoveryPage = await owner.get((await newestMail(server, ada.email, 'recovery')).link ?? '');
  const [confirmed, recovered] = await Promise.all([
    ada.browser.submit(confirmPage, {}),
    owner.submit(recoveryPage, { password: 'twelve green bicycles' }, '/recover/link'),
  ]);
  const isChanged = confirmed.status === 200;
  assert.equal(recovered.status === 303, !isChanged, `${confirmed.status} ${recovered.status}`);
  assert.deepEqual(await stateOf(ada.user), [isChanged ? email : ada.email, true]);
});

test('a form from another site, or without its token, asks for nothing', async () => {
  const ada = await person(false);
  const forms = { [PAGE]: { email: freshAddress() }, [`${PAGE}/verify`]: {}, [`${PAGE}/code`]: { code: '123456' } };
  for (const [action, fields] of Object.entries(forms)) {
    assert.equal((await ada.browser.post(action, fields)).status, 400, action);
    assert.equal((await ada.browser.post(action, fields, { origin: 'https://evil.example' })).status, 403, action);
    assert.equal((await agent(server.baseUrl).post(action, fields)).location?.pathname, '/login', action);
  }
  assert.deepEqual(await mailsTo(server, ada.email), []);
});

test('without mail the page offers nothing, and nothing is stored', async () => {
  const quiet = await startServer();
  after(() => quiet.close());
  const user = await newUser(quiet);
  const browser = await signedIn(quiet, user);
  const page = await browser.get(PAGE);
  assert.match(page.text, /sends no mail/);
  assert.doesNotMatch(page.text, new RegExp(`action="${PAGE}`));
});

/** What a thief does after adding a factor, in order. Each act ends the links of the reports before it. */
const COVERS = {
  'changes the address': ['address'],
  'signs out everywhere': ['sign out'],
  'makes recovery codes twice, then signs out everywhere': ['codes', 'codes', 'sign out'],
  'makes recovery codes twice, then changes the address': ['codes', 'codes', 'address'],
  'asks for the deletion': ['deletion'],
  'asks for the deletion and comes back': ['deletion', 'come back'],
} as const;
for (const [how, acts] of Object.entries(COVERS)) {
  test(`a thief who knows the password, adds an authenticator app and ${how} does not keep the owner out`, async () => {
    const { user, email, browser: thief } = await person();
    const page = await thief.get('/account/security/authenticator');
    const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
    const code = totpCode({ seed }, server.now());
    assert.equal((await thief.submit(page, { code }, '/account/security/authenticator')).status, 200);
    const does: Record<(typeof acts)[number], () => Promise<unknown>> = {
      async address() {
        const to = freshAddress();
        await ask({ user, browser: thief, email }, to);
        assert.equal((await press(thief, await latest(to))).status, 200);
      },
      'sign out': async () => thief.submit(await security(), {}, '/account/sign-out-everywhere'),
      codes: async () => thief.submit(await security(), {}, '/account/security/recovery-codes'),
      deletion: async () => thief.submit(await thief.get('/account/data'), { confirm: 'yes' }, '/account/deletion'),
      async 'come back'() {
        const { page: verify } = await atSecondStep(server, user, thief);
        await typeFactor(thief, verify, totpCode({ seed }, server.now()));
        const answer = await thief.submit(await thief.get('/login/come-back'), {}, '/login/come-back');
        assert.equal(answer.location?.pathname, '/account');
      },
    };
    const security = () => thief.get('/account/security');
    for (const act of acts) {
      server.advance(MINUTE);
      await does[act]();
    }
    // The owner uses the newest link, which asks for nothing that only the thief has.
    const owner = agent(server.baseUrl);
    const [newest] = (await mailsTo(server, email)).filter(({ link }) =>
      /secure-account|undo-address/.test(link ?? ''),
    );
    assert.ok(newest !== undefined);
    const done = await press(owner, newest);
    assert.equal(done.status, 200, done.text);
    const [recovery] = (await mailsTo(server, email)).filter(({ kind }) => kind === 'recovery');
    const open = await owner.get(recovery?.link ?? '');
    assert.doesNotMatch(open.text, /name="factor"/, 'nor does the recovery');
    const fields = { password: 'a password of the owner' };
    assert.equal((await owner.submit(open, fields, '/recover/link')).status, 200);
    const login = await owner.submit(
      await owner.get('/login'),
      { identifier: user.username, password: fields.password },
      '/login',
    );
    assert.equal(login.location?.pathname, '/account', 'nor does a deletion wait');
  });
}
