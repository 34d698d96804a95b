// store: SQLite, PostgreSQL with --all
/** Every route of the admin API with every kind of key: no route may know one kind of key and fail with another. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createAdminKey, revokeAdminKey } from '../../src/account-actions/makers/admin-keys.ts';
import { openCore } from '../../src/core.ts';
import { readConfig } from '../../src/settings/config.ts';
import { callExample, fixture, send } from '../openapi/examples.ts';
import { startRouted } from '../security/routes.ts';
import { codeFor, newClient, redeem } from '../support/flow.ts';
import { ADMIN_KEY } from '../support/server.ts';

const ORIGIN = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;

const server = await startRouted({
  TESSERA_LIMIT_ADMIN_KEY: 'off',
  TESSERA_MAILBOX: 'on',
  TESSERA_REGISTRATION: 'open',
});
const made = await fixture(server);
// As the command line does it: beside the server, over connections of its own.
const beside = await openCore(readConfig(server.environment), server.now);
after(async () => {
  await beside.close();
  await server.close();
});

const minted = await createAdminKey({ ...beside, operator: undefined }, { name: 'minted' }, ORIGIN);
const revoked = await createAdminKey({ ...beside, operator: undefined }, { name: 'revoked' }, ORIGIN);
await revokeAdminKey({ ...beside, operator: undefined }, revoked.key.id, ORIGIN);
const app = await newClient(server);
const tokens = await redeem(server, app, await codeFor(server, app, made.user, {}, { browser: made.browser }));

/** What a caller may send as the key, by its kind. */
const VALID = { 'the key of the configuration': ADMIN_KEY, 'a minted key': minted.adminKey };
const REFUSED = {
  'a revoked key': revoked.adminKey,
  'an unknown key': `tak_${'x'.repeat(43)}`,
  'a malformed key': 'tak_',
  'the id of a key': minted.key.id,
  'a person’s access token': tokens.body.access_token,
  'the secret of an app': app.clientSecret,
};

const routes = server.described.filter(({ schema }) => schema.caller === 'admin key');
const walked = new Set<string>();

for (const route of routes) {
  const name = `${route.method} ${route.url}`;
  describe(name, () => {
    const example = route.schema.examples.find(({ status }) => status < 300);
    const call = async (key: string) => {
      assert.ok(example !== undefined, `${route.schema.operationId} has no example that succeeds`);
      const { headers, ...request } = await callExample(made, route, example);
      return send(server, { ...request, headers: { ...headers, authorization: `Bearer ${key}` } });
    };
    for (const [kind, key] of Object.entries(VALID)) {
      test(`${kind} is accepted`, async () => {
        const { status, text } = await call(key);
        assert.equal(status, example?.status, text);
        walked.add(name);
      });
    }
    for (const [kind, key] of Object.entries(REFUSED)) {
      test(`${kind} is refused`, async () => {
        const { status, text } = await call(key);
        assert.deepEqual([status, JSON.parse(text).error], [401, 'invalid_token'], text);
      });
    }
  });
}

test('every route of the admin API was walked', () => {
  const registered = server.routes.filter(({ url, method }) => url.startsWith('/api/v2/admin') && method !== 'HEAD');
  assert.ok(registered.length > 30);
  assert.deepEqual([...walked].sort(), registered.map(({ method, url }) => `${method} ${url}`).sort());
});
