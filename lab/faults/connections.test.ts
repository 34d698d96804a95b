// store: SQLite
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { findAccount } from '../../src/accounts/store.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { type Database, StoreUnavailable } from '../../src/platform/database/database.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import { account } from '../../test/store/rows.ts';
import { connected } from '../../test/support/ask-postgres.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { ownDatabase } from '../../test/support/postgres-database.ts';

let server: PostgresServer;
let own: NonNullable<Awaited<ReturnType<typeof ownDatabase>>>;
let database: Database;
before(async () => {
  server = await startPostgres();
  process.env['TESSERA_TEST_POSTGRES'] = server.url;
  const made = await ownDatabase();
  assert.ok(made !== undefined);
  own = made;
  database = await openPostgres(own.url, toCurrentSchema);
  await database.commit(() => account('1'));
});
after(async () => {
  await database.close();
  await server.stop();
});

test('a database that takes no connections is an outage (55000), and works again once it takes them', async () => {
  const name = new URL(own.url).pathname.slice(1);
  await connected(server.url, async (client) => {
    await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  });
  // The first may meet a connection that is just being ended.
  for (let n = 0; n < 3; n++) {
    await assert.rejects(
      database.read(() => findAccount({ id: '1' })),
      StoreUnavailable,
    );
    await assert.rejects(
      database.commit(() => account('2')),
      StoreUnavailable,
    );
  }
  await connected(server.url, (client) => client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`));
  assert.ok(await database.read(() => findAccount({ id: '1' })));
});

test('who waits for a lock in vain is told so, and neither their connection nor their statement is left behind', async () => {
  await connected(own.url, async (holder) => {
    await holder.query('BEGIN');
    await holder.query('LOCK TABLE account IN ACCESS EXCLUSIVE MODE');
    const asked = [database.read(() => findAccount({ id: '1' })), database.commit(() => account('3'))];
    const settled = await Promise.allSettled(asked);
    for (const one of settled) assert.ok(one.status === 'rejected' && one.reason instanceof StoreUnavailable);
    // Their refusals came a moment before the server had cleaned up; what waits for the lock would stay.
    const busy =
      "SELECT FROM pg_stat_activity WHERE application_name = 'tessera' AND datname = current_database() AND state <> 'idle'";
    // A transaction goes on seeing the activity that it saw first, unless that is cleared.
    while ((await holder.query(busy)).rowCount !== 0) await holder.query('SELECT pg_stat_clear_snapshot()');
    await holder.query('ROLLBACK');
  });
  await database.commit(() => account('3'));
});

test('the start of a connection carries nothing that a pooler refuses', async () => {
  const pooler = createServer().listen(0, '127.0.0.1');
  await once(pooler, 'listening');
  const opening = openPostgres(
    `postgres://tessera@127.0.0.1:${(pooler.address() as AddressInfo).port}/tessera`,
    toCurrentSchema,
  );
  const refused = assert.rejects(opening);
  const [socket] = await once(pooler, 'connection');
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  await refused;
  pooler.close();
  // A length and a version, then names and values that each end in a zero byte.
  const texts = bytes.subarray(8).toString().split('\0');
  const names = texts.filter((text, n) => n % 2 === 0 && text !== '').sort();
  assert.deepEqual(names, ['application_name', 'client_encoding', 'database', 'user']);
});
