// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { start } from '../../src/app.ts';
import { readConfig } from '../../src/settings/config.ts';
import { tokenForm } from '../support/api-call.ts';
import { type AppKey, appKey, keyApp, proofOf } from '../support/assertion.ts';
import { admin, newClient } from '../support/flow.ts';
import { type ProxiedServer, startBehind } from '../support/listening.ts';
import { MINUTE, query } from '../support/outcome.ts';
import { withPort } from '../support/own-port.ts';
import { startServer, type TestServer } from '../support/server.ts';

const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
after(() => server.close());
const key = await appKey('ES256', 'one');
const next = await appKey('ES256', 'two');

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** A place where an app publishes its keys, which counts who comes. */
async function published(answer: Answer) {
  const state = { answer, visits: 0 };
  const http = createServer((request, response) => {
    state.visits++;
    state.answer(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo;
  const close = () => {
    http.closeAllConnections();
    return new Promise((resolve) => http.close(resolve));
  };
  after(close);
  return Object.assign(state, { port, uri: `http://127.0.0.1:${port}/jwks.json`, close });
}

const set =
  (...keys: readonly AppKey[]): Answer =>
  (_request, response) =>
    response.end(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));

async function status(clientId: string, of: AppKey, at: Pick<TestServer, 'baseUrl'> = server): Promise<number> {
  const proof = await proofOf(server, clientId, of);
  return (await tokenForm(at, { grant_type: 'refresh_token', refresh_token: 'x', ...proof })).status;
}

/** Believed: the request is refused for its grant. */
const BELIEVED = 400;

async function lastDetails(of: Pick<TestServer, 'environment'> = server): Promise<Record<string, string>> {
  const [row] = await query(
    of,
    "SELECT details FROM audit_event WHERE type = 'client.auth_failed' ORDER BY id DESC LIMIT 1",
  );
  return JSON.parse(String(row?.['details']));
}

describe('jwks_uri: RFC 7591 §2', () => {
  test('a set is read once and used for five minutes; a key that was taken out of it is no good after them', async () => {
    const place = await published(set(key, next));
    const { clientId } = await keyApp(server, { jwksUri: place.uri });
    for (const used of [key, next, key]) assert.equal(await status(clientId, used), BELIEVED);
    assert.equal(place.visits, 1);
    place.answer = set(next);
    server.advance(5 * MINUTE - 1);
    assert.equal(await status(clientId, key), BELIEVED);
    assert.equal(place.visits, 1);
    server.advance(1);
    assert.equal(await status(clientId, key), 401);
    assert.equal(await status(clientId, next), BELIEVED);
  });

  test('OpenID Connect Core 1.0 §10.1.1: an unknown kid reads it again at once, once a minute at most', async () => {
    const place = await published(set(key));
    const { clientId } = await keyApp(server, { jwksUri: place.uri });
    assert.equal(await status(clientId, key), BELIEVED);
    place.answer = set(key, next);
    assert.equal(await status(clientId, next), BELIEVED);
    assert.equal(place.visits, 2);
    const foreign = await appKey('ES256');
    for (let n = 0; n < 5; n++) assert.equal(await status(clientId, foreign), 401);
    assert.equal(place.visits, 2);
    server.advance(MINUTE);
    await Promise.all(Array.from({ length: 5 }, async () => assert.equal(await status(clientId, foreign), 401)));
    assert.equal(place.visits, 3);
    assert.equal(await status(clientId, key), BELIEVED);
  });

  test('keys for other uses may stand beside; one that must not be public is no key', async () => {
    const secret = { ...next.jwk, d: 'AAAA' };
    const others = [
      { kty: 'oct', k: 'AAAA' },
      { ...next.jwk, use: 'enc', kid: 'three' },
      { kty: 'EC', crv: 'P-384' },
      7,
      secret,
    ];
    const place = await published((_request, response) => response.end(JSON.stringify({ keys: [key.jwk, ...others] })));
    const { clientId } = await keyApp(server, { jwksUri: place.uri });
    assert.equal(await status(clientId, key), BELIEVED);
    assert.equal(await status(clientId, next), 401);
  });

  const broken: [string, Answer, RegExp][] = [
    ['a redirect', (_q, a) => a.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), /status 302/],
    ['a fault', (_q, a) => a.writeHead(500).end('{"keys":[]}'), /status 500/],
    ['no JSON', (_q, a) => a.end('<html>'), /no JSON Web Key Set/],
    ['no set', (_q, a) => a.end('{"keys":{}}'), /no JSON Web Key Set/],
    ['21 keys', (_q, a) => a.end(JSON.stringify({ keys: Array(21).fill(key.jwk) })), /no JSON Web Key Set/],
    [
      'more than 64 KiB',
      (_q, a) => a.end(JSON.stringify({ keys: [key.jwk], x: 'y'.repeat(65536) })),
      /longer than 65536/,
    ],
    ['a line that breaks', (_q, a) => a.destroy(), /./],
  ];
  for (const [name, answer, cause] of broken) {
    test(`${name}: refused with the one answer, the cause in the audit trail, and asked again ten seconds later`, async () => {
      const place = await published(answer);
      const { clientId } = await keyApp(server, { jwksUri: place.uri });
      for (let n = 0; n < 3; n++) assert.equal(await status(clientId, key), 401);
      const details = await lastDetails();
      assert.equal(details['reason'], 'the keys of the client cannot be read');
      assert.match(details['cause'] ?? '', cause);
      assert.equal(place.visits, 1);
      place.answer = set(key);
      server.advance(10_000);
      assert.equal(await status(clientId, key), BELIEVED);
    });
  }

  const withdrawals: Record<string, (path: string) => Promise<unknown>> = {
    'the app is disabled': (path) => admin(server, 'PATCH', path, { status: 'disabled' }),
    'the app is disabled and enabled again': async (path) => {
      await admin(server, 'PATCH', path, { status: 'disabled' });
      await admin(server, 'PATCH', path, { status: 'active' });
    },
    'its keys lie elsewhere now': (path) => admin(server, 'PATCH', path, { jwksUri: 'https://app.example.com/jwks' }),
    'it has a set of its own now': (path) =>
      admin(server, 'PATCH', path, { jwksUri: null, jwks: { keys: [next.jwk] } }),
    'it is deleted': (path) => admin(server, 'DELETE', path),
  };
  for (const [name, withdraw] of Object.entries(withdrawals)) {
    test(`keys that are withdrawn while they are fetched prove nothing: ${name}`, async () => {
      const [asked, withdrawn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const place = await published(async (...exchange) => {
        asked.resolve();
        await withdrawn.promise;
        set(key)(...exchange);
      });
      const { clientId } = await keyApp(server, { jwksUri: place.uri });
      const underWay = status(clientId, key);
      await asked.promise;
      await withdraw(`/clients/${clientId}`);
      withdrawn.resolve();
      assert.equal(await underWay, 401);
      assert.equal((await lastDetails())['reason'], 'the registration has changed');
    });
  }

  test('a set that cannot be read any more is not used beyond its time', async () => {
    const place = await published(set(key));
    const { clientId } = await keyApp(server, { jwksUri: place.uri });
    assert.equal(await status(clientId, key), BELIEVED);
    await place.close();
    server.advance(4 * MINUTE);
    assert.equal(await status(clientId, key), BELIEVED);
    server.advance(MINUTE);
    assert.equal(await status(clientId, key), 401);
    assert.match((await lastDetails())['cause'] ?? '', /nothing listens there/);
  });

  test('an assertion that cannot be the client’s makes the server fetch nothing', async () => {
    const place = await published(set(key));
    const { clientId } = await newClient(server, { jwksUri: place.uri });
    assert.equal(await status(clientId, key), 401);
    const disabled = await keyApp(server, { jwksUri: place.uri });
    await admin(server, 'PATCH', `/clients/${disabled.clientId}`, { status: 'disabled' });
    assert.equal(await status(disabled.clientId, key), 401);
    assert.equal(place.visits, 0);
  });
});

describe('SSRF: an installation on the internet reads no keys from inside its network', () => {
  const BASE = 'https://id.example.com';
  let open: ProxiedServer;
  before(async () => {
    open = await startBehind(BASE, { TESSERA_LIMIT_CLIENT_AUTH: 'off' });
  });
  after(() => open.close());

  test('loopback, private and link-local addresses, in every spelling, and http', async () => {
    const place = await published(set(key));
    const { port } = place;
    const at = { baseUrl: `http://127.0.0.1:${open.port}` };
    const uris: [string, RegExp][] = [
      [`http://127.0.0.1:${port}/`, /must use https/],
      [`http://localhost:${port}/`, /must use https/],
      [`https://127.0.0.1:${port}/`, /not on the public internet/],
      [`https://localhost:${port}/`, /not on the public internet/],
      [`https://[::1]:${port}/`, /not on the public internet/],
      [`https://127.1:${port}/`, /not on the public internet/],
      [`https://0x7f000001:${port}/`, /not on the public internet/],
      [`https://2130706433:${port}/`, /not on the public internet/],
      [`https://0:${port}/`, /not on the public internet/],
      [`https://[::ffff:127.0.0.1]:${port}/`, /not on the public internet/],
      ['https://10.0.0.1/', /not on the public internet/],
      ['https://192.168.1.1/', /not on the public internet/],
      ['https://172.16.0.1/', /not on the public internet/],
      ['https://169.254.169.254/latest/meta-data/', /not on the public internet/],
      ['https://100.100.100.200/', /not on the public internet/],
      ['https://[fe80::1]/', /not on the public internet/],
      ['https://[fd00::1]/', /not on the public internet/],
      ['https://[64:ff9b::7f00:1]/', /not on the public internet/],
    ];
    for (const [uri, cause] of uris) {
      const app = await keyApp(at, { jwksUri: uri });
      const proof = await proofOf(open, app.clientId, key);
      const answer = await tokenForm(at, { grant_type: 'refresh_token', refresh_token: 'x', ...proof });
      assert.equal(answer.status, 401, uri);
      assert.doesNotMatch(answer.text, /internet|https/);
      assert.match((await lastDetails(open))['cause'] ?? '', cause, uri);
    }
    assert.equal(place.visits, 0);
  });

  test('decisions §15: what TESSERA_OUTGOING_ALLOW opens is open to the apps of operators, not to those of strangers', async () => {
    const opened = await startBehind(BASE, { TESSERA_OUTGOING_ALLOW: '127.0.0.0/8', TESSERA_LIMIT_CLIENT_AUTH: 'off' });
    try {
      const at = { baseUrl: `http://127.0.0.1:${opened.port}` };
      const causeFor = async (registeredBy: string | null, jwksUri: string) => {
        const { clientId } = await keyApp(at, { jwksUri });
        await query(opened, 'UPDATE client SET registered_by = ? WHERE id = ?', registeredBy, clientId);
        const proof = await proofOf(opened, clientId, key);
        await tokenForm(at, { grant_type: 'refresh_token', refresh_token: 'x', ...proof });
        return (await lastDetails(opened))['cause'] ?? '';
      };
      for (const registeredBy of [null, 'token']) {
        assert.match(await causeFor(registeredBy, 'https://127.0.0.1:9/'), /nothing listens there/);
      }
      for (const registeredBy of ['open', 'metadata']) {
        assert.match(await causeFor(registeredBy, 'https://127.0.0.1:9/'), /an address that no operator chose/);
      }
    } finally {
      await opened.close();
    }
  });
});

describe('registration', () => {
  const register = (fields: object) =>
    admin(server, 'POST', '/clients', { name: 'Service', redirectUris: ['https://service.example.com/cb'], ...fields });
  const METHOD = { tokenEndpointAuthMethod: 'private_key_jwt' };

  test('decisions §1: no secret is made', async () => {
    const { status, body } = await register({
      ...METHOD,
      jwks: { keys: [{ ...key.jwk, x5c: ['x'], key_ops: ['verify'] }] },
    });
    assert.equal(status, 201);
    assert.equal('clientSecret' in body, false);
    assert.deepEqual([body.secrets, body.idTokenSignedResponseAlg, body.jwksUri], [[], null, null]);
    assert.deepEqual(body.jwks, { keys: [{ ...key.jwk }] });
    const added = await admin(server, 'POST', `/clients/${body.clientId}/secrets`, {});
    assert.deepEqual([added.status, added.body.error], [409, 'conflict']);
  });

  const rsa = { kty: 'RSA', e: 'AQAB', n: `v${'A'.repeat(170)}` };
  const refused: [string, () => object, RegExp][] = [
    [
      'HS256',
      () => ({ jwks: { keys: [key.jwk] }, idTokenSignedResponseAlg: 'HS256' }),
      /^idTokenSignedResponseAlg must be RS256, ES256 or EdDSA/,
    ],
    ['no keys', () => ({}), /^tokenEndpointAuthMethod private_key_jwt needs .*jwks or jwksUri/],
    [
      'both',
      () => ({ jwks: { keys: [key.jwk] }, jwksUri: 'https://a.example/' }),
      /^jwks and jwksUri exclude each other/,
    ],
    [
      'client_secret_jwt',
      () => ({ tokenEndpointAuthMethod: 'client_secret_jwt' }),
      /^tokenEndpointAuthMethod must be one of/,
    ],
    [
      'none, confidential',
      () => ({ tokenEndpointAuthMethod: 'none' }),
      /^tokenEndpointAuthMethod none is for public clients/,
    ],
    [
      'public with a key',
      () => ({ type: 'public', jwks: { keys: [key.jwk] } }),
      /^tokenEndpointAuthMethod must be none for a public client/,
    ],
    [
      'a private key',
      () => ({ jwks: { keys: [{ ...key.jwk, d: 'AAAA' }] } }),
      /^jwks\.keys\[0\] must be a public key: take "d" out/,
    ],
    [
      'a symmetric key',
      () => ({ jwks: { keys: [{ kty: 'oct', k: 'AAAA' }] } }),
      /^jwks\.keys\[0\] must be a public key/,
    ],
    [
      'a symmetric key without its key',
      () => ({ jwks: { keys: [{ kty: 'oct' }] } }),
      /^jwks\.keys\[0\] must be an RSA key/,
    ],
    ['RSA of 1024 bits', () => ({ jwks: { keys: [rsa] } }), /^jwks\.keys\[0\] must have 2048 bits/],
    [
      'RSA with the exponent 3',
      () => ({ jwks: { keys: [{ ...rsa, e: 'Aw', n: `v${'A'.repeat(341)}` }] } }),
      /exponent 65537/,
    ],
    [
      'RSA with the exponent 1',
      () => ({ jwks: { keys: [{ ...rsa, e: 'AQ', n: `v${'A'.repeat(341)}` }] } }),
      /exponent 65537/,
    ],
    [
      'an unknown curve',
      () => ({ jwks: { keys: [{ ...key.jwk, crv: 'secp256k1' }] } }),
      /^jwks\.keys\[0\] must be an RSA key/,
    ],
    [
      'X25519',
      () => ({ jwks: { keys: [{ kty: 'OKP', crv: 'X25519', x: key.jwk.x }] } }),
      /^jwks\.keys\[0\] must be an RSA key/,
    ],
    [
      'a point beside its curve',
      () => ({ jwks: { keys: [{ ...key.jwk, y: key.jwk.x }] } }),
      /^jwks\.keys\[0\] must be a key that can be read/,
    ],
    [
      'another alg',
      () => ({ jwks: { keys: [{ ...key.jwk, alg: 'HS256' }] } }),
      /^jwks\.keys\[0\] must have the alg ES256/,
    ],
    [
      'for encryption',
      () => ({ jwks: { keys: [{ ...key.jwk, use: 'enc' }] } }),
      /^jwks\.keys\[0\] must be for signatures/,
    ],
    [
      'to sign with',
      () => ({ jwks: { keys: [{ ...key.jwk, key_ops: ['sign'] }] } }),
      /^jwks\.keys\[0\] must be for signatures/,
    ],
    [
      'the same kid twice',
      () => ({ jwks: { keys: [key.jwk, { ...next.jwk, kid: 'one' }] } }),
      /^jwks\.keys\[1\] must have a kid/,
    ],
    [
      'several without kid',
      () => ({ jwks: { keys: [{ ...key.jwk, kid: undefined }, next.jwk] } }),
      /^jwks\.keys\[0\] must have a kid/,
    ],
    ['21 keys', () => ({ jwks: { keys: Array(21).fill(key.jwk) } }), /^jwks must be .* 1 to 20/],
    ['an empty set', () => ({ jwks: { keys: [] } }), /^jwks must be .* 1 to 20/],
    ['no set', () => ({ jwks: {} }), /^jwks must be .* 1 to 20/],
    ['a list', () => ({ jwks: [key.jwk] }), /^jwks must be/],
    ['http', () => ({ jwksUri: 'http://keys.example.com/' }), /^jwksUri must use https/],
    ['a fragment', () => ({ jwksUri: 'https://keys.example.com/#x' }), /^jwksUri must have no fragment/],
    ['a password', () => ({ jwksUri: 'https://a:b@keys.example.com/' }), /^jwksUri must have no user/],
    ['no address', () => ({ jwksUri: 'keys' }), /^jwksUri must be/],
    ['another scheme', () => ({ jwksUri: 'file:///etc/passwd' }), /^jwksUri must/],
  ];
  for (const [name, fields, words] of refused) {
    test(`refused: ${name}`, async () => {
      const { status, body } = await register({ ...METHOD, ...fields() });
      assert.deepEqual([status, body.error], [400, 'invalid_request'], JSON.stringify(body));
      assert.match(body.error_description, words);
    });
  }

  test('a change to private_key_jwt ends the secrets; keys are replaced at once; a change back needs a new secret', async () => {
    const { body } = await register({ idTokenSignedResponseAlg: 'HS256' });
    const path = `/clients/${body.clientId}`;
    const change = async (fields: object) => {
      const answer = await admin(server, 'PATCH', path, fields);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      return answer.body;
    };
    const hs = await admin(server, 'PATCH', path, { ...METHOD, jwks: { keys: [key.jwk] } });
    assert.match(hs.body.error_description, /^idTokenSignedResponseAlg/);
    const changed = await change({ ...METHOD, jwks: { keys: [key.jwk] }, idTokenSignedResponseAlg: 'ES256' });
    assert.deepEqual(changed.secrets, []);
    assert.equal(await status(body.clientId, key), BELIEVED);
    await change({ jwks: { keys: [next.jwk] } });
    assert.equal(await status(body.clientId, key), 401);
    assert.equal(await status(body.clientId, next), BELIEVED);
    await change({ tokenEndpointAuthMethod: null });
    assert.equal(await status(body.clientId, next), 401);
    const { body: secret } = await admin(server, 'POST', `${path}/secrets`, {});
    const withSecret = { client_id: body.clientId, client_secret: secret.clientSecret };
    assert.equal(
      (await tokenForm(server, { grant_type: 'refresh_token', refresh_token: 'x', ...withSecret })).status,
      BELIEVED,
    );
  });
});

test('OpenID Connect Core 1.0 §9: an assertion that was used at one node is refused by the other', async () => {
  const { clientId } = await keyApp(server, { jwks: { keys: [key.jwk] } });
  const { opened: second, port } = await withPort(() =>
    start(
      readConfig({ ...server.environment, TESSERA_PORT: '0', TESSERA_BASE_URL: server.baseUrl }),
      () => server.now(),
      { sharedTime: () => server.now() },
    ),
  );
  try {
    const nodes = [server.baseUrl, `http://localhost:${port}`];
    for (let round = 0; round < 5; round++) {
      const proof = await proofOf(server, clientId, key);
      const send = (baseUrl: string) =>
        tokenForm({ baseUrl }, { grant_type: 'refresh_token', refresh_token: 'x', ...proof });
      const answers = await Promise.all([...nodes, ...nodes].map(send));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [400, 401, 401, 401]);
    }
  } finally {
    await second.close();
  }
});
