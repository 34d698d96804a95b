// store: SQLite, PostgreSQL
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { MINUTE } from '../../src/platform/clock.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open.ts';
import { NODES } from '../../src/platform/ids/lease.ts';
import { claimNode, endLeases, listLeases } from '../../src/platform/ids/lease-store.ts';
import { admin, newUser } from '../support/flow.ts';
import { startServer, type TestServer } from '../support/server.ts';

let server: TestServer;
before(async () => {
  server = await startServer();
});
after(() => server.close());

/** The database of the server, as another process opens it. */
async function openBeside() {
  const url = server.environment['TESSERA_DATABASE_URL'];
  if (url === undefined) return openSqlite(join(server.dataDir, 'tessera.db'), toCurrentSchema);
  const { openPostgres } = await import('../../src/platform/database/postgres/open.ts');
  return openPostgres(url, toCurrentSchema);
}

test('with all node numbers held by others a node makes no ids and is not ready, and is again when one comes free', async () => {
  const database = await openBeside();
  const ready = async () => (await fetch(`${server.baseUrl}/health/ready`)).status;
  const organization = (name: string) => admin(server, 'POST', '/organizations', { name, domain: `${name}.example` });
  try {
    assert.equal(await ready(), 200);
    // Others, whose clock is ahead, take every number, whatever the node does meanwhile to keep its own.
    const later = server.now() + 10 * MINUTE;
    const terms = () => ({ holder: 'another', endsAt: later + 10 * MINUTE });
    for (let number = 0; number < NODES; number++) await database.commit(() => claimNode(later, terms));
    server.advance(10 * MINUTE);
    const refused = await organization('refused');
    assert.deepEqual([refused.status, refused.body.error], [503, 'temporarily_unavailable']);
    for (let answer = 200; answer !== 503; answer = await ready());
    const [one] = await database.read(() => listLeases({ now: server.now() }));
    assert.ok(one !== undefined);
    await database.commit(() => endLeases([{ ...one, endsAt: server.now() }]));
    await newUser(server);
    assert.equal((await organization('made')).status, 201);
    for (let answer = 503; answer !== 200; answer = await ready());
  } finally {
    await database.close();
  }
});
