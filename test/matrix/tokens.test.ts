// store: SQLite
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { DEVICE_GRANT, GRANT_TYPES } from '../../src/clients/rules/registration.ts';
import { TOKEN_KINDS } from '../../src/keys/tokens.ts';
import { timeline } from '../../src/migrations/timeline.ts';
import { type RoutedServer, startRouted } from '../security/routes.ts';
import { assertInvalidToken } from '../support/api-call.ts';
import { admin, redeem, refresh, standard, userinfo } from '../support/flow.ts';
import { startPublisher } from '../support/metadata-publisher.ts';
import { manage } from '../support/registration.ts';
import { introspect } from '../support/token-services.ts';
import { WHOLE } from '../support/whole.ts';
import { newUpstream, type TestUpstream } from '../upstreams/people.ts';
import { ACCESS_TOKENS_OF_UNREGISTERED, HASHED, KINDS, makeWorld, type World } from './kinds.ts';
import { adminPlace, PLACES, type Place, takesNothing } from './places.ts';

// JW-10, decisions §1: every kind of token, code, secret and handle in every place that takes one.

const OFF = { TESSERA_LIMIT_ADMIN_KEY: 'off', TESSERA_LIMIT_CLIENT_AUTH: 'off', TESSERA_LIMIT_SIGN_IN_ACCOUNT: 'off' };
const server: RoutedServer = await startRouted({
  ...OFF,
  TESSERA_REGISTRATION: 'open',
  TESSERA_CLIENT_METADATA: 'open',
  TESSERA_LIMIT_REGISTRATION_ADDRESS: 'off',
  TESSERA_LIMIT_REGISTRATION: 'off',
  TESSERA_LIMIT_METADATA_ADDRESS: 'off',
  TESSERA_LIMIT_METADATA_HOST: 'off',
  TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off',
  TESSERA_LIMIT_PENDING_ADDRESS: 'off',
  TESSERA_LIMIT_DEVICE_ADDRESS: 'off',
  TESSERA_LIMIT_USER_CODE: 'off',
  TESSERA_LIMIT_USER_CODE_ADDRESS: 'off',
});
const publisher = await startPublisher();
let upstream: TestUpstream;
let shared: World;
before(async () => {
  upstream = await newUpstream(server, { name: 'provider' });
  shared = await makeWorld(server, publisher, upstream);
});
after(() => Promise.all([server.close(), publisher.close(), upstream.provider[Symbol.asyncDispose]()]));

const isAdmin = (url: string): boolean => url.startsWith('/api/v2/admin/');
const nameOf = ({ method, url }: { method: string; url: string }): string => `${method} ${url}`;

describe('the matrix is whole', () => {
  test('every route has its places, and every place a route', () => {
    const routes = server.routes.filter(({ url }) => !takesNothing(url) && !isAdmin(url)).map(nameOf);
    assert.deepEqual([...routes].sort(), Object.keys(PLACES).sort());
    assert.ok(server.routes.filter(({ url }) => isAdmin(url)).length > 20);
  });

  test('every kind is there, and no two are the same text', () => {
    assert.deepEqual(Object.keys(shared.credentials).sort(), [...KINDS].sort());
    for (const [kind, text] of Object.entries(shared.credentials)) assert.ok(text.length > 3, kind);
    assert.equal(new Set(Object.values(shared.credentials)).size, KINDS.length);
    for (const { right, except = {} } of Object.values(PLACES).flat()) {
      for (const kind of [...Object.keys(right), ...Object.keys(except)]) assert.ok(KINDS.includes(kind), kind);
    }
  });

  // A new kind of token must be added above: these lists name all of them.
  test('every kind of token of ours, every grant and whatever is kept as a hash has its kinds', () => {
    assert.deepEqual(TOKEN_KINDS, ['access', 'refresh']);
    assert.deepEqual(GRANT_TYPES, ['authorization_code', 'refresh_token', 'client_credentials', DEVICE_GRANT]);
    const statements = Object.values(timeline).flatMap(({ statements: of }) =>
      of({ int: 'INTEGER', serial: 'INTEGER', bytes: 'BLOB', options: '', now: '0' }),
    );
    const hashed = statements.flatMap(
      (text) => /^CREATE TABLE (\w+) \(.*\b(browser_)?hash TEXT/s.exec(text)?.[1] ?? [],
    );
    // A table that was made once more, to change a column, is one.
    assert.deepEqual([...new Set(hashed)].sort(), Object.keys(HASHED).sort());
    for (const kind of Object.values(HASHED)) assert.ok(KINDS.includes(kind), kind);
  });
});

const isAs = (outcome: string, expected: string | RegExp): boolean =>
  typeof expected === 'string' ? outcome === expected : expected.test(outcome);

/** Routes behind one guard for all of them, which decides before any of their own code runs: of the admin API, console and account. */
const BEHIND_A_GUARD = /^\w+ \/(?:api\/v2\/admin|console|account)(?:\/|$)/;

let places = 0;

/**
 * The kinds that are wrong in a place. Behind a guard it is every third of them, other ones from place to place: each kind meets each
 * guard in dozens of places. All of them with `npm test -- --all test/matrix/tokens.test.ts`.
 */
function wrongKinds(route: string, { right, except = {} }: Place): readonly string[] {
  const n = places++;
  const wrong = KINDS.filter((kind) => right[kind] === undefined);
  if (WHOLE || !BEHIND_A_GUARD.test(route)) return wrong;
  return wrong.filter((kind, index) => (n + index) % 3 === 0 || except[kind] !== undefined);
}

function matrixOf(route: string, place: Place): void {
  const kinds = wrongKinds(route, place);
  describe(`${route}, ${place.name}`, () => {
    // One test for all of them: a test for each of six thousand pairs takes longer than their requests.
    test('other kinds are refused', async () => {
      const wrong: string[] = [];
      for (const kind of kinds) {
        const expected = place.except?.[kind] ?? place.refused;
        const outcome = await place.present(shared, shared.credentials[kind] ?? '');
        if (!isAs(outcome, expected)) wrong.push(`${kind}: ${outcome}, not ${expected}`);
      }
      assert.deepEqual(wrong, []);
    });
    for (const [kind, expected] of Object.entries(place.right)) {
      test(`${kind} is taken`, async () => {
        const own = place.usesUp ? await makeWorld(server, publisher, upstream) : shared;
        const outcome = await place.present(own, own.credentials[kind] ?? '');
        assert.ok(isAs(outcome, expected), `${outcome}, not ${expected}`);
      });
    }
  });
}

for (const { method, url } of server.routes) {
  if (isAdmin(url)) matrixOf(nameOf({ method, url }), adminPlace(method, url));
}
for (const [route, places] of Object.entries(PLACES)) for (const place of places) matrixOf(route, place);

test('all that was presented in the wrong places is as good as before', async () => {
  const { client, user, browser, credentials } = shared;
  const text = (kind: string): string => credentials[kind] ?? '';
  for (const kind of ['access token', 'access token of another client']) {
    assert.equal((await userinfo(server, text(kind))).status, 200, kind);
  }
  const unregistered = ACCESS_TOKENS_OF_UNREGISTERED;
  for (const kind of ['access token, oidc', 'access token, oidc, of another client', ...unregistered]) {
    assert.equal((await userinfo(server, text(kind), '/oidc/userinfo')).status, 200, kind);
  }
  const tokens = ['access token', 'refresh token', 'access token, oidc', 'refresh token, oidc'];
  for (const kind of [...tokens, 'client’s own token']) {
    assert.equal((await introspect(server, client, text(kind))).body.active, true, kind);
  }
  assert.equal((await refresh(server, client, text('refresh token'))).status, 200);
  assert.equal((await redeem(server, client, text('authorization code'))).status, 200);
  assert.equal((await refresh(server, standard(client), text('refresh token, oidc'))).status, 200);
  assert.equal((await redeem(server, standard(client), text('authorization code, oidc'))).status, 200);
  assert.equal((await admin(server, 'GET', `/users/${user.id}`)).body.status, 'active');
  assert.equal((await browser.get('/account')).status, 200);
  assert.equal((await manage(server, 'GET', shared.selfRegistered)).status, 200);
  assertInvalidToken(await userinfo(server, text('refresh token')));
});
