// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { claimsOf, newClient, newUser, standard, tokensFor, userinfo } from '../support/flow.ts';
import { type ProxiedServer, send, startBehind } from '../support/listening.ts';
import { startServer, type TestServer } from '../support/server.ts';

const BASE = 'https://id.example.com/auth/v1';
let server: TestServer;
let behind: ProxiedServer;
before(async () => {
  server = await startServer();
  behind = await startBehind(BASE);
});
after(() => Promise.all([server.close(), behind.close()]));

const DOCUMENTS = ['openid-configuration', 'oauth-authorization-server'] as const;
const read = async (path: string) => (await fetch(server.baseUrl + path)).json() as Promise<Record<string, unknown>>;

const PROVING = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];
const ASSERTIONS = ['RS256', 'PS256', 'ES256', 'EdDSA'];

for (const name of DOCUMENTS) {
  test(`${name}: the issuer is the base URL, and the document says what the OIDC endpoints do`, async () => {
    const document = await read(`/.well-known/${name}`);
    const { claims_supported: _, ...rest } = document;
    assert.deepEqual(rest, {
      issuer: server.baseUrl,
      authorization_endpoint: `${server.baseUrl}/oidc/authorize`,
      token_endpoint: `${server.baseUrl}/oidc/token`,
      userinfo_endpoint: `${server.baseUrl}/oidc/userinfo`,
      jwks_uri: `${server.baseUrl}/.well-known/jwks.json`,
      revocation_endpoint: `${server.baseUrl}/oidc/revoke`,
      introspection_endpoint: `${server.baseUrl}/oidc/introspect`,
      device_authorization_endpoint: `${server.baseUrl}/oidc/device_authorization`,
      response_types_supported: ['code'],
      response_modes_supported: ['query', 'form_post'],
      prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
      acr_values_supported: [
        'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport',
        'https://refeds.org/profile/mfa',
        'phr',
      ],
      display_values_supported: ['page'],
      ui_locales_supported: ['en'],
      grant_types_supported: [
        ...['authorization_code', 'refresh_token', 'client_credentials'],
        'urn:ietf:params:oauth:grant-type:device_code',
      ],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: [...PROVING, 'none'],
      token_endpoint_auth_signing_alg_values_supported: ASSERTIONS,
      revocation_endpoint_auth_methods_supported: [...PROVING, 'none'],
      revocation_endpoint_auth_signing_alg_values_supported: ASSERTIONS,
      introspection_endpoint_auth_methods_supported: PROVING,
      introspection_endpoint_auth_signing_alg_values_supported: ASSERTIONS,
      end_session_endpoint: `${server.baseUrl}/oidc/logout`,
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      scopes_supported: [
        'openid',
        'profile',
        'offline_access',
        'email',
        'details',
        'phone',
        'social',
        'organization.read',
        'groups',
        'roles',
      ],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['HS256', 'RS256', 'ES256', 'EdDSA'],
      userinfo_signing_alg_values_supported: ['RS256', 'ES256', 'EdDSA'],
      claim_types_supported: ['normal'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: false,
      claims_parameter_supported: true,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    });
  });
}

test('every address in it answers as what it is', async () => {
  const document = await read('/.well-known/openid-configuration');
  const addresses = Object.entries(document).filter(([name]) => /_(endpoint|uri)$/.test(name));
  assert.ok(addresses.length >= 4);
  for (const [name, address] of addresses) {
    assert.ok(String(address).startsWith(`${server.baseUrl}/`), name);
    const answers = await Promise.all(
      ['GET', 'POST'].map((method) => fetch(String(address), { method, redirect: 'manual' })),
    );
    const statuses = answers.map(({ status }) => status);
    assert.ok(!statuses.includes(404) && statuses.some((status) => status !== 405), `${name}: ${statuses}`);
    assert.ok(
      statuses.every((status) => status < 500),
      `${name}: ${statuses}`,
    );
  }
});

test('claims_supported are those that an ID token and UserInfo hold, and no others', async () => {
  const user = await newUser(server, { website: 'https://a.example', birthDate: '1990-01-31', phone: '+14155550100' });
  const scopes = ['openid', 'profile', 'email', 'details', 'phone', 'groups', 'roles'];
  const client = standard(await newClient(server, { scopes }));
  const tokens = await tokensFor(server, client, user, {
    scope: scopes.join(' '),
    nonce: 'n',
    acr_values: 'any',
  });
  const { body } = await userinfo(server, tokens.access_token, '/oidc/userinfo');
  const held = new Set([...Object.keys(claimsOf(tokens.id_token)), ...Object.keys(body)]);
  const { claims_supported: claims } = await read('/.well-known/openid-configuration');
  assert.deepEqual([...(claims as string[])].sort(), [...held].sort());
});

test('RFC 8414 and OpenID Connect Discovery say the same', async () => {
  const [one, other] = await Promise.all(DOCUMENTS.map((name) => read(`/.well-known/${name}`)));
  assert.deepEqual(one, other);
});

test('RFC 9728: UserInfo names this server, at both paths where the base URL has one', async () => {
  const path = '/.well-known/oauth-protected-resource';
  const document = await read(`${path}/oidc/userinfo`);
  assert.equal(document['resource'], `${server.baseUrl}/oidc/userinfo`);
  assert.deepEqual(document['authorization_servers'], [server.baseUrl]);
  for (const address of [`${path}/auth/v1/oidc/userinfo`, `/auth/v1${path}/oidc/userinfo`]) {
    const { status, text } = await send(behind.port, 'GET', address);
    assert.equal(status, 200, address);
    assert.equal(JSON.parse(text).resource, `${BASE}/oidc/userinfo`);
    assert.deepEqual(JSON.parse(text).authorization_servers, [BASE]);
  }
});

test('RFC 9728 §5.1: the admin API names its metadata in every challenge, at both paths', async () => {
  const path = '/.well-known/oauth-protected-resource';
  for (const headers of [{}, { authorization: 'Bearer wrong' }] as const) {
    const { status, headers: answered } = await fetch(`${server.baseUrl}/api/v2/admin/users`, { headers });
    assert.equal(status, 401);
    const url = /, resource_metadata="([^"]+)"$/.exec(answered.get('www-authenticate') ?? '')?.[1];
    assert.equal(url, `${server.baseUrl}${path}/api/v2/admin`);
    const document = JSON.parse(await (await fetch(url)).text());
    assert.deepEqual(
      [document.resource, document.authorization_servers],
      [`${server.baseUrl}/api/v2/admin`, [server.baseUrl]],
    );
  }
  for (const address of [`${path}/auth/v1/api/v2/admin`, `/auth/v1${path}/api/v2/admin`]) {
    const { status, text } = await send(behind.port, 'GET', address);
    assert.deepEqual([status, JSON.parse(text).resource], [200, `${BASE}/api/v2/admin`]);
  }
});

test('documents and key set: any page may read them, caches may keep them, HEAD is answered', async () => {
  for (const path of [...DOCUMENTS.map((name) => `/.well-known/${name}`), '/.well-known/jwks.json']) {
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(server.baseUrl + path, { method, headers: { origin: 'https://spa.example' } });
      assert.equal(answer.status, 200, `${method} ${path}`);
      assert.equal(answer.headers.get('access-control-allow-origin'), '*');
      assert.equal(answer.headers.get('access-control-allow-credentials'), null);
      assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
      assert.match(answer.headers.get('cache-control') ?? '', /^public, max-age=\d+$/);
      assert.deepEqual(answer.headers.getSetCookie(), []);
      assert.equal((await answer.text()) === '', method === 'HEAD');
    }
    assert.equal((await fetch(server.baseUrl + path, { method: 'POST' })).status, 405);
  }
});

test('a base URL with a path: OpenID Connect Discovery §4 behind it, RFC 8414 §3.1 before it', async () => {
  for (const name of DOCUMENTS) {
    for (const path of [`/auth/v1/.well-known/${name}`, `/.well-known/${name}/auth/v1`]) {
      const answer = await send(behind.port, 'GET', path);
      assert.equal(answer.status, 200, path);
      const document = JSON.parse(answer.text);
      assert.equal(document.issuer, BASE);
      assert.equal(document.token_endpoint, `${BASE}/oidc/token`);
      assert.equal((await send(behind.port, 'HEAD', path)).status, 200, path);
    }
    assert.equal((await send(behind.port, 'GET', `/.well-known/${name}`)).status, 404);
  }
  assert.equal((await send(behind.port, 'GET', '/auth/v1/.well-known/jwks.json')).status, 200);
});
