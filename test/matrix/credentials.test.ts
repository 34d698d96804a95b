// store: SQLite
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { AUTH_METHODS } from '../../src/clients/rules/registration.ts';
import { type RoutedServer, startRouted } from '../security/routes.ts';
import { type ApiAnswer, basic, call, FORM_TYPE, JSON_TYPE } from '../support/api-call.ts';
import { type AppKey, ASSERTION_TYPE, appKey, proofOf } from '../support/assertion.ts';
import { newClient } from '../support/flow.ts';
import { PLACES } from './places.ts';

// TK-05, OpenID Connect Core 1.0 §9: every way to authenticate × every registered method × every body × every endpoint.

const server: RoutedServer = await startRouted({ TESSERA_LIMIT_CLIENT_AUTH: 'off', TESSERA_LIMIT_TOKEN: 'off' });
after(() => server.close());

/** The endpoints that clients authenticate to, with what they are asked, and what they say to a client that they believe. */
const ENDPOINTS: Readonly<Record<string, { ask: Fields; believed: string; believedPublic?: string }>> = {
  '/api/v2/oauth/token': { ask: { grant_type: 'refresh_token', refresh_token: 'x' }, believed: '400 invalid_grant' },
  '/oidc/token': { ask: { grant_type: 'refresh_token', refresh_token: 'x' }, believed: '400 invalid_grant' },
  // A client is believed, and refused because it is not registered for the grant.
  '/oidc/device_authorization': { ask: {}, believed: '400 unauthorized_client' },
  '/oidc/revoke': { ask: { token: 'x' }, believed: '200' },
  // RFC 7662 §2.1: who cannot prove who it is may not ask.
  '/oidc/introspect': { ask: { token: 'x' }, believed: '200', believedPublic: '401 invalid_client' },
};

type Fields = Readonly<Record<string, string>>;

interface App {
  readonly clientId: string;
  /** Empty where it has none. */
  readonly clientSecret: string;
}

const REGISTERED = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none', 'any secret'] as const;
type Registered = (typeof REGISTERED)[number];

let key: AppKey;
let foreign: AppKey;
const apps = new Map<Registered, App>();
before(async () => {
  key = await appKey();
  foreign = { ...(await appKey()), kid: key.kid };
  const jwks = { keys: [key.jwk] };
  for (const method of REGISTERED) {
    // Each has the key, so that nothing but its registered method keeps an assertion out.
    const fields = method === 'any secret' ? { jwks } : { jwks, tokenEndpointAuthMethod: method };
    const { clientId, clientSecret = '' } = await newClient(server, {
      ...fields,
      ...(method === 'none' && { type: 'public' }),
    });
    apps.set(method, { clientId, clientSecret });
  }
});

interface Sent {
  readonly body: Fields;
  readonly headers?: Fields;
}
/** A way to authenticate: what is sent, and the registered methods that it proves; `invalid` where no request may be so. */
interface Way {
  readonly name: string;
  readonly send: (app: App) => Sent | Promise<Sent>;
  readonly proves: readonly Registered[] | 'invalid';
}

const id = ({ clientId }: App): Fields => ({ client_id: clientId });
/** A client without a secret is tried with one that it might have had. */
const secretOf = ({ clientSecret }: App): string => clientSecret || 'tcs_unknown';
const post = (app: App, client_secret = secretOf(app)): Fields => ({ ...id(app), client_secret });
const assertion = (app: App, by: AppKey = key, change: Readonly<Record<string, unknown>> = {}) =>
  proofOf(server, app.clientId, by, change);

const SECRET_IN_BODY: readonly Registered[] = ['client_secret_post', 'any secret'];
const SECRET_IN_HEADER: readonly Registered[] = ['client_secret_basic', 'any secret'];

const WAYS: readonly Way[] = [
  { name: 'nothing', proves: [], send: () => ({ body: {} }) },
  { name: 'client_id alone', proves: ['none'], send: (app) => ({ body: id(app) }) },
  { name: 'an empty secret', proves: ['none'], send: (app) => ({ body: post(app, '') }) },
  { name: 'the secret', proves: SECRET_IN_BODY, send: (app) => ({ body: post(app) }) },
  { name: 'a wrong secret', proves: [], send: (app) => ({ body: post(app, 'wrong') }) },
  { name: 'the secret without client_id', proves: [], send: (app) => ({ body: { client_secret: secretOf(app) } }) },
  {
    name: 'Basic',
    proves: SECRET_IN_HEADER,
    send: (app) => ({ body: {}, headers: basic(app.clientId, secretOf(app)) }),
  },
  {
    name: 'Basic and the same client_id',
    proves: SECRET_IN_HEADER,
    send: (app) => ({ body: id(app), headers: basic(app.clientId, secretOf(app)) }),
  },
  { name: 'Basic, wrong', proves: [], send: (app) => ({ body: {}, headers: basic(app.clientId, 'wrong') }) },
  // An empty secret is that of a public client, which has none.
  { name: 'Basic, empty', proves: ['none'], send: (app) => ({ body: {}, headers: basic(app.clientId, '') }) },
  { name: 'Basic, unreadable', proves: [], send: (app) => ({ body: id(app), headers: { authorization: 'Basic %' } }) },
  { name: 'Bearer', proves: [], send: (app) => ({ body: id(app), headers: { authorization: 'Bearer x' } }) },
  {
    name: 'Basic and another client_id',
    proves: 'invalid',
    send: (app) => ({ body: { client_id: '1' }, headers: basic(app.clientId, secretOf(app)) }),
  },
  {
    name: 'Basic and the secret',
    proves: 'invalid',
    send: (app) => ({ body: post(app), headers: basic(app.clientId, secretOf(app)) }),
  },
  { name: 'an assertion', proves: ['private_key_jwt'], send: async (app) => ({ body: await assertion(app) }) },
  {
    name: 'an assertion and its client_id',
    proves: ['private_key_jwt'],
    send: async (app) => ({ body: { ...(await assertion(app)), ...id(app) } }),
  },
  {
    name: 'an assertion and another client_id',
    proves: [],
    send: async (app) => ({ body: { ...(await assertion(app)), client_id: '1' } }),
  },
  { name: 'an assertion by another key', proves: [], send: async (app) => ({ body: await assertion(app, foreign) }) },
  {
    name: 'an assertion for another server',
    proves: [],
    send: async (app) => ({ body: await assertion(app, key, { aud: 'https://other.example' }) }),
  },
  {
    name: 'an assertion of another type',
    proves: [],
    send: async (app) => ({ body: { ...(await assertion(app)), client_assertion_type: 'x' } }),
  },
  {
    name: 'an assertion without its type',
    proves: 'invalid',
    send: async (app) => ({ body: { client_assertion: (await assertion(app)).client_assertion } }),
  },
  {
    name: 'the type without an assertion',
    proves: 'invalid',
    send: (app) => ({ body: { ...id(app), client_assertion_type: ASSERTION_TYPE } }),
  },
  {
    name: 'an assertion and the secret',
    proves: 'invalid',
    send: async (app) => ({ body: { ...(await assertion(app)), ...post(app) } }),
  },
  {
    name: 'an assertion and Basic',
    proves: 'invalid',
    send: async (app) => ({ body: await assertion(app), headers: basic(app.clientId, secretOf(app)) }),
  },
];

const TYPES: Readonly<Record<string, (fields: Fields) => string>> = {
  [JSON_TYPE]: (fields) => JSON.stringify(fields),
  [FORM_TYPE]: (fields) => new URLSearchParams(fields).toString(),
};

const outcomeOf = ({ status, body }: ApiAnswer): string =>
  body?.error === undefined ? String(status) : `${status} ${body.error}`;

test('the matrix is whole: every endpoint that takes a client’s proof, every method that is offered', () => {
  const taking = Object.entries(PLACES).filter(([, places]) => places.some(({ name }) => name === 'client_secret'));
  assert.deepEqual(
    taking.map(([route]) => route).sort(),
    Object.keys(ENDPOINTS)
      .map((path) => `POST ${path}`)
      .sort(),
  );
  for (const path of Object.keys(ENDPOINTS)) {
    assert.deepEqual(
      server.routes.filter(({ url }) => url === path).map(({ method }) => method),
      ['POST'],
    );
  }
  assert.deepEqual([...AUTH_METHODS].sort(), REGISTERED.filter((method) => method !== 'any secret').sort());
  for (const method of REGISTERED)
    assert.ok(
      WAYS.some(({ proves }) => proves.includes(method)),
      method,
    );
});

for (const [path, { ask, believed, believedPublic = believed }] of Object.entries(ENDPOINTS)) {
  for (const [type, encode] of Object.entries(TYPES)) {
    describe(`POST ${path}, ${type}`, () => {
      for (const { name, send, proves } of WAYS) {
        test(name, async () => {
          for (const method of REGISTERED) {
            const app = apps.get(method);
            assert.ok(app !== undefined);
            const { body, headers = {} } = await send(app);
            const sent = { 'content-type': type, ...headers };
            const answer = await call(server, 'POST', path, sent, encode({ ...ask, ...body }));
            const right = method === 'none' ? believedPublic : believed;
            const otherwise = proves === 'invalid' ? '400 invalid_request' : '401 invalid_client';
            assert.equal(outcomeOf(answer), proves.includes(method) ? right : otherwise, `registered: ${method}`);
            const challenge = answer.headers.get('www-authenticate');
            const isChallenged = answer.status === 401 && headers['authorization'] !== undefined;
            assert.equal(challenge !== null, isChallenged, `RFC 6749 §5.2: ${method}`);
          }
        });
      }
    });
  }

  test(`TK-01, TK-02: ${path} takes no other method and no other body, however good the proof`, async () => {
    for (const [registered, app] of apps) {
      for (const { send } of WAYS.filter(({ proves }) => proves.includes(registered))) {
        const { body, headers = {} } = await send(app);
        const form = new URLSearchParams({ ...ask, ...body }).toString();
        for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
          const more = method === 'GET' ? {} : { 'content-type': FORM_TYPE };
          const inBody = method === 'GET' ? undefined : form;
          const answer = await call(server, method, `${path}?${form}`, { ...headers, ...more }, inBody);
          assert.equal(outcomeOf(answer), '405 invalid_request', method);
        }
        for (const type of ['text/plain', 'multipart/form-data; boundary=x', 'application/jwt', 'text/json']) {
          const answer = await call(server, 'POST', path, { ...headers, 'content-type': type }, form);
          assert.equal(outcomeOf(answer), '415 invalid_request', type);
        }
        // In the address a proof is no proof, and nothing is used up by it.
        const bare = await call(server, 'POST', `${path}?${form}`, { 'content-type': FORM_TYPE }, 'x=y');
        assert.equal(outcomeOf(bare), '401 invalid_client');
      }
    }
  });
}
