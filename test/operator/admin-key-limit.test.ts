// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createAdminKey } from '../../src/account-actions/makers/admin-keys.ts';
import { assertRefused, call } from '../support/api-call.ts';
import { admin } from '../support/flow.ts';
import { withData } from '../support/forged-token.ts';
import { query } from '../support/outcome.ts';
import { ADMIN_KEY, startServer, type TestServer } from '../support/server.ts';

const nodes = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 1 : 2;
const WRONG = `tak_${'A'.repeat(43)}`;
const ORIGIN = { actor: { type: 'cli', id: null }, address: null, requestId: null } as const;

const servers: TestServer[] = [];
async function started(settings: Record<string, string> = {}): Promise<TestServer> {
  const server = await startServer({ TESSERA_TRUST_PROXY: '1', ...settings }, nodes);
  servers.push(server);
  return server;
}
after(async () => {
  for (const server of servers) await server.close();
});

/** A call with a key as if from an address, as a proxy would name it, answered by one of the nodes. */
const from = (server: TestServer, address: string, key: string | undefined, node = 0) =>
  call({ baseUrl: server.nodes[node % nodes] ?? '' }, 'GET', '/api/v2/admin/users', {
    'x-forwarded-for': address,
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  });

const GUESSER = '203.0.113.7';

describe('admin keys that are not valid: 20 a minute from one address', () => {
  test('the 21st is 429 until the minute is over, and a valid key is answered from the same address all the while', async () => {
    const server = await started();
    const { adminKey } = await withData(server, (core) =>
      createAdminKey({ ...core, operator: undefined }, { name: 'a key' }, ORIGIN),
    );
    for (let n = 0; n < 20; n++) {
      if (n === 10) server.advance(30_000);
      assertRefused(await from(server, GUESSER, WRONG, n), 401, 'invalid_token');
    }
    for (let n = 0; n < 4; n++) {
      const limited = await from(server, GUESSER, `${WRONG}${n}`, n);
      assertRefused(limited, 429, 'rate_limit_exceeded');
      assert.equal(limited.headers.get('retry-after'), '30');
      assert.equal((await from(server, GUESSER, ADMIN_KEY, n)).status, 200, 'the key of the configuration');
      assert.equal((await from(server, GUESSER, adminKey, n)).status, 200, 'a key that was made');
    }
    assertRefused(await from(server, '203.0.113.8', WRONG), 401, 'invalid_token');
    assertRefused(await from(server, GUESSER, undefined), 401, 'invalid_token');
    server.advance(30_000);
    assertRefused(await from(server, GUESSER, WRONG), 401, 'invalid_token');
  });

  test('the first one over the limit is recorded, and those after it write nothing', async () => {
    const server = await started({ TESSERA_LIMIT_ADMIN_KEY: '3/m' });
    for (let n = 0; n < 9; n++) await from(server, GUESSER, WRONG);
    const { items } = (await admin(server, 'GET', '/audit-events?outcome=failure')).body;
    const recorded = items.map(({ type, address, details }: Record<string, unknown>) => [type, address, details]);
    assert.deepEqual(recorded, [
      ['admin_key.refused', GUESSER, {}],
      ['limit.exceeded', GUESSER, { limit: 'adminKey' }],
    ]);
    const counts = await query(server, "SELECT count FROM rate_count WHERE bucket LIKE 'admin-key %'");
    assert.deepEqual(
      counts.map(({ count }) => Number(count)),
      [4],
    );
  });

  test('neither a request without a key nor a valid key counts', async () => {
    const server = await started({ TESSERA_LIMIT_ADMIN_KEY: '1/m' });
    for (let n = 0; n < 5; n++) {
      assertRefused(await from(server, GUESSER, undefined), 401, 'invalid_token');
      assert.equal((await from(server, GUESSER, ADMIN_KEY)).status, 200);
    }
    assertRefused(await from(server, GUESSER, WRONG), 401, 'invalid_token');
    assertRefused(await from(server, GUESSER, WRONG), 429, 'rate_limit_exceeded');
  });
});
