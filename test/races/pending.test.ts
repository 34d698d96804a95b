// store: PostgreSQL, SQLite with --all
/** Authorization requests of one address that arrive at the same time, on every node. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { authorizeUrl, newClient } from '../support/flow.ts';
import { query } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const nodes = process.env['TESSERA_TEST_POSTGRES'] === undefined ? 1 : 2;
const MOST = 20_000;
const CROWD = 60;

const server = await startServer({ TESSERA_LIMIT_PENDING_BYTES_ADDRESS: `${MOST}/h` }, nodes);
after(() => server.close());

test('AV-03: they share the bytes that their address may hold', async () => {
  const client = await newClient(server);
  const url = authorizeUrl(client, { state: 's'.repeat(1000) });
  const ask = (_: unknown, number: number) =>
    agent(server.baseUrl, () => server.nodes[number % nodes] ?? server.baseUrl).get(url);
  const answers = await Promise.all(Array.from({ length: CROWD }, ask));
  const begun = answers.filter(({ location }) => location?.pathname === '/login').length;
  const sizes = await query(server, 'SELECT octet_length(request) + octet_length(state) AS size FROM interaction');
  const held = sizes.reduce((sum, { size }) => sum + Number(size), 0);
  assert.equal(sizes.length, begun);
  assert.ok(begun > 5 && held <= MOST, `${begun} requests hold ${held} bytes`);
  // What was refused was given back, so what is counted is what is held.
  const counted = await query(server, "SELECT count FROM rate_count WHERE bucket LIKE 'pending-bytes %'");
  const total = counted.reduce((sum, { count }) => sum + Number(count), 0);
  assert.ok(total <= MOST && total >= held, `${total} bytes are counted, ${held} are held`);
});
