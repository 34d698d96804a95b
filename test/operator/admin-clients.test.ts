// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CLIENT_FIELDS } from '../../src/clients/fields.ts';
import {
  admin,
  codeFor,
  type JsonAnswer,
  newClient,
  newUser,
  redeem,
  refresh,
  tokensFor,
  userinfo,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import { columnNames, refuseBadBodies, refuses } from './refusals.ts';

const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
after(() => server.close());

const api = (method: string, path: string, body?: unknown): Promise<JsonAnswer> => admin(server, method, path, body);
const GOOD = { name: 'App', redirectUris: ['https://app.example.com/cb'] };
const DAY = 86_400_000;

test('POST /clients: 201, the record of decisions §6 with its defaults, and this once the secret', async () => {
  const answer = await api('POST', '/clients', GOOD);
  assert.equal(answer.status, 201);
  const { clientId, clientSecret, secrets, ...rest } = answer.body;
  const at = new Date(server.now()).toISOString();
  assert.match(clientId, /^[1-9]\d{15,18}$/);
  assert.match(clientSecret, /^tcs_[A-Za-z0-9_-]{43}$/);
  assert.equal(secrets.length, 1);
  assert.deepEqual(secrets[0], { id: secrets[0].id, createdAt: at, lastUsedAt: null, expiresAt: null });
  assert.deepEqual(rest, {
    name: 'App',
    description: null,
    logoUrl: null,
    homepageUrl: null,
    policyUrl: null,
    termsUrl: null,
    redirectUris: ['https://app.example.com/cb'],
    postLogoutRedirectUris: [],
    scopes: null,
    grantTypes: ['authorization_code', 'refresh_token'],
    resource: null,
    type: 'confidential',
    requirePkce: false,
    access: 'everyone',
    roles: [],
    groupsClaim: 'assigned',
    claimNames: null,
    claimsLeftOut: null,
    acceptedAt: null,
    metadataUrl: null,
    managesItself: false,
    initialAccessTokenId: null,
    unusedUntil: null,
    registeredBy: 'operator',
    resourceScopes: null,
    consent: 'ask',
    consentApproval: null,
    endpoints: ['v2', 'oidc'],
    faces: ['contract', 'standard'],
    idTokenClaims: 'granted',
    idTokenSignedResponseAlg: null,
    userinfoSignedResponseAlg: null,
    tokenEndpointAuthMethod: null,
    jwks: null,
    jwksUri: null,
    defaultMaxAge: null,
    backchannelLogoutUri: null,
    backchannelLogoutSessionRequired: true,
    owner: null,
    requireSecondFactor: false,
    contacts: [],
    organizationId: null,
    developerId: null,
    hasPicture: false,
    status: 'active',
    createdAt: at,
    updatedAt: at,
  });
  const shown = await api('GET', `/clients/${clientId}`);
  assert.deepEqual(shown.body, { clientId, secrets, ...rest });
});

test('AD-06: no answer but the creating one holds a secret or its hash', async () => {
  const made = await api('POST', '/clients', GOOD);
  const { clientId, clientSecret } = made.body;
  const second = await api('POST', `/clients/${clientId}/secrets`, {});
  const answers = [
    await api('GET', `/clients/${clientId}`),
    await api('GET', '/clients?limit=200'),
    await api('PATCH', `/clients/${clientId}`, { name: 'Other' }),
    await api('GET', '/audit-events?limit=200'),
    await api('GET', `/audit-events?clientId=${clientId}`),
  ];
  for (const { body } of answers) {
    const text = JSON.stringify(body);
    for (const secret of [clientSecret, second.body.clientSecret]) assert.ok(!text.includes(secret));
    assert.doesNotMatch(text, /"(clientSecret|hash|generation|consentEpoch)"/);
  }
});

const CHANGE = {
  name: 'Acme Notes',
  description: 'Keeps\nnotes',
  logoUrl: 'https://acme.example/logo.png',
  homepageUrl: 'https://acme.example',
  policyUrl: 'https://acme.example/policy',
  termsUrl: 'https://acme.example/terms',
  redirectUris: ['https://acme.example/cb?x=1', 'http://localhost:8080/cb', 'http://127.0.0.1/cb', 'http://[::1]:1/cb'],
  postLogoutRedirectUris: ['https://acme.example/bye'],
  scopes: ['openid', 'email'],
  requirePkce: true,
  idTokenSignedResponseAlg: 'EdDSA',
  userinfoSignedResponseAlg: 'ES256',
  jwksUri: 'https://acme.example/jwks.json?tenant=7',
  tokenEndpointAuthMethod: 'client_secret_post',
  defaultMaxAge: 3600,
  backchannelLogoutUri: 'https://acme.example/logout?tenant=7',
  backchannelLogoutSessionRequired: true,
  owner: 'Acme Inc.',
  contacts: ['ada@example.com', 'grace@example.com'],
};

test('PATCH /clients/{clientId}: each field alone, all of them, and back to nothing', async () => {
  const { clientId } = await newClient(server);
  let expected = (await api('GET', `/clients/${clientId}`)).body;
  for (const [field, value] of Object.entries(CHANGE)) {
    const answer = await api('PATCH', `/clients/${clientId}`, { [field]: value });
    expected = { ...expected, [field]: value };
    assert.deepEqual([answer.status, answer.body], [200, expected], field);
    assert.equal(answer.headers.get('deprecation'), null, field);
  }
  assert.deepEqual(
    (await api('POST', '/clients', CHANGE)).body.redirectUris,
    CHANGE.redirectUris,
    'as written, in order',
  );
  const addresses = { logoUrl: null, homepageUrl: null, policyUrl: null, termsUrl: null, backchannelLogoutUri: null };
  const nulls = { ...addresses, description: null, defaultMaxAge: null, owner: null };
  const emptied = await api('PATCH', `/clients/${clientId}`, { ...nulls, scopes: null, postLogoutRedirectUris: [] });
  assert.deepEqual(emptied.body, { ...expected, ...nulls, scopes: null, postLogoutRedirectUris: [] });
});

test('endpoints under its former name, with its former values, until 1.0', async () => {
  const made = await api('POST', '/clients', { ...GOOD, faces: ['contract'] });
  const both = (body: typeof made.body) => [body.endpoints, body.faces];
  assert.deepEqual([made.status, ...both(made.body)], [201, ['v2'], ['contract']]);
  const path = `/clients/${made.body.clientId}`;
  const changed = await api('PATCH', path, { faces: ['standard', 'contract'] });
  assert.deepEqual([changed.status, ...both(changed.body)], [200, ['v2', 'oidc'], ['contract', 'standard']]);
  for (const { headers } of [made, changed]) assert.equal(headers.get('deprecation'), '@1795651200');
  const now = await api('PATCH', path, { endpoints: ['oidc'] });
  assert.deepEqual(both(now.body), [['oidc'], ['standard']]);
  for (const refused of [{ faces: ['v2'] }, { endpoints: ['contract'] }, { endpoints: ['v2'], faces: ['contract'] }]) {
    const { status, body } = await api('PATCH', path, refused);
    assert.deepEqual([status, body.error], [400, 'invalid_request'], JSON.stringify(refused));
  }
  assert.deepEqual((await api('GET', path)).body, now.body);
});

const text = (length: number): string => 'x'.repeat(length);
/** Addresses that no type of client may register: schemes that run what they name, and names that the service adds itself. */
const NO_REDIRECT_URIS = [
  ...[
    'javascript:alert(1)',
    'JavaScript://x.example/%0aalert(1)',
    'JAVASCRIPT:alert(1)',
    'data:text/html,x',
    'Data:,x',
  ],
  ...[
    'vbscript:x',
    'VbScript:x',
    'file:///etc/passwd',
    'blob:https://app.example.com/1',
    'view-source:https://a.example',
  ],
  ...['about:blank', 'ftp://app.example.com/cb', 'myapp:/cb', 'com.example.app:/cb#x', 'com.example.app://u@x/cb'],
  ...['code', 'state', 'error', 'iss', '%63ode', 'x=1&state'].map((name) => `https://app.example.com/cb?${name}=1`),
];
const BAD_URIS = [
  ...NO_REDIRECT_URIS,
  '',
  '/cb',
  'app.example.com/cb',
  'https://',
  'https://app.example.com/cb#x',
  'https://app.example.com/cb#',
  'https://user@app.example.com/cb',
  'http://app.example.com/cb',
  'http://localhost.example.com/cb',
  'com.example.app:/cb',
  'https://app.example.com/ cb',
  `https://app.example.com/${text(2048)}`,
];
const BAD_FIELDS: Record<string, unknown[]> = {
  name: [
    '\u3164',
    '\u115f\u1160',
    '\u2800',
    '\u200b\u2060',
    '\u034f',
    '',
    ' App',
    text(65),
    'a\nb',
    'a\u202eb',
    null,
    5,
  ],
  redirectUris: [
    [],
    null,
    'https://app.example.com/cb',
    [1],
    [null],
    Array(2).fill('https://a.example'),
    ...BAD_URIS.map((uri) => [uri]),
  ],
  postLogoutRedirectUris: [null, 'x', [1], ...BAD_URIS.map((uri) => [uri])],
  scopes: ['openid', ['nothing'], ['openid', 'openid'], [1], ['OPENID'], {}],
  requirePkce: ['true', 1, null],
  idTokenSignedResponseAlg: ['none', 'RS384', 'hs256', ''],
  userinfoSignedResponseAlg: ['none', 'HS256', 'PS256', '', 1],
  tokenEndpointAuthMethod: ['', 'client_secret_jwt', 'tls_client_auth', 'PRIVATE_KEY_JWT', 1],
  jwks: [1, [], 'x', {}, { keys: {} }, { keys: [] }, { keys: [1] }],
  jwksUri: ['', 5, ...BAD_URIS.filter((uri) => !uri.includes('?'))],
  defaultMaxAge: [-1, 1.5, '60', 2_147_483_648],
  // The service adds nothing to this address, so it may have any query.
  backchannelLogoutUri: [5, ...BAD_URIS.filter((uri) => !uri.includes('?'))],
  backchannelLogoutSessionRequired: ['true', 1, null],
  description: [text(501), 'a\u0000', 5],
  owner: ['', text(101), '\uffa0', 5],
  contacts: [
    null,
    'ada@example.com',
    ['ada'],
    [1],
    Array(2).fill('ada@example.com'),
    [...Array(11).keys()].map((n) => `${n}@example.com`),
  ],
  logoUrl: ['', 'http://a.example', 'javascript:alert(1)', 5],
  homepageUrl: ['a.example'],
  policyUrl: ['ftp://a.example'],
  termsUrl: [[]],
};

test('400 invalid_request names the field and the remedy; AD-07: create and change are checked alike', async () => {
  const { clientId } = await newClient(server);
  const before = (await api('GET', `/clients/${clientId}`)).body;
  for (const [field, values] of Object.entries(BAD_FIELDS)) {
    for (const value of values) {
      await refuses(server, ['POST', '/clients', { ...GOOD, [field]: value }], field, / must /);
      await refuses(server, ['PATCH', `/clients/${clientId}`, { [field]: value }], field, / must /);
    }
  }
  for (const value of ['Public', 'web', null, 1]) {
    await refuses(server, ['POST', '/clients', { ...GOOD, type: value }], 'type', /must be confidential or public/);
  }
  for (const value of ['deleted', 'Disabled', null, true]) {
    await refuses(server, ['PATCH', `/clients/${clientId}`, { status: value }], 'status', /must be active or disabled/);
  }
  await refuses(server, ['POST', '/clients', { redirectUris: GOOD.redirectUris }], 'name', /is missing/);
  await refuses(server, ['POST', '/clients', { name: 'App' }], 'redirectUris', /is missing/);
  assert.deepEqual((await api('GET', `/clients/${clientId}`)).body, before);
});

test('AZ-04: a public client, too, registers no address that runs what it names or has a query of ours', async () => {
  const app = { name: 'Phone', type: 'public', redirectUris: ['com.example.app:/cb'] };
  const { clientId } = (await api('POST', '/clients', app)).body;
  for (const uri of NO_REDIRECT_URIS) {
    for (const redirectUris of [[uri], ['com.example.app:/cb', uri]]) {
      await refuses(server, ['POST', '/clients', { ...app, redirectUris }], 'redirectUris', / must /);
      await refuses(server, ['PATCH', `/clients/${clientId}`, { redirectUris }], 'redirectUris', / must /);
    }
  }
  assert.deepEqual((await api('GET', `/clients/${clientId}`)).body.redirectUris, app.redirectUris);
});

test('AD-04: unknown fields and every column of the database are refused by name', async () => {
  const { clientId } = await newClient(server);
  const known = { ...CLIENT_FIELDS, ...BAD_FIELDS, faces: 1, status: 1, type: 1 };
  const columns = [...columnNames('client'), ...columnNames('client_secret')];
  for (const name of [...columns, 'clientId', 'clientSecret', 'secrets', 'createdAt', 'generation', 'toString']) {
    if (Object.hasOwn(known, name)) continue;
    await refuses(server, ['POST', '/clients', { ...GOOD, [name]: 'x' }], name, /is not a field here/);
    await refuses(server, ['PATCH', `/clients/${clientId}`, { [name]: 'x' }], name, /is not a field here/);
    await refuses(server, ['POST', `/clients/${clientId}/secrets`, { [name]: 'x' }], name, /is not a field here/);
  }
  for (const call of ['POST /clients', `PATCH /clients/${clientId}`, `POST /clients/${clientId}/secrets`]) {
    await refuseBadBodies(server, call);
  }
  await refuses(server, ['PATCH', `/clients/${clientId}`, { type: 'public' }], 'type', /cannot be changed/);
  await refuses(server, ['POST', '/clients', { ...GOOD, status: 'disabled' }], 'status', /is not a field here/);
});

test('POST and DELETE secrets: two hold for a day, the one before ends; codes and tokens live on', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user);
  const path = `/clients/${client.clientId}/secrets`;
  const made = await api('POST', path, {});
  assert.equal(made.status, 201);
  const next = { ...client, clientSecret: made.body.clientSecret };
  const end = new Date(server.now() + DAY).toISOString();
  assert.deepEqual(
    made.body.secrets.map(({ expiresAt }: { expiresAt: string | null }) => expiresAt),
    [end, null],
  );
  const first = await refresh(server, client, tokens.refresh_token);
  assert.equal(first.status, 200, 'the secret before still holds');
  const second = await refresh(server, next, first.body.refresh_token);
  assert.equal(second.status, 200);
  server.advance(DAY);
  const used = (await api('GET', `/clients/${client.clientId}`)).body.secrets;
  assert.deepEqual([used.length, used[0].id], [1, made.body.id], 'a day later only the new one holds');
  assert.equal((await refresh(server, client, second.body.refresh_token)).status, 401);
  const third = await refresh(server, next, second.body.refresh_token);
  assert.equal(third.status, 200);

  const only = await api('DELETE', `${path}/${made.body.id}`);
  assert.deepEqual([only.status, only.body.error], [409, 'conflict']);
  assert.match(only.body.error_description, /Add another one first/);
  const last = await api('POST', path, { expirePreviousIn: 3600 });
  const other = await newClient(server);
  assert.equal((await api('DELETE', `/clients/${other.clientId}/secrets/${made.body.id}`)).status, 404, 'AD-02');
  const ended = await api('DELETE', `${path}/${made.body.id}`);
  assert.deepEqual([ended.status, ended.body], [204, undefined]);
  assert.equal((await refresh(server, next, third.body.refresh_token)).status, 401, 'at once');
  assert.equal(
    (await refresh(server, { ...client, clientSecret: last.body.clientSecret }, third.body.refresh_token)).status,
    200,
  );
  assert.equal((await api('DELETE', `${path}/${made.body.id}`)).status, 404);
  const now = await api('POST', path, { expirePreviousIn: 0 });
  assert.equal(now.body.secrets.length, 1);
  assert.equal((await api('DELETE', `${path}/${last.body.id}`)).status, 404, 'the rotation has ended it');
  for (const value of [-1, 1.5, '60', 2_592_001, null]) {
    await refuses(server, ['POST', path, { expirePreviousIn: value }], 'expirePreviousIn', /from 0 to 2592000/);
  }
});

test('AD-08: a disabled client is dead at once, also its codes; enabled again, what was dead stays dead', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user);
  const code = await codeFor(server, client, user);
  const answer = await api('PATCH', `/clients/${client.clientId}`, { status: 'disabled' });
  assert.deepEqual([answer.status, answer.body.status], [200, 'disabled']);
  assert.equal((await userinfo(server, tokens.access_token)).status, 401);
  assert.equal((await redeem(server, client, code)).status, 401);
  assert.equal((await api('PATCH', `/clients/${client.clientId}`, { status: 'active' })).body.status, 'active');
  assert.equal((await userinfo(server, tokens.access_token)).status, 401);
  const stale = await redeem(server, client, code);
  assert.deepEqual([stale.status, stale.body.error], [400, 'invalid_grant']);
});

test('DELETE /clients/{clientId}: 204, with its secrets, codes, tokens and consents, and its id is never used again', async () => {
  const [client, user] = [await newClient(server), await newUser(server)];
  const tokens = await tokensFor(server, client, user);
  const answer = await api('DELETE', `/clients/${client.clientId}`);
  assert.deepEqual([answer.status, answer.body], [204, undefined]);
  assert.equal((await userinfo(server, tokens.access_token)).status, 401);
  assert.equal((await refresh(server, client, tokens.refresh_token)).body.error, 'invalid_client');
  assert.deepEqual((await api('GET', `/users/${user.id}/connections`)).body.items, []);
  for (const [method, path, body] of [
    ['GET', '', undefined],
    ['PATCH', '', {}],
    ['DELETE', '', undefined],
    ['POST', '/secrets', {}],
    ['DELETE', '/secrets/1', undefined],
  ] as const) {
    const gone = await api(method, `/clients/${client.clientId}${path}`, body);
    assert.deepEqual([gone.status, gone.body.error], [404, 'not_found'], `${method} ${path}`);
  }
  assert.notEqual((await newClient(server)).clientId, client.clientId);
});

test('decisions §10: back-channel logout goes with an algorithm of the key set, or none registered', async () => {
  const backchannelLogoutUri = 'https://app.example.com/logout';
  const remedy = /must be RS256, ES256 or EdDSA/;
  const field = 'idTokenSignedResponseAlg';
  const left = (await api('POST', '/clients', { ...GOOD, backchannelLogoutUri })).body;
  assert.deepEqual([left.backchannelLogoutUri, left[field]], [backchannelLogoutUri, null]);
  await refuses(server, ['POST', '/clients', { ...GOOD, backchannelLogoutUri, [field]: 'HS256' }], field, remedy);
  const { clientId } = await newClient(server, { [field]: 'HS256' });
  await refuses(server, ['PATCH', `/clients/${clientId}`, { backchannelLogoutUri }], field, remedy);
  const both = { backchannelLogoutUri, idTokenSignedResponseAlg: 'ES256' };
  assert.equal((await api('PATCH', `/clients/${clientId}`, both)).body.backchannelLogoutUri, backchannelLogoutUri);
  await refuses(server, ['PATCH', `/clients/${clientId}`, { idTokenSignedResponseAlg: 'HS256' }], field, remedy);
  assert.equal((await api('PATCH', `/clients/${clientId}`, { [field]: null })).body[field], null);
});
