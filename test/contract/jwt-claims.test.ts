// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import {
  admin,
  claimsOf,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { parts } from '../support/forged-token.ts';
import { query } from '../support/outcome.ts';
import { ADMIN_KEY, BEGINNING, startServer } from '../support/server.ts';

/** The second in which the person signed in. */
const SIGNED_IN = Math.floor(BEGINNING / 1000);

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const user = await newUser(server, { displayName: 'Ada Lovelace', email: 'Ada@Example.com', emailVerified: true });
const browser = await signedIn(server, user);
server.advance(100_000);
const code = await codeFor(server, client, user, { scope: 'phone openid', nonce: 'n-0S6_WzA2Mj' }, { browser });
server.advance(10_000);
const first = (await redeem(server, client, code)).body;
server.advance(20_000);
const second = (await refresh(server, client, first.refresh_token)).body;

const isId = (value: unknown) => typeof value === 'string' && /^[1-9]\d{0,18}$/.test(value);
const halfHash = (token: string) =>
  createHash('sha256').update(token, 'ascii').digest().subarray(0, 16).toString('base64url');

describe('decisions §1: headers', () => {
  const types = { access_token: 'at+jwt', refresh_token: 'rt+jwt', id_token: 'JWT' } as const;
  for (const [kind, typ] of Object.entries(types)) {
    test(`${kind}: HS256, typ ${typ}`, () => {
      for (const tokens of [first, second]) {
        const { header } = parts(tokens[kind as keyof typeof types]);
        assert.equal(header['alg'], 'HS256');
        assert.equal(header['typ'], typ);
        if (kind !== 'id_token') assert.ok(typeof header['kid'] === 'string' && header['kid'] !== '');
        for (const name of ['jku', 'jwk', 'x5u', 'x5c', 'crit', 'b64', 'zip']) assert.ok(!(name in header));
      }
    });
  }
});

describe('contract §2.2: access token', () => {
  test('every claim, with its type', () => {
    for (const [tokens, issued] of [
      [first, SIGNED_IN + 110],
      [second, SIGNED_IN + 130],
    ] as const) {
      const claims = claimsOf(tokens.access_token);
      assert.equal(claims.sub, user.id);
      assert.equal(claims.email, 'Ada@Example.com');
      assert.equal(claims.client_id, client.clientId);
      assert.equal(claims.scope, 'openid phone');
      assert.equal(claims.iat, issued);
      assert.equal(claims.exp, issued + 1800);
      assert.equal(claims.iss, server.baseUrl);
      assert.equal(typeof claims.aud, 'string');
      assert.ok(typeof claims.jti === 'string' && Buffer.from(claims.jti, 'base64url').length >= 16);
      assert.ok(isId(claims.sub) && isId(claims.client_id));
    }
  });
  test('the email is present with any scopes', async () => {
    const bare = await tokensFor(server, client, user, { scope: 'openid' }, { browser });
    for (const token of [bare.access_token, bare.id_token]) assert.equal(claimsOf(token).email, 'Ada@Example.com');
  });
});

describe('contract §2.2: refresh token', () => {
  test('every claim, with its type; its own audience; nothing about the person', () => {
    for (const [tokens, issued] of [
      [first, SIGNED_IN + 110],
      [second, SIGNED_IN + 130],
    ] as const) {
      const claims = claimsOf(tokens.refresh_token);
      assert.equal(claims.sub, user.id);
      assert.equal(claims.iat, issued);
      assert.equal(claims.exp, issued + 604_800);
      assert.equal(claims.iss, server.baseUrl);
      assert.notEqual(claims.aud, claimsOf(tokens.access_token).aud);
      assert.notEqual(claims.aud, client.clientId);
      // JW-19: no more personal data than the kind needs.
      assert.doesNotMatch(JSON.stringify(claims), /ada|lovelace|example\.com/i);
    }
  });
});

describe('contract §2.2: ID token', () => {
  test('every claim, with its type, as one exact object', () => {
    const picture = claimsOf(first.id_token).picture;
    const { sid } = claimsOf(first.id_token);
    const expected = {
      iss: server.baseUrl,
      aud: client.clientId,
      sub: user.id,
      name: 'Ada Lovelace',
      preferred_username: user.username,
      email: 'Ada@Example.com',
      email_verified: true,
      picture,
      avatarUrl: picture,
      client_id: client.clientId,
      auth_time: SIGNED_IN,
      sid,
      amr: ['pwd'],
    };
    assert.deepEqual(claimsOf(first.id_token), {
      ...expected,
      nonce: 'n-0S6_WzA2Mj',
      iat: SIGNED_IN + 110,
      exp: SIGNED_IN + 1910,
      at_hash: halfHash(first.access_token),
    });
    // Decisions §1: nonce only from the code exchange; a refreshed one repeats auth_time (OIDC Core §12.2).
    assert.deepEqual(claimsOf(second.id_token), {
      ...expected,
      iat: SIGNED_IN + 130,
      exp: SIGNED_IN + 1930,
      at_hash: halfHash(second.access_token),
    });
    assert.ok(typeof sid === 'string' && sid !== '');
  });
  test('RFC 8176: amr is that of the token family, which has it from the session', async () => {
    const { family } = claimsOf(second.access_token);
    const [stored] = await query(
      server,
      `SELECT f.amr, f.acr, s.amr AS session_amr, s.acr AS session_acr
       FROM token_family f JOIN browser_session s ON s.sid = f.sid WHERE f.id = ?`,
      family,
    );
    const acr = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport';
    assert.deepEqual({ ...stored }, { amr: '["pwd"]', acr, session_amr: '["pwd"]', session_acr: acr });
    await query(server, `UPDATE token_family SET amr = '["pwd","otp"]' WHERE id = ?`, family);
    const { body } = await refresh(server, client, second.refresh_token);
    assert.deepEqual(claimsOf(body.id_token).amr, ['pwd', 'otp']);
    await query(server, `UPDATE token_family SET amr = '["pwd"]' WHERE id = ?`, family);
  });
  test('picture is avatar.baseUrl + avatar.path and is served', async () => {
    const { picture } = claimsOf(first.id_token);
    const { avatar } = (await userinfo(server, first.access_token)).body.user;
    assert.equal(picture, avatar.baseUrl + avatar.path);
    const image = await fetch(picture);
    assert.equal(image.status, 200);
    assert.match(image.headers.get('content-type') ?? '', /^image\//);
  });
  test('without a nonce in the request there is none in the token', async () => {
    const tokens = await tokensFor(server, client, user, {}, { browser });
    assert.ok(!('nonce' in claimsOf(tokens.id_token)));
    const empty = await tokensFor(server, client, user, { nonce: '' }, { browser });
    assert.ok(!('nonce' in claimsOf(empty.id_token)));
  });
  test('a nonce comes back as it was sent', async () => {
    for (const nonce of ['a b+c&d=e%20#f', '"\\\u2028é😀', 'x'.repeat(500), 'null', '__proto__']) {
      const tokens = await tokensFor(server, client, user, { nonce }, { browser });
      assert.equal(claimsOf(tokens.id_token).nonce, nonce);
    }
  });
  test('sid is that of the browser session', async () => {
    const tokens = await tokensFor(server, client, user, {}, { browser });
    assert.equal(claimsOf(tokens.id_token).sid, claimsOf(first.id_token).sid);
    const elsewhere = await tokensFor(server, client, user);
    assert.notEqual(claimsOf(elsewhere.id_token).sid, claimsOf(first.id_token).sid);
  });
  test('after prompt=login auth_time is that of the new sign-in, and older tokens keep theirs', async () => {
    server.advance(40_000);
    const before = await tokensFor(server, client, user, {}, { browser });
    const again = await tokensFor(server, client, user, { prompt: 'login' }, { browser });
    assert.equal(claimsOf(before.id_token).auth_time, SIGNED_IN);
    assert.equal(claimsOf(again.id_token).auth_time, Math.floor(server.now() / 1000));
    const renewed = await refresh(server, client, before.refresh_token);
    assert.equal(claimsOf(renewed.body.id_token).auth_time, SIGNED_IN);
  });
});

test('JW-18: texts of a user’s profile never set a claim, whatever their name', async () => {
  const claim = '","sub":"1","exp":9999999999,"x":"';
  const names = ['sub', 'aud', 'exp', 'iss', 'typ', 'client_id', 'scope', 'jti', '__proto__', 'constructor'];
  const hostile = await newUser(server, {
    displayName: claim,
    about: '{"sub":"1","scope":"phone"}',
    location: '__proto__',
    socialLinks: names.slice(0, 8).map((platform) => ({ platform, url: 'https://x.example/', label: claim })),
  });
  const made = await admin(server, 'POST', '/organizations', { name: 'exp', domain: 'sub.example' });
  assert.equal(made.status, 201);
  await admin(server, 'PUT', `/organizations/${made.body.id}/members/${hostile.id}`, { role: 'OWNER' });
  const tokens = await tokensFor(server, client, hostile, { scope: 'openid details social organization.read' });
  const now = Math.floor(server.now() / 1000);
  const [access, refreshed, id] = [tokens.access_token, tokens.refresh_token, tokens.id_token].map(claimsOf);
  for (const claims of [access, refreshed, id]) {
    assert.deepEqual(
      [claims.sub, claims.client_id, claims.iss, claims.iat],
      [hostile.id, client.clientId, server.baseUrl, now],
    );
    assert.equal(Object.hasOwn(claims, '__proto__') || Object.hasOwn(claims, 'constructor'), false);
  }
  assert.deepEqual([access.exp, refreshed.exp, id.exp], [now + 1800, now + 604_800, now + 1800]);
  assert.equal(access.scope, 'openid details social organization.read');
  assert.deepEqual([id.aud, id.name], [client.clientId, claim]);
  assert.equal(parts(tokens.access_token).header['typ'], 'at+jwt');
  for (const path of ['/api/v2/oauth/userinfo', '/oidc/userinfo']) {
    assert.equal((await userinfo(server, tokens.access_token, path)).body.sub, hostile.id);
  }
  // Nor can a field of such a name be given at all, or a claim be asked for with a value of its own.
  for (const name of names) {
    const text = `{"username":"h${name.length}","displayName":"H","email":"h@example.com","${name}":"1"}`;
    const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' };
    const refused = await fetch(`${server.baseUrl}/api/v2/admin/users`, { method: 'POST', headers, body: text });
    assert.equal(refused.status, 400, name);
    await refused.text();
  }
  const asked = { id_token: { exp: { value: 9_999_999_999 }, aud: { value: 'x' }, jti: { value: 'x' } } };
  const wanting = await tokensFor(server, client, user, { claims: JSON.stringify(asked) }, { browser });
  const { aud, exp } = claimsOf(wanting.id_token);
  assert.deepEqual([aud, exp], [client.clientId, now + 1800]);
});

test('JW-17: jti differs in every token, also within one millisecond', async () => {
  const seen = new Set<string>();
  let tokens = await tokensFor(server, client, user, {}, { browser });
  for (let i = 0; i < 200; i++) {
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      const { jti } = claimsOf(token);
      assert.ok(!seen.has(jti));
      seen.add(jti);
    }
    tokens = (await refresh(server, client, tokens.refresh_token)).body;
  }
});

test('JW-19: an email address that comes back is another person, with another sub', async () => {
  const email = 'again@example.com';
  const gone = await newUser(server, { email });
  assert.equal((await admin(server, 'DELETE', `/users/${gone.id}`)).status, 204);
  const again = await newUser(server, { email, username: gone.username });
  assert.notEqual(again.id, gone.id);
});
