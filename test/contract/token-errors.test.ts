// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import fc from 'fast-check';
import {
  assertInvalidGrant,
  assertRefused,
  basic,
  call,
  codeBody,
  refreshBody,
  TOKEN,
  tokenBytes,
  tokenForm,
} from '../support/api-call.ts';
import {
  admin,
  codeFor,
  newClient,
  newUser,
  redeem,
  refresh,
  signedIn,
  tokenCall,
  tokensFor,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
after(() => server.close());
const client = await newClient(server);
const disabled = await newClient(server);
await admin(server, 'PATCH', `/clients/${disabled.clientId}`, { status: 'disabled' });
const user = await newUser(server);
const browser = await signedIn(server, user);
const tokens = await tokensFor(server, client, user, {}, { browser });
const code = await codeFor(server, client, user, {}, { browser });

const WRONG_TYPES: readonly unknown[] = [null, 0, 1, true, false, [], ['x'], {}, { $ne: '' }];
const shown = (value: unknown): string => (value === undefined ? 'missing' : JSON.stringify(value));
const without = (body: object, name: string) =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name));

describe('decisions §4: required fields', () => {
  for (const name of ['grant_type', 'code', 'redirect_uri']) {
    test(`${name} missing or empty in a code exchange is invalid_request`, async () => {
      const body = codeBody(client, code);
      assertRefused(await tokenCall(server, without(body, name)), 400, 'invalid_request');
      assertRefused(await tokenCall(server, { ...body, [name]: '' }), 400, 'invalid_request');
      const { [name]: _, ...form } = body as Record<string, string>;
      assertRefused(await tokenForm(server, form), 400, 'invalid_request');
      assertRefused(await tokenForm(server, { ...form, [name]: '' }), 400, 'invalid_request');
    });
  }
  for (const name of ['grant_type', 'refresh_token']) {
    test(`${name} missing or empty in a refresh is invalid_request`, async () => {
      const body = refreshBody(client, tokens.refresh_token);
      assertRefused(await tokenCall(server, without(body, name)), 400, 'invalid_request');
      assertRefused(await tokenCall(server, { ...body, [name]: '' }), 400, 'invalid_request');
    });
  }
  for (const name of ['client_id', 'client_secret']) {
    test(`${name} missing or empty is invalid_client`, async () => {
      for (const body of [codeBody(client, code), refreshBody(client, tokens.refresh_token)]) {
        assertRefused(await tokenCall(server, without(body, name)), 401, 'invalid_client');
        assertRefused(await tokenCall(server, { ...body, [name]: '' }), 401, 'invalid_client');
      }
    });
  }
});

describe('TK-03: a member of another type is invalid_request and never coerced', () => {
  for (const name of ['grant_type', 'code', 'redirect_uri', 'client_id', 'client_secret', 'code_verifier']) {
    test(`code exchange: ${name}`, async () => {
      for (const value of WRONG_TYPES) {
        const answer = await tokenCall(server, { ...codeBody(client, code), [name]: value });
        assertRefused(answer, 400, 'invalid_request');
      }
    });
  }
  for (const name of ['grant_type', 'refresh_token', 'scope']) {
    test(`refresh: ${name}`, async () => {
      for (const value of WRONG_TYPES) {
        const answer = await tokenCall(server, { ...refreshBody(client, tokens.refresh_token), [name]: value });
        assertRefused(answer, 400, 'invalid_request');
      }
    });
  }
  for (const body of [[], [{}], null, 'text', 5, true, {}]) {
    test(`the body ${shown(body)} gets no token`, async () => {
      const answer = await tokenCall(server, JSON.stringify(body));
      const nothingSent = JSON.stringify(body) === '{}';
      assertRefused(answer, nothingSent ? 401 : 400, nothingSent ? 'invalid_client' : 'invalid_request');
    });
  }
});

test('TK-03: of random JSON for any member that is known, and for the body itself, none is coerced and none is a fault', async () => {
  const TEXTS = ['grant_type', 'code', 'redirect_uri', 'code_verifier', 'refresh_token', 'scope'];
  const PROOFS = ['client_id', 'client_secret', 'client_assertion', 'client_assertion_type'];
  const noText = fc.jsonValue({ maxDepth: 3 }).filter((value) => typeof value !== 'string');
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...TEXTS, ...PROOFS), noText, fc.boolean(), async (name, value, isCode) => {
      const body = isCode ? codeBody(client, code) : refreshBody(client, tokens.refresh_token);
      assertRefused(await tokenCall(server, { ...body, [name]: value }), 400, 'invalid_request');
    }),
    { numRuns: 300, seed: 20261120 },
  );
  await fc.assert(
    fc.asyncProperty(fc.json({ maxDepth: 4 }), async (text) => {
      const answer = await tokenBytes(server, text);
      assert.ok([400, 401].includes(answer.status), `${answer.status} for ${text}`);
    }),
    { numRuns: 200, seed: 20261120 },
  );
});

describe('decisions §4: unknown grants', () => {
  const grants = [
    'password',
    'implicit',
    'urn:ietf:params:oauth:grant-type:token-exchange',
    'urn:openid:params:grant-type:ciba',
    'AUTHORIZATION_CODE',
    'authorization_code ',
    'constructor',
    '__proto__',
    'toString',
  ];
  for (const grant of grants) {
    test(`${shown(grant)} is unsupported_grant_type`, async () => {
      const answer = await tokenCall(server, { ...codeBody(client, code), grant_type: grant });
      assertRefused(answer, 400, 'unsupported_grant_type');
    });
  }
});

describe('decisions §4: unknown or disabled client, wrong secret', () => {
  const other = 'A'.repeat(43);
  test('are one and the same answer, octet for octet, to whatever was sent (TK-06)', async () => {
    // The answer goes by the form of the secret, which its sender knows, and by nothing else.
    const secrets = [
      'A'.repeat(43),
      `tcs_${'A'.repeat(43)}`,
      `${client.clientSecret}x`,
      client.clientSecret.slice(0, -1),
      client.clientSecret.toUpperCase(),
      ` ${client.clientSecret}`,
      'undefined',
    ];
    const ids = [client.clientId, disabled.clientId, '123456789012345678', '1', `0${client.clientId}`];
    const answersTo = async (credentials: readonly (readonly [id: string, secret: string])[]): Promise<number> => {
      const bodies = new Set<string>();
      for (const [client_id, client_secret] of credentials) {
        const body = JSON.stringify({ ...codeBody(client, code), client_id, client_secret });
        const answer = await tokenBytes(server, body);
        assertRefused(answer, 401, 'invalid_client');
        assert.equal(answer.headers.get('www-authenticate'), null, 'Basic was not used');
        bodies.add(answer.text);
      }
      return bodies.size;
    };
    for (const secret of secrets) {
      assert.equal(await answersTo(ids.map((id) => [id, secret])), 1, secret);
    }
    // No app can have such an id, so whoever sends it learns nothing.
    assert.equal(await answersTo(secrets.map((secret) => ['nobody', secret])), 1);
    const wrong = `tcs_${'A'.repeat(43)}`;
    const whole = [
      ...[client.clientId, disabled.clientId, '9'.repeat(400)].map((id) => [id, wrong] as const),
      [client.clientId, disabled.clientSecret],
      [disabled.clientId, disabled.clientSecret],
      ['123456789012345678', client.clientSecret],
    ] as const;
    assert.equal(await answersTo(whole), 1, 'also with the secret of a disabled client, or of another');
  });

  test('client authentication comes before every check of the grant', async () => {
    const bad = { ...codeBody(client, code), client_secret: other };
    const requests: readonly object[] = [
      without(bad, 'grant_type'),
      without(bad, 'code'),
      without(bad, 'redirect_uri'),
      { ...bad, grant_type: 'password' },
      { ...bad, grant_type: '' },
      { ...bad, code: 'unknown' },
      { ...bad, redirect_uri: 'https://elsewhere.example.com/' },
      { ...bad, code_verifier: 'x' },
      { ...refreshBody(client, 'unknown'), client_secret: other },
      { ...refreshBody(client, tokens.refresh_token), client_secret: other, scope: 'email details' },
      { ...refreshBody(client, tokens.refresh_token), client_secret: other, scope: '"' },
    ];
    for (const body of requests) assertRefused(await tokenCall(server, body), 401, 'invalid_client');
  });
});

describe('RFC 6749 §2.3.1: HTTP Basic', () => {
  const percent = (text: string) => [...text].map((c) => `%${c.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
  const grant = () => ({ grant_type: 'authorization_code', code: 'unknown', redirect_uri: client.redirectUri });

  test('a failure is answered with a Basic challenge', async () => {
    const pairs = [
      basic(client.clientId, 'wrong'),
      basic(client.clientId, ''),
      basic('', client.clientSecret),
      basic('unknown', client.clientSecret),
      basic(disabled.clientId, disabled.clientSecret),
      { authorization: 'Basic' },
      { authorization: 'Basic !!!' },
      { authorization: `Basic ${Buffer.from(client.clientId).toString('base64')}` },
      { authorization: `Basic ${Buffer.from(`${client.clientId}:%zz`).toString('base64')}` },
    ];
    for (const headers of pairs) {
      for (const answer of [
        await tokenForm(server, grant(), headers),
        await tokenBytes(server, JSON.stringify(grant()), 'application/json', headers),
      ]) {
        assertRefused(answer, 401, 'invalid_client');
        assert.match(answer.headers.get('www-authenticate') ?? '', /^Basic realm="[^"]+"/);
      }
    }
  });

  test('both parts are form-urlencoded; the scheme is of any case; an equal client_id in the body is fine', async () => {
    const plain = basic(client.clientId, client.clientSecret);
    for (const headers of [
      plain,
      basic(client.clientId, client.clientSecret, percent),
      { authorization: plain['authorization']?.replace('Basic', 'bAsIc') ?? '' },
    ]) {
      assertInvalidGrant(await tokenForm(server, grant(), headers));
      assertInvalidGrant(await tokenForm(server, { ...grant(), client_id: client.clientId }, headers));
    }
  });

  test('Basic and the body together are invalid_request, also where both are right', async () => {
    const headers = basic(client.clientId, client.clientSecret);
    const twice: readonly Record<string, string>[] = [
      { client_secret: client.clientSecret },
      { client_id: client.clientId, client_secret: client.clientSecret },
      { client_secret: 'wrong' },
      { client_id: disabled.clientId },
    ];
    for (const extra of twice) {
      assertRefused(await tokenForm(server, { ...grant(), ...extra }, headers), 400, 'invalid_request');
      const body = JSON.stringify({ ...grant(), ...extra });
      assertRefused(await tokenBytes(server, body, 'application/json', headers), 400, 'invalid_request');
    }
  });
});

describe('TK-01: method and place', () => {
  test('other methods are 405 with Allow', async () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await call(server, method, TOKEN);
      assertRefused(answer, 405, 'invalid_request');
      assert.equal(answer.headers.get('allow'), 'POST');
    }
    assert.equal((await call(server, 'HEAD', TOKEN)).status, 405);
  });

  test('credentials, codes and tokens in the address have no effect', async () => {
    const query = new URLSearchParams(codeBody(client, code)).toString();
    const json = { 'content-type': 'application/json' };
    assertRefused(await call(server, 'POST', `${TOKEN}?${query}`, json, '{}'), 401, 'invalid_client');
    assertRefused(await call(server, 'POST', `${TOKEN}?${query}`), 400, 'invalid_request');
    assertRefused(await call(server, 'GET', `${TOKEN}?${query}`), 405, 'invalid_request');
    const proof = { client_id: client.clientId, client_secret: client.clientSecret };
    const secretOnly = JSON.stringify({ ...proof, grant_type: 'authorization_code' });
    assertRefused(await call(server, 'POST', `${TOKEN}?${query}`, json, secretOnly), 400, 'invalid_request');
  });

  test('an address of more than 16 KiB is 414', async () => {
    const answer = await call(server, 'POST', `${TOKEN}?x=${'a'.repeat(17 * 1024)}`, {}, '{}');
    assertRefused(answer, 414, 'invalid_request');
  });
});

test('none of all this consumed the code or the refresh token', async () => {
  assert.equal((await redeem(server, client, code)).status, 200);
  assert.equal((await refresh(server, client, tokens.refresh_token)).status, 200);
});

describe('a client that could not be believed is told what its request lacks, and nothing of which clients there are', () => {
  const body = { grant_type: 'refresh_token', refresh_token: 'x' };
  const unknownId = '1';
  const cases: readonly (readonly [string, object, Readonly<Record<string, string>>, RegExp])[] = [
    ['nothing', {}, {}, /client_id is missing/],
    ['a secret alone', { client_secret: 'x' }, {}, /client_id is missing/],
    [
      'an id alone, of a client that has a secret',
      { client_id: client.clientId },
      {},
      /client_secret is missing\. Only a public app has none, .* Send client_secret/,
    ],
    [
      'only an unknown id',
      { client_id: unknownId },
      {},
      /client_secret is missing\. Only a public app has none, .* Send client_secret/,
    ],
    [
      'a wrong secret',
      { client_id: client.clientId, client_secret: 'x' },
      {},
      /Compare client_id and client_secret with the registration/,
    ],
    [
      'a secret with an unknown id',
      { client_id: unknownId, client_secret: 'x' },
      {},
      /Compare client_id and client_secret with the registration/,
    ],
    ['a header with an empty secret', {}, basic(client.clientId, ''), /client_secret is missing/],
    ['a header of another kind', {}, { authorization: 'Bearer x' }, /must be Basic/],
    ['a header without a colon', {}, { authorization: `Basic ${btoa('x')}` }, /must be Basic/],
  ];
  for (const [name, credentials, headers, expected] of cases) {
    test(name, async () => {
      const sent = { 'content-type': 'application/json', ...headers };
      const answer = await call(server, 'POST', TOKEN, sent, JSON.stringify({ ...body, ...credentials }));
      assertRefused(answer, 401, 'invalid_client');
      assert.match(answer.body.error_description, expected);
    });
  }
});
