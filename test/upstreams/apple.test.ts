// store: SQLite
import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { after, afterEach, test } from 'node:test';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import { type Agent, agent } from '../support/agent.ts';
import { admin } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { newestMail } from '../support/recovery.ts';
import { startServer } from '../support/server.ts';
import { UpstreamProvider } from '../support/upstream-provider.ts';

const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_LIMIT_SIGN_UP_ADDRESS: 'off',
  TESSERA_LIMIT_MAIL_ADDRESS: 'off',
});
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();
const apple = await UpstreamProvider.start();
apple.now = server.now;
/** The headers and claims of the client secrets that came. */
const secrets: { readonly header: object; readonly claims: Record<string, unknown> }[] = [];
apple.authenticates = async (form) => {
  const secret = form.get('client_secret') ?? '';
  const options = { issuer: 'TEAM123456', subject: apple.clientId, audience: apple.issuer };
  const verified = await jwtVerify(secret, publicKey, { ...options, currentDate: new Date(server.now()) }).catch(
    () => undefined,
  );
  if (verified === undefined || form.get('client_id') !== apple.clientId) return false;
  secrets.push({ header: decodeProtectedHeader(secret), claims: verified.payload });
  return true;
};
after(async () => {
  await apple[Symbol.asyncDispose]();
  await server.close();
});
afterEach(() => {
  apple.tricks = {};
});
const REGISTRATION = { kind: 'apple', issuer: apple.issuer, clientId: apple.clientId, signUp: 'anyone' };
const KEY = { teamId: 'TEAM123456', keyId: 'KEY1234567', privateKey: pem(privateKey) };
const created = await admin(server, 'POST', '/upstreams', { ...REGISTRATION, ...KEY, name: 'apple' });
server.advance(11_000);

/** The headers of a form that the page of another site sends. */
const ACROSS = { origin: 'https://appleid.apple.com', 'sec-fetch-site': 'cross-site' };

/** Leaves for Apple. @returns the form with which its page sends the browser back */
async function form(browser: Agent, more: Readonly<Record<string, string>> = {}) {
  const left = await browser.get('/login/with/apple');
  assert.equal(left.status, 302, left.text.slice(0, 2000));
  assert.equal(left.location?.searchParams.get('response_mode'), 'form_post');
  const { searchParams } = apple.authorize(left.location?.href ?? '');
  return { ...Object.fromEntries(searchParams), ...more };
}

/** Brings a form back as a browser does: without its cookies, which it sends with the redirect again. */
async function bringBack(browser: Agent, fields: Readonly<Record<string, string>>) {
  const posted = await agent(server.baseUrl).post('/login/with/apple/callback', fields, ACROSS);
  assert.equal(posted.status, 303);
  assert.deepEqual(posted.headers.getSetCookie(), [], 'the identity of the browser is not replaced');
  return browser.get(posted.location?.href ?? '');
}

const USER = JSON.stringify({ name: { firstName: 'Ada', lastName: 'Lovelace' }, email: 'claimed@example.com' });

test('a private key is kept instead of a secret, and never shown', async () => {
  const { kind, scopes, hasClientSecret, teamId, keyId } = created.body;
  assert.deepEqual(
    { kind, scopes, hasClientSecret, teamId, keyId },
    {
      kind: 'apple',
      scopes: ['openid', 'name', 'email'],
      hasClientSecret: true,
      teamId: 'TEAM123456',
      keyId: 'KEY1234567',
    },
  );
  assert.doesNotMatch(JSON.stringify(created.body), /PRIVATE KEY/);
  const [row] = await query(server, `SELECT sealed_secret FROM upstream WHERE name = 'apple'`);
  assert.doesNotMatch(String(row?.['sealed_secret']), /PRIVATE|MIG/);
});

test('what is no key of Apple is refused', async () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const wrong = [
    { ...KEY, privateKey: pem(rsa) },
    { ...KEY, privateKey: 'no key' },
    { ...KEY, privateKey: pem(generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey) },
    { teamId: 'TEAM123456', keyId: 'KEY1234567', clientSecret: 'a text' },
    { privateKey: pem(privateKey) },
  ];
  for (const [index, fields] of wrong.entries()) {
    const { status } = await admin(server, 'POST', '/upstreams', {
      ...REGISTRATION,
      ...fields,
      name: `wrong-${index}`,
    });
    assert.equal(status, 400, JSON.stringify(fields).slice(0, 80));
  }
  const { status } = await admin(server, 'PATCH', `/upstreams/${created.body.id}`, { clientSecret: 'a text' });
  assert.equal(status, 400, 'a secret in place of the key');
  for (const [method, path, fields] of [
    ['POST', '/upstreams', { ...REGISTRATION, name: 'wrong-both' }],
    ['PATCH', `/upstreams/${created.body.id}`, {}],
  ] as const) {
    const both = await admin(server, method, path, { ...fields, ...KEY, clientSecret: 'a text' });
    assert.equal(both.status, 400);
    assert.match(JSON.stringify(both.body), /clientSecret and privateKey exclude each other/);
  }
});

test('a person signs in with a form, and a client secret that is made for it', async () => {
  apple.person = {
    sub: '001.ada.1',
    email: 'relay@privaterelay.appleid.com',
    email_verified: 'true',
    is_private_email: 'true',
  };
  const browser = agent(server.baseUrl);
  const back = await bringBack(browser, await form(browser, { user: USER }));
  assert.equal(back.location?.pathname, '/login/with/apple/new', back.text.slice(0, 2000));
  const page = await browser.get(back.location.href);
  assert.match(page.text, /value="Ada Lovelace"/, 'the name that is sent once');
  assert.match(page.text, /value="relay@privaterelay\.appleid\.com"/, 'the address of the token, not that of the form');
  const fields = { displayName: 'Ada', username: 'ada', email: 'relay@privaterelay.appleid.com' };
  await browser.submit(page, fields, '/login/with/apple/new');
  const { code = '' } = await newestMail(server, fields.email, 'verify address');
  const done = await browser.submit(await browser.get('/signup/verify'), { code }, '/signup/verify');
  assert.equal(done.location?.pathname, '/account');
  const { header, claims } = secrets.at(-1) ?? { header: {}, claims: {} };
  assert.deepEqual(header, { alg: 'ES256', kid: 'KEY1234567' });
  assert.ok(Number(claims['exp']) - Number(claims['iat']) <= 300);

  const again = agent(server.baseUrl);
  assert.equal((await bringBack(again, await form(again))).location?.pathname, '/account', 'later without a name');
});

test('a form from another site signs in nobody in a browser that did not leave (login CSRF)', async () => {
  const thief = agent(server.baseUrl);
  const fields = await form(thief);
  const victim = agent(server.baseUrl);
  await victim.get('/login');
  const identity = victim.cookie('tessera_browser');
  apple.asked.length = 0;
  assert.equal((await bringBack(victim, fields)).status, 400);
  assert.equal(victim.cookie('tessera_browser'), identity);
  assert.equal(apple.asked.includes('/token'), false, 'no code is redeemed');
  assert.equal((await bringBack(thief, fields)).location?.pathname, '/account', 'the browser that left');
});

test('a response in the query is refused, where a form was asked for', async () => {
  const browser = agent(server.baseUrl);
  const query = new URLSearchParams(await form(browser));
  assert.equal((await browser.get(`/login/with/apple/callback?${query}`)).status, 400);
});

test('a form is refused at a provider that sends none', async () => {
  const { body } = await admin(server, 'POST', '/upstreams', {
    name: 'plain',
    issuer: apple.issuer,
    clientId: 'tessera',
  });
  const browser = agent(server.baseUrl);
  const fields = await form(browser);
  const posted = await browser.post('/login/with/plain/callback', fields, ACROSS);
  assert.equal((await browser.get(posted.location?.href ?? '')).status, 400);
  await admin(server, 'POST', `/upstreams/${body.id}/disable`, {});
  server.advance(11_000);
});

for (const [name, change] of [
  ['that is changed', (sealed: string) => `${sealed.slice(0, -4)}AAAA`],
  ['that is missing', () => ''],
] as const) {
  test(`a sealed form ${name} is refused`, async () => {
    const browser = agent(server.baseUrl);
    const posted = await browser.post('/login/with/apple/callback', await form(browser), ACROSS);
    const sealed = posted.location?.searchParams.get('posted') ?? '';
    assert.notEqual(sealed, '');
    const answer = await browser.get(`/login/with/apple/callback?posted=${encodeURIComponent(change(sealed))}`);
    assert.equal(answer.status, 400);
  });
}

test('a form with a name twice, or too long, signs in nobody', async () => {
  const browser = agent(server.baseUrl);
  const fields = await form(browser);
  assert.equal((await bringBack(browser, { ...fields, user: 'x'.repeat(5000) })).status, 400);
  const twice = `${new URLSearchParams(fields)}&code=another`;
  const posted = await fetch(`${server.baseUrl}/login/with/apple/callback`, {
    ...{ method: 'POST', body: twice, redirect: 'manual' },
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...ACROSS },
  });
  assert.equal((await browser.get(posted.headers.get('location') ?? '')).status, 400);
});

test('a name that is no name is not proposed', async () => {
  for (const user of [
    '{',
    '[]',
    'null',
    '{"name":5}',
    '{"name":{"firstName":{}}}',
    '{"name":{"firstName":"\\u0007"}}',
  ]) {
    apple.person = { sub: '001.nameless' };
    const browser = agent(server.baseUrl);
    const back = await bringBack(browser, await form(browser, { user }));
    const page = await browser.get(back.location?.href ?? '');
    assert.match(page.text, /name="displayName"[^>]* value=""/, user);
  }
});

test('a person who cancels is told so, without a report', async () => {
  apple.tricks = { callback: (parameters) => parameters.set('error', 'user_cancelled_authorize') };
  const browser = agent(server.baseUrl);
  const answer = await bringBack(browser, await form(browser));
  assert.equal(answer.status, 400);
  assert.match(answer.text, /You did not sign in at/);
});

test('a test says whether Apple accepts the key', async () => {
  const client = async () => {
    const { steps } = (await admin(server, 'POST', `/upstreams/${created.body.id}/test`, {})).body;
    return steps.find(({ step }: { step: string }) => step === 'client').level;
  };
  assert.equal(await client(), 'ok');
  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const changed = await admin(server, 'PATCH', `/upstreams/${created.body.id}`, { privateKey: pem(other) });
  assert.equal(changed.status, 200);
  assert.equal(await client(), 'problem');
});
