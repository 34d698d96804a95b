// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createHmac, hkdfSync } from 'node:crypto';
import { after, test } from 'node:test';
import { hash } from '@node-rs/argon2';
import { createAdminKey } from '../../src/account-actions/makers/admin-keys.ts';
import { HASH_COST } from '../../src/platform/crypto/passwords.ts';
import { formOf } from '../support/agent.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newClient,
  newUser,
  PASSWORD,
  signedIn,
  tokensFor,
  userinfo,
  walk,
} from '../support/flow.ts';
import { parts, realKeys, withData } from '../support/forged-token.ts';
import { codeOf, query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// The proxy in front names the address, so that what is begun here comes from several.
const server = await startServer({ TESSERA_TRUST_PROXY: '1' }, 1, HASH_COST);
after(() => server.close());

const SECRET = /^[A-Za-z0-9_-]{43}$/;

/** Asserts 256-bit values in base64url, all different, none of whose bits stands still. */
function assertRandom(values: readonly string[]): void {
  // With this many, a bit of a fair generator stands still once in more than 2³⁰ runs.
  assert.ok(values.length >= 40);
  assert.equal(new Set(values).size, values.length, 'a value came twice');
  const [always, ever] = [Buffer.alloc(32, 0xff), Buffer.alloc(32)];
  for (const value of values) {
    assert.match(value, SECRET);
    const bytes = Buffer.from(value, 'base64url');
    assert.equal(bytes.toString('base64url'), value, 'base64url in its one form');
    for (const [n, byte] of bytes.entries()) {
      always[n] = (always[n] ?? 0) & byte;
      ever[n] = (ever[n] ?? 0) | byte;
    }
  }
  assert.deepEqual(always, Buffer.alloc(32), 'a bit is always set');
  assert.deepEqual(ever, Buffer.alloc(32, 0xff), 'a bit is never set');
}

/** Of so many values with 12 bits of entropy, two are the same in all but one of 10^10 runs. */
const MANY = 450;

test('CD-01: every code that comes without a page is another 256 bits in base64url', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const browser = await signedIn(server, user);
  await walk(browser, authorizeUrl(client));
  const codes: string[] = [];
  while (codes.length < MANY) codes.push(codeOf(await browser.get(authorizeUrl(client))));
  assertRandom(codes);
});

test('CD-01: the code of a page is the keyed digest of its handle, and every handle is another 256 bits', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const browser = await signedIn(server, user);
  const { root } = await realKeys(server);
  // The code of a request, derived here without the service: RFC 5869 and RFC 2104.
  const key = Buffer.from(hkdfSync('sha256', root, Buffer.alloc(0), 'tessera authorization codes', 32));
  const handles: string[] = [];
  while (handles.length < MANY) {
    const from = { 'x-forwarded-for': `192.0.2.${handles.length % 9}` };
    const { location } = await browser.get(authorizeUrl(client, { prompt: 'consent' }), from);
    handles.push(location?.searchParams.get('request') ?? '');
  }
  assertRandom(handles);
  for (const handle of handles.slice(0, 20)) {
    const page = await browser.get(`/consent?request=${handle}`);
    const answer = await browser.submit(page, { decision: 'allow' }, '/consent');
    assert.equal(codeOf(answer), createHmac('sha256', key).update(handle).digest('base64url'));
  }
});

test('JW-09: every client secret is another 256 bits, made by the server', async () => {
  const client = await newClient(server);
  const secrets = [client.clientSecret];
  for (let n = 0; n < 30; n++) {
    secrets.push((await newClient(server)).clientSecret);
    const added = await admin(server, 'POST', `/clients/${client.clientId}/secrets`, {});
    secrets.push(added.body.clientSecret);
  }
  assertRandom(
    secrets.map((secret) => {
      assert.match(secret, /^tcs_/);
      return secret.slice(4);
    }),
  );
  // None may be chosen from outside.
  const fields = { name: 'A', redirectUris: ['https://a.example/'] };
  for (const name of ['clientSecret', 'secret', 'secrets', 'clientId']) {
    const answer = await admin(server, 'POST', '/clients', { ...fields, [name]: 'a'.repeat(43) });
    assert.equal(answer.status, 400, name);
  }
});

test('JW-09, SE-02, JW-17: every other secret has 256 bits, every identifier of a token 128', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const browser = await signedIn(server, user);
  const page = await browser.get((await browser.get(authorizeUrl(client))).location?.href ?? '');
  const tokens = await tokensFor(server, client, user, {}, { browser });
  const keys = await realKeys(server);
  const origin = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;
  const adminKey = await withData(server, (core) =>
    createAdminKey({ ...core, operator: undefined }, { name: 'ops' }, origin),
  );
  const hidden = formOf(page.text).hidden;
  const texts: Readonly<Record<string, [string | undefined, RegExp]>> = {
    'session cookie': [browser.cookie('tessera_session'), SECRET],
    'browser cookie': [browser.cookie('tessera_browser'), SECRET],
    'handle of a pending request': [hidden['request'], SECRET],
    'MAC of a form token': [hidden['form_token']?.split('.')[0], SECRET],
    'admin key': [adminKey.adminKey, /^tak_[A-Za-z0-9_-]{43}$/],
    kid: [keys.kid, /^[A-Za-z0-9_-]{22}$/],
    'jti of an access token': [claimsOf(tokens.access_token).jti, /^[A-Za-z0-9_-]{22}$/],
    // Behind the instant of its issue, which the token tells anyway.
    'jti of a refresh token': [claimsOf(tokens.refresh_token).jti.slice(12), /^[A-Za-z0-9_-]{22}$/],
    'access token’s MAC': [tokens.access_token.split('.')[2], SECRET],
  };
  for (const [name, [text, shape]] of Object.entries(texts)) assert.match(text ?? '', shape, name);
  assert.equal(new Set(Object.values(texts).map(([text]) => text)).size, Object.keys(texts).length);
  // JW-04, JW-05: the key material and what is derived from it, all of full length and all different.
  const { material, access, refresh, root } = keys;
  for (const key of [material, access, refresh]) assert.equal(key.length, 32);
  assert.equal(new Set([material, access, refresh, root].map((key) => key.toString('hex'))).size, 4);
  assert.deepEqual(parts(tokens.access_token).header, { alg: 'HS256', typ: 'at+jwt', kid: keys.kid });
});

/** The stored hash of a user's password. */
async function storedHash({ id }: { id: string }): Promise<string> {
  const [row] = await query(server, 'SELECT password_hash FROM account WHERE id = ?', BigInt(id));
  return String(row?.['password_hash']);
}

const OWASP = /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/;

test('PW-01: a password is stored as Argon2id with 19 MiB, two passes, one lane, and a salt of its own', async () => {
  const [one, other] = [await newUser(server), await newUser(server)];
  const hashes = [await storedHash(one), await storedHash(other)];
  for (const text of hashes) assert.match(text, OWASP);
  const salts = hashes.map((text) => text.split('$')[4]);
  assert.notEqual(salts[0], salts[1], 'one password, two salts');
});

test('PW-01: a hash with weaker parameters is replaced at the next right password, and nothing else changes', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user);
  const weak = await hash(PASSWORD, { algorithm: 2, memoryCost: 8192, timeCost: 1, parallelism: 1 });
  assert.doesNotMatch(weak, OWASP);
  await query(server, 'UPDATE account SET password_hash = ? WHERE id = ?', weak, BigInt(user.id));
  await assert.rejects(signedIn(server, user, 'a wrong password'));
  assert.equal(await storedHash(user), weak, 'a wrong password replaces nothing');
  await signedIn(server, user);
  const stronger = await storedHash(user);
  assert.match(stronger, OWASP);
  await signedIn(server, user);
  assert.equal(await storedHash(user), stronger, 'once');
  assert.equal((await userinfo(server, tokens.access_token)).status, 200, 'it is the same password');
});
