// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, describe, test } from 'node:test';
import { findClient, insertClient } from '../../src/clients/store.ts';
import { sweep } from '../../src/operations/housekeeping/housekeeping.ts';
import type { Work } from '../../src/platform/database/database.ts';
import type { Agent } from '../support/agent.ts';
import { call, JSON_TYPE } from '../support/api-call.ts';
import { appKey, proofOf } from '../support/assertion.ts';
import {
  admin,
  authorizeUrl,
  claimsOf,
  newSignedInUser,
  refresh,
  revokeOnPage,
  userinfo,
  walk,
} from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { HOUR, MINUTE, query } from '../support/outcome.ts';
import {
  METADATA,
  manage,
  newInitialToken,
  newSelfRegistered,
  registerSelf,
  type SelfRegistered,
} from '../support/registration.ts';
import { startServer, type TestServer } from '../support/server.ts';

// RFC 7591, RFC 7592, decisions §15: apps that register themselves.

const DAY = 24 * HOUR;
const UNLIMITED = {
  TESSERA_LIMIT_REGISTRATION_ADDRESS: 'off',
  TESSERA_LIMIT_REGISTRATION: 'off',
  TESSERA_LIMIT_CLIENT_AUTH: 'off',
};
const server = await startServer({ TESSERA_REGISTRATION: 'open', ...UNLIMITED });
const guarded = await startServer({ TESSERA_REGISTRATION: 'token', ...UNLIMITED });
after(() => Promise.all([server.close(), guarded.close()]));

const USERINFO = '/oidc/userinfo';
const VERIFIER = 'v'.repeat(43);
const PKCE = {
  code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
  code_challenge_method: 'S256',
};

const sweepAt = (at: TestServer) => withData(at, ({ database, clock }) => sweep(database, clock()));

const redeemAt = (at: TestServer, app: SelfRegistered, code: string, more: Readonly<Record<string, string>> = {}) =>
  call(
    at,
    'POST',
    '/oidc/token',
    {},
    new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: app.redirectUri,
      client_id: app.clientId,
      ...(app.clientSecret !== '' && { client_secret: app.clientSecret }),
      code_verifier: VERIFIER,
      ...more,
    }),
  );

async function codeOf(app: SelfRegistered, browser: Agent, user: Awaited<ReturnType<typeof newSignedInUser>>['user']) {
  const target = await walk(browser, authorizeUrl(app, { scope: 'openid profile', ...PKCE }), { user });
  const code = target.searchParams.get('code');
  assert.ok(code !== null, target.href);
  return code;
}

/** A person allows the app. */
async function connected(app: SelfRegistered, at: TestServer = server) {
  const { user, browser } = await newSignedInUser(at);
  const { status, body } = await redeemAt(at, app, await codeOf(app, browser, user));
  assert.equal(status, 200, JSON.stringify(body));
  return { app, user, browser, tokens: body };
}

async function shown(browser: Agent, app: SelfRegistered): Promise<string> {
  const answer = await browser.get(authorizeUrl(app, { scope: 'openid', ...PKCE }));
  return answer.location === undefined ? answer.text : (await browser.get(answer.location.href)).text;
}

/** Nothing that the app has works. */
async function assertEnded(app: SelfRegistered, tokens: { access_token: string; refresh_token: string }, at = server) {
  assert.equal((await userinfo(at, tokens.access_token, USERINFO)).status, 401);
  assert.ok([400, 401].includes((await refresh(at, app, tokens.refresh_token)).status));
}

describe('RFC 7591: registration', () => {
  test('§3.2.1: the answer has what was registered, and both tokens', async () => {
    const { status, headers, body } = await registerSelf(server, {
      client_uri: 'https://app.example.com',
      unknown_member: { a: 1 },
    });
    assert.equal(status, 201);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.match(headers.get('content-type') ?? '', /^application\/json/);
    const { client_id, client_id_issued_at, registration_access_token, registration_client_uri, ...rest } = body;
    assert.match(client_id, /^\d+$/);
    assert.equal(client_id_issued_at, Math.floor(server.now() / 1000));
    assert.match(registration_access_token, /^trt_[\w-]{43}$/);
    assert.equal(registration_client_uri, `${server.baseUrl}/oidc/register/${client_id}`);
    assert.deepEqual(rest, {
      ...METADATA,
      client_uri: 'https://app.example.com',
      response_types: ['code'],
      scope: 'openid profile offline_access email details phone social organization.read',
      subject_type: 'public',
      id_token_signed_response_alg: 'RS256',
      post_logout_redirect_uris: [],
      backchannel_logout_session_required: true,
      contacts: [],
    });
  });

  test('§2: the defaults are a secret by HTTP Basic, codes without refreshing, RS256', async () => {
    const { body } = await call(
      server,
      'POST',
      '/oidc/register',
      { 'content-type': JSON_TYPE },
      JSON.stringify({ redirect_uris: METADATA.redirect_uris }),
    );
    assert.equal(body.token_endpoint_auth_method, 'client_secret_basic');
    assert.deepEqual(body.grant_types, ['authorization_code']);
    assert.deepEqual(body.response_types, ['code']);
    assert.equal(body.client_name, 'app.example.com');
    assert.match(body.client_secret, /^tcs_/);
    assert.equal(body.client_secret_expires_at, 0);
  });

  test('the discovery documents name the endpoint, and only where it answers', async () => {
    const off = await startServer();
    try {
      for (const name of ['openid-configuration', 'oauth-authorization-server']) {
        const at = async (one: TestServer) =>
          (await call(one, 'GET', `/.well-known/${name}`)).body.registration_endpoint;
        assert.deepEqual([await at(server), await at(off)], [`${server.baseUrl}/oidc/register`, undefined]);
      }
      const refused = await registerSelf(off);
      assert.deepEqual([refused.status, refused.body.error], [404, 'invalid_request']);
    } finally {
      await off.close();
    }
  });

  test('a page of any origin may register', async () => {
    const headers = { origin: 'https://inspector.example', 'content-type': JSON_TYPE };
    const answer = await call(server, 'POST', '/oidc/register', headers, JSON.stringify(METADATA));
    assert.equal(answer.headers.get('access-control-allow-origin'), '*');
  });

  for (const [what, change, error, words] of [
    ['no redirect URI', { redirect_uris: undefined }, 'invalid_redirect_uri', /redirect_uris must be 1 to 50/],
    ['an empty list', { redirect_uris: [] }, 'invalid_redirect_uri', /1 to 50/],
    ['one that is no list', { redirect_uris: 'https://a.example/' }, 'invalid_redirect_uri', /JSON array/],
    ['http', { redirect_uris: ['http://a.example/cb'] }, 'invalid_redirect_uri', /a\.example\/cb must use https/],
    ['a fragment', { redirect_uris: ['https://a.example/#x'] }, 'invalid_redirect_uri', /fragment/],
    ['a script', { redirect_uris: ['JavaScript:alert(1)'] }, 'invalid_redirect_uri', /scheme javascript:/],
    ['user information', { redirect_uris: ['https://a@b.example/'] }, 'invalid_redirect_uri', /user name/],
    ['a reserved parameter', { redirect_uris: ['https://a.example/?code=1'] }, 'invalid_redirect_uri', /'code'/],
    [
      'a second one that is wrong',
      { redirect_uris: ['https://a.example/', 'data:,x'] },
      'invalid_redirect_uri',
      /data:/,
    ],
    [
      'a scheme of an app with a secret',
      { redirect_uris: ['com.example.app:/cb'], token_endpoint_auth_method: 'client_secret_basic' },
      'invalid_redirect_uri',
      /token_endpoint_auth_method none/,
    ],
    [
      'too many',
      { redirect_uris: Array.from({ length: 51 }, (_, n) => `https://a.example/${n}`) },
      'invalid_redirect_uri',
      /50/,
    ],
    ['the implicit flow', { response_types: ['token'] }, 'invalid_client_metadata', /response_types has no code/],
    ['another grant', { grant_types: ['client_credentials'] }, 'invalid_client_metadata', /lacks authorization_code/],
    [
      'an unknown method',
      { token_endpoint_auth_method: 'client_secret_jwt' },
      'invalid_client_metadata',
      /Send one of/,
    ],
    [
      'a key method without keys',
      { token_endpoint_auth_method: 'private_key_jwt' },
      'invalid_client_metadata',
      /public keys/,
    ],
    ['both kinds of keys', { jwks: { keys: [] }, jwks_uri: 'https://a.example/k' }, 'invalid_client_metadata', /jwks/],
    ['a secret key', { jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } }, 'invalid_client_metadata', /jwks/],
    [
      'HS256 without a secret',
      { id_token_signed_response_alg: 'HS256' },
      'invalid_client_metadata',
      /Send one of RS256/,
    ],
    ['no signature', { id_token_signed_response_alg: 'none' }, 'invalid_client_metadata', /not supported/],
    ['pairwise ids', { subject_type: 'pairwise' }, 'invalid_client_metadata', /subject_type/],
    ['bound tokens', { dpop_bound_access_tokens: true }, 'invalid_client_metadata', /leave it out/i],
    ['encryption', { id_token_encrypted_response_alg: 'RSA-OAEP' }, 'invalid_client_metadata', /leave it out/i],
    ['a name that is no text', { client_name: 7 }, 'invalid_client_metadata', /client_name is not a text/],
    ['a wrong age', { default_max_age: -1 }, 'invalid_client_metadata', /default_max_age/],
    ['a sign-out address of http', { backchannel_logout_uri: 'http://a.example/' }, 'invalid_client_metadata', /https/],
    [
      'a wrong address after signing out',
      { post_logout_redirect_uris: ['x'] },
      'invalid_client_metadata',
      /post_logout/,
    ],
    ['8 KiB', { client_uri: `https://a.example/${'x'.repeat(9000)}` }, 'invalid_client_metadata', /longer than 8 KiB/],
  ] as const) {
    test(`§3.2.2: ${what}: ${error}, with a remedy, traced, and no row`, async () => {
      const count = async () => Number((await query(server, 'SELECT count(*) AS n FROM client'))[0]?.['n']);
      const before = await count();
      const { status, body, headers } = await registerSelf(server, change);
      assert.deepEqual([status, body.error], [400, error], JSON.stringify(body));
      assert.match(body.error_description, words);
      assert.match(body.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(await count(), before);
      const { body: trace } = await admin(server, 'GET', `/traces/${headers.get('x-request-id')}`);
      assert.equal(trace.steps[0].step, 'registration');
    });
  }

  test('a body that is no JSON object is refused', async () => {
    for (const [body, status] of [
      ['[]', 400],
      ['"x"', 400],
      ['null', 400],
      ['{', 400],
      ['', 400],
    ] as const) {
      const answer = await call(server, 'POST', '/oidc/register', { 'content-type': JSON_TYPE }, body);
      assert.equal(answer.status, status, body);
    }
    assert.equal((await call(server, 'POST', '/oidc/register', {}, new URLSearchParams({ a: 'b' }))).status, 415);
  });

  test('§2: what the server does not take is left out, and the trace says so', async () => {
    const { body, headers } = await registerSelf(server, {
      grant_types: ['authorization_code', 'refresh_token', 'implicit', 'client_credentials'],
      scope: 'openid profile notes.read',
      logo_uri: 'https://app.example.com/logo.png',
      software_statement: 'eyJ...',
      client_name: 'Acme\u202e',
    });
    assert.deepEqual(body.grant_types, METADATA.grant_types);
    assert.equal(body.scope, 'openid profile');
    assert.equal(body.logo_uri, undefined);
    assert.equal(body.client_name, 'app.example.com');
    const { body: trace } = await admin(server, 'GET', `/traces/${headers.get('x-request-id')}`);
    for (const name of ['grant_types', 'scope', 'logo_uri', 'software_statement', 'client_name']) {
      assert.match(trace.steps[0].ignored, new RegExp(`parameter ${name}`));
    }
  });
});

describe('an app that registered itself', () => {
  test('it signs people in: with a secret, without one, and with a key', async () => {
    const { tokens } = await connected(await newSelfRegistered(server));
    assert.equal(claimsOf(tokens.id_token).iss, server.baseUrl);
    await connected(await newSelfRegistered(server, { token_endpoint_auth_method: 'client_secret_post' }));
    const key = await appKey();
    const app = await newSelfRegistered(server, {
      token_endpoint_auth_method: 'private_key_jwt',
      jwks: { keys: [key.jwk] },
    });
    const { user, browser } = await newSignedInUser(server);
    const proof = await proofOf(server, app.clientId, key);
    const { status, body } = await redeemAt(server, app, await codeOf(app, browser, user), proof);
    assert.equal(status, 200, JSON.stringify(body));
  });

  test('the page says that it registered itself and where it leads, each time; prompt=none asks in vain', async () => {
    const app = await newSelfRegistered(server);
    const { browser } = await connected(app);
    const text = await shown(browser, app);
    assert.match(text, /This app registered itself here/);
    assert.match(text, /Sends you to[\s\S]*app\.example\.com/);
    const silent = await browser.get(authorizeUrl(app, { scope: 'openid', prompt: 'none', ...PKCE }));
    assert.equal(silent.location?.searchParams.get('error'), 'consent_required');
    assert.match((await browser.get('/account/connections')).text, /Registered itself here/);
  });

  test('it exists at the OIDC endpoints alone', async () => {
    const app = await newSelfRegistered(server);
    const { browser } = await newSignedInUser(server);
    const answer = await browser.get(authorizeUrl({ ...app, endpointSet: 'v2' }, { scope: 'openid', ...PKCE }));
    assert.notEqual(answer.status, 200);
    assert.doesNotMatch(answer.location?.pathname ?? '', /consent/);
  });

  test('an operator sees it, accepts it, and it passes for a registered one until it has another name', async () => {
    const app = await newSelfRegistered(server);
    const listed = (await admin(server, 'GET', '/unregistered-clients?limit=100')).body.items;
    const row = listed.find(({ clientId }: { clientId: string }) => clientId === app.clientId);
    assert.deepEqual([row.registeredBy, row.name], ['open', 'Calendar agent']);
    const { body } = await admin(server, 'PUT', `/clients/${app.clientId}/acceptance`, {});
    assert.equal(body.unusedUntil, null);
    const { browser } = await connected(app);
    assert.equal(
      (await browser.get(authorizeUrl(app, { scope: 'openid', ...PKCE }))).location?.searchParams.has('code'),
      true,
    );
    await manage(server, 'PUT', app, { client_id: app.clientId, ...METADATA, client_name: 'Another name' });
    assert.match(await shown(browser, app), /This app registered itself here/);
  });

  test('consent by an operator, a resource, and what it changes itself are refused until an operator takes it over', async () => {
    const app = await newSelfRegistered(server);
    const change = (fields: object) => admin(server, 'PATCH', `/clients/${app.clientId}`, fields);
    for (const fields of [{ consent: 'operator' }, { resource: 'https://api.example' }, { name: 'Other' }]) {
      assert.equal((await change(fields)).status, 409, JSON.stringify(fields));
    }
    assert.equal((await admin(server, 'DELETE', `/clients/${app.clientId}/self-registration`)).status, 204);
    assert.equal((await change({ name: 'Other' })).status, 200);
    assert.equal((await change({ consent: 'operator' })).status, 409);
    assert.equal((await manage(server, 'GET', app)).status, 401);
    assert.equal((await admin(server, 'DELETE', `/clients/${app.clientId}/self-registration`)).status, 409);
  });
});

describe('RFC 7592: management', () => {
  test('§2.1: reading answers the registration, without the secret', async () => {
    const app = await newSelfRegistered(server, { token_endpoint_auth_method: 'client_secret_basic' });
    const { status, body, headers } = await manage(server, 'GET', app);
    assert.equal(status, 200);
    assert.equal(headers.get('cache-control'), 'no-store');
    const { client_secret: _, client_secret_expires_at: __, ...rest } = app.registration;
    assert.deepEqual(body, rest);
  });

  test('§2.2: replacing sets what was left out to its default, and the token stays', async () => {
    const app = await newSelfRegistered(server, { client_uri: 'https://app.example.com', contacts: ['a@example.com'] });
    const { status, body } = await manage(server, 'PUT', app, {
      client_id: app.clientId,
      ...METADATA,
      scope: 'openid',
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.client_uri, body.contacts, body.scope], [undefined, [], 'openid']);
    assert.equal(body.registration_access_token, app.registration.registration_access_token);
    assert.deepEqual((await manage(server, 'GET', app)).body, body);
  });

  test('§2.2: null and an empty text count as left out', async () => {
    const app = await newSelfRegistered(server);
    const { body } = await manage(server, 'PUT', app, {
      client_id: app.clientId,
      ...METADATA,
      client_name: null,
      scope: '',
    });
    assert.equal(body.client_name, 'app.example.com');
  });

  for (const [what, change] of [
    ['no client_id', { client_id: undefined }],
    ['the client_id of another', { client_id: '1' }],
    ['the registration access token', { registration_access_token: 'x' }],
    ['the address of the registration', { registration_client_uri: 'https://a.example' }],
    ['the end of the secret', { client_secret_expires_at: 0 }],
    ['the time of registration', { client_id_issued_at: 0 }],
    ['a secret of its choice', { client_secret: 'mine' }],
  ] as const) {
    test(`§2.2: ${what} in the request is refused, and changes nothing`, async () => {
      const app = await newSelfRegistered(server);
      const before = (await manage(server, 'GET', app)).body;
      const sent = { client_id: app.clientId, ...METADATA, client_name: 'Changed', ...change };
      const { status, body } = await manage(server, 'PUT', app, sent);
      assert.deepEqual([status, body.error], [400, 'invalid_client_metadata']);
      assert.deepEqual((await manage(server, 'GET', app)).body, before);
    });
  }

  test('§2.2: its present secret may be in the request', async () => {
    const method = { token_endpoint_auth_method: 'client_secret_basic' };
    const app = await newSelfRegistered(server, method);
    const sent = { client_id: app.clientId, ...METADATA, ...method, client_secret: app.clientSecret };
    assert.equal((await manage(server, 'PUT', app, sent)).status, 200);
  });

  test('another way to authenticate ends the tokens, and brings a secret or takes it away', async () => {
    const app = await newSelfRegistered(server);
    const { tokens } = await connected(app);
    const post = { client_id: app.clientId, ...METADATA, token_endpoint_auth_method: 'client_secret_post' };
    const { body } = await manage(server, 'PUT', app, post);
    assert.match(body.client_secret, /^tcs_/);
    const withSecret = { ...app, clientSecret: body.client_secret };
    await assertEnded(withSecret, tokens);
    const { tokens: later } = await connected(withSecret);
    assert.equal(
      (await manage(server, 'PUT', app, { client_id: app.clientId, ...METADATA })).body.client_secret,
      undefined,
    );
    assert.equal((await refresh(server, withSecret, later.refresh_token)).status, 401);
    await assertEnded(app, later);
  });

  test('the secret in another place ends nothing, and without a method both are taken', async () => {
    const app = await newSelfRegistered(server, { token_endpoint_auth_method: undefined });
    assert.equal(app.registration.token_endpoint_auth_method, 'client_secret_basic');
    const { tokens } = await connected(app);
    const { status, body } = await manage(server, 'PUT', app, {
      ...{ client_id: app.clientId, ...METADATA, token_endpoint_auth_method: 'client_secret_post' },
    });
    assert.deepEqual([status, body.client_secret], [200, undefined]);
    assert.equal((await userinfo(server, tokens.access_token, USERINFO)).status, 200);
  });

  // With an initial access token it passes for a registered app, which people are not asked about again.
  for (const [what, change, isAsked] of [
    ['another redirect URI', { redirect_uris: [...METADATA.redirect_uris, 'https://app.example.com/second'] }, true],
    ['another name', { client_name: 'Another name' }, true],
    ['another home page', { client_uri: 'https://app.example.com' }, false],
  ] as const) {
    test(`${what} ${isAsked ? 'asks people again' : 'asks nobody'}; tokens go on`, async () => {
      const { initialAccessToken } = await newInitialToken(guarded);
      const app = await newSelfRegistered(guarded, {}, initialAccessToken);
      const { browser, tokens } = await connected(app, guarded);
      const lead = async () => (await browser.get(authorizeUrl(app, { scope: 'openid', ...PKCE }))).location;
      assert.ok((await lead())?.searchParams.has('code'));
      const changed = await manage(guarded, 'PUT', app, { client_id: app.clientId, ...METADATA, ...change });
      assert.equal(changed.status, 200);
      const after = await lead();
      assert.equal(after?.searchParams.has('code'), !isAsked);
      if (isAsked) assert.match(after?.pathname ?? '', /consent/);
      assert.equal((await userinfo(guarded, tokens.access_token, USERINFO)).status, 200);
    });
  }

  test('§2.3: deleting ends everything at once, and the token with it', async () => {
    const app = await newSelfRegistered(server);
    const { tokens, browser } = await connected(app);
    const { status, text } = await manage(server, 'DELETE', app);
    assert.deepEqual([status, text], [204, '']);
    await assertEnded(app, tokens);
    for (const method of ['GET', 'DELETE'] as const) assert.equal((await manage(server, method, app)).status, 401);
    assert.equal((await browser.get(authorizeUrl(app, { scope: 'openid', ...PKCE }))).status, 400);
  });

  test('§2.1: a missing, wrong or foreign token is 401 with a challenge, alike for an app that does not exist', async () => {
    const [app, other] = [await newSelfRegistered(server), await newSelfRegistered(server)];
    const foreign = other.registration.registration_access_token;
    const missing = await manage(server, 'GET', app, undefined, '');
    assert.equal(missing.headers.get('www-authenticate'), 'Bearer realm="tessera"');
    const answers = [
      await manage(server, 'GET', app, undefined, foreign),
      await manage(server, 'GET', { ...app, clientId: '999' }),
      await manage(server, 'GET', { ...app, clientId: 'x' }),
      await manage(server, 'PUT', app, { client_id: app.clientId, ...METADATA }, foreign),
      await manage(server, 'DELETE', app, undefined, foreign),
    ];
    for (const { status, body, headers } of [missing, ...answers]) {
      assert.deepEqual([status, body.error], [401, 'invalid_token']);
      assert.match(headers.get('www-authenticate') ?? '', /^Bearer/);
    }
    assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
    assert.equal((await manage(server, 'GET', app)).status, 200);
  });
});

describe('every ending', () => {
  const ENDINGS: Readonly<Record<string, (app: SelfRegistered, browser: Agent) => Promise<unknown>>> = {
    'the app deletes itself': (app) => manage(server, 'DELETE', app),
    'an operator disables it': (app) => admin(server, 'PATCH', `/clients/${app.clientId}`, { status: 'disabled' }),
    'an operator deletes it': (app) => admin(server, 'DELETE', `/clients/${app.clientId}`),
    'an operator blocks the domain that it leads to': () => admin(server, 'PUT', '/blocked-domains/.blocked.example'),
    'the person takes the access away': (app, browser) => revokeOnPage(browser, app),
  };
  for (const [ending, end] of Object.entries(ENDINGS)) {
    test(`${ending}: its tokens end at once`, async () => {
      const app = await newSelfRegistered(server, { redirect_uris: ['https://a.blocked.example/cb'] });
      const { tokens, browser } = await connected(app);
      await end(app, browser);
      await assertEnded(app, tokens);
      await admin(server, 'DELETE', '/blocked-domains/.blocked.example');
    });
  }

  test('a blocked domain: no app registers with it or moves to it, and a disabled one cannot change itself', async () => {
    const app = await newSelfRegistered(server, { redirect_uris: ['https://b.gone.example/cb'] });
    const honest = await newSelfRegistered(server);
    await admin(server, 'PUT', '/blocked-domains/.gone.example');
    const refused = [
      await registerSelf(server, { redirect_uris: ['https://b.gone.example/cb'] }),
      await manage(server, 'PUT', honest, {
        client_id: honest.clientId,
        ...METADATA,
        redirect_uris: ['https://gone.example/'],
      }),
    ];
    for (const { status, body } of refused) assert.deepEqual([status, body.error], [400, 'invalid_redirect_uri']);
    assert.equal((await manage(server, 'PUT', app, { client_id: app.clientId, ...METADATA })).status, 401);
    await admin(server, 'DELETE', '/blocked-domains/.gone.example');
    assert.equal((await manage(server, 'GET', app)).status, 401);
    assert.equal((await admin(server, 'PATCH', `/clients/${app.clientId}`, { status: 'active' })).status, 200);
    assert.equal((await manage(server, 'GET', app)).status, 401, 'nothing revives');
  });
});

test('an accepted app outlives the blocking of its domain, and ends with its acceptance', async () => {
  const newAccepted = async (host: string) => {
    const app = await newSelfRegistered(server, { redirect_uris: [`https://${host}/cb`] });
    await admin(server, 'PUT', `/clients/${app.clientId}/acceptance`, {});
    return connected(app);
  };
  const [blocked, other] = [await newAccepted('a.trusted.example'), await newAccepted('a.elsewhere.example')];
  await admin(server, 'PUT', '/blocked-domains/.trusted.example');
  assert.equal((await userinfo(server, blocked.tokens.access_token, USERINFO)).status, 200);
  for (const { app } of [blocked, other]) {
    assert.equal((await admin(server, 'DELETE', `/clients/${app.clientId}/acceptance`)).status, 204);
  }
  await assertEnded(blocked.app, blocked.tokens);
  assert.equal((await manage(server, 'GET', blocked.app)).status, 401);
  const statusOf = async ({ app }: typeof blocked) =>
    (await admin(server, 'GET', `/clients/${app.clientId}`)).body.status;
  assert.deepEqual([await statusOf(blocked), await statusOf(other)], ['disabled', 'active']);
  assert.equal((await userinfo(server, other.tokens.access_token, USERINFO)).status, 200);
  const { body } = await admin(server, 'GET', '/audit-events?type=client.disabled&order=desc&limit=1');
  assert.equal(body.items[0].clientId, blocked.app.clientId);
  await admin(server, 'DELETE', '/blocked-domains/.trusted.example');
  await assertEnded(blocked.app, blocked.tokens);
});

describe('initial access tokens', () => {
  test('with token, nobody registers without one', async () => {
    const missing = await registerSelf(guarded);
    assert.deepEqual([missing.status, missing.headers.get('www-authenticate')], [401, 'Bearer realm="tessera"']);
    const wrong = await registerSelf(guarded, {}, `tit_${'x'.repeat(43)}`);
    assert.deepEqual([wrong.status, wrong.body.error], [401, 'invalid_token']);
  });

  test('it counts its uses, and a refused registration is none', async () => {
    const { id, initialAccessToken } = await newInitialToken(guarded, { mostUses: 2 });
    assert.equal((await registerSelf(guarded, { redirect_uris: [] }, initialAccessToken)).status, 400);
    const app = await newSelfRegistered(guarded, {}, initialAccessToken);
    await newSelfRegistered(guarded, {}, initialAccessToken);
    assert.equal((await registerSelf(guarded, {}, initialAccessToken)).status, 401);
    const { body } = await admin(guarded, 'GET', '/initial-access-tokens');
    const { status, uses } = body.items.find((item: { id: string }) => item.id === id);
    assert.deepEqual([status, uses], ['used', 2]);
    const { body: record } = await admin(guarded, 'GET', `/clients/${app.clientId}`);
    assert.deepEqual([record.registeredBy, record.initialAccessTokenId, record.unusedUntil], ['token', id, null]);
    assert.ok(record.acceptedAt !== null && record.managesItself);
  });

  test('of ten at once with one use, one registers', async () => {
    const { initialAccessToken } = await newInitialToken(guarded);
    const answers = await Promise.all(Array.from({ length: 10 }, () => registerSelf(guarded, {}, initialAccessToken)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, ...Array(9).fill(401)]);
  });

  test('what registers with it passes for a registered app', async () => {
    const { initialAccessToken } = await newInitialToken(guarded);
    const app = await newSelfRegistered(guarded, {}, initialAccessToken);
    const { browser } = await connected(app, guarded);
    const again = await browser.get(authorizeUrl(app, { scope: 'openid', ...PKCE }));
    assert.ok(again.location?.searchParams.has('code'), again.text.slice(0, 300));
  });

  test('it ends by time, by revocation, and with the admin key that made it', async () => {
    const short = await newInitialToken(guarded, { days: 1 });
    const revoked = await newInitialToken(guarded);
    const { body: key } = await admin(guarded, 'POST', '/admin-keys', { name: 'partner', role: 'admin' });
    const ofKey = await newInitialToken(guarded, {}, key.adminKey);
    await admin(guarded, 'DELETE', `/initial-access-tokens/${revoked.id}`);
    const { body } = await admin(guarded, 'DELETE', `/admin-keys/${key.id}`);
    assert.equal(body.ended.initialAccessTokens, 1);
    guarded.advance(DAY + MINUTE);
    for (const { initialAccessToken } of [short, revoked, ofKey]) {
      assert.equal((await registerSelf(guarded, {}, initialAccessToken)).status, 401);
    }
  });

  test('revoking it can end the apps that registered with it', async () => {
    const { id, initialAccessToken } = await newInitialToken(guarded, { mostUses: 2 });
    const app = await newSelfRegistered(guarded, {}, initialAccessToken);
    const { tokens } = await connected(app, guarded);
    const { body } = await admin(guarded, 'DELETE', `/initial-access-tokens/${id}`);
    assert.deepEqual(body, { clientIds: [app.clientId], appsEnded: false });
    assert.equal((await userinfo(guarded, tokens.access_token, USERINFO)).status, 200);
    await admin(guarded, 'DELETE', `/initial-access-tokens/${id}?endApps=true`);
    await assertEnded(app, tokens, guarded);
  });

  test('events tell who made, used and revoked it', async () => {
    const { id, initialAccessToken } = await newInitialToken(guarded);
    const app = await newSelfRegistered(guarded, {}, initialAccessToken);
    await admin(guarded, 'DELETE', `/initial-access-tokens/${id}`);
    const of = async (type: string) =>
      (await admin(guarded, 'GET', `/audit-events?type=${type}&order=desc&limit=1`)).body.items[0];
    assert.equal((await of('initial_access_token.created')).details.initialAccessTokenId, id);
    assert.equal((await of('initial_access_token.revoked')).details.initialAccessTokenId, id);
    const created = await of('client.created');
    assert.deepEqual([created.clientId, created.details.initialAccessTokenId], [app.clientId, id]);
  });
});

describe('what is unused ends', () => {
  const exists = async (app: SelfRegistered) =>
    (await query(server, 'SELECT id FROM client WHERE id = ?', app.clientId)).length === 1;

  test('after 30 days, unless a person has allowed it or an operator accepted it', async () => {
    const [unused, used, accepted] = [
      await newSelfRegistered(server),
      await newSelfRegistered(server),
      await newSelfRegistered(server),
    ];
    const { browser } = await connected(used);
    await admin(server, 'PUT', `/clients/${accepted.clientId}/acceptance`, {});
    server.advance(30 * DAY - MINUTE);
    await sweepAt(server);
    assert.ok(await exists(unused));
    server.advance(MINUTE);
    await sweepAt(server);
    assert.deepEqual([await exists(unused), await exists(used), await exists(accepted)], [false, true, true]);
    const { body } = await admin(server, 'GET', `/audit-events?type=client.deleted&order=desc&limit=1`);
    assert.deepEqual([body.items[0].details.reason, body.items[0].actor.type], ['unused', 'system']);
    void browser;
  });

  test('one that nobody allows any more ends 30 days later; one that is allowed again stays', async () => {
    const [left, back] = [await newSelfRegistered(server), await newSelfRegistered(server)];
    const { browser } = await connected(left);
    const again = await connected(back);
    await revokeOnPage(browser, left);
    await revokeOnPage(again.browser, back);
    // The revoked consents are removed first.
    server.advance(9 * DAY);
    await sweepAt(server);
    server.advance(HOUR + MINUTE);
    await sweepAt(server);
    const until = async (app: SelfRegistered) =>
      (await admin(server, 'GET', `/clients/${app.clientId}`)).body.unusedUntil;
    assert.ok((await until(left)) !== null && (await until(back)) !== null);
    await connected(back);
    assert.equal(await until(back), null);
    server.advance(31 * DAY);
    await sweepAt(server);
    assert.deepEqual([await exists(left), await exists(back)], [false, true]);
  });
});

describe('an anonymous flood', () => {
  test('each address and all of them get no more than the limits, and what is refused leaves no row', async () => {
    const limited = await startServer({ TESSERA_REGISTRATION: 'open', TESSERA_LIMIT_REGISTRATION_ADDRESS: '20/h' });
    try {
      const count = async (table: string) =>
        Number((await query(limited, `SELECT count(*) AS n FROM ${table}`))[0]?.['n']);
      const before = await count('client');
      const wave = () => Promise.all(Array.from({ length: 60 }, () => registerSelf(limited)));
      const answers = [...(await wave()), ...(await wave())];
      assert.equal(answers.filter(({ status }) => status === 201).length, 20);
      assert.ok(answers.every(({ status }) => status === 201 || status === 429));
      assert.equal(await count('client'), before + 20);
      const events = await count('audit_event');
      await wave();
      assert.equal(await count('audit_event'), events);
      const buckets = await query(limited, "SELECT bucket FROM rate_count WHERE bucket LIKE 'registration%'");
      assert.ok(buckets.length <= 4, JSON.stringify(buckets));
    } finally {
      await limited.close();
    }
  });

  test('an app changes its own registration no more often than the limit; another one, and reading, are not counted', async () => {
    const limited = await startServer({ TESSERA_REGISTRATION: 'open', TESSERA_LIMIT_REGISTRATION_ADDRESS: '3/h' });
    try {
      const [app, other] = [await newSelfRegistered(limited), await newSelfRegistered(limited)];
      const change = async (one: SelfRegistered) =>
        (await manage(limited, 'PUT', one, { ...METADATA, client_id: one.clientId })).status;
      assert.deepEqual(
        [await change(app), await change(app), await change(app), await change(app)],
        [200, 200, 200, 429],
      );
      assert.equal(await change(other), 200);
      assert.equal((await manage(limited, 'GET', app)).status, 200);
    } finally {
      await limited.close();
    }
  });

  test('the oldest unused app makes room for a new one, and none does within its first hour', async () => {
    const full = await startServer({ TESSERA_REGISTRATION: 'open', ...UNLIMITED });
    try {
      const first = await newSelfRegistered(full);
      const used = await newSelfRegistered(full);
      await connected(used, full);
      await withData(full, async ({ database, clock }) => {
        const template = await database.read(() => findClient({ id: first.clientId }));
        assert.ok(template !== undefined);
        const made = { ...template, registrationHash: null, unusedUntil: clock() + 30 * DAY + 1, createdAt: clock() };
        // In small commits: on a busy machine one of all of them takes longer than the database is waited for.
        for (let from = 0; from < 4999; from += 500) {
          await database.commit(function* fill(): Work<void> {
            for (let n = from; n < Math.min(from + 500, 4999); n++)
              yield* insertClient({ ...made, id: String(1000 + n) });
          });
        }
      });
      const count = async () =>
        Number((await query(full, 'SELECT count(*) AS n FROM client WHERE unused_until IS NOT NULL'))[0]?.['n']);
      assert.equal(await count(), 5000);
      const refused = await registerSelf(full);
      assert.deepEqual([refused.status, refused.body.error], [503, 'temporarily_unavailable']);
      assert.equal(refused.headers.get('retry-after'), '3600');
      full.advance(HOUR + MINUTE);
      await Promise.all(Array.from({ length: 5 }, () => newSelfRegistered(full)));
      assert.equal(await count(), 5000);
      assert.equal((await manage(full, 'GET', first)).status, 401);
      assert.equal((await manage(full, 'GET', used)).status, 200);
    } finally {
      await full.close();
    }
  });

  test('refused tokens are recorded once a minute', async () => {
    const count = async () =>
      Number(
        (await query(guarded, "SELECT count(*) AS n FROM audit_event WHERE type = 'registration.refused'"))[0]?.['n'],
      );
    guarded.advance(2 * MINUTE);
    const before = await count();
    for (let n = 0; n < 10; n++) await registerSelf(guarded, {}, `wrong-${n}`);
    assert.equal(await count(), before + 1);
  });
});
