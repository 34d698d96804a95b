// store: SQLite, PostgreSQL with --all
/** Which earlier address of an account may undo what, and what ends that right: older rights beat younger ones. */
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
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { askRecovery, newestMail, recover, useLink } from '../support/recovery.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { SEVERAL, spread, startServer } from '../support/server.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const server = spread(await startServer({ TESSERA_MAILBOX: 'on', TESSERA_LIMIT_MAIL_ADDRESS: 'off' }, SEVERAL));
after(() => server.close());

const PAGE = '/account/email';
const OTHER_PASSWORD = 'quite another passphrase';

interface Person {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly email: string;
}
const addressOf = async ({ user }: Person): Promise<string> =>
  (await admin(server, 'GET', `/users/${user.id}`)).body.email;

async function person(): Promise<Person> {
  const user = await newUser(server, { emailVerified: true });
  const browser = await signedIn(server, user);
  return { user, browser, email: (await admin(server, 'GET', `/users/${user.id}`)).body.email };
}

let names = 0;
const freshAddress = (): string => `address-${++names}@example.com`;

const ask = async (browser: Agent, email: string): Promise<Answer> =>
  browser.submit(await browser.get(PAGE), { email }, PAGE);
const press = async (browser: Agent, link: string, fields = {}): Promise<Answer> => {
  const page = await browser.get(link);
  return page.status === 200 ? browser.submit(page, fields) : page;
};

/** Gives an account an address by its form and the link that is sent to it. */
async function moveTo(browser: Agent, email: string): Promise<void> {
  server.advance(MINUTE);
  assert.equal((await ask(browser, email)).status, 200);
  const { link = '' } = await newestMail(server, email, 'address change');
  assert.equal((await press(browser, link)).status, 200);
}

/** The links with which an address can undo a change, newest first. */
const undoLinks = async (address: string): Promise<readonly string[]> =>
  (await mailsTo(server, address)).flatMap(({ link }) => (link?.includes('/undo-address-change') ? [link] : []));

async function undoLink(address: string): Promise<string> {
  const [link] = await undoLinks(address);
  assert.ok(link !== undefined, `no undo link was sent to ${address}`);
  return link;
}
const undo = async (link: string): Promise<number> => (await press(agent(server.baseUrl), link)).status;

async function setPassword(browser: Agent, current: string, password: string): Promise<void> {
  server.advance(MINUTE);
  const page = await browser.get('/account/security');
  assert.equal((await browser.submit(page, { current, password }, '/account/password')).status, 200);
}
const isReserved = async (address: string): Promise<boolean> => {
  const other = await newUser(server, { emailVerified: true });
  return (await admin(server, 'PATCH', `/users/${other.id}`, { email: address })).status === 409;
};

const proveFor = async (browser: Agent) =>
  browser.submit(await browser.get('/account/confirm?next=email'), { current: PASSWORD }, '/account/confirm');

const PATCHES = {
  'sets the owner’s address again': (email: string) => ({ email, emailVerified: true }),
  'sets the address and a password': (email: string) => ({ email, emailVerified: true, password: OTHER_PASSWORD }),
};
for (const [what, patch] of Object.entries(PATCHES)) {
  test(`an operator who ${what} ends every link, code, session and reservation from before`, async () => {
    const ada = await person();
    const client = await newClient(server);
    await tokensFor(server, client, ada.user, {}, { browser: ada.browser });
    const [second, third, fourth] = [freshAddress(), freshAddress(), freshAddress()];
    // Consents of the week before the change may be a thief's already.
    server.advance(8 * DAY);
    await proveFor(ada.browser);
    const tokens = await tokensFor(server, client, ada.user, {}, { browser: ada.browser });
    await moveTo(ada.browser, second);
    await moveTo(ada.browser, third);
    await ask(ada.browser, fourth);
    const [waiting] = await mailsTo(server, fourth);
    const late = await tokensFor(server, client, ada.user, {}, { browser: ada.browser });
    assert.ok(await isReserved(second));

    assert.equal((await admin(server, 'PATCH', `/users/${ada.user.id}`, patch(ada.email))).status, 200);
    for (const address of [ada.email, second]) assert.equal(await undo(await undoLink(address)), 410, address);
    assert.equal((await ada.browser.get('/account')).location?.pathname, '/login');
    const again = await signedIn(server, ada.user, 'password' in patch('') ? OTHER_PASSWORD : PASSWORD);
    assert.equal((await press(again, waiting?.link ?? '')).status, 410);
    for (const { access_token, refresh_token } of [tokens, late]) {
      assert.equal((await userinfo(server, access_token)).status, 401);
      assert.equal((await refresh(server, client, refresh_token)).body.error, 'invalid_grant');
    }
    assert.equal(await addressOf(ada), ada.email);
    assert.equal(await isReserved(second), false);
  });
}

test('an operator who names the present address again ends what can still undo it', async () => {
  const ada = await person();
  const second = freshAddress();
  await moveTo(ada.browser, second);
  const record = (changes: object) => admin(server, 'PATCH', `/users/${ada.user.id}`, changes);
  assert.equal((await record({ about: 'Nothing about the address.' })).status, 200);
  assert.equal((await ada.browser.get('/account')).status, 200, 'another field decides nothing');
  assert.equal((await record({ email: second })).status, 200);
  assert.equal(await undo(await undoLink(ada.email)), 410);
  assert.equal((await ada.browser.get('/account')).location?.pathname, '/login');
  const waiting = await signedIn(server, ada.user);
  await ask(waiting, freshAddress());
  assert.equal((await record({ email: second })).status, 200);
  assert.equal((await waiting.get('/account')).location?.pathname, '/login', 'a change waited for its link');
  // Now there is nothing left to end, so the same request changes nothing.
  const again = await signedIn(server, ada.user);
  assert.equal((await record({ email: second, emailVerified: true })).status, 200);
  assert.equal((await again.get('/account')).status, 200);
});

test('an operator who marks an address as verified begins a new generation', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  await admin(server, 'PATCH', `/users/${user.id}`, { emailVerified: true });
  assert.equal((await browser.get('/account')).location?.pathname, '/login');
});

/** Asks for an operator's recovery link. */
const linkFor = ({ user }: Person, body: object) => admin(server, 'POST', `/users/${user.id}/recovery-link`, body);

test('an operator’s link says which address is the owner’s, while an earlier one can undo its change', async () => {
  const ada = await person();
  assert.equal((await linkFor(ada, { address: freshAddress() })).status, 409, 'there is no earlier address');
  const asked = await linkFor(ada, {});
  assert.deepEqual([asked.status, asked.body.email], [201, ada.email]);
  const [second, third] = [freshAddress(), freshAddress()];
  await moveTo(ada.browser, second);
  assert.equal((await agent(server.baseUrl).get(asked.body.url)).status, 410, 'a link from before the change');
  await moveTo(ada.browser, third);
  for (const address of [undefined, 'stranger@example.com', '']) {
    const { status, body } = await linkFor(ada, address === undefined ? {} : { address });
    assert.equal(status, 409, `${address}`);
    for (const open of [ada.email, second, third, 'keep'])
      assert.ok(body.error_description.includes(open), `${address}`);
  }
  assert.equal((await ada.browser.get('/account')).status, 200, 'nothing was ended');
});

test('an operator who gives the earlier address back with a link ends all that a thief has, and the link works', async () => {
  const ada = await person();
  const [client, other] = [await newClient(server), await newClient(server)];
  await tokensFor(server, client, ada.user, {}, { browser: ada.browser });
  // Consents of the week before the change may be the thief's already.
  server.advance(8 * DAY);
  await proveFor(ada.browser);
  const [second, third] = [freshAddress(), freshAddress()];
  await moveTo(ada.browser, second);
  await moveTo(ada.browser, third);
  const late = await tokensFor(server, other, ada.user, {}, { browser: ada.browser });
  const asking = agent(server.baseUrl);
  await asking.submit(await asking.get('/recover'), { identifier: ada.user.username });
  await server.sendRequestedMail();
  const { link: thiefs = '' } = await newestMail(server, third, 'recovery');

  const { status, body } = await linkFor(ada, { address: ada.email.toUpperCase() });
  assert.deepEqual([status, body.email], [201, ada.email]);
  assert.equal((await agent(server.baseUrl).get(thiefs)).status, 410);
  assert.equal((await ada.browser.get('/account')).location?.pathname, '/login');
  for (const address of [ada.email, second]) assert.equal(await undo(await undoLink(address)), 410, address);
  assert.equal(await isReserved(second), false);
  assert.equal((await refresh(server, other, late.refresh_token)).status, 403);
  const told = await mailsTo(server, third);
  assert.match(told[0]?.subject ?? '', /address of your account was changed/);
  assert.equal(told[0]?.link, undefined, 'nothing that acts is sent to the address that is dropped');
  // The thief knows the password, and asks for mail at their address.
  const login = agent(server.baseUrl);
  const refused = await login.submit(await login.get('/login'), { identifier: ada.user.username, password: PASSWORD });
  assert.equal(refused.status, 401);
  await asking.submit(await asking.get('/recover'), { identifier: third });
  await server.sendRequestedMail();
  assert.equal((await mailsTo(server, third)).length, told.length);

  assert.equal((await useLink(agent(server.baseUrl), body.url, OTHER_PASSWORD)).status, 200);
  assert.equal(await addressOf(ada), ada.email);
  const connected = (await admin(server, 'GET', `/users/${ada.user.id}/connections`)).body.items;
  assert.deepEqual(
    connected.map(({ clientId }: { clientId: string }) => clientId),
    [client.clientId],
    'what the owner consented to before the thief came',
  );
});

test('an operator who keeps the present address ends the rights of the earlier ones at once', async () => {
  const ada = await person();
  const [second, third] = [freshAddress(), freshAddress()];
  await moveTo(ada.browser, second);
  await moveTo(ada.browser, third);
  const { body } = await linkFor(ada, { address: 'keep' });
  for (const address of [ada.email, second]) assert.equal(await undo(await undoLink(address)), 410, address);
  assert.equal((await ada.browser.get('/account')).location?.pathname, '/login');
  assert.equal((await useLink(agent(server.baseUrl), body.url, OTHER_PASSWORD)).status, 200);
  assert.equal(await addressOf(ada), third);
  const [told] = await mailsTo(server, ada.email);
  assert.match(told?.text ?? '', /An operator of this service decided/);
  assert.equal(told?.link, undefined);
  assert.equal((await linkFor(ada, {})).status, 201, 'nothing is left to decide');
});

test('an authenticator app from before the change is asked for with the link that gives the address back, a later one is not', async () => {
  const ada = await person();
  const factor = await enroll(server, ada.user);
  const { browser, page: step } = await atSecondStep(server, ada.user);
  await typeCode(browser, step, totpCode(factor, server.now()));
  await moveTo(browser, freshAddress());
  const { body } = await linkFor(ada, { address: ada.email });
  const link = agent(server.baseUrl);
  assert.equal((await useLink(link, body.url, OTHER_PASSWORD)).status, 400);
  const code = totpCode(factor, server.now());
  assert.equal((await useLink(link, body.url, OTHER_PASSWORD, { factor: code })).status, 200);

  const eve = await person();
  await moveTo(eve.browser, freshAddress());
  const page = await eve.browser.get('/account/security/authenticator');
  const seed = /secret=([A-Z2-7]{32})/.exec(page.text)?.[1] ?? '';
  const shown = { code: totpCode({ seed }, server.now()) };
  assert.equal((await eve.browser.submit(page, shown, '/account/security/authenticator')).status, 200);
  const second = await linkFor(eve, { address: eve.email });
  assert.equal((await useLink(agent(server.baseUrl), second.body.url, OTHER_PASSWORD)).status, 200);
});

const codesOf = ({ user }: Person) =>
  query(server, 'SELECT hash FROM recovery_code WHERE account_id = ? ORDER BY hash', user.id);

test('going back to an address undoes what came since: the dropped address gets nothing that acts', async () => {
  const ada = await person();
  const factor = await enroll(server, ada.user);
  const codes = await codesOf(ada);
  const signIn = async () => {
    const { browser, page } = await atSecondStep(server, ada.user);
    await typeCode(browser, page, totpCode(factor, server.now()));
    return browser;
  };
  const thief = await signIn();
  const [second, third] = [freshAddress(), freshAddress()];
  await moveTo(thief, second);
  const made = await thief.submit(await thief.get('/account/security'), {}, '/account/security/recovery-codes');
  assert.equal(made.status, 200);
  await ask(thief, third);

  const owner = await signIn();
  await moveTo(owner, ada.email);
  assert.equal(await addressOf(ada), ada.email);
  assert.deepEqual(await undoLinks(second), []);
  assert.equal(await undo(await undoLink(ada.email)), 410, 'the right is used');
  assert.equal(await isReserved(second), false);
  assert.deepEqual(await codesOf(ada), codes, 'those made since are removed, and the earlier ones are there again');
  assert.equal((await owner.get('/account')).status, 200);
  assert.equal((await thief.get('/account')).location?.pathname, '/login');
  assert.equal((await press(thief, (await mailsTo(server, third))[0]?.link ?? '')).status, 410);
});

test('going back with what was set since is an ordinary change, and the older right beats the younger one', async () => {
  const ada = await person();
  const second = freshAddress();
  await moveTo(ada.browser, second);
  await setPassword(ada.browser, PASSWORD, OTHER_PASSWORD);
  server.advance(10 * MINUTE);
  const gate = await ada.browser.get('/account/confirm?next=email');
  await ada.browser.submit(gate, { current: OTHER_PASSWORD });
  await moveTo(ada.browser, ada.email);
  const [first, younger] = [await undoLink(ada.email), await undoLink(second)];
  // The younger right gives its address back the account; the older one is not touched by that, and takes it back for good.
  assert.equal(await undo(younger), 200);
  assert.equal(await addressOf(ada), second);
  assert.equal(await undo(first), 200);
  assert.equal(await addressOf(ada), ada.email);
  for (const link of [first, younger]) assert.equal(await undo(link), 410);
  assert.deepEqual(await undoLinks(second), [younger]);
});

const RETURNS = {
  async 'reports that something was not them'({ email }: Person) {
    const report = await newestMail(server, email, 'security notice');
    assert.equal((await press(agent(server.baseUrl), report.link ?? '')).status, 200);
  },
  async 'recovers the account by mail'({ email }: Person) {
    await recover(server, email, 'a third passphrase of mine');
  },
};
for (const [what, comesBack] of Object.entries(RETURNS)) {
  test(`an owner who has their address again and ${what} ends the rights that are younger`, async () => {
    const ada = await person();
    const second = freshAddress();
    await moveTo(ada.browser, second);
    await setPassword(ada.browser, PASSWORD, OTHER_PASSWORD);
    server.advance(10 * MINUTE);
    await ada.browser.submit(await ada.browser.get('/account/confirm?next=email'), { current: OTHER_PASSWORD });
    await moveTo(ada.browser, ada.email);
    const younger = await undoLink(second);
    await setPassword(ada.browser, OTHER_PASSWORD, 'one more passphrase');
    await comesBack(ada);
    assert.equal(await undo(younger), 410);
    assert.equal(await addressOf(ada), ada.email);
  });
}

test('no later address outlasts an earlier one, and all end seven days after the last change', async () => {
  const ada = await person();
  const [second, third] = [freshAddress(), freshAddress()];
  await moveTo(ada.browser, second);
  server.advance(6 * DAY);
  const later = await signedIn(server, ada.user);
  await moveTo(later, third);
  server.advance(6 * DAY);
  const page = await agent(server.baseUrl).get(await undoLink(ada.email));
  assert.equal(page.status, 200, 'twelve days after the first change');
  assert.ok(await isReserved(ada.email));
  server.advance(DAY);
  for (const address of [ada.email, second]) assert.equal(await undo(await undoLink(address)), 410, address);
});

const BARS = { banned: 'ban', suspended: 'suspension' } as const;
for (const [status, path] of Object.entries(BARS)) {
  test(`an account that is ${status} gets its address back by the undo, and stays ${status}`, async () => {
    const ada = await person();
    const factor = await enroll(server, ada.user);
    const { browser, page } = await atSecondStep(server, ada.user);
    await typeCode(browser, page, totpCode(factor, server.now()));
    await moveTo(browser, freshAddress());
    await admin(server, 'PUT', `/users/${ada.user.id}/${path}`, { reason: 'We look at it.' });

    const link = await undoLink(ada.email);
    assert.equal((await press(agent(server.baseUrl), link, { code: '000000' })).status, 400);
    assert.equal((await press(agent(server.baseUrl), link, { code: totpCode(factor, server.now()) })).status, 200);
    const { body } = await admin(server, 'GET', `/users/${ada.user.id}`);
    assert.deepEqual([body.email, body.emailVerified, body.status], [ada.email, true, status]);
    assert.equal(await undo(link), 410, 'it works once');

    await admin(server, 'DELETE', `/users/${ada.user.id}/${path}`);
    server.advance(MINUTE);
    const owner = agent(server.baseUrl);
    await askRecovery(server, owner, ada.email);
    const { link: again = '' } = await newestMail(server, ada.email, 'recovery');
    const code = totpCode(factor, server.now());
    const recovered = await useLink(owner, again, OTHER_PASSWORD, { factor: code });
    assert.equal(recovered.location?.pathname, '/account');
  });
}

test('an honest change just before a thief’s keeps its right', async () => {
  const ada = await person();
  const [second, third] = [freshAddress(), freshAddress()];
  await moveTo(ada.browser, second);
  await moveTo(await signedIn(server, ada.user), third);
  const older = await undoLink(ada.email);
  assert.equal(await undo(await undoLink(second)), 200);
  assert.equal(await addressOf(ada), second);
  assert.equal((await agent(server.baseUrl).get(older)).status, 200, 'an older right is not touched');
});

test('an account changes its address three times in seven days, and can go back at any time', async () => {
  const ada = await person();
  for (let change = 0; change < 3; change++) await moveTo(ada.browser, freshAddress());
  const more = freshAddress();
  const refused = await ask(ada.browser, more);
  assert.equal(refused.status, 429);
  assert.match(refused.text, /changed your address too often/);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.deepEqual(await mailsTo(server, more), []);
  const { body } = await admin(server, 'GET', `/audit-events?type=limit.exceeded&userId=${ada.user.id}`);
  assert.deepEqual(
    body.items.map(({ details }: { details: { limit: string } }) => details.limit),
    ['addressAccount'],
  );
  await moveTo(ada.browser, ada.email);
  assert.equal(await addressOf(ada), ada.email);
  await moveTo(await signedIn(server, ada.user), more);
});

test('who confirms a second factor from before a change ends the right of a mailbox that is no longer theirs', async () => {
  const ada = await person();
  const second = freshAddress();
  const factor = await enroll(server, ada.user);
  const bySecondFactor = await atSecondStep(server, ada.user);
  await typeCode(bySecondFactor.browser, bySecondFactor.page, totpCode(factor, server.now()));
  await moveTo(bySecondFactor.browser, second);
  // The proof from before the change may be that of the session's owner, whose session was stolen.
  assert.doesNotMatch((await bySecondFactor.browser.get(PAGE)).text, /No longer mine/);
  server.advance(11 * MINUTE);
  const gate = await bySecondFactor.browser.get('/account/confirm?next=email');
  await bySecondFactor.browser.submit(gate, { code: totpCode(factor, server.now()) }, '/account/confirm');
  const page = await bySecondFactor.browser.get(PAGE);
  assert.match(page.text, /No longer mine/);
  const closed = await bySecondFactor.browser.submit(page, {}, `${PAGE}/earlier`);
  assert.equal(closed.status, 200, closed.text);
  assert.equal(await undo(await undoLink(ada.email)), 410);
  assert.equal(await isReserved(ada.email), false);
  const told = (await mailsTo(server, ada.email)).find(({ subject }) => /no longer undo/.test(subject));
  assert.ok(told !== undefined && told.link === undefined);
});

test('a password alone, or a second factor from after the change, does not end the right of an earlier address', async () => {
  const ada = await person();
  const second = freshAddress();
  await moveTo(ada.browser, second);
  const close = async (browser: Agent) => {
    const page = await browser.get(PAGE);
    assert.doesNotMatch(page.text, /No longer mine/);
    // The token of the page's other form, as a thief would send it.
    const token = /action="\/account\/email" [\s\S]*?name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
    return browser.post(`${PAGE}/earlier`, { form_token: token, address: ada.email });
  };
  assert.equal((await close(ada.browser)).status, 403);
  server.advance(120 * MINUTE);
  const factor = await enroll(server, ada.user);
  const later = await atSecondStep(server, ada.user);
  await typeCode(later.browser, later.page, totpCode(factor, server.now()));
  assert.equal((await close(later.browser)).status, 403);
  assert.equal((await agent(server.baseUrl).get(await undoLink(ada.email))).status, 200);
});
