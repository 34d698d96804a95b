// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent, formOf } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  standard,
  type TestUser,
  tokensFor,
  walk,
} from '../support/flow.ts';
import { MINUTE, query, settle } from '../support/outcome.ts';
import { atSecondStep, enroll, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';

// PW-09, PW-10, SE-05: the second step of a sign-in.

const STEP = MINUTE / 2;

const server = await startServer();
after(() => server.close());
const client = standard(await newClient(server));

const isSignedIn = async (browser: Agent): Promise<boolean> => (await browser.get('/account')).status === 200;
const eventsOf = async (id: string) =>
  (await query(server, `SELECT type, details FROM audit_event WHERE account_id = '${id}' ORDER BY id`)).map(
    ({ type, details }) => ({ type, ...JSON.parse(String(details)) }),
  );

async function person() {
  const user = await newUser(server);
  return { user, factor: await enroll(server, user) };
}

/** Codes of an authenticator app, by the steps from now, and whether each is accepted. */
const codes: [title: string, steps: number, accepted: boolean][] = [
  ['the current code', 0, true],
  ['the code before', -1, true],
  ['the code after', 1, true],
  ['a code of a clock that is a minute behind', -2, false],
  ['a code of a clock that is a minute ahead', 2, false],
];
for (const [title, steps, accepted] of codes) {
  test(`PW-10: ${title} is ${accepted ? '' : 'not '}accepted`, async () => {
    const { user, factor } = await person();
    const { browser, page } = await atSecondStep(server, user);
    assert.equal(await isSignedIn(browser), false, 'the first factor alone signs nobody in');
    const answer = await typeCode(browser, page, totpCode(factor, server.now(), steps));
    assert.equal(answer.status, accepted ? 303 : 401);
    assert.equal(await isSignedIn(browser), accepted);
    if (!accepted) assert.match(answer.text, /set its clock automatically/);
  });
}

test('PW-10: a code is accepted once, and none from before it', async () => {
  const { user, factor } = await person();
  for (const [steps, status] of [
    [0, 303],
    [0, 401],
    [-1, 401],
    [1, 303],
    [0, 401],
  ] as const) {
    const { browser, page } = await atSecondStep(server, user);
    assert.equal((await typeCode(browser, page, totpCode(factor, server.now(), steps))).status, status, `${steps}`);
  }
});

test('PW-10: a recovery code works once, as it is typed by hand', async () => {
  const { user, factor } = await person();
  const [first = '', second = ''] = factor.recoveryCodes;
  for (const [code, status] of [
    [first, 303],
    [first, 401],
    [second.toUpperCase().replaceAll('-', ' '), 303],
    ['0000-0000-0000', 401],
  ] as const) {
    const { browser, page } = await atSecondStep(server, user);
    assert.match(page.text, /Use a recovery code instead/);
    assert.equal((await typeCode(browser, page, code, 'recovery-code')).status, status, code);
  }
  const used = (await eventsOf(user.id)).filter(({ methods }) => methods?.includes('recovery code'));
  assert.equal(used.length, 2);
});

test('who has signed in leaves no name behind at the browser', async () => {
  const user = await newUser(server);
  const factor = await enroll(server, user);
  server.advance(MINUTE);
  const { browser, page } = await atSecondStep(server, user);
  assert.notEqual(browser.cookie('tessera_named'), undefined, 'the second step may lead back to the first');
  assert.equal((await typeCode(browser, page, totpCode(factor, server.now()))).status, 303);
  assert.equal(browser.cookie('tessera_named'), undefined);
});

test('codes of another person are wrong', async () => {
  const [one, other] = [await person(), await person()];
  const { browser, page } = await atSecondStep(server, one.user);
  assert.equal((await typeCode(browser, page, totpCode(other.factor, server.now()))).status, 401);
  assert.equal((await typeCode(browser, page, other.factor.recoveryCodes[0] ?? '', 'recovery-code')).status, 401);
});

test('PW-10: nothing that is stored is a code or a seed', async () => {
  const { user, factor } = await person();
  const stored = JSON.stringify([
    await query(server, `SELECT * FROM totp_secret WHERE account_id = '${user.id}'`),
    await query(server, `SELECT * FROM recovery_code WHERE account_id = '${user.id}'`),
  ]);
  assert.ok(!stored.includes(factor.seed));
  for (const code of factor.recoveryCodes)
    assert.ok(!stored.includes(code) && !stored.includes(code.replaceAll('-', '')));
});

test('ST-02: a seed that is copied to another account accepts no code there', async () => {
  const [one, other] = [await person(), await person()];
  const [seed] = await query(server, 'SELECT sealed FROM totp_secret WHERE account_id = ?', other.user.id);
  await query(server, 'UPDATE totp_secret SET sealed = ? WHERE account_id = ?', String(seed?.['sealed']), one.user.id);
  for (const { factor } of [one, other]) {
    const { browser, page } = await atSecondStep(server, one.user);
    assert.equal((await typeCode(browser, page, totpCode(factor, server.now()))).status, 401);
    assert.equal(await isSignedIn(browser), false);
  }
});

test('the sign-in of an app goes on after the second step, and its tokens say what was used', async () => {
  const { user, factor } = await person();
  const browser = agent(server.baseUrl);
  const login = await settle(browser, server, await browser.get(authorizeUrl(client, { scope: 'openid' })));
  const first = await browser.submit(login, { identifier: user.username, password: PASSWORD }, '/login');
  assert.equal(first.location?.pathname, '/login/verify');
  assert.ok(first.location?.searchParams.has('request'));
  // A wrong code, the form of the other kind and a page that is loaded again keep the request.
  let page = await typeCode(browser, await browser.get(first.location?.href ?? ''), '000000');
  const other = /href="([^"]*with=recovery-code)"/.exec(page.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
  page = await browser.get(other);
  assert.match(page.text, /name="with" value="recovery-code"/);
  const answer = await typeCode(browser, page, totpCode(factor, server.now()));
  assert.equal(answer.status, 303);
  const back = await walk(browser, answer.location?.href ?? '', { user, allow: 'all' });
  assert.equal(`${back.origin}${back.pathname}`, client.redirectUri);
  const { body } = await redeem(server, client, back.searchParams.get('code') ?? '');
  assert.deepEqual(claimsOf(body.id_token).amr, ['pwd', 'otp', 'mfa']);
  const [session] = await query(server, `SELECT acr, proved_by FROM browser_session WHERE account_id = '${user.id}'`);
  assert.deepEqual({ ...session }, { acr: 'https://refeds.org/profile/mfa', proved_by: 'totp' });
});

test('somebody else signs in where a second step waits', async () => {
  const { user } = await person();
  const { browser, page } = await atSecondStep(server, user);
  const answer = await browser.submit(page, { action: 'another' }, '/login/verify');
  assert.deepEqual([answer.status, answer.location?.pathname], [303, '/login']);
  assert.equal(browser.cookie('tessera_sign_in'), undefined);
  assert.equal((await query(server, `SELECT hash FROM pending_sign_in WHERE account_id = '${user.id}'`)).length, 0);
});

test('PW-09: five wrong codes end the sign-in; tries count over sign-ins and kinds, and the owner’s browser has its own', async () => {
  const { user, factor } = await person();
  const owner = await atSecondStep(server, user);
  assert.equal((await typeCode(owner.browser, owner.page, totpCode(factor, server.now()))).status, 303);
  for (let tries = 0; tries < 5; tries++) {
    const { browser, page } = await atSecondStep(server, user);
    const wrong = await typeCode(browser, page, '000000', tries % 2 === 0 ? 'app' : 'recovery-code');
    assert.equal(wrong.status, 401);
  }
  const guesser = await atSecondStep(server, user);
  server.advance(STEP);
  const limited = await typeCode(guesser.browser, guesser.page, totpCode(factor, server.now()));
  assert.equal(limited.status, 429, 'the right code, too');
  assert.ok(Number(limited.headers.get('retry-after')) > 0);
  assert.match(limited.text, new RegExp(`name="identifier"[^>]*value="${user.username}"`), 'what was typed is kept');
  assert.equal((await guesser.browser.get('/login/verify')).location?.pathname, '/login', 'it begins again');

  await owner.browser.submit(await owner.browser.get('/account'), {}, '/logout');
  const again = await atSecondStep(server, user, owner.browser);
  assert.equal((await typeCode(again.browser, again.page, totpCode(factor, server.now()))).status, 303);

  server.advance(15 * MINUTE);
  const later = await atSecondStep(server, user);
  assert.equal((await typeCode(later.browser, later.page, totpCode(factor, server.now()))).status, 303);
});

/** What may happen between the first factor and the second. */
const ends: [title: string, end: (id: string, elsewhere: Agent) => Promise<unknown>, status: number, text: RegExp][] = [
  ['ten minutes', async () => server.advance(10 * MINUTE), 409, /took too long/],
  ['a ban', async (id) => admin(server, 'PUT', `/users/${id}/ban`, {}), 409, /took too long/],
  ['a suspension', async (id) => admin(server, 'PUT', `/users/${id}/suspension`, {}), 409, /took too long/],
  ['a deletion', async (id) => admin(server, 'DELETE', `/users/${id}`), 409, /took too long/],
  [
    'a new password',
    async (id) => admin(server, 'PATCH', `/users/${id}`, { password: 'another good passphrase' }),
    409,
    /account changed/,
  ],
  [
    'signing out everywhere',
    async (_id, elsewhere) =>
      elsewhere.submit(await elsewhere.get('/account/security'), {}, '/account/sign-out-everywhere'),
    409,
    /account changed/,
  ],
];
for (const [title, end, status, text] of ends) {
  test(`SE-05: ${title} ends a sign-in at its second step`, async () => {
    const user = await newUser(server);
    const elsewhere = await signedIn(server, user);
    const factor = await enroll(server, user);
    const { browser, page } = await atSecondStep(server, user);
    const code = totpCode(factor, server.now() + (title === 'ten minutes' ? 10 * MINUTE : 0));
    await end(user.id, elsewhere);
    const answer = await typeCode(browser, page, code);
    assert.equal(answer.status, status);
    assert.match(answer.text, text);
    assert.match(answer.text, /action="\/login"/);
    assert.match(answer.text, new RegExp(`name="identifier"[^>]*value="${user.username}"`), 'what was typed is kept');
    assert.equal(await isSignedIn(browser), false);
    assert.equal(browser.cookie('tessera_sign_in'), undefined);
  });
}

test('SE-05: the second step belongs to the browser of the first', async () => {
  const { user, factor } = await person();
  const { browser, page } = await atSecondStep(server, user);
  const thief = agent(server.baseUrl);
  await thief.get('/login');
  thief.setCookie('tessera_sign_in', browser.cookie('tessera_sign_in') ?? '');
  assert.equal((await typeCode(thief, page, totpCode(factor, server.now()))).status, 409);
  assert.equal(await isSignedIn(thief), false);
});

test('a fresh proof is asked by the authenticator app, or by a recovery code', async () => {
  const { user, factor } = await person();
  const { browser, page } = await atSecondStep(server, user);
  await typeCode(browser, page, totpCode(factor, server.now()));
  const confirm = (fields: Readonly<Record<string, string>>, asked: Answer) =>
    browser.submit(asked, fields, '/account/confirm');
  server.advance(10 * MINUTE);
  let asked = await browser.get('/account/confirm?next=password');
  assert.doesNotMatch(asked.text, /type="password"/);
  assert.equal((await confirm({ current: PASSWORD }, asked)).status, 400, 'a password is not enough');
  assert.equal((await confirm({ code: '000000' }, asked)).status, 400);
  const code = totpCode(factor, server.now());
  assert.equal((await confirm({ code }, asked)).status, 303);
  server.advance(10 * MINUTE);
  asked = await browser.get('/account/confirm?next=password&with=recovery-code');
  assert.equal((await confirm({ code: factor.recoveryCodes[3] ?? '' }, asked)).status, 303);
  server.advance(10 * MINUTE);
  asked = await browser.get('/account/confirm?next=password&with=recovery-code');
  assert.equal((await confirm({ code: factor.recoveryCodes[3] ?? '' }, asked)).status, 400, 'it was used');
  const confirmed = (await eventsOf(user.id)).filter(({ type }) => type === 'sign_in.confirmed');
  assert.deepEqual(
    confirmed.map(({ method }) => method),
    ['totp', 'recovery code'],
  );
});

/** Sets up an authenticator app on the pages, as a person does, and returns its seed and what the last page shows. */
async function setUp(browser: Agent): Promise<{ seed: string; page: Answer; codes: string[] }> {
  const page = await browser.get('/account/security/authenticator');
  assert.equal(page.status, 200, `${page.location}`);
  const seed = seedOf(page);
  const answer = await browser.submit(page, { code: totpCode({ seed }, server.now()) }, AUTHENTICATOR);
  assert.equal(answer.status, 200, answer.text);
  return { seed, page: answer, codes: codesOf(answer) };
}
const AUTHENTICATOR = '/account/security/authenticator';
const REMOVE = '/account/security/authenticator/remove';
const RECOVERY_CODES = '/account/security/recovery-codes';
const seedOf = ({ text }: Answer): string => /secret=([A-Z2-7]{32})/.exec(text)?.[1] ?? '';
const codesOf = ({ text }: Answer): string[] =>
  [...text.matchAll(/<li><code>([^<]+)<\/code>/g)].map(([, code = '']) => code);

test('PW-10: setting up an authenticator app ends everything else, and shows ten recovery codes once', async () => {
  const user = await newUser(server);
  const [browser, elsewhere] = [await signedIn(server, user), await signedIn(server, user)];
  const tokens = await tokensFor(server, client, user, { scope: 'openid' }, { browser });
  const session = browser.cookie('tessera_session');
  const { seed, codes } = await setUp(browser);
  assert.equal(new Set(codes).size, 10);
  assert.equal(await isSignedIn(browser), true);
  assert.notEqual(browser.cookie('tessera_session'), session);
  assert.equal(await isSignedIn(elsewhere), false);
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 400);
  const security = await browser.get('/account/security');
  assert.match(security.text, /10 of 10 left/);
  for (const code of codes) assert.ok(!security.text.includes(code));
  // The code that confirmed it is used up.
  const first = await atSecondStep(server, user);
  assert.equal((await typeCode(first.browser, first.page, totpCode({ seed }, server.now()))).status, 401);
  for (const code of codes.slice(0, 7)) {
    const at = await atSecondStep(server, user);
    assert.equal((await typeCode(at.browser, at.page, code, 'recovery-code')).status, 303);
  }
  assert.match((await browser.get('/account/security')).text, /Only 3 recovery codes are left/);
});

test('what is in the way is said, with a way on', async () => {
  const browser = await signedIn(server, await newUser(server));
  const { hidden } = formOf((await browser.get('/account/security')).text, '/account/password');
  const { status, text } = await browser.post(RECOVERY_CODES, hidden);
  assert.equal(status, 409);
  assert.match(
    text,
    /<h1>This could not be done<\/h1><p>Set up an authenticator app or a passkey first\. Nothing was changed\.<\/p>/,
  );
  assert.match(text, /<a href="\/account">/);
});

test('new recovery codes are shown until they are kept, to their person in this browser alone', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const { page, codes } = await setUp(browser);
  assert.deepEqual(codesOf(await browser.get('/recovery-codes')), codes, 'loaded again');
  const file = await browser.get('/recovery-codes?file=text');
  assert.match(file.headers.get('content-disposition') ?? '', /attachment; filename="tessera-recovery-codes\.txt"/);
  for (const code of codes) assert.ok(file.text.includes(code));

  const another = await signedIn(server, await newUser(server));
  another.setCookie('tessera_new_codes', browser.cookie('tessera_new_codes') ?? '');
  assert.equal((await another.get('/recovery-codes')).location?.pathname, '/account/security', 'another browser');
  const session = browser.cookie('tessera_session') ?? '';
  browser.setCookie('tessera_session', another.cookie('tessera_session') ?? '');
  assert.equal((await browser.get('/recovery-codes')).status, 302, 'another person in this browser');
  browser.setCookie('tessera_session', session);

  const used = await atSecondStep(server, user);
  const after = await typeCode(used.browser, used.page, codes[0] ?? '', 'recovery-code');
  assert.equal(after.location?.pathname, '/login/verify/used');
  assert.match((await used.browser.get(after.location?.href ?? '')).text, /you have 9 left/);
  assert.deepEqual(codesOf(await browser.get('/recovery-codes')), codes.slice(1), 'only those that work');

  const copy = agent(server.baseUrl, server.nodeInTurn);
  for (const name of ['tessera_browser', 'tessera_session', 'tessera_new_codes']) {
    copy.setCookie(name, browser.cookie(name) ?? '');
  }
  assert.equal((await copy.get('/recovery-codes')).status, 200);
  const kept = await browser.submit(page, {}, '/recovery-codes');
  assert.equal(kept.location?.pathname, '/account/security');
  assert.equal((await browser.get('/recovery-codes')).status, 302);
  assert.equal((await copy.get('/recovery-codes')).status, 302, 'a copy of the cookies');
});

test('new recovery codes are shown for ten minutes, no longer than a proof is fresh', async () => {
  const browser = await signedIn(server, await newUser(server));
  await setUp(browser);
  server.advance(10 * MINUTE - 1);
  assert.equal((await browser.get('/recovery-codes')).status, 200);
  server.advance(1);
  assert.equal((await browser.get('/recovery-codes')).status, 302);
});

/** What a person may send instead of the code. */
const mistakes: [
  title: string,
  send: (page: Answer, browser: Agent) => Promise<Answer>,
  status: number,
  text: RegExp,
][] = [
  ['a wrong code', (page, browser) => browser.submit(page, { code: '123' }, AUTHENTICATOR), 400, /not valid/],
  [
    'the code of a clock that is some minutes ahead',
    (page, browser) => browser.submit(page, { code: totpCode({ seed: seedOf(page) }, server.now(), 7) }, AUTHENTICATOR),
    400,
    /clock of your device is wrong/,
  ],
  [
    'a form that was open for too long',
    (page, browser) => {
      server.advance(15 * MINUTE);
      return browser.submit(page, { code: totpCode({ seed: seedOf(page) }, server.now()) }, AUTHENTICATOR);
    },
    409,
    /open for too long/,
  ],
  [
    'a seed of another session',
    async (page, browser) => {
      const other = await (await signedIn(server, await newUser(server))).get(AUTHENTICATOR);
      const { enrollment = '' } = formOf(other.text, AUTHENTICATOR).hidden;
      const code = totpCode({ seed: seedOf(other) }, server.now());
      return browser.submit(page, { code, enrollment }, AUTHENTICATOR);
    },
    409,
    /open for too long/,
  ],
];
for (const [title, send, status, text] of mistakes) {
  test(`${title} turns nothing on`, async () => {
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    const answer = await send(await browser.get(AUTHENTICATOR), browser);
    assert.equal(answer.status, status);
    assert.match(answer.text, text);
    assert.equal(await isSignedIn(await signedIn(server, user)), true, 'the password is enough');
  });
}

test('SE-09: moving to another device, removing the app and new recovery codes ask for a fresh proof', async () => {
  const { user, factor } = await person();
  const { browser, page } = await atSecondStep(server, user);
  await typeCode(browser, page, totpCode(factor, server.now()));
  const shown = await browser.get('/account/security');
  server.advance(10 * MINUTE);
  for (const action of [REMOVE, RECOVERY_CODES]) {
    const answer = await browser.submit(shown, {}, action);
    assert.deepEqual([answer.status, answer.location?.pathname], [303, '/account/confirm'], action);
  }
  const asked = await browser.get(AUTHENTICATOR);
  assert.equal(asked.location?.pathname, '/account/confirm');
  const confirm = await browser.get(asked.location?.href ?? '');
  const proved = await browser.submit(confirm, { code: totpCode(factor, server.now()) }, '/account/confirm');
  assert.equal(proved.location?.pathname, AUTHENTICATOR);

  // The new device replaces the old one, and the recovery codes stay.
  const moved = await setUp(browser);
  assert.deepEqual(moved.codes, []);
  server.advance(STEP);
  const old = await atSecondStep(server, user);
  assert.equal((await typeCode(old.browser, old.page, totpCode(factor, server.now()))).status, 401);
  assert.equal((await typeCode(old.browser, old.page, totpCode(moved, server.now()))).status, 303);
  assert.equal(await isSignedIn(browser), true);

  const renewed = await old.browser.submit(await old.browser.get('/account/security'), {}, RECOVERY_CODES);
  const [code = ''] = codesOf(renewed);
  assert.equal(await isSignedIn(browser), false, 'new recovery codes end what came before them');
  const stale = await atSecondStep(server, user);
  assert.equal((await typeCode(stale.browser, stale.page, factor.recoveryCodes[0] ?? '', 'recovery-code')).status, 401);
  assert.equal((await typeCode(stale.browser, stale.page, code, 'recovery-code')).status, 303);

  const removed = await stale.browser.submit(await stale.browser.get('/account/security'), {}, REMOVE);
  assert.match(removed.text, /The authenticator app is removed/);
  assert.equal(await isSignedIn(old.browser), false);
  assert.equal(await isSignedIn(await signedIn(server, user)), true);
  const again = await stale.browser.submit(removed, {}, '/account/sign-out-everywhere');
  assert.equal(again.status, 200, 'the forms of the answer belong to the new session');
  assert.equal((await query(server, `SELECT hash FROM recovery_code WHERE account_id = '${user.id}'`)).length, 0);
});

test('a change to the factors is refused in a session that ended meanwhile, and an enrollment dies with the generation', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const page = await browser.get(AUTHENTICATOR);
  await admin(server, 'PATCH', `/users/${user.id}`, { password: 'another good passphrase' });
  const answer = await browser.submit(page, { code: totpCode({ seed: seedOf(page) }, server.now()) }, AUTHENTICATOR);
  assert.equal(answer.location?.pathname, '/login');
  assert.equal((await query(server, `SELECT account_id FROM totp_secret WHERE account_id = '${user.id}'`)).length, 0);
});

/** A browser in which no code is asked for, as the person chose when they last typed one. */
async function trusted() {
  const { user, factor } = await person();
  const { browser, page } = await atSecondStep(server, user);
  const answer = await browser.submit(page, { code: totpCode(factor, server.now()), trust: 'on' }, '/login/verify');
  assert.equal(answer.status, 303);
  await browser.submit(await browser.get('/account'), {}, '/logout');
  return { user, factor, browser };
}
/** Where the first factor leads. */
const afterPassword = async (browser: Agent, { username }: TestUser, password = PASSWORD) =>
  (await browser.submit(await browser.get('/login'), { identifier: username, password }, '/login')).location?.pathname;

test('a trusted browser is asked for the password alone, and its session says so', async () => {
  const { user, factor, browser } = await trusted();
  assert.equal(await afterPassword(browser, user), '/account');
  const [session] = await query(
    server,
    `SELECT acr, amr, proved_by FROM browser_session WHERE account_id = '${user.id}'`,
  );
  assert.deepEqual(
    { ...session },
    {
      acr: 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
      amr: '["pwd"]',
      proved_by: 'password',
    },
  );
  assert.equal((await browser.get(AUTHENTICATOR)).location?.pathname, '/account/confirm', 'it is no fresh proof');
  const other = agent(server.baseUrl);
  assert.equal(await afterPassword(other, user), '/login/verify', 'no other browser is trusted');

  // The list asks for a fresh proof; then the person is asked for a code there again.
  const list = await browser.get('/account/sessions');
  assert.match(list.text, /Trusted browsers/);
  assert.doesNotMatch(list.text, /action="\/account\/trusted-browsers"/);
  server.advance(STEP);
  const confirm = await browser.get('/account/confirm?next=trusted-browsers');
  await browser.submit(confirm, { code: totpCode(factor, server.now()) }, '/account/confirm');
  await browser.submit(await browser.get('/account/sessions'), {}, '/account/trusted-browsers');
  await browser.submit(await browser.get('/account'), {}, '/logout');
  assert.equal(await afterPassword(browser, user), '/login/verify');
});

/** What ends the trust of a browser. */
const distrusts: [
  title: string,
  act: (at: Awaited<ReturnType<typeof trusted>>) => Promise<unknown>,
  password?: string,
][] = [
  ['thirty days', async () => server.advance(30 * 24 * 60 * MINUTE)],
  [
    'a new password',
    ({ user }) => admin(server, 'PATCH', `/users/${user.id}`, { password: 'another good passphrase' }),
    'another good passphrase',
  ],
  [
    'new recovery codes',
    async ({ user, factor }) => {
      const at = await atSecondStep(server, user);
      await typeCode(at.browser, at.page, factor.recoveryCodes[0] ?? '', 'recovery-code');
      const answer = await at.browser.submit(await at.browser.get('/account/security'), {}, RECOVERY_CODES);
      assert.equal(answer.status, 200);
    },
  ],
  [
    'the cookie of another person',
    async ({ browser }) =>
      browser.setCookie('tessera_trusted', (await trusted()).browser.cookie('tessera_trusted') ?? ''),
  ],
];
for (const [title, act, password] of distrusts) {
  test(`a browser is no longer trusted after ${title}`, async () => {
    const at = await trusted();
    await act(at);
    assert.equal(await afterPassword(at.browser, at.user, password), '/login/verify');
  });
}

test('an account trusts sixteen browsers', async () => {
  const { user, factor } = await person();
  for (let count = 0; count < 17; count++) {
    server.advance(STEP);
    const { browser, page } = await atSecondStep(server, user);
    await browser.submit(page, { code: totpCode(factor, server.now()), trust: 'on' }, '/login/verify');
  }
  assert.equal((await query(server, `SELECT hash FROM trusted_browser WHERE account_id = '${user.id}'`)).length, 16);
});

test('TESSERA_TRUSTED_BROWSERS=off offers no choice, and trusts no browser', async () => {
  const strict = await startServer({ TESSERA_TRUSTED_BROWSERS: 'off' });
  try {
    const user = await newUser(strict);
    const factor = await enroll(strict, user);
    const { browser, page } = await atSecondStep(strict, user);
    assert.doesNotMatch(page.text, /name="trust"/);
    await browser.submit(page, { code: totpCode(factor, strict.now()), trust: 'on' }, '/login/verify');
    assert.equal(browser.cookie('tessera_trusted'), undefined);
    assert.equal((await query(strict, 'SELECT hash FROM trusted_browser')).length, 0);
  } finally {
    await strict.close();
  }
});
