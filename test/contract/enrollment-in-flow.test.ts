// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { userHandleOf } from '../../src/account-actions/authentication/passkey.ts';
import { ACR_MFA, ACR_PHISHING_RESISTANT } from '../../src/authenticators/rules/authentication-context.ts';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  signedIn,
  standard,
  type TestClient,
  walk,
} from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { MINUTE } from '../support/outcome.ts';
import { passkeyOptions } from '../support/passkeys.ts';
import { newestMail } from '../support/recovery.ts';
import { enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { softAuthenticator } from '../support/soft-authenticator.ts';

// A person who has no second factor sets one up within the request that requires it (docs/decisions/0043-required-factors.md).

const ENROLL = '/login/enroll';
const server = await startServer();
const mailing = await startServer({ TESSERA_MAILBOX: 'on', TESSERA_SECOND_FACTOR: 'required' });
const off = await startServer({ TESSERA_SECOND_FACTOR: 'off' });
after(() => Promise.all([server.close(), mailing.close(), off.close()]));

const client = await newClient(server, { requireSecondFactor: true });
const relaxed = await newClient(server);

const errorOf = (location: URL | undefined) => location?.searchParams.get('error');
const essential = (value: string) => JSON.stringify({ id_token: { acr: { essential: true, values: [value] } } });

/** The page to which an authorization request leads. */
async function begin(browser: Agent, app: TestClient, parameters: Readonly<Record<string, string>> = {}) {
  const { location } = await browser.get(authorizeUrl(app, { scope: 'openid', ...parameters }));
  assert.ok(location?.pathname === ENROLL, String(location));
  return browser.get(location.href);
}

const SECURED = 'You will be signed out in every other browser, and have to sign in to your apps again.';

const seedOf = ({ text }: Answer): string => /secret=([A-Z2-7]{32})/.exec(text)?.[1] ?? '';

/** Sends the code that the app of the page shows. */
const showCode = (at: TestServer, browser: Agent, page: Answer) =>
  browser.submit(page, { code: totpCode({ seed: seedOf(page) }, at.now()) }, ENROLL);

const codesOf = ({ text }: Answer): readonly string[] =>
  [...text.matchAll(/<li><code>([^<]+)<\/code><\/li>/g)].map(([, code]) => code ?? '');

/** Where the page with the recovery codes continues. */
const continuation = async (browser: Agent, page: Answer): Promise<string> =>
  (await browser.submit(page, {}, '/recovery-codes')).location?.href ?? '';

/** The claims of the ID token of a flow that goes on with this page. */
async function claimsAfter(at: TestServer, browser: Agent, app: TestClient, address: string) {
  const location = await walk(browser, address);
  const { status, body } = await redeem(at, app, location.searchParams.get('code') ?? '');
  assert.equal(status, 200, JSON.stringify(body));
  return claimsOf(body.id_token);
}

for (const app of [client, standard(client)]) {
  test(`${app.endpointSet ?? 'v2'}: an authenticator app is set up and the flow goes on with the class that it makes`, async () => {
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    const before = browser.cookie('tessera_session');
    const other = await signedIn(server, user);
    const asked = await browser.get(authorizeUrl(app, { scope: 'openid', prompt: 'login', acr_values: ACR_MFA }));
    const login = await browser.get(asked.location?.href ?? '');
    const signed = await browser.submit(login, { identifier: user.username, password: PASSWORD }, '/login');
    assert.equal(signed.location?.pathname, ENROLL);
    const page = await browser.get(signed.location?.href ?? '');
    assert.match(page.text, /<title>Set up two-step sign-in /);
    const wrong = await browser.submit(page, { code: '000000' }, ENROLL);
    assert.deepEqual([wrong.status, seedOf(wrong)], [400, seedOf(page)], 'the same seed is shown again');
    assert.match(wrong.text, /Or use a passkey/, 'and the other way');
    assert.equal(wrong.text.split(SECURED).length, 3, 'each way says what it ends');
    const done = await showCode(server, browser, wrong);
    assert.equal(codesOf(done).length, 10, done.text);
    assert.notEqual(browser.cookie('tessera_session'), before);
    const { acr, amr } = await claimsAfter(server, browser, app, await continuation(browser, done));
    assert.deepEqual([acr, [...amr].sort()], [ACR_MFA, ['mfa', 'otp', 'pwd']]);
    assert.equal((await other.get('/account')).status, 302, 'the first second factor ends other sessions');
    const again = await walk(browser, authorizeUrl(app, { scope: 'openid' }));
    assert.equal(errorOf(again), null, 'nothing is asked again');
  });
}

test('a passkey is set up, used once, and the flow goes on', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const page = await begin(browser, client, { claims: essential(ACR_PHISHING_RESISTANT) });
  assert.equal(seedOf(page), '', 'an authenticator app would not be enough');
  assert.match(page.text, /<title>Set up a passkey /);
  assert.match(page.text, /<h1>Set up a passkey to continue to /);
  const { hidden } = formOf(page.text, ENROLL);
  assert.ok(page.text.includes(SECURED));
  const authenticator = softAuthenticator(server.baseUrl, userHandleOf(user.id));
  const options = `${ENROLL}/passkey?request=${hidden['request']}`;
  const passkey = authenticator.create(await passkeyOptions(browser, options));
  const done = await browser.post(ENROLL, { ...hidden, passkey });
  assert.equal(codesOf(done).length, 10, done.text);
  assert.match(
    done.text,
    /Your passkey is added\. You are signed out in every other browser, and have to sign in to your apps/,
  );
  const next = await browser.get(await continuation(browser, done));
  assert.equal(next.location?.pathname, '/login/verify');
  const asking = await browser.get(next.location?.href ?? '');
  const use = authenticator.use(await passkeyOptions(browser, `/login/verify/passkey?request=${hidden['request']}`));
  const used = await browser.submit(asking, { passkey: use }, '/login/verify');
  const { acr } = await claimsAfter(server, browser, client, used.location?.href ?? '');
  assert.equal(acr, ACR_PHISHING_RESISTANT);
});

const refusals: [title: string, at: TestServer, app: () => Promise<TestClient>, parameters: Record<string, string>][] =
  [
    ['acr_values, which is voluntary', server, async () => relaxed, { acr_values: ACR_MFA }],
    ['an app, where factors are off', off, () => newClient(off, { requireSecondFactor: true }), {}],
  ];
for (const [title, at, app, parameters] of refusals) {
  test(`${title}: a person without a factor is sent back at once`, async () => {
    const browser = await signedIn(at, await newUser(at));
    const { location } = await browser.get(authorizeUrl(await app(), { scope: 'openid', ...parameters }));
    assert.equal(errorOf(location), 'unmet_authentication_requirements');
  });
}

test('a person who cancels is sent back to the app, and may begin again', async () => {
  const browser = await signedIn(server, await newUser(server));
  const page = await begin(browser, relaxed, { claims: essential(ACR_MFA) });
  const { location } = await browser.submit(page, { action: 'cancel' }, ENROLL);
  assert.deepEqual(
    [errorOf(location), location?.searchParams.get('state')],
    ['unmet_authentication_requirements', 'st4te'],
  );
  assert.equal((await begin(browser, relaxed, { claims: essential(ACR_MFA) })).status, 200);
});

test('an old session must sign in again first; with an authenticator app, its code is what is asked for', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  server.advance(11 * MINUTE);
  const { location } = await browser.get(authorizeUrl(client, { scope: 'openid' }));
  assert.equal(location?.pathname, '/login');
  const login = await browser.get(location?.href ?? '');
  const signed = await browser.submit(login, { identifier: user.username, password: PASSWORD }, '/login');
  assert.equal(signed.location?.pathname, ENROLL);

  // An enrollment that was begun with a fresh proof may be completed later.
  const page = await browser.get(signed.location?.href ?? '');
  server.advance(11 * MINUTE);
  assert.equal((await browser.get(signed.location?.href ?? '')).location?.pathname, '/login');
  const done = await showCode(server, browser, page);
  assert.equal(codesOf(done).length, 10, done.text);

  const owner = await newUser(server);
  const factor = await enroll(server, owner);
  const second = agent(server.baseUrl);
  const first = await second.submit(
    await second.get('/login'),
    { identifier: owner.username, password: PASSWORD },
    '/login',
  );
  const typed = await typeCode(second, await second.get(first.location?.href ?? ''), totpCode(factor, server.now()));
  assert.equal(typed.status, 303);
  server.advance(11 * MINUTE);
  const phr = authorizeUrl(client, { scope: 'openid', claims: essential(ACR_PHISHING_RESISTANT) });
  const asked = await second.get(phr);
  assert.equal(asked.location?.pathname, '/login/verify', 'a stolen session adds no passkey');
  const proved = await typeCode(second, await second.get(asked.location?.href ?? ''), totpCode(factor, server.now()));
  assert.equal(proved.location?.pathname, ENROLL);
});

test('where mail is sent, the address is verified first, and the owner is told of the factor', async () => {
  const user = await newUser(mailing);
  const email = `${user.username}@example.com`;
  const app = await newClient(mailing);
  const browser = await signedIn(mailing, user);
  const page = await begin(browser, app);
  assert.equal(seedOf(page), '');
  assert.match(page.text, /First, verify your email address/);
  const sneaked = await browser.submit(page, { enrollment: 'x', code: '000000', action: '' }, ENROLL);
  assert.equal(sneaked.status, 200, 'no factor is set up before');
  const sent = await browser.submit(sneaked, { action: 'send' }, ENROLL);
  const wrong = await browser.submit(sent, { action: 'verify', code: '000000' }, ENROLL);
  assert.equal(wrong.status, 400);
  const { code = '' } = await newestMail(mailing, email, 'verify address');
  const verified = await browser.submit(wrong, { action: 'verify', code }, ENROLL);
  assert.equal(verified.location?.pathname, ENROLL, verified.text);
  const done = await showCode(mailing, browser, await browser.get(verified.location?.href ?? ''));
  assert.equal(codesOf(done).length, 10, done.text);
  const subjects = (await mailsTo(mailing, email)).filter(({ text }) => text.includes('an authenticator app'));
  assert.equal(subjects.length, 1);
  assert.ok((await claimsAfter(mailing, browser, app, await continuation(browser, done))).amr.includes('mfa'));
});

test('a person who uses another address comes back to the page, and goes on', async () => {
  const app = await newClient(mailing);
  const browser = await signedIn(mailing, await newUser(mailing));
  const { location } = await browser.get(authorizeUrl(app, { scope: 'openid' }));
  const page = await browser.get(location?.href ?? '');
  assert.match(page.text, /We send a code to /, 'nothing is sent yet');
  assert.match(page.text, /<a href="\/account\/email">Use another address<\/a>, then come back to this page\./);
  const email = 'another-for-enrollment@example.com';
  const asked = await browser.submit(await browser.get('/account/email'), { email }, '/account/email');
  const { code = '' } = await newestMail(mailing, email, 'address change');
  assert.equal((await browser.submit(asked, { code }, '/account/email/code')).status, 200);
  const back = await browser.get(location?.href ?? '');
  assert.notEqual(seedOf(back), '', back.text.slice(0, 2000));
});

const inFlight: [title: string, change: (user: { id: string; username: string }, page: Answer) => Promise<unknown>][] =
  [
    [
      'the account is secured',
      ({ id }) => admin(server, 'PATCH', `/users/${id}`, { password: 'another long sentence' }),
    ],
    ['the account is suspended', ({ id }) => admin(server, 'PUT', `/users/${id}/suspension`)],
    [
      'another browser sets one up',
      async (user) => {
        const other = await signedIn(server, user as Parameters<typeof signedIn>[1]);
        assert.equal(codesOf(await showCode(server, other, await begin(other, client))).length, 10);
      },
    ],
  ];
for (const [title, change] of inFlight) {
  test(`an enrollment is void where ${title} meanwhile`, async () => {
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    const page = await begin(browser, client);
    await change(user, page);
    const answer = await showCode(server, browser, page);
    assert.deepEqual([answer.status, codesOf(answer).length], [303, 0], answer.text);
    assert.notEqual(answer.location?.pathname, '/consent');
    assert.equal(answer.location?.searchParams.has('code'), false);
    const { body } = await admin(server, 'GET', `/audit-events?userId=${user.id}&type=account.factor_added`);
    assert.equal(body.items.length, title.startsWith('another') ? 1 : 0);
  });
}

test('of two browsers that send their codes at once, one sets up a factor', async () => {
  const user = await newUser(server);
  const browsers = [await signedIn(server, user), await signedIn(server, user)];
  const pages = await Promise.all(browsers.map((browser) => begin(browser, client)));
  const answers = await Promise.all(
    browsers.map((browser, index) => showCode(server, browser, pages[index] as Answer)),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 303]);
});

const mustSignIn: [title: string, parameters: Record<string, string>][] = [
  ['prompt=login', { prompt: 'login' }],
  ['max_age, which the session has exceeded', { max_age: '60' }],
];
for (const [title, parameters] of mustSignIn) {
  test(`an enrollment is no sign-in: a request with ${title} still asks for one`, async () => {
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    const page = await begin(browser, client);
    server.advance(MINUTE + 1);
    const strict = await browser.get(authorizeUrl(client, { scope: 'openid', ...parameters }));
    assert.equal(strict.location?.pathname, '/login');
    const { hidden } = formOf(page.text, ENROLL);
    const request = strict.location?.searchParams.get('request') ?? '';
    const done = await browser.post(ENROLL, {
      ...hidden,
      request,
      code: totpCode({ seed: seedOf(page) }, server.now()),
    });
    const next = await browser.get(await continuation(browser, done));
    assert.equal(next.location?.pathname, '/login', String(next.location));
  });
}

test('a session that grows too old while a factor is set up must sign in again', async () => {
  const browser = await signedIn(server, await newUser(server));
  const page = await begin(browser, client, { max_age: '60' });
  server.advance(50_000);
  const done = await showCode(server, browser, page);
  const consent = await browser.get(await continuation(browser, done));
  assert.equal(consent.location?.pathname, '/consent');
  server.advance(20_000);
  assert.equal((await browser.get(consent.location?.href ?? '')).location?.pathname, '/login');
});

test('the page of another person’s session takes no code', async () => {
  const browser = await signedIn(server, await newUser(server));
  const page = await begin(browser, client);
  const stranger = await signedIn(server, await newUser(server));
  const own = await begin(stranger, client);
  const { hidden } = formOf(page.text, ENROLL);
  const mixed = { ...formOf(own.text, ENROLL).hidden, enrollment: hidden['enrollment'] ?? '' };
  const answer = await stranger.post(ENROLL, { ...mixed, code: totpCode({ seed: seedOf(page) }, server.now()) });
  assert.deepEqual([answer.status, codesOf(answer).length], [400, 0]);
  assert.equal((await stranger.post(ENROLL, { ...hidden, code: '1' })).status, 400, 'the handle is another browser’s');
});
