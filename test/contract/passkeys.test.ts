import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { userHandleOf } from '../../src/authenticators/passkey.ts';
import { agent, formOf } from '../support/agent.ts';
import { admin, authorizeUrl, claimsOf, newClient, newUser, redeem, standard, walk } from '../support/flow.ts';
import { newPasskey, passkeyOptions, usePasskey } from '../support/passkeys.ts';
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

test('the sign-in page and its options are the same whoever asks', async () => {
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
