// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { createRemoteJWKSet, exportSPKI, jwtVerify } from 'jose';
import * as oauth from 'oauth4webapi';
import type { AssertionFault } from '../../src/clients/rules/assertion.ts';
import { ASSERTION_REMEDIES } from '../../src/protocol/client-authentication/advice.ts';
import { assertRefused, basic, refreshBody, tokenForm } from '../support/api-call.ts';
import {
  ASSERTION_TYPE,
  appKey,
  claimsFor,
  codeOfApp,
  keyApp,
  proofOf,
  REDIRECT_URI,
  signed,
} from '../support/assertion.ts';
import { admin, authorizeUrl, newClient, newUser, signedIn, standard, tokenCall, walk } from '../support/flow.ts';
import { encode } from '../support/forged-token.ts';
import { MINUTE, query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
after(() => server.close());
const user = await newUser(server);
const key = await appKey('ES256', 'one');
const other = await appKey('ES256', 'two');
const app = await keyApp(server, { jwks: { keys: [key.jwk] } });

/** A request that is refused for its grant once the client is believed. */
const present = (proof: Readonly<Record<string, string>>, headers = {}) =>
  tokenForm(server, { grant_type: 'refresh_token', refresh_token: 'x', ...proof }, headers);

const believed = async (proof: Readonly<Record<string, string>>) =>
  assertRefused(await present(proof), 400, 'invalid_grant');

/** The words for every cause that a caller must not tell from another. */
const ALIKE =
  'no active app here has this client_id and a registered key that verifies client_assertion. ' +
  'Compare kid and the key with jwks or jwksUri of the registration. ' +
  'The operator finds the cause by the x-request-id of this response: tessera explain ID';
const FORM_OF_ASSERTION =
  'Send client_assertion as a JWT whose alg is RS256, PS256, ES256 or EdDSA and whose iss and sub are the client_id, ' +
  `with client_assertion_type ${ASSERTION_TYPE}.`;

const isFault = (text: string): text is AssertionFault => Object.hasOwn(ASSERTION_REMEDIES, text);

/** What the caller is told: what anyone can read in the assertion, or the same as for every other cause. */
function wordsFor(reason: string, cause: string | undefined): string {
  const fault = reason.replace('the assertion ', '');
  if (isFault(fault)) return `${reason}. ${ASSERTION_REMEDIES[fault](server.baseUrl)}`;
  if (reason === 'the assertion is not supported') return `the request has ${cause}. ${FORM_OF_ASSERTION}`;
  // Only a client with the key gets so far.
  if (reason === 'the assertion was used before')
    return `${reason}. Make a new assertion with a new jti for each request, retries included.`;
  return ALIKE;
}

/** Presents a proof that is refused for a reason, which the audit trail holds. */
async function refusedAs(proof: Readonly<Record<string, string>>, reason: string): Promise<void> {
  const answer = await present(proof);
  const last = await lastFailure();
  assert.equal(last.reason, reason);
  const words = `Client authentication failed: ${wordsFor(last.reason, last.cause)}`;
  assertRefused(answer, 401, 'invalid_client', words);
  assert.equal(answer.headers.get('www-authenticate'), null);
}

/** What the audit trail holds of the last refusal. */
async function lastFailure(): Promise<{ readonly reason: string; readonly cause?: string }> {
  const [row] = await query(
    server,
    "SELECT details FROM audit_event WHERE type = 'client.auth_failed' ORDER BY id DESC LIMIT 1",
  );
  return JSON.parse(String(row?.['details']));
}

const lastReason = async (): Promise<string> => (await lastFailure()).reason;

describe('OpenID Connect Core 1.0 §9: private_key_jwt', () => {
  for (const alg of ['RS256', 'PS256', 'ES256', 'EdDSA']) {
    for (const type of ['json', 'form'] as const) {
      test(`${alg}, as ${type}: code exchange and refresh; the ID token verifies with the key set`, async () => {
        const own = await appKey(alg);
        const of = await keyApp(server, { jwks: { keys: [own.jwk] } });
        const send = type === 'json' ? tokenCall : tokenForm;
        const code = await codeOfApp(server, of, user);
        const exchange = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
        const first = await send(server, { ...exchange, ...(await proofOf(server, of.clientId, own)) });
        assert.equal(first.status, 200, JSON.stringify(first.body));
        const keys = createRemoteJWKSet(new URL(`${server.baseUrl}/.well-known/jwks.json`));
        const check = { audience: of.clientId, algorithms: ['RS256'], currentDate: new Date(server.now()) };
        assert.equal((await jwtVerify(first.body.id_token, keys, check)).payload.sub, user.id);
        const again = { grant_type: 'refresh_token', refresh_token: first.body.refresh_token };
        const second = await send(server, { ...again, ...(await proofOf(server, of.clientId, own)) });
        assert.equal(second.status, 200, JSON.stringify(second.body));
      });
    }
  }

  const good: [string, (now: number) => Record<string, unknown>, Record<string, unknown>?][] = [
    ['aud as a list of one', () => ({ aud: [server.baseUrl] })],
    ['aud is the token endpoint', () => ({ aud: `${server.baseUrl}/api/v2/oauth/token` })],
    ['aud names issuer and token endpoint', () => ({ aud: [server.baseUrl, `${server.baseUrl}/api/v2/oauth/token`] })],
    ['no iat', () => ({ iat: undefined })],
    ['nbf of now', (now) => ({ nbf: now })],
    ['a clock 25 seconds ahead', (now) => ({ iat: now + 25, nbf: now + 25, exp: now + 85 })],
    ['a clock 25 seconds behind', (now) => ({ iat: now - 85, exp: now - 25 })],
    ['ten minutes of life', (now) => ({ exp: now + 600 })],
    // RFC 7519 §2: a NumericDate may be a fraction of a second.
    ['exp with a fraction', (now) => ({ exp: now + 60.5 })],
    ['exp finer than a millisecond', (now) => ({ exp: now + 60.123456789 })],
    ['every time with a fraction', (now) => ({ iat: now - 0.75, nbf: now - 0.001, exp: now + 59.9999 })],
    ['typ JWT', () => ({}), { typ: 'JWT' }],
    ['its explicit type', () => ({}), { typ: 'client-authentication+jwt' }],
    ['no kid where there is one key', () => ({}), { kid: undefined }],
    ['claims that have no meaning here', () => ({ azp: 'x' })],
  ];
  for (const [name, change, header = {}] of good) {
    test(`taken: ${name}`, async () => {
      await believed(await proofOf(server, app.clientId, key, change(Math.floor(server.now() / 1000)), header));
    });
  }
  test('taken: client_id beside it, where it is the same', async () => {
    await believed({ ...(await proofOf(server, app.clientId, key)), client_id: app.clientId });
  });
});

test('a stock library signs in with its key, and gets its tokens anew', async () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  const issuer = new URL(server.baseUrl);
  const as = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  const own = await appKey('PS256');
  const { clientId } = await keyApp(server, { jwks: { keys: [own.jwk] } });
  const clockSkew = Math.round((server.now() - Date.now()) / 1000);
  const client = { client_id: clientId, [oauth.clockSkew]: clockSkew };
  const proof = oauth.PrivateKeyJwt({ key: own.privateKey, kid: own.kid });
  const verifier = oauth.generateRandomCodeVerifier();
  const code_challenge = await oauth.calculatePKCECodeChallenge(verifier);
  const of = { clientId, clientSecret: '', redirectUri: REDIRECT_URI };
  const address = authorizeUrl(standard(of), { scope: 'openid', code_challenge, code_challenge_method: 'S256' });
  const target = await walk(await signedIn(server, user), address);
  const answer = oauth.validateAuthResponse(as, client, target, 'st4te');
  const granted = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    proof,
    answer,
    REDIRECT_URI,
    verifier,
    insecure,
  );
  const tokens = await oauth.processAuthorizationCodeResponse(as, client, granted);
  assert.equal(oauth.getValidatedIdTokenClaims(tokens)?.sub, user.id);
  const renewed = await oauth.refreshTokenGrantRequest(as, client, proof, tokens.refresh_token ?? '', insecure);
  assert.ok((await oauth.processRefreshTokenResponse(as, client, renewed)).access_token);
});

describe('RFC 7523 §3: what does not hold is invalid_client, with one answer and its reason in the audit trail', () => {
  const bad: [string, string, (now: number) => Record<string, unknown>, Record<string, unknown>?][] = [
    ['aud of another server', 'is for another audience', () => ({ aud: 'https://evil.example' })],
    [
      'aud with another server in it',
      'is for another audience',
      () => ({ aud: [server.baseUrl, 'https://evil.example'] }),
    ],
    ['aud with a slash', 'is for another audience', () => ({ aud: `${server.baseUrl}/` })],
    ['aud an empty list', 'is for another audience', () => ({ aud: [] })],
    ['aud missing', 'is for another audience', () => ({ aud: undefined })],
    ['aud an object', 'is for another audience', () => ({ aud: { 0: server.baseUrl } })],
    ['aud nested', 'is for another audience', () => ({ aud: [[server.baseUrl]] })],
    ['aud the introspection endpoint', 'is for another audience', () => ({ aud: `${server.baseUrl}/oidc/introspect` })],
    ['exp missing', 'has no exp', () => ({ exp: undefined })],
    ['exp as text', 'has no exp', (now) => ({ exp: String(now + 60) })],
    ['exp null', 'has no exp', () => ({ exp: null })],
    ['exp past', 'has expired', (now) => ({ iat: now - 120, exp: now - 30 })],
    ['exp an hour ahead', 'expires too late', (now) => ({ exp: now + 3600 })],
    ['exp in milliseconds', 'expires too late', (now) => ({ exp: now * 1000 })],
    ['exp beyond all time', 'expires too late', () => ({ exp: 1e308 })],
    ['exp beyond ten minutes by a fraction', 'expires too late', (now) => ({ exp: now + 631.5 })],
    ['exp negative', 'has no exp', () => ({ exp: -1 })],
    ['exp a hair past', 'has expired', (now) => ({ iat: now - 120, exp: now - 29.8 })],
    ['iat beyond all time', 'has times that make no sense', () => ({ iat: 1e308 })],
    ['nbf negative', 'has times that make no sense', () => ({ nbf: -0.5 })],
    ['iat of the future', 'is of the future', (now) => ({ iat: now + 60, exp: now + 120 })],
    ['nbf of the future', 'is of the future', (now) => ({ nbf: now + 60, exp: now + 120 })],
    ['iat after exp', 'has times that make no sense', (now) => ({ iat: now + 61 })],
    ['nbf as text', 'has times that make no sense', (now) => ({ nbf: String(now) })],
    ['jti missing', 'has no jti', () => ({ jti: undefined })],
    ['jti empty', 'has no jti', () => ({ jti: '' })],
    ['jti a number', 'has no jti', () => ({ jti: 1 })],
    ['jti endless', 'has no jti', () => ({ jti: 'x'.repeat(257) })],
    ['iss of another', 'is not supported', () => ({ iss: '1' })],
    ['iss missing', 'is not supported', () => ({ iss: undefined })],
    ['sub missing', 'is not supported', () => ({ sub: undefined })],
    ['typ of an access token', 'is not supported', () => ({}), { typ: 'at+jwt' }],
    ['typ of a request object', 'is not supported', () => ({}), { typ: 'oauth-authz-req+jwt' }],
    ['another kid', 'names no key of the client', () => ({}), { kid: 'three' }],
  ];
  for (const [name, reason, change, header = {}] of bad) {
    test(name, async () => {
      const changed = change(Math.floor(server.now() / 1000));
      await refusedAs(await proofOf(server, app.clientId, key, changed, header), `the assertion ${reason}`);
    });
  }

  const forged: [string, string, () => Promise<Record<string, string>>][] = [
    [
      'signed by another key',
      'the assertion has a wrong signature',
      () => proofOf(server, app.clientId, other, {}, { kid: 'one' }),
    ],
    ['RFC 8725 §2.1: alg none', 'the assertion is not supported', () => plain({ alg: 'none', kid: 'one' }, () => '')],
    [
      'alg none with a signature',
      'the assertion is not supported',
      () => plain({ alg: 'none', kid: 'one' }, () => 'AAAA'),
    ],
    [
      'RFC 8725 §2.1: HS256 under the text of the public key',
      'the assertion is not supported',
      async () => {
        const { publicKey } = await imported();
        return plain({ alg: 'HS256', kid: 'one' }, (input) =>
          createHmac('sha256', publicKey).update(input).digest('base64url'),
        );
      },
    ],
    [
      'the signature of another algorithm',
      'the assertion names no key of the client',
      async () => {
        const rsa = await appKey('RS256');
        return proofOf(server, app.clientId, rsa, {}, { kid: 'one' });
      },
    ],
    ['no signature', 'the assertion is not supported', () => plain({ alg: 'ES256', kid: 'one' }, () => '')],
    [
      'a critical header',
      'the assertion is not supported',
      () => plain({ alg: 'ES256', kid: 'one', crit: ['x'], x: 1 }, () => 'AAAA'),
    ],
    ['a client that is not on record', 'unknown client', () => proofOf(server, '123456789012345678', key)],
    [
      'rubbish',
      'the assertion is not supported',
      async () => ({ client_assertion_type: ASSERTION_TYPE, client_assertion: 'x.y.z' }),
    ],
    [
      'more than 8 KiB',
      'the assertion is not supported',
      () => proofOf(server, app.clientId, key, { x: 'y'.repeat(9000) }),
    ],
    [
      'another client_id beside it',
      'the assertion is not supported',
      async () => ({
        ...(await proofOf(server, app.clientId, key)),
        client_id: '123456789012345678',
      }),
    ],
    [
      'another type of assertion',
      'the assertion is not supported',
      async () => ({
        ...(await proofOf(server, app.clientId, key)),
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer',
      }),
    ],
  ];
  for (const [name, reason, proof] of forged) {
    test(name, async () => {
      await refusedAs(await proof(), reason);
    });
  }

  async function plain(header: object, sign: (input: string) => string) {
    const input = `${encode(header)}.${encode(claimsFor(server, app.clientId))}`;
    return { client_assertion_type: ASSERTION_TYPE, client_assertion: `${input}.${sign(input)}` };
  }
  async function imported() {
    const { importJWK } = await import('jose');
    const imported = await importJWK(key.jwk, 'ES256', { extractable: true });
    assert.ok('type' in imported);
    return { publicKey: await exportSPKI(imported) };
  }

  test('a disabled client', async () => {
    const of = await keyApp(server, { jwks: { keys: [key.jwk] } });
    await believed(await proofOf(server, of.clientId, key));
    await admin(server, 'PATCH', `/clients/${of.clientId}`, { status: 'disabled' });
    await refusedAs(await proofOf(server, of.clientId, key), 'the client is disabled');
  });

  test('TK-06: whether a client exists, is active or has a key, no answer tells', async () => {
    const disabled = await keyApp(server, { jwks: { keys: [key.jwk] } });
    await admin(server, 'PATCH', `/clients/${disabled.clientId}`, { status: 'disabled' });
    const secretive = await newClient(server);
    const open = await newClient(server, { type: 'public' });
    const keyless = await keyApp(server, { jwks: { keys: [other.jwk] } });
    const ids = ['123456789012345678', disabled.clientId, secretive.clientId, open.clientId, keyless.clientId];
    const now = Math.floor(server.now() / 1000);
    const faults: Record<string, unknown>[] = [
      { aud: 'https://evil.example' },
      { iat: now - 120, exp: now - 60 },
      { jti: undefined },
    ];
    for (const change of [{}, ...faults]) {
      const answers = [];
      for (const id of ids) answers.push(await present(await proofOf(server, id, key, change)));
      // By the right key as well, where it is refused.
      if (faults.includes(change)) answers.push(await present(await proofOf(server, app.clientId, key, change)));
      const [first, ...rest] = answers.map(({ status, body }) => ({ status, body }));
      for (const answer of rest) assert.deepEqual(answer, first);
    }
  });

  test('TK-05: exactly one way to authenticate in a request', async () => {
    const proof = await proofOf(server, app.clientId, key);
    const twice: [object, object][] = [
      [{ ...proof, client_secret: 'x' }, {}],
      [proof, basic(app.clientId, 'x')],
      [proof, { authorization: 'Bearer x' }],
      [{ client_assertion: proof.client_assertion }, {}],
      [{ client_assertion_type: proof.client_assertion_type }, {}],
      [{ client_assertion_type: proof.client_assertion_type, client_id: app.clientId }, {}],
    ];
    for (const [fields, headers] of twice) {
      assertRefused(await present(fields as Record<string, string>, headers), 400, 'invalid_request');
    }
    await believed(proof);
  });

  test('a client with a key is not let in with its id alone, nor with any secret', async () => {
    for (const fields of [{}, { client_secret: 'x' }, { client_secret: '' }]) {
      assertRefused(await present({ client_id: app.clientId, ...fields }), 401, 'invalid_client');
      assert.equal(await lastReason(), 'another authentication method is registered');
    }
  });

  test('a client that is registered with a secret, or public, is not let in with an assertion', async () => {
    const keys = { jwks: { keys: [key.jwk] } };
    const secretive = await newClient(server, keys);
    const open = await newClient(server, { type: 'public', ...keys });
    for (const { clientId } of [secretive, open])
      await refusedAs(await proofOf(server, clientId, key), 'another authentication method is registered');
  });
});

describe('OpenID Connect Core 1.0 §9: a jti is used once', () => {
  test('the second use is refused, also in a race of many, and at another endpoint', async () => {
    const proof = await proofOf(server, app.clientId, key);
    const answers = await Promise.all(Array.from({ length: 8 }, () => present(proof)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [400, ...Array<number>(7).fill(401)]);
    assert.equal(await lastReason(), 'the assertion was used before');
    assert.equal((await tokenFormAt('/oidc/introspect', { token: 'x', ...proof })).status, 401);
  });

  test('it is used up even if the request is refused, and only for its client', async () => {
    const second = await keyApp(server, { jwks: { keys: [other.jwk] } });
    const proof = await proofOf(server, app.clientId, key, { jti: 'same' });
    assertRefused(await tokenForm(server, { grant_type: 'unknown', ...proof }), 400, 'unsupported_grant_type');
    await refusedAs(proof, 'the assertion was used before');
    await believed(await proofOf(server, second.clientId, other, { jti: 'same' }));
  });

  test('another signature over the same jti is the same assertion', async () => {
    const claims = claimsFor(server, app.clientId);
    const proof = async () => ({ client_assertion_type: ASSERTION_TYPE, client_assertion: await signed(key, claims) });
    await believed(await proof());
    await refusedAs(await proof(), 'the assertion was used before');
  });

  test('it is remembered over a restart, until the assertion could not be used any more', async () => {
    const proof = await proofOf(server, app.clientId, key);
    await believed(proof);
    await server.restart();
    await refusedAs(proof, 'the assertion was used before');
    server.advance(2 * MINUTE);
    await refusedAs(proof, 'the assertion has expired');
  });
});

const tokenFormAt = (path: string, form: Record<string, string>) =>
  fetch(server.baseUrl + path, { method: 'POST', body: new URLSearchParams(form) });

describe('registered methods', () => {
  test('client_secret_basic and client_secret_post are held to, and null is either', async () => {
    for (const method of ['client_secret_basic', 'client_secret_post', null]) {
      const of = await newClient(server, { tokenEndpointAuthMethod: method });
      const body = refreshBody(of, 'x');
      const { client_secret: _, ...bare } = body;
      const inBody = await tokenForm(server, body);
      const inHeader = await tokenForm(server, bare, basic(of.clientId, of.clientSecret));
      assert.equal(inBody.status, method === 'client_secret_basic' ? 401 : 400, String(method));
      assert.equal(inHeader.status, method === 'client_secret_post' ? 401 : 400, String(method));
    }
  });

  test('TK-07: failures are limited for one client from one address, and a good assertion learns nothing then', async () => {
    const limited = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: '3/m' });
    try {
      const of = await keyApp(limited, { jwks: { keys: [key.jwk] } });
      const send = async (change = {}) =>
        (
          await tokenForm(limited, {
            grant_type: 'refresh_token',
            refresh_token: 'x',
            ...(await proofOf(limited, of.clientId, key, change)),
          })
        ).status;
      const statuses = [];
      for (let n = 0; n < 5; n++) statuses.push(await send({ jti: undefined }));
      assert.deepEqual([...statuses, await send()], [401, 401, 401, 429, 429, 429]);
      limited.advance(MINUTE);
      assert.equal(await send(), 400);
    } finally {
      await limited.close();
    }
  });
});
