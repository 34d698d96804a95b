// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { assertInvalidGrant, assertRefused, basic, refreshBody, tokenBytes, tokenForm } from '../support/api-call.ts';
import { newClient, newUser, type TestClient, tokensFor, userinfo } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer, type TestServer } from '../support/server.ts';

const servers: TestServer[] = [];
async function started(settings: Record<string, string> = {}): Promise<TestServer> {
  const server = await startServer(settings);
  servers.push(server);
  return server;
}
after(async () => {
  for (const server of servers) await server.close();
});

/** A refresh as if from an address, as a proxy would name it. */
const from = (server: TestServer, client: TestClient, address: string | undefined, token = 'x') =>
  tokenBytes(server, JSON.stringify(refreshBody(client, token)), 'application/json', {
    ...(address !== undefined && { 'x-forwarded-for': address }),
  });
const wrong = (client: TestClient): TestClient => ({ ...client, clientSecret: 'A'.repeat(43) });

describe('decisions §9: failed client authentications, 20 a minute for a client from one address', () => {
  test('the 21st failure is 429, and so is then the right secret, until the minute is over', async () => {
    const server = await started();
    const client = await newClient(server);
    const other = await newClient(server);
    for (let i = 0; i < 20; i++) {
      if (i === 10) server.advance(30_000);
      assertRefused(await from(server, wrong(client), undefined), 401, 'invalid_client');
    }
    const limited = await from(server, wrong(client), undefined);
    assertRefused(limited, 429, 'rate_limit_exceeded');
    assert.equal(limited.headers.get('retry-after'), '30');
    // After the last allowed attempt even the right secret is refused.
    assertRefused(await from(server, client, undefined), 429, 'rate_limit_exceeded');
    assertRefused(await tokenForm(server, {}, basic(client.clientId, 'x')), 429, 'rate_limit_exceeded');
    assertInvalidGrant(await from(server, other, undefined));
    server.advance(29_999);
    assertRefused(await from(server, client, undefined), 429, 'rate_limit_exceeded');
    server.advance(1);
    assertInvalidGrant(await from(server, client, undefined));
  });

  test('TK-07: of 1,000 guesses side by side 20 are judged; the app goes on from another address', async () => {
    const server = await started({ TESSERA_TRUST_PROXY: '1' });
    const client = await newClient(server);
    const statuses: number[] = [];
    for (let i = 0; i < 10; i++) {
      const guesses = Array.from({ length: 100 }, () => from(server, wrong(client), '203.0.113.7'));
      statuses.push(...(await Promise.all(guesses)).map(({ status }) => status));
    }
    assert.equal(statuses.filter((status) => status === 401).length, 20);
    assert.equal(statuses.filter((status) => status === 429).length, 980);
    assertInvalidGrant(await from(server, client, '203.0.113.8'));
    assertRefused(await from(server, wrong(client), '203.0.113.8'), 401, 'invalid_client');
  });

  test('right secrets are not counted', async () => {
    const server = await started();
    const client = await newClient(server);
    for (let i = 0; i < 30; i++) assertInvalidGrant(await from(server, client, undefined));
    assertRefused(await from(server, wrong(client), undefined), 401, 'invalid_client');
  });

  test('the count outlives a restart', async () => {
    const server = await started();
    const client = await newClient(server);
    for (let i = 0; i < 21; i++) await from(server, wrong(client), undefined);
    await server.restart();
    assertRefused(await from(server, client, undefined), 429, 'rate_limit_exceeded');
  });

  test('behind a trusted proxy another address is unaffected (TK-07)', async () => {
    const server = await started({ TESSERA_TRUST_PROXY: '1' });
    const client = await newClient(server);
    for (let i = 0; i < 21; i++) await from(server, wrong(client), '203.0.113.7');
    assertRefused(await from(server, client, '203.0.113.7'), 429, 'rate_limit_exceeded');
    assertInvalidGrant(await from(server, client, '203.0.113.8'));
    // Only the hop that the proxy itself wrote counts: what the caller put before it changes nothing.
    assertRefused(await from(server, client, '198.51.100.1, 203.0.113.7'), 429, 'rate_limit_exceeded');
    assertInvalidGrant(await from(server, client, '203.0.113.7, 203.0.113.8'));
  });

  test('IPv6 addresses are counted by their /64, in any spelling', async () => {
    const server = await started({ TESSERA_TRUST_PROXY: '1' });
    const client = await newClient(server);
    const spellings = ['2001:db8:1:2::', '2001:DB8:1:2:0:0:0:1', '2001:0db8:0001:0002::ffff', '2001:db8:1:2:a:b:c:d'];
    for (let i = 0; i < 21; i++) await from(server, wrong(client), spellings[i % spellings.length]);
    for (const address of spellings) {
      assertRefused(await from(server, client, address), 429, 'rate_limit_exceeded');
    }
    assertInvalidGrant(await from(server, client, '2001:db8:1:3::'));
  });

  for (const trust of ['1', '127.0.0.1']) {
    test(`a proxy (TESSERA_TRUST_PROXY=${trust}) that writes ports and brackets gives no count for each (SE-08)`, async () => {
      const server = await started({ TESSERA_TRUST_PROXY: trust });
      const client = await newClient(server);
      const written = (count: number) => ['203.0.113.7', '[::ffff:203.0.113.7]'][count % 2];
      for (let i = 0; i < 21; i++) await from(server, wrong(client), `198.51.100.${i}, ${written(i)}:${4711 + i}`);
      for (const address of ['203.0.113.7', '203.0.113.7:1', '::ffff:203.0.113.7', '[::ffff:cb00:7107]:1']) {
        assertRefused(await from(server, client, address), 429, 'rate_limit_exceeded');
      }
      assertInvalidGrant(await from(server, client, '203.0.113.8:4711'));
      for (let i = 0; i < 21; i++) await from(server, wrong(client), `[2001:db8:1:2::${i}%eth${i}]:4711`);
      assertRefused(await from(server, client, '2001:db8:1:2::'), 429, 'rate_limit_exceeded');
      const recorded = await query(server, "SELECT address FROM audit_event WHERE type = 'client.auth_failed'");
      const addresses = new Set(recorded.map(({ address }) => address));
      assert.ok(addresses.has('203.0.113.7') && addresses.has('2001:db8:1:2::1'), JSON.stringify([...addresses]));
      for (const address of addresses) assert.match(String(address), /^203\.0\.113\.7$|^2001:db8:1:2::[\da-f]*$/);
    });
  }

  test('what a proxy writes in place of an address shares one count, and is recorded as no address', async () => {
    const server = await started({ TESSERA_TRUST_PROXY: '1' });
    const client = await newClient(server);
    const texts = ['unknown', '_hidden', '203.0.113.7.', '203.0.113.7:http', 'a'.repeat(1000)];
    for (let i = 0; i < 21; i++) await from(server, wrong(client), `198.51.100.1, ${texts[i % texts.length]}${i}`);
    assertRefused(await from(server, client, '198.51.100.1, unknown'), 429, 'rate_limit_exceeded');
    assertInvalidGrant(await from(server, client, '198.51.100.1'));
    const recorded = await query(server, "SELECT address FROM audit_event WHERE type = 'client.auth_failed'");
    assert.ok(recorded.length > 0);
    for (const { address } of recorded) assert.equal(address, null);
  });

  test('without a trusted proxy X-Forwarded-For is ignored (SE-08)', async () => {
    const server = await started();
    const client = await newClient(server);
    for (let i = 0; i < 21; i++) await from(server, wrong(client), `203.0.113.${i}`);
    assertRefused(await from(server, client, '203.0.113.99'), 429, 'rate_limit_exceeded');
  });
});

describe('decisions §9: authenticated token requests of one client', () => {
  test('the 3,000th in a minute is answered, the 3,001st is 429', async () => {
    const server = await started({ TESSERA_LIMIT_TOKEN: '3000/m' });
    const client = await newClient(server);
    for (let i = 0; i < 30; i++) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => from(server, client, undefined)));
      for (const answer of answers) assertInvalidGrant(answer);
    }
    assertRefused(await from(server, client, undefined), 429, 'rate_limit_exceeded');
  });

  test('a limited request consumes nothing; other clients and the next minute are unaffected', async () => {
    const server = await started({ TESSERA_LIMIT_TOKEN: '3/m' });
    const client = await newClient(server);
    const other = await newClient(server);
    const tokens = await tokensFor(server, client, await newUser(server));
    for (let i = 0; i < 2; i++) assertInvalidGrant(await from(server, client, undefined));
    const limited = await from(server, client, undefined, tokens.refresh_token);
    assertRefused(limited, 429, 'rate_limit_exceeded');
    assert.equal(limited.headers.get('retry-after'), '60');
    assert.equal((await userinfo(server, tokens.access_token)).status, 200);
    assertInvalidGrant(await from(server, other, undefined));
    server.advance(60_000);
    const renewed = await from(server, client, undefined, tokens.refresh_token);
    assert.equal(renewed.status, 200);
  });

  test('UserInfo is not limited', async () => {
    const server = await started({ TESSERA_LIMIT_TOKEN: '3/m' });
    const { access_token } = await tokensFor(server, await newClient(server), await newUser(server));
    for (let i = 0; i < 100; i++) assert.equal((await userinfo(server, access_token)).status, 200);
  });
});
