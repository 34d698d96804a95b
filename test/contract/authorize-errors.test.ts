// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Answer, agent } from '../support/agent.ts';
import { startCanary } from '../support/canary.ts';
import { authorizeUrl, claimsOf, newClient, newUser, redeem, signedIn, walk } from '../support/flow.ts';
import { assertErrorRedirect, assertStaysHere, codeOf, parametersOf, query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// Contract §4.1 and §7, decisions §§2–3: what is wrong with a request goes to the client, in exactly these parameters.

const server = await startServer();
after(() => server.close());
const client = await newClient(server);
const withQuery = await newClient(server, { redirectUris: ['https://app.example.com/cb?tenant=1&next=%2Fhome'] });
const limited = await newClient(server, { scopes: ['openid', 'email'] });
const pkceOnly = await newClient(server, { requirePkce: true });
const browser = await signedIn(server, await newUser(server));
for (const app of [client, withQuery, limited]) await walk(browser, authorizeUrl(app));

/** The parameters of an address as a form: OpenID Connect Core 1.0 §3.1.2.1. */
async function post(address: string): Promise<Answer> {
  const { pathname, searchParams } = new URL(address, server.baseUrl);
  const response = await fetch(server.baseUrl + pathname, { method: 'POST', redirect: 'manual', body: searchParams });
  const location = response.headers.get('location');
  return {
    status: response.status,
    headers: response.headers,
    text: await response.text(),
    location: location === null ? undefined : new URL(location, server.baseUrl),
  };
}

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const s256 = (challenge: string) => ({ code_challenge: challenge, code_challenge_method: 'S256' });

const invalid: readonly [name: string, parameters: Readonly<Record<string, string>>, error?: string][] = [
  ['an empty response_type, which counts as missing', { response_type: '' }],
  ['response_type=token', { response_type: 'token' }],
  ['response_type=id_token', { response_type: 'id_token' }],
  ['response_type=none', { response_type: 'none' }],
  ['response_type=code token', { response_type: 'code token' }],
  ['response_type=code id_token', { response_type: 'code id_token' }],
  ['response_type=id_token token', { response_type: 'id_token token' }],
  ['response_type=code id_token token', { response_type: 'code id_token token' }],
  ['response_type=code code', { response_type: 'code code' }],
  ['response_type=CODE', { response_type: 'CODE' }],
  ['response_type with a space', { response_type: ' code' }],
  ['response_mode=fragment', { response_mode: 'fragment' }],
  ['response_mode=query.jwt', { response_mode: 'query.jwt' }],
  ['an unknown scope', { scope: 'openid bogus' }, 'invalid_scope'],
  ['a scope in another case', { scope: 'openid Email' }, 'invalid_scope'],
  ['two spaces between scopes', { scope: 'openid  email' }, 'invalid_scope'],
  ['a space before the scopes', { scope: ' openid' }, 'invalid_scope'],
  ['a space after the scopes', { scope: 'openid ' }, 'invalid_scope'],
  ['a scope that is a space', { scope: ' ' }, 'invalid_scope'],
  ['scopes separated by commas', { scope: 'openid,email' }, 'invalid_scope'],
  ['scopes separated by a tab', { scope: 'openid\temail' }, 'invalid_scope'],
  ['scopes separated by a line feed', { scope: 'openid\nemail' }, 'invalid_scope'],
  ['a scope in quotes', { scope: '"openid"' }, 'invalid_scope'],
  ['a scope with a backslash', { scope: 'open\\id' }, 'invalid_scope'],
  ['a scope beyond ASCII', { scope: 'openid é' }, 'invalid_scope'],
  ['a scope with NUL', { scope: 'openid\0' }, 'invalid_scope'],
  ['a member of every object as scope', { scope: '__proto__ constructor toString' }, 'invalid_scope'],
  ['8,000 scopes', { scope: Array(8000).fill('a').join(' ') }, 'invalid_scope'],
  ['a challenge without a method, which means plain', { code_challenge: CHALLENGE }],
  ['a challenge with an empty method', { code_challenge: CHALLENGE, code_challenge_method: '' }],
  ['plain', { code_challenge: CHALLENGE, code_challenge_method: 'plain' }],
  ['s256 in lower case', { code_challenge: CHALLENGE, code_challenge_method: 's256' }],
  ['S512', { code_challenge: CHALLENGE, code_challenge_method: 'S512' }],
  ['a method without a challenge', { code_challenge_method: 'S256' }],
  ['a challenge of 42 characters', s256(CHALLENGE.slice(1))],
  ['a challenge of 44 characters', s256(`${CHALLENGE}A`)],
  ['a challenge with padding', s256(`${CHALLENGE.slice(1)}=`)],
  ['a challenge in base64 that is not base64url', s256(CHALLENGE.replace('-', '+'))],
  ['a challenge with a line feed', s256(`${CHALLENGE}\n`)],
  ['an unknown prompt', { prompt: 'bogus' }],
  ['prompt=none with login', { prompt: 'none login' }],
  ['prompt=none with consent', { prompt: 'consent none' }],
  ['prompt=none with select_account', { prompt: 'none select_account' }],
  ['prompt in another case', { prompt: 'None' }],
  ['max_age with a sign', { max_age: '-1' }],
  ['max_age that is no number', { max_age: 'soon' }],
  ['max_age with a fraction', { max_age: '1.5' }],
  ['max_age with an exponent', { max_age: '1e3' }],
  ['max_age beyond all time', { max_age: '10000000000' }],
  ['claims that are no JSON', { claims: 'name' }],
  ['claims that are cut short', { claims: '{"userinfo":{"name":null}' }],
  ['claims that are a list', { claims: '[]' }],
  ['claims that are null', { claims: 'null' }],
  ['claims with a text as userinfo', { claims: '{"userinfo":"name"}' }],
  ['claims with null as id_token', { claims: '{"id_token":null}' }],
  ['claims with true for a claim', { claims: '{"userinfo":{"name":true}}' }],
  ['claims with an essential that is no boolean', { claims: '{"userinfo":{"name":{"essential":"yes"}}}' }],
  ['claims with values that are no list', { claims: '{"id_token":{"acr":{"values":"a"}}}' }],
  [
    'claims for more than there are',
    {
      claims: JSON.stringify({ userinfo: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`c${n}`, null])) }),
    },
  ],
  ['a request object', { request: 'eyJhbGciOiJub25lIn0.e30.' }, 'request_not_supported'],
  ['a request_uri', { request_uri: 'https://app.example.com/r' }, 'request_uri_not_supported'],
  ['registration', { registration: '{}' }, 'registration_not_supported'],
];

for (const [name, parameters, error = 'invalid_request'] of invalid) {
  test(`contract §7: ${name} is ${error}, sent to the client, by GET and by POST`, async () => {
    for (const who of [agent(server.baseUrl), browser]) {
      const answer = await who.get(authorizeUrl(client, parameters));
      assertErrorRedirect(answer, { error, state: 'st4te', to: client.redirectUri }, server);
      const stateless = await who.get(authorizeUrl(client, { ...parameters, state: '' }));
      assertErrorRedirect(stateless, { error, to: client.redirectUri }, server);
    }
    const posted = await post(authorizeUrl(client, parameters));
    assertErrorRedirect(posted, { error, status: 303, state: 'st4te', to: client.redirectUri }, server);
  });
}

test('contract §7: a missing response_type is invalid_request', async () => {
  const query = new URLSearchParams({ client_id: client.clientId, redirect_uri: client.redirectUri, state: 's' });
  const answer = await browser.get(`/api/v2/oauth/authorize?${query}`);
  assertErrorRedirect(answer, { error: 'invalid_request', state: 's', to: client.redirectUri }, server);
});

test('decisions §2: a scope that the client is not registered for is invalid_scope, and openid always goes', async () => {
  for (const scope of ['phone', 'openid phone', 'openid email details', 'profile', 'offline_access']) {
    const answer = await browser.get(authorizeUrl(limited, { scope }));
    assertErrorRedirect(answer, { error: 'invalid_scope', state: 'st4te', to: limited.redirectUri }, server);
  }
  const noOpenid = await newClient(server, { scopes: ['email'] });
  for (const scope of ['email', 'openid email', 'openid', '']) {
    const answer = await browser.get(authorizeUrl(noOpenid, { scope }));
    assert.equal(answer.location?.pathname, '/consent', scope);
  }
});

test('decisions §3: PKCE is honoured when sent and may be required of a client', async () => {
  codeOf(await browser.get(authorizeUrl(client, s256(CHALLENGE))));
  const answer = await browser.get(authorizeUrl(pkceOnly));
  assertErrorRedirect(answer, { error: 'invalid_request', state: 'st4te', to: pkceOnly.redirectUri }, server);
  assert.equal((await browser.get(authorizeUrl(pkceOnly, s256(CHALLENGE)))).location?.pathname, '/consent');
});

for (const name of [
  'response_type',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  'max_age',
  'login_hint',
  'id_token_hint',
  'claims',
  'acr_values',
  'ui_locales',
  'claims_locales',
  'display',
  'response_mode',
  'request',
  'request_uri',
  'registration',
]) {
  const good: Record<string, string> = {
    response_type: 'code',
    scope: 'openid',
    state: 'st4te',
    nonce: 'n',
    prompt: 'login',
    max_age: '60',
    claims: '{}',
    response_mode: 'query',
    ...s256(CHALLENGE),
  };
  test(`RFC 6749 §3.1: ${name} twice is invalid_request, also when both are equal or one is empty`, async () => {
    const first = authorizeUrl(client, name in good ? { [name]: good[name] ?? '' } : { [name]: 'x' });
    for (const second of [good[name] ?? 'x', 'other', '']) {
      const answer = await browser.get(`${first}&${name}=${encodeURIComponent(second)}`);
      // Decisions §3: which of two states the client meant is unknown, so neither is returned.
      const state = name === 'state' ? undefined : 'st4te';
      const expected = { error: 'invalid_request', state, to: client.redirectUri };
      assertErrorRedirect(answer, expected, server);
      const posted = await post(`${first}&${name}=${encodeURIComponent(second)}`);
      assertErrorRedirect(posted, { ...expected, status: 303 }, server);
    }
  });
}

test('decisions §3: unknown parameters are ignored, repeated ones too', async () => {
  for (const more of [
    'foo=bar',
    'foo=1&foo=2',
    'foo[]=1&foo[x]=2',
    '__proto__=1&constructor=2&toString=3',
    'audience=https%3A%2F%2Fapi.example.com',
    'Scope=bogus',
    'error=access_denied&code=stolen',
    '=&&=x',
  ]) {
    const answer = await browser.get(`${authorizeUrl(client)}&${more}`);
    const { code, ...others } = parametersOf(answer.location);
    assert.ok(code !== undefined && code !== 'stolen', more);
    assert.deepEqual(others, { state: 'st4te', iss: server.baseUrl }, more);
    assert.equal((await post(`${authorizeUrl(client)}&${more}`)).location?.pathname, '/continue', more);
  }
});

test('AZ-15: request, request_uri and registration are refused, and nothing that they name is ever fetched', async () => {
  const canary = await startCanary();
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const object = `${encoded({ alg: 'RS256', jku: canary.url, x5u: canary.url })}.${encoded({ iss: canary.url })}.AA`;
  const parameters = {
    request: object,
    request_uri: canary.url,
    registration: JSON.stringify({ jwks_uri: canary.url, logo_uri: canary.url, sector_identifier_uri: canary.url }),
  };
  try {
    for (const [name, value] of Object.entries(parameters)) {
      for (const more of [{}, { prompt: 'none' }, { id_token_hint: object }]) {
        const address = authorizeUrl(client, { ...more, [name]: value });
        const expected = { error: `${name}_not_supported`, state: 'st4te', to: client.redirectUri };
        assertErrorRedirect(await browser.get(address), expected, server);
        assertErrorRedirect(await post(address), { ...expected, status: 303 }, server);
      }
    }
    await browser.get(authorizeUrl(client, { id_token_hint: object }));
    assertStaysHere(await browser.get(authorizeUrl({ ...client, redirectUri: canary.url }, parameters)), 400);
    await canary.assertUntouched();
  } finally {
    await canary.close();
  }
});

test('AZ-14: hints and preferences are accepted, and never authenticate a user', async () => {
  const forged = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"sub":"1"}').toString('base64url')}.`;
  for (const more of [
    'display=popup',
    'display=hologram',
    'ui_locales=tr+en+xx-YY',
    'ui_locales=%00',
    'claims_locales=tr',
    'acr_values=urn%3Ax',
    'login_hint=somebody%40example.com',
    `login_hint=${'x'.repeat(5000)}`,
    `id_token_hint=${forged}`,
    'id_token_hint=nothing',
    `id_token_hint=${'x'.repeat(9000)}`,
    'claims=%7B%7D',
    'claims=%7B%22userinfo%22%3A%7B%22name%22%3Anull%2C%22toString%22%3Anull%7D%2C%22other%22%3A1%7D',
  ]) {
    const answer = await browser.get(`${authorizeUrl(client)}&${more}`);
    const { code, ...others } = parametersOf(answer.location);
    assert.ok(code !== undefined, more);
    assert.deepEqual(others, { state: 'st4te', iss: server.baseUrl }, more);
    const cold = await agent(server.baseUrl).get(`${authorizeUrl(client)}&${more}`);
    assert.equal(cold.location?.pathname, '/login', `${more}: a hint does not sign a user in`);
  }
});

test('RFC 6749 §3.1: an empty parameter counts as absent', async () => {
  const empty = { scope: '', nonce: '', prompt: '', response_mode: '', code_challenge: '', code_challenge_method: '' };
  const answer = await browser.get(`${authorizeUrl(client, { ...empty, state: '' })}&request=&request_uri=`);
  const { code, ...others } = parametersOf(answer.location);
  assert.deepEqual(others, { iss: server.baseUrl });
  const tokens = await redeem(server, client, code ?? '');
  assert.equal(claimsOf(tokens.body.access_token).scope, 'openid');
  assert.ok(!('nonce' in claimsOf(tokens.body.id_token)));
});

test('RFC 6749 §3.1.2: a registered query stays as it is, before the parameters of an answer', async () => {
  const success = (await browser.get(authorizeUrl(withQuery))).headers.get('location') ?? '';
  assert.ok(success.startsWith('https://app.example.com/cb?tenant=1&next=%2Fhome&code='), success);
  const failure = (await browser.get(authorizeUrl(withQuery, { scope: 'bogus' }))).headers.get('location') ?? '';
  assert.ok(failure.startsWith('https://app.example.com/cb?tenant=1&next=%2Fhome&error=invalid_scope&'), failure);
});

test('decisions §9: an address beyond 16 KiB is 414, and nothing is redirected', async () => {
  const base = authorizeUrl(client);
  const ofLength = (length: number) => `${base}&pad=${'x'.repeat(length - base.length - '&pad='.length)}`;
  codeOf(await browser.get(ofLength(16 * 1024)));
  for (const length of [16 * 1024 + 1, 20_000, 40_000]) {
    assertStaysHere(await browser.get(ofLength(length)), 414);
    const json = await browser.get(ofLength(length), { accept: 'application/json' });
    assertStaysHere(json, 414);
    assert.equal(JSON.parse(json.text).error, 'invalid_request');
  }
});

test('AZ-11: ten thousand scopes fit into no address, and a form of them is invalid_scope or the few that there are', async () => {
  const many = (name: string) => authorizeUrl(client, { scope: Array(10_000).fill(name).join(' ') });
  assertStaysHere(await browser.get(many('a')), 414);
  const refused = { error: 'invalid_scope', status: 303, state: 'st4te', to: client.redirectUri } as const;
  assertErrorRedirect(await post(many('a')), refused, server);
  // However many are repeated, no more scopes are kept than the service knows.
  const answer = await post(authorizeUrl(client, { scope: Array(5000).fill('openid email').join(' ') }));
  assert.equal(answer.location?.pathname, '/continue');
  const [longest] = await query(server, 'SELECT max(length(request)) AS length FROM interaction');
  assert.ok(Number(longest?.['length']) < 4096, `${longest?.['length']} characters of a request are kept`);
});
