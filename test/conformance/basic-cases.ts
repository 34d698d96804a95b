import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Answer } from '../support/agent.ts';
import { admin } from '../support/flow.ts';
import { SECOND } from '../support/outcome.ts';
import { type Mode, type Registrar, type RelyingParty, relyingParty, signInsOf } from './relying-party.ts';

const PROFILE = ['name', 'preferred_username', 'picture', 'locale', 'updated_at'];
const EMAIL = ['email', 'email_verified'];
const PHONE = ['phone_number', 'phone_number_verified'];

const namesOf = ({ kid: _, ...claims }: Readonly<Record<string, unknown>>) => Object.keys(claims).sort();

/**
 * What the modules of the OpenID Foundation's plans `oidcc-basic-certification-test-plan` and
 * `oidcc-formpost-basic-certification-test-plan` ask of the service, each under its module's name.
 */
export function basicCases(mode: Mode, registrar: Registrar = 'an operator'): void {
  let party: RelyingParty;
  before(async () => {
    party = await relyingParty(mode, registrar);
  });
  after(async () => {
    await party.leave();
    await party.close();
  });

  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

  test('oidcc-server: the code flow, with a verified ID token', async () => {
    const nonce = randomBytes(20).toString('hex');
    const answer = await party.authorize(party.newBrowser(), { state: 'some state', nonce });
    assert.equal(answer['state'], 'some state');
    assert.ok(Buffer.from(answer['code'] ?? '', 'base64url').length >= 16, '128 bits at least');
    const { status, body } = await party.exchange(answer['code']);
    assert.deepEqual([status, body.token_type, body.expires_in], [200, 'Bearer', 1800]);
    const claims = await party.verify(body.id_token);
    const hash = createHash('sha256').update(body.access_token, 'ascii').digest();
    assert.deepEqual([claims.sub, claims['nonce'], claims.aud], [party.user.id, nonce, party.clientId]);
    assert.equal(claims['at_hash'], hash.subarray(0, 16).toString('base64url'));
    assert.ok((claims.exp ?? 0) > (claims.iat ?? Infinity) && claims['acr'] === undefined);
  });

  test('oidcc-server: the ID token has no claim that no specification defines; the response names the scopes', async () => {
    const { claims, tokens } = await party.signIn(party.newBrowser(), { scope: 'openid profile email phone details' });
    const protocol = ['amr', 'at_hash', 'aud', 'auth_time', 'exp', 'iat', 'iss', 'jti', 'nonce', 'sid', 'sub'];
    const person = [...PROFILE, ...EMAIL, ...PHONE, 'website', 'birthdate'];
    assert.deepEqual(namesOf(claims), [...protocol, ...person].sort());
    assert.equal(tokens.scope, 'openid profile email details phone');
  });

  test('oidcc-response-type-missing: an error, sent to the client', async () => {
    const answer = await party.authorize(party.newBrowser(), { response_type: undefined });
    assert.equal(answer['error'], 'invalid_request');
    assert.equal(answer['code'], undefined);
  });

  test('RFC 6749 §3.1.1: unsupported_response_type, sent to the client with its state', async () => {
    for (const response_type of ['token', 'id_token', 'code id_token', 'none']) {
      const answer = await party.authorize(party.newBrowser(), { response_type, state: 'some state' });
      assert.deepEqual([answer['error'], answer['state']], ['unsupported_response_type', 'some state'], response_type);
    }
    assert.deepEqual(party.discovery['response_types_supported'], ['code']);
  });

  test('oidcc-idtoken-signature: RS256 with the kid of a key in the key set', async () => {
    const { tokens } = await party.signIn(party.newBrowser());
    const { kid } = await party.verify(tokens.id_token);
    assert.ok(kid);
  });

  for (const [module, request] of [
    ['oidcc-userinfo-get', (token: string) => bearer(token)],
    ['oidcc-userinfo-post-header', (token: string) => ({ method: 'POST', ...bearer(token) })],
    [
      'oidcc-userinfo-post-body',
      (token: string) => ({ method: 'POST', body: new URLSearchParams({ access_token: token }) }),
    ],
  ] as const) {
    test(`${module}: JSON with sub`, async () => {
      const { tokens } = await party.signIn(party.newBrowser());
      const { status, body } = await party.userInfo(request(tokens.access_token));
      assert.deepEqual([status, body['sub']], [200, party.user.id]);
    });
  }

  test('oidcc-ensure-request-without-nonce-succeeds-for-code-flow', async () => {
    const { claims } = await party.signIn(party.newBrowser(), { nonce: undefined });
    assert.equal('nonce' in claims, false);
  });

  test('oidcc-scope-address: skipped, for it is not advertised', () => {
    const { scopes_supported: scopes, claims_supported: claims } = party.discovery as Record<string, string[]>;
    assert.deepEqual([scopes?.includes('address'), claims?.includes('address')], [false, false]);
  });

  const scopes: [module: string, scope: string, claims: string[]][] = [
    ['oidcc-scope-profile', 'openid profile', PROFILE],
    ['oidcc-scope-email', 'openid email', EMAIL],
    ['oidcc-scope-phone', 'openid phone', PHONE],
    ['oidcc-scope-all', 'openid profile email phone', [...PROFILE, ...EMAIL, ...PHONE]],
    ['oidcc-ensure-other-scope-order-succeeds', 'email openid', EMAIL],
    ['decisions §10: openid alone', 'openid', []],
    ['decisions §10: details', 'openid details', ['website', 'birthdate']],
    ['OpenID Connect Core 1.0 §3.1.2.1, an unknown scope is left out', 'openid unknown email', EMAIL],
  ];
  test('decisions §10: with idTokenClaims=requested the suite has nothing to warn of in its scope modules', async () => {
    const client = `/clients/${party.clientId}`;
    await admin(party.server, 'PATCH', client, { idTokenClaims: 'requested' });
    const { claims } = await party.signIn(party.newBrowser(), { scope: 'openid profile email phone' });
    await admin(party.server, 'PATCH', client, { idTokenClaims: 'granted' });
    for (const name of [...PROFILE, ...EMAIL, ...PHONE]) assert.ok(!(name in claims), name);
  });

  for (const [module, scope, names] of scopes) {
    test(`${module}: UserInfo has its claims and no other, none of them null or empty, and the ID token has the same`, async () => {
      const { claims, tokens } = await party.signIn(party.newBrowser(), { scope });
      const { body } = await party.userInfo(bearer(tokens.access_token));
      assert.deepEqual(Object.keys(body).sort(), ['sub', ...names].sort());
      // A warning of the suite (OIDCC-5.4), which docs/reference/standards.md explains.
      assert.deepEqual(Object.fromEntries(Object.keys(body).map((name) => [name, claims[name]])), body);
      const advertised = party.discovery['claims_supported'] as readonly string[];
      for (const name of names) assert.ok(advertised.includes(name), name);
      for (const [name, value] of Object.entries(body)) assert.ok(value !== null && value !== '', name);
    });
  }

  const accepted: [module: string, parameters: Readonly<Record<string, string>>][] = [
    ['oidcc-display-page', { display: 'page' }],
    ['oidcc-display-popup', { display: 'popup' }],
    ['oidcc-ui-locales', { ui_locales: 'se no en' }],
    ['oidcc-claims-locales', { claims_locales: 'se' }],
    ['oidcc-login-hint', { login_hint: 'buffy@suite.example.com' }],
    ['oidcc-ensure-request-with-unknown-parameter-succeeds', { extra: 'foobar' }],
    ['oidcc-alternate-happy-flow', { state: 'a', nonce: 'b', scope: 'profile openid' }],
  ];
  for (const [module, parameters] of accepted) {
    test(`${module}: no error`, async () => {
      await party.signIn(party.newBrowser(), parameters);
    });
  }

  for (const [module, parameters] of [
    ['oidcc-prompt-login', { prompt: 'login' }],
    ['oidcc-max-age-1', { max_age: '1' }],
  ] as const) {
    test(`${module}: signs in again, with a later auth_time`, async () => {
      const browser = party.newBrowser();
      const first = await party.signIn(browser);
      party.server.advance(2 * SECOND);
      const second = await party.signIn(browser, parameters);
      assert.equal(signInsOf(browser), 2);
      assert.ok(Number(second.claims['auth_time']) > Number(first.claims['auth_time']));
    });
  }

  test('oidcc-prompt-none-not-logged-in: login_required, with a state of 128 characters', async () => {
    const state = randomBytes(64).toString('hex');
    const browser = party.newBrowser();
    const answer = await party.authorize(browser, { prompt: 'none', state });
    assert.deepEqual([answer['error'], answer['state'], answer['code']], ['login_required', state, undefined]);
    assert.equal(signInsOf(browser), 0);
  });

  for (const [module, hint] of [
    ['oidcc-prompt-none-logged-in', () => ({})],
    ['oidcc-id-token-hint', (idToken: string) => ({ id_token_hint: idToken })],
  ] as const) {
    // Decisions §15: people are asked each time by an app that nobody has vouched for, so that this module fails for it.
    if (registrar === 'itself, openly') {
      test(`${module}: consent_required`, async () => {
        const browser = party.newBrowser();
        const first = await party.signIn(browser);
        const second = await party.authorize(browser, { prompt: 'none', ...hint(first.tokens.id_token) });
        assert.deepEqual([second['error'], second['code']], ['consent_required', undefined]);
      });
      continue;
    }
    test(`${module}: silent, with the same sub and auth_time`, async () => {
      const browser = party.newBrowser();
      const first = await party.signIn(browser);
      party.server.advance(60 * SECOND);
      const second = await party.signIn(browser, { prompt: 'none', ...hint(first.tokens.id_token) });
      assert.deepEqual([second.claims.sub, second.claims['auth_time']], [first.claims.sub, first.claims['auth_time']]);
      assert.equal(signInsOf(browser), 1);
    });
  }

  test('oidcc-max-age-10000: no new sign-in, auth_time in both', async () => {
    const browser = party.newBrowser();
    const first = await party.signIn(browser);
    const second = await party.signIn(browser, { max_age: '10000' });
    assert.ok(first.claims['auth_time'] !== undefined);
    assert.equal(second.claims['auth_time'], first.claims['auth_time']);
    assert.equal(signInsOf(browser), 1);
  });

  test('oidcc-ensure-request-with-acr-values-succeeds: acr is the one that is offered and was asked for', async () => {
    const offered = party.discovery['acr_values_supported'] as string[];
    const { claims } = await party.signIn(party.newBrowser(), { acr_values: offered.join(' ') });
    assert.ok(offered.includes(String(claims['acr'])), `${claims['acr']}`);
    const { claims: others } = await party.signIn(party.newBrowser(), { acr_values: '1 2' });
    assert.equal(others['acr'], offered[0], 'what holds is said, whichever was wished for');
  });

  for (const [module, seconds] of [
    ['oidcc-codereuse', 0],
    ['oidcc-codereuse-30seconds', 30],
  ] as const) {
    test(`${module}: invalid_grant, and the access token dies`, async () => {
      const { code } = await party.authorize(party.newBrowser());
      const first = await party.exchange(code);
      assert.equal((await party.userInfo(bearer(first.body.access_token))).status, 200);
      party.server.advance(seconds * SECOND);
      const second = await party.exchange(code);
      assert.deepEqual([second.status, second.body['error']], [400, 'invalid_grant']);
      assert.equal((await party.userInfo(bearer(first.body.access_token))).status, 401);
    });
  }

  test('oidcc-ensure-registered-redirect-uri: a page, never a redirect', async () => {
    const answer = await party.newBrowser().get(party.request({ redirect_uri: `${party.redirectUri}/other` }));
    assert.deepEqual([answer.status, answer.location], [400, undefined]);
    assert.doesNotMatch(answer.text, /action="https:/);
  });

  test('oidcc-ensure-post-request-succeeds: POST at the authorization endpoint', async () => {
    const browser = party.newBrowser();
    const url = new URL(party.request());
    const post = async (): Promise<Answer> =>
      browser.post(url.pathname, Object.fromEntries(url.searchParams), { origin: 'https://suite.example.com' });
    const cold = await post();
    assert.equal(cold.status, 303);
    const answer = await party.arrive(browser, cold);
    assert.equal((await party.exchange(answer['code'])).status, 200);
    const warm = await party.arrive(browser, await post());
    assert.ok(warm['code']);
    assert.equal(signInsOf(browser), 1, 'who is signed in is known after a POST of another site too');
  });

  test('oidcc-server-client-secret-post: the secret in the body', async () => {
    const { code = '' } = await party.authorize(party.newBrowser());
    const form = { grant_type: 'authorization_code', code, redirect_uri: party.redirectUri };
    const own = { client_id: party.clientId, client_secret: party.clientSecret };
    assert.equal((await party.token({ ...form, ...own }, null)).status, 200);
  });

  const unsupported: [module: string, parameter: string, value: string][] = [
    ['oidcc-request-uri-unsigned', 'request_uri', 'https://suite.example.com/request.jwt'],
    ['oidcc-unsigned-request-object', 'request', 'eyJhbGciOiJub25lIn0.eyJzY29wZSI6Im9wZW5pZCJ9.'],
    ['oidcc-ensure-request-object-with-redirect-uri', 'request', 'eyJhbGciOiJub25lIn0.eyJyZWRpcmVjdF91cmkiOiJ4In0.'],
  ];
  for (const [module, parameter, value] of unsupported) {
    test(`${module}: ${parameter}_not_supported, never ignored`, async () => {
      const answer = await party.authorize(party.newBrowser(), { [parameter]: value });
      assert.deepEqual([answer['error'], answer['code']], [`${parameter}_not_supported`, undefined]);
      assert.equal(party.discovery[`${parameter}_parameter_supported`], false);
    });
  }

  test('a refused request object says by its response_mode how the refusal is delivered', async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const request = `${part({ alg: 'none' })}.${part({ response_mode: mode, scope: 'openid' })}.`;
    const parameters = { request, response_mode: undefined, state: 'some state' };
    const answer = await party.authorize(party.newBrowser(), parameters);
    assert.deepEqual([answer['error'], answer['state']], ['request_not_supported', 'some state']);
  });

  test('oidcc-claims-essential: the name at UserInfo', async () => {
    assert.equal(party.discovery['claims_parameter_supported'], true);
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
    const { tokens } = await party.signIn(party.newBrowser(), { claims });
    assert.ok((await party.userInfo(bearer(tokens.access_token))).body['name']);
  });

  test('oidcc-refresh-token: a new ID token of the same sign-in; for another client invalid_grant', async () => {
    const { claims, tokens } = await party.signIn(party.newBrowser(), { scope: 'openid offline_access' });
    party.server.advance(SECOND);
    const form = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token };
    const other = await admin(party.server, 'POST', '/clients', { name: 'Other', redirectUris: [party.redirectUri] });
    const { clientId, clientSecret } = other.body;
    const stolen = await party.token({ ...form, client_id: clientId, client_secret: clientSecret }, null);
    assert.deepEqual([stolen.status, stolen.body['error']], [400, 'invalid_grant']);
    const { status, headers, body } = await party.token(form);
    assert.deepEqual([status, headers.get('cache-control')], [200, 'no-store']);
    const renewed = await party.verify(body.id_token);
    assert.ok(Number(renewed.iat) > Number(claims.iat));
    for (const name of ['sub', 'aud', 'iss', 'auth_time']) assert.equal(renewed[name], claims[name], name);
  });

  test('oidcc-ensure-request-with-valid-pkce-succeeds', async () => {
    const code_verifier = randomBytes(32).toString('base64url');
    const code_challenge = createHash('sha256').update(code_verifier).digest('base64url');
    const { code } = await party.authorize(party.newBrowser(), { code_challenge, code_challenge_method: 'S256' });
    assert.equal((await party.exchange(code, { code_verifier })).status, 200);
  });
}
