// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { userHandleOf } from '../../src/account-actions/authentication/passkey.ts';
import { type Agent, agent } from '../support/agent.ts';
import { admin, authorizeUrl, newClient, newUser as newTestUser, PASSWORD, signedIn } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { newPasskey, passkeyOptions, usePasskey } from '../support/passkeys.ts';
import { askRecovery, newestMail, recover, useLink } from '../support/recovery.ts';
import { atSecondStep, enroll, giveRecoveryCodes, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { type SoftAuthenticator, softAuthenticator } from '../support/soft-authenticator.ts';

// What a recovery by mail asks for beside the link (contract decisions §11).

const SETTINGS = {
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
  TESSERA_LIMIT_TOTP_ACCOUNT: 'off',
  TESSERA_LIMIT_FORM_ACCOUNT: '120/m',
};
const server = await startServer(SETTINGS);
const strict = await startServer({ ...SETTINGS, TESSERA_SECOND_FACTOR: 'required' });
after(async () => {
  await server.close();
  await strict.close();
});

const NEW = 'twelve green bicycles';
const ADDRESS = '/account/security/recovery';

async function newUser(on: TestServer, fields: Readonly<Record<string, unknown>> = {}) {
  const user = await newTestUser(on, { emailVerified: true, ...fields });
  return { ...user, email: `${user.username}@example.com` };
}

interface Owner {
  readonly id: string;
  readonly email: string;
  readonly passkey: SoftAuthenticator;
  readonly codes: readonly string[];
  readonly browser: Agent;
}

let owners = 0;
/** A person with a passkey, recovery codes and no password, in a browser that just signed in. */
async function passkeyOwner(withCodes = true): Promise<Owner> {
  const username = `owner-${owners++}`;
  const email = `${username}@example.com`;
  const fields = { username, displayName: 'Owner', email, emailVerified: true };
  const { id } = (await admin(server, 'POST', '/users', fields)).body;
  const passkey = await newPasskey(server, id);
  const codes = withCodes ? await giveRecoveryCodes(server, { id }) : [];
  const browser = agent(server.baseUrl);
  assert.equal((await usePasskey(browser, passkey)).status, 303);
  return { id, email, passkey, codes, browser };
}

async function choose({ browser }: Pick<Owner, 'browser'>, choice: 'yes' | 'no', status = 200) {
  const page = await browser.get('/account/security');
  const answer = await browser.submit(page, { require: choice }, ADDRESS);
  assert.equal(answer.status, status, answer.text);
  return answer;
}

const eventsOf = async (id: string): Promise<{ type: string; details: unknown }[]> =>
  (await admin(server, 'GET', `/audit-events?userId=${id}`)).body.items;

test('a person may require a recovery code beside the link, for links that were sent before as well', async () => {
  const owner = await passkeyOwner();
  const stranger = agent(server.baseUrl);
  await askRecovery(server, stranger, owner.email);
  const { link: earlier = '' } = await newestMail(server, owner.email, 'recovery');
  const opened = await stranger.get(earlier);
  assert.doesNotMatch(opened.text, /name="factor"/);
  const done = await choose(owner, 'yes');
  assert.match(done.text, /Stop requiring a recovery code/);
  assert.match((await owner.browser.get('/account/security')).text, /A link to your email address, with one of your/);
  const told = (await mailsTo(server, owner.email)).map(({ subject }) => subject);
  assert.ok(told.includes('How your account is recovered was changed'), told.join());

  const refused = await stranger.submit(opened, { password: NEW }, '/recover/link');
  assert.equal(refused.status, 400);
  assert.match(refused.text, /name="factor"/);
  const tries = [{}, { factor: '123456' }, { factor: 'aaaa-bbbb-cccc' }];
  for (const fields of tries) assert.equal((await useLink(stranger, earlier, NEW, fields)).status, 400);
  assert.equal((await usePasskey(agent(server.baseUrl), owner.passkey)).status, 303, 'nothing was changed');

  const [code = '', next = ''] = owner.codes;
  assert.equal((await useLink(stranger, earlier, NEW, { factor: code })).location?.pathname, '/account');
  assert.equal((await usePasskey(agent(server.baseUrl), owner.passkey)).status, 401, 'passkeys are removed');
  // The choice outlives the recovery, and codes are used once.
  server.advance(1);
  await askRecovery(server, stranger, owner.email);
  const { link: again = '' } = await newestMail(server, owner.email, 'recovery');
  assert.equal((await useLink(stranger, again, NEW, { factor: code })).status, 400);
  assert.equal((await useLink(stranger, again, NEW, { factor: next })).location?.pathname, '/account');
  const changes = (await eventsOf(owner.id)).filter(({ type }) => type === 'account.recovery_setting_changed');
  assert.deepEqual(
    changes.map(({ details }) => details),
    [{ codeRequired: true }],
  );
});

test('asking tells nothing of the choice, and mail alone is enough once it is withdrawn', async () => {
  const [chosen, other] = [await passkeyOwner(), await passkeyOwner()];
  await choose(chosen, 'yes');
  const seen = [];
  for (const { email } of [chosen, other]) {
    const browser = agent(server.baseUrl);
    const asked = await askRecovery(server, browser, email);
    const page = (await browser.get('/recover/code')).text.replaceAll(/value="[\w-]{43}"/g, '');
    const { text } = await newestMail(server, email, 'recovery');
    const mail = text.replaceAll(email.split('@')[0] ?? '', 'NAME').replace(/^\d{6}$/m, 'CODE');
    seen.push([asked.status, asked.location?.href, page, mail]);
  }
  assert.deepEqual(seen[0], seen[1]);
  await choose(chosen, 'no');
  const nothingNew = await eventsOf(chosen.id);
  server.advance(1);
  assert.equal((await recover(server, chosen.email, NEW)).location?.pathname, '/account');
  assert.equal(nothingNew.filter(({ type }) => type === 'account.recovery_setting_changed').length, 2);
});

test('the choice needs recovery codes, a fresh proof, and the form of this session', async () => {
  const without = await newUser(server);
  const browser = await signedIn(server, without);
  const page = await browser.get('/account/security');
  assert.doesNotMatch(page.text, new RegExp(ADDRESS));
  const owner = await passkeyOwner();
  const form = await owner.browser.get('/account/security');
  server.advance(10 * 60_000);
  const late = await owner.browser.submit(form, { require: 'yes' }, ADDRESS);
  assert.equal(late.location?.search, '?next=recovery');
  assert.doesNotMatch((await owner.browser.get('/account/security')).text, new RegExp(`action="${ADDRESS}"`));
  const fresh = await passkeyOwner();
  assert.equal((await fresh.browser.post(ADDRESS, { require: 'yes' })).status, 400);
  const before = await fresh.browser.get('/account/security');
  await admin(server, 'DELETE', `/users/${fresh.id}/sessions`);
  assert.equal((await fresh.browser.submit(before, { require: 'yes' }, ADDRESS)).location?.pathname, '/login');
});

test('a thief of a session cannot bury other messages under those of the choice: ten an hour', async () => {
  const owner = await passkeyOwner();
  for (let change = 0; change < 10; change++) await choose(owner, change % 2 === 0 ? 'yes' : 'no');
  const refused = await choose(owner, 'yes', 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  const told = (await mailsTo(server, owner.email)).filter(({ subject }) => /recovered was changed/.test(subject));
  // Five at once, and one that tells the others.
  assert.equal(told.length, 6);
  assert.match(told[0]?.text ?? '', /2 times.*3 times/s);
});

test('without any code left only an operator helps: an operator’s link asks for no code', async () => {
  const owner = await passkeyOwner();
  await choose(owner, 'yes');
  const browser = agent(server.baseUrl);
  for (const factor of owner.codes) {
    server.advance(1);
    await askRecovery(server, browser, owner.email);
    const { link = '' } = await newestMail(server, owner.email, 'recovery');
    assert.equal((await useLink(browser, link, NEW, { factor })).location?.pathname, '/account');
  }
  server.advance(1);
  await askRecovery(server, browser, owner.email);
  const { link = '' } = await newestMail(server, owner.email, 'recovery');
  const page = await browser.get(link);
  assert.match(page.text, /it has no recovery codes.*contact/s);
  assert.doesNotMatch(page.text, /<form/);
  const { url } = (await admin(server, 'POST', `/users/${owner.id}/recovery-link`, {})).body;
  assert.equal((await useLink(agent(server.baseUrl), url, NEW)).status, 200);
  // With the factors, the choice is reset.
  const reset = (await admin(server, 'POST', `/users/${owner.id}/recovery-link`, { resetFactors: true })).body;
  assert.equal((await useLink(agent(server.baseUrl), reset.url, NEW)).status, 200);
  server.advance(1);
  assert.equal((await recover(server, owner.email, NEW)).location?.pathname, '/account');
});

test('a choice that a thief made ends with the report about it', async () => {
  const owner = await passkeyOwner();
  await choose(owner, 'yes');
  const notice = (await mailsTo(server, owner.email)).find(({ subject }) => /recovered was changed/.test(subject));
  const browser = agent(server.baseUrl);
  const reported = await browser.submit(await browser.get(notice?.link ?? ''), {}, '/secure-account');
  assert.equal(reported.status, 200, reported.text);
  const { link = '' } = await newestMail(server, owner.email, 'recovery');
  assert.equal((await useLink(browser, link, NEW)).status, 200);
});

test('a person with passkeys alone ends a recovery with a new passkey, and gets recovery codes', async () => {
  const owner = await passkeyOwner();
  const client = await newClient(server);
  const browser = agent(server.baseUrl);
  const asked = await browser.get(authorizeUrl(client));
  await browser.submit(await browser.get(`/recover${asked.location?.search}`), { identifier: owner.email });
  await server.sendRequestedMail();
  const { link = '' } = await newestMail(server, owner.email, 'recovery');
  const token = new URL(link).searchParams.get('token') ?? '';
  const page = await browser.get(link);
  assert.match(page.text, /with=passkey/);
  const form = await browser.get(`${link}&with=passkey`);
  assert.doesNotMatch(form.text, /name="password"/);
  const options = () => passkeyOptions(browser, `/recover/passkey?token=${token}`);
  const create = async (forged = {}) => {
    const created = softAuthenticator(server.baseUrl, userHandleOf(owner.id));
    return { created, passkey: created.create(await options(), forged) };
  };
  const send = (passkey: string, from = browser, opened = form) => from.submit(opened, { passkey }, '/recover/link');
  // Another browser's challenge, a device that did not verify the person, and one that was made for something else.
  const other = agent(server.baseUrl);
  const otherForm = await other.get(`${link}&with=passkey`);
  const made = await create();
  assert.equal((await send(made.passkey, other, otherForm)).status, 400);
  assert.match((await send((await create({ userVerified: false })).passkey)).text, /did not check that it was you/);
  const late = await create();
  server.advance(5 * 60_000);
  assert.equal((await send(late.passkey)).status, 400);
  const good = await create();
  const done = await send(good.passkey);
  assert.equal(done.status, 200, done.text);
  assert.match(
    done.text,
    /class="codes"/,
    'the earlier recovery codes were not asked for, so new ones take their place',
  );
  const next = await browser.submit(done, {}, '/recovery-codes');
  assert.equal(`${next.location?.pathname}${next.location?.search}`, `/login${asked.location?.search}`);
  assert.equal((await browser.get('/account')).status, 200);
  assert.equal((await usePasskey(agent(server.baseUrl), owner.passkey)).status, 401);
  assert.equal((await usePasskey(agent(server.baseUrl), good.created)).status, 303);
  assert.equal((await owner.browser.get('/account')).status, 302);
  assert.equal((await send(good.passkey)).status, 410);
  const types = (await eventsOf(owner.id)).map(({ type }) => type);
  assert.ok(types.includes('account.recovered') && types.includes('account.factor_added'), types.join());
});

test('recovery codes that a recovery did not ask for are gone after it: a thief may have made them', async () => {
  for (const by of ['mail', 'operator']) {
    const user = await newUser(server);
    const codes = await giveRecoveryCodes(server, user);
    const { url } =
      by === 'operator'
        ? (await admin(server, 'POST', `/users/${user.id}/recovery-link`, {})).body
        : { url: undefined };
    const done =
      url === undefined
        ? await recover(server, user.email, PASSWORD)
        : await useLink(agent(server.baseUrl), url, PASSWORD);
    assert.ok(done.status < 400, done.text);
    const browser = await signedIn(server, user);
    const page = await browser.get('/account/security/authenticator');
    const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
    const code = totpCode({ seed }, server.now());
    const enrolled = await browser.submit(page, { code }, '/account/security/authenticator');
    assert.match(enrolled.text, /class="codes"/, 'new ones come with the app');
    const thief = await atSecondStep(server, user);
    assert.equal((await typeCode(thief.browser, thief.page, codes[0] ?? '', 'recovery-code')).status, 401, by);
  }
});

test('a new passkey brings recovery codes where none are left, and none for a person with a password', async () => {
  const user = await newUser(server);
  await newPasskey(server, user.id);
  await askRecovery(server, agent(server.baseUrl), user.email);
  const mail = await newestMail(server, user.email, 'recovery');
  assert.doesNotMatch((await agent(server.baseUrl).get(mail.link ?? '')).text, /with=passkey/);
  const token = new URL(mail.link ?? '').searchParams.get('token') ?? '';
  assert.equal((await agent(server.baseUrl).get(`/recover/passkey?token=${token}`)).status, 410);

  const owner = await passkeyOwner(false);
  const browser = agent(server.baseUrl);
  await askRecovery(server, browser, owner.email);
  const { link = '' } = await newestMail(server, owner.email, 'recovery');
  const form = await browser.get(`${link}&with=passkey`);
  const { search } = new URL(link);
  const created = softAuthenticator(server.baseUrl, userHandleOf(owner.id));
  const passkey = created.create(await passkeyOptions(browser, `/recover/passkey${search}`));
  // Twice at a time: one of them adds it.
  const answers = await Promise.all([1, 2].map(() => browser.submit(form, { passkey }, '/recover/link')));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 410]);
  const codes = answers.map(({ text }) => text.match(/<code>/g)?.length ?? 0).sort();
  assert.deepEqual(codes, [0, 10]);
});

/** What a person has where a second factor is required of everyone, and what then recovers the account by mail. */
const required: Record<string, (user: { readonly id: string }) => Promise<string | undefined>> = {
  'a password alone': async () => undefined,
  'recovery codes': async (user) => (await giveRecoveryCodes(strict, user))[0],
  'an authenticator app': async (user) => totpCode(await enroll(strict, user), strict.now()),
};
for (const [title, prepare] of Object.entries(required)) {
  test(`where a second factor is required, mail alone is never enough for a person with ${title}`, async () => {
    const user = await newUser(strict);
    const factor = await prepare(user);
    const browser = agent(strict.baseUrl);
    await askRecovery(strict, browser, user.email);
    const { link = '' } = await newestMail(strict, user.email, 'recovery');
    const page = await browser.get(link);
    if (factor === undefined) {
      assert.match(page.text, /only|contact/);
      assert.doesNotMatch(page.text, /<form/);
      const { url } = (await admin(strict, 'POST', `/users/${user.id}/recovery-link`, {})).body;
      const operators = await agent(strict.baseUrl).get(url);
      const token = new URL(link).searchParams.get('token') ?? '';
      // The form of one link does not send another.
      assert.equal((await browser.submit(operators, { token, password: NEW }, '/recover/link')).status, 403);
      assert.equal((await useLink(agent(strict.baseUrl), url, NEW)).status, 200);
      return;
    }
    assert.equal((await useLink(browser, link, NEW)).status, 400);
    assert.equal((await useLink(browser, link, NEW, { factor })).location?.pathname, '/account');
  });
}

test('where an organization requires a second factor, a recovery code is asked for while the person is a member', async () => {
  const user = await newUser(server);
  await giveRecoveryCodes(server, user);
  const fields = { name: `of-${user.username}`, domain: 'a.example', requireSecondFactor: true };
  const { id } = (await admin(server, 'POST', '/organizations', fields)).body;
  const stranger = agent(server.baseUrl);
  await askRecovery(server, stranger, user.email);
  const { link = '' } = await newestMail(server, user.email, 'recovery');
  assert.doesNotMatch((await stranger.get(link)).text, /name="factor"/);
  await admin(server, 'PUT', `/organizations/${id}/members/${user.id}`, {});
  assert.match((await stranger.get(link)).text, /name="factor"/);
  await admin(server, 'DELETE', `/organizations/${id}/members/${user.id}`);
  assert.doesNotMatch((await stranger.get(link)).text, /name="factor"/);
});
