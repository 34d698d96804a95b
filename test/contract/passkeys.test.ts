// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { userHandleOf } from '../../src/account-actions/authentication/passkey.ts';
import { agent, formOf } from '../support/agent.ts';
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
  walk,
} from '../support/flow.ts';
import { addPasskeyOnPage, newPasskey, passkeyForm, passkeyOptions, usePasskey } from '../support/passkeys.ts';
import { atSecondStep, enroll } from '../support/second-factor.ts';
import { startServer } from '../support/server.ts';
import { type Forgery, softAuthenticator } from '../support/soft-authenticator.ts';

const server = await startServer({ TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' });
after(() => server.close());

const eventsOf = async (id: string): Promise<{ type: string; details: Record<string, unknown> }[]> =>
  (await admin(server, 'GET', `/audit-events?userId=${id}`)).body.items;

test('a passkey signs in without a password, as two factors in one act, for an app too', async () => {
  const user = await newUser(server);
  const client = standard(await newClient(server));
  const passkey = await newPasskey(server, user.id);
  const browser = agent(server.baseUrl);
  const asked = await browser.get(authorizeUrl(client, { scope: 'openid', claims: '{"id_token":{"acr":null}}' }));
  const page = await browser.get(asked.location?.href ?? '');
  const answer = await usePasskey(browser, passkey, {}, page);
  assert.deepEqual([answer.status, answer.location?.pathname], [303, '/consent'], answer.text);
  const target = await walk(browser, answer.location?.href ?? '');
  const { body } = await redeem(server, client, target.searchParams.get('code') ?? '');
  const { amr, acr } = claimsOf(body.id_token);
  assert.deepEqual([amr, acr], [['pop', 'user', 'mfa'], 'phr']);
});

test('a response is accepted once, for five minutes, in the browser and on the page that asked', async () => {
  const user = await newUser(server);
  const passkey = await newPasskey(server, user.id);
  const browser = agent(server.baseUrl);
  const { hidden } = formOf((await browser.get('/login')).text, '/login/passkey');
  const send = (response: string, from = browser) => from.post('/login/passkey', { ...hidden, passkey: response });

  const other = agent(server.baseUrl);
  const otherForm = formOf((await other.get('/login')).text, '/login/passkey').hidden;
  const response = passkey.use(await passkeyOptions(browser, '/login/passkey'));
  const elsewhere = await other.post('/login/passkey', { ...otherForm, passkey: response });
  assert.equal(elsewhere.status, 401, 'another browser');
  assert.equal((await send(response)).status, 303);
  assert.equal((await send(response)).status, 401, 'a second time');

  const late = passkey.use(await passkeyOptions(browser, '/login/passkey'));
  server.advance(5 * 60_000);
  const expired = await send(late);
  assert.equal(expired.status, 401);
  assert.match(expired.text, /has expired/);

  // Side by side, one of them signs in.
  const twice = passkey.use(await passkeyOptions(browser, '/login/passkey'));
  const statuses = (await Promise.all([send(twice), send(twice), send(twice)])).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [303, 401, 401]);
});

const forgeries: Readonly<Record<string, Forgery>> = {
  'another origin': { origin: 'https://evil.example' },
  'a subdomain': { origin: 'http://a.localhost' },
  'another relying party': { rpId: 'evil.example' },
  'a challenge of nobody': { challenge: Buffer.from('0123456789abcdef').toString('base64url') },
  'an empty challenge': { challenge: '' },
  'a frame': { crossOrigin: true },
  'another type': { type: 'webauthn.create' },
  'nobody present': { userPresent: false },
  'a person who is not verified': { userVerified: false },
  'the handle of another account': { userHandle: userHandleOf('1') },
};

test('a forged response signs nobody in, and the page says so', async () => {
  const user = await newUser(server);
  const passkey = await newPasskey(server, user.id);
  for (const [name, forged] of Object.entries(forgeries)) {
    const browser = agent(server.baseUrl);
    const answer = await usePasskey(browser, passkey, forged);
    assert.equal(answer.status, 401, name);
    assert.equal(browser.cookie('tessera_session'), undefined, name);
    assert.match(answer.text, forged.userVerified === false ? /did not check that it was you/ : /could not be checked/);
  }
  const stranger = await newPasskey(server, (await newUser(server)).id);
  const signedByOther = await usePasskey(agent(server.baseUrl), stranger, {
    id: passkey.id,
    userHandle: userHandleOf(user.id),
  });
  assert.equal(signedByOther.status, 401, 'the key of another');
  for (const junk of ['', '{}', 'null', '[]', '{"id":"a","response":{"clientDataJSON":"e30"}}', '{"id":"\\u0000"}']) {
    const browser = agent(server.baseUrl);
    const { hidden } = formOf((await browser.get('/login')).text, '/login/passkey');
    assert.equal((await browser.post('/login/passkey', { ...hidden, passkey: junk })).status, 401, junk);
  }
});

test('a passkey that is not on record is told apart, so that the device can forget it', async () => {
  const { id } = await newUser(server);
  const removed = softAuthenticator(server.baseUrl, userHandleOf(id));
  const answer = await usePasskey(agent(server.baseUrl), removed);
  assert.equal(answer.status, 401);
  assert.match(answer.text, /no longer set up/);
  assert.ok(answer.text.includes(`data-unknown-passkey="${removed.id}"`));
});

test('a counter that goes back is recorded and refuses nothing', async () => {
  const user = await newUser(server);
  const passkey = await newPasskey(server, user.id);
  for (const [counter, backedUp] of [
    [7, false],
    [3, true],
    [8, true],
  ] as const) {
    assert.equal((await usePasskey(agent(server.baseUrl), passkey, { counter, backedUp })).status, 303);
  }
  const back = (await eventsOf(user.id)).filter(({ type }) => type === 'passkey.counter_went_back');
  assert.deepEqual(
    back.map(({ details }) => details),
    [{ passkey: 'Test passkey', stored: 7, received: 3 }],
  );
});

test('what happens to the account while the prompt is open decides', async () => {
  const user = await newUser(server);
  const passkey = await newPasskey(server, user.id);
  const browser = agent(server.baseUrl);
  const page = await browser.get('/login');
  const { hidden } = formOf(page.text, '/login/passkey');
  const passkeyResponse = passkey.use(await passkeyOptions(browser, '/login/passkey'));
  const send = () => browser.post('/login/passkey', { ...hidden, passkey: passkeyResponse });
  for (const [path, word] of [
    ['ban', /banned/],
    ['suspension', /suspended/],
  ] as const) {
    await admin(server, 'PUT', `/users/${user.id}/${path}`, {});
    const answer = await send();
    assert.equal(answer.status, 403);
    assert.match(answer.text, word);
    await admin(server, 'DELETE', `/users/${user.id}/${path}`);
  }
  await admin(server, 'DELETE', `/users/${user.id}`);
  const gone = await send();
  assert.equal(gone.status, 401);
  assert.match(gone.text, /no longer set up/);
});

test('the sign-in page and its options are the same for everyone', async () => {
  const options = await passkeyOptions(agent(server.baseUrl), '/login/passkey');
  assert.deepEqual(
    { ...options, challenge: '' },
    {
      challenge: '',
      rpId: 'localhost',
      timeout: 300_000,
      userVerification: 'required',
      allowCredentials: [],
    },
  );
});

test('the first passkey ends what came before, one more does not, and the last way to sign in stays', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const elsewhere = await signedIn(server, user);
  const first = await addPasskeyOnPage(server, browser, user.id);
  assert.equal((await elsewhere.get('/account')).status, 302, 'the other browser is signed out');
  const again = agent(server.baseUrl);
  assert.equal((await usePasskey(again, first)).status, 303);
  const second = await addPasskeyOnPage(server, again, user.id);
  assert.equal((await browser.get('/account')).status, 200, 'one more ends nothing');

  const renamed = await passkeyForm(browser, { action: 'rename', id: second.id, name: ' My   key ' });
  assert.match(renamed.text, /<bdi>My key<\/bdi>/);
  const directions = [...'\u061c\u200e\u200f\u202a\u202e\u2066\u2069'].map((control) => `My ${control}yek`);
  for (const name of ['', ' ', '\u200b', 'x'.repeat(65), ...directions]) {
    await passkeyForm(browser, { action: 'rename', id: second.id, name }, 400);
  }
  const stranger = await newPasskey(server, (await newUser(server)).id);
  await passkeyForm(browser, { action: 'rename', id: stranger.id, name: 'Mine' }, 409);
  await passkeyForm(browser, { action: 'remove', id: stranger.id }, 409);

  // A prompt that is open while its passkey is removed.
  const open = agent(server.baseUrl);
  const { hidden } = formOf((await open.get('/login')).text, '/login/passkey');
  const passkey = second.use(await passkeyOptions(open, '/login/passkey'));
  await passkeyForm(again, { action: 'remove', id: second.id });
  assert.equal((await browser.get('/account')).status, 302, 'a removal ends the other sessions');
  const removed = await open.post('/login/passkey', { ...hidden, passkey });
  assert.equal(removed.status, 401);
  assert.match(removed.text, /no longer set up/);
});

test('a passkey is added only with a fresh response of a verified person to this session', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  for (const [name, forged] of Object.entries(forgeries)) {
    if (name === 'the handle of another account') continue;
    const type = name === 'another type' ? 'webauthn.get' : undefined;
    await addPasskeyOnPage(server, browser, user.id, { ...forged, ...(type && { type }) }, 400);
  }
  // A response for another session of the same person, and one that is sent twice at once.
  const other = await signedIn(server, user);
  const authenticator = softAuthenticator(server.baseUrl, userHandleOf(user.id));
  const passkey = authenticator.create(await passkeyOptions(other, '/account/security/passkeys/new'));
  await passkeyForm(browser, { action: 'add', passkey }, 400);
  const { hidden } = formOf((await other.get('/account/security')).text, '/account/security/passkeys');
  const send = () => other.post('/account/security/passkeys', { ...hidden, action: 'add', passkey });
  const statuses = (await Promise.all([send(), send(), send()])).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 1, `${statuses}`);
  assert.equal((await usePasskey(agent(server.baseUrl), authenticator)).status, 303);
});

test('Web Authentication §7.1: an attestation statement that was not asked for is ignored, whatever it says', async () => {
  const [sig, x5c] = [new Uint8Array(64), [new Uint8Array(300)]];
  for (const [format, statement] of [
    ['packed', { alg: -7, sig, x5c }],
    ['packed', { alg: -7, sig }],
    ['fido-u2f', { sig, x5c }],
    ['apple', { x5c }],
    ['tpm', { ver: '2.0', alg: -65535, sig, x5c, certInfo: sig, pubArea: sig }],
    ['android-key', { alg: -7, sig, x5c }],
    ['android-safetynet', { ver: '1', response: sig }],
    ['compound', {}],
    ['none', { alg: -7 }],
    ['of another maker', {}],
  ] as const) {
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    const forged = { format, statement: new Map(Object.entries(statement)) };
    const passkey = await addPasskeyOnPage(server, browser, user.id, forged, 200);
    assert.equal((await usePasskey(agent(server.baseUrl), passkey)).status, 303, format);
  }
});

test('a passkey is the fresh proof of those who have one, and a second factor after the password', async () => {
  const user = await newUser(server);
  const passkey = await newPasskey(server, user.id);
  const browser = await signedIn(server, user);
  const gated = await browser.get('/account/security/passkeys/new');
  assert.equal(gated.location?.pathname, '/account/confirm');
  const page = await browser.get(gated.location?.href ?? '');
  const wrong = await newPasskey(server, (await newUser(server)).id);
  for (const [authenticator, status] of [
    [wrong, 400],
    [passkey, 303],
  ] as const) {
    const response = authenticator.use(await passkeyOptions(browser, '/account/confirm/passkey'));
    assert.equal((await browser.submit(page, { passkey: response }, '/account/confirm')).status, status);
  }
  await addPasskeyOnPage(server, browser, user.id);

  await enroll(server, user);
  for (const [authenticator, status] of [
    [wrong, 401],
    [passkey, 303],
  ] as const) {
    const at = await atSecondStep(server, user);
    const response = authenticator.use(await passkeyOptions(at.browser, '/login/verify/passkey'));
    assert.equal((await at.browser.submit(at.page, { passkey: response }, '/login/verify')).status, status);
    assert.equal(at.browser.cookie('tessera_session') !== undefined, status === 303);
  }
});

test('a person with a passkey removes the password, gets recovery codes, and keeps the last passkey', async () => {
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const passkey = await addPasskeyOnPage(server, browser, user.id);
  const done = await browser.submit(await browser.get('/account/security'), {}, '/account/security/remove-password');
  assert.equal(done.status, 200, done.text);
  assert.equal([...done.text.matchAll(/<li><code>/g)].length, 10);
  const stranger = agent(server.baseUrl);
  const typed = { identifier: user.username, password: PASSWORD };
  assert.equal((await stranger.submit(await stranger.get('/login'), typed, '/login')).status, 401);
  const again = agent(server.baseUrl);
  assert.equal((await usePasskey(again, passkey)).status, 303);
  const { text } = await passkeyForm(again, { action: 'remove', id: passkey.id }, 409);
  assert.match(text, /your only way to sign in/);
});

test('after a sign-in by password the account offers a passkey, until it is declined in the browser', async () => {
  const OFFER = /data-passkey-offer/;
  const user = await newUser(server);
  const browser = await signedIn(server, user);
  const page = await browser.get('/account');
  assert.match(page.text, OFFER);
  assert.match(page.text, /<section [^>]*hidden data-passkey-offer/, 'without a script nothing is offered');
  assert.equal((await browser.post('/account/passkey-offer', {})).status, 400);
  const crossSite = { 'sec-fetch-site': 'cross-site' };
  const { hidden } = formOf(page.text, '/account/passkey-offer');
  assert.equal((await browser.post('/account/passkey-offer', hidden, crossSite)).status, 403);
  assert.match((await browser.get('/account')).text, OFFER);

  const answer = await browser.submit(page, {}, '/account/passkey-offer');
  assert.equal(answer.location?.pathname, '/account');
  assert.doesNotMatch((await browser.get('/account')).text, OFFER);
  await browser.submit(await browser.get('/account'), {}, '/logout');
  const again = await browser.submit(await browser.get('/login'), { identifier: user.username, password: PASSWORD });
  assert.equal(again.location?.pathname, '/account', 'no page comes between');
  assert.doesNotMatch((await browser.get('/account')).text, OFFER, 'nor after another sign-in');

  // Elsewhere it is offered, as long as the sign-in is fresh; and not to a person who has one.
  const elsewhere = await signedIn(server, user);
  assert.match((await elsewhere.get('/account')).text, OFFER);
  server.advance(10 * 60_000);
  assert.doesNotMatch((await elsewhere.get('/account')).text, OFFER);
  const third = await signedIn(server, user);
  await addPasskeyOnPage(server, third, user.id);
  assert.doesNotMatch((await third.get('/account')).text, OFFER);
});
