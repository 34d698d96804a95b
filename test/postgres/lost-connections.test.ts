// store: PostgreSQL
/** Connections that a network has lost: neither side is told, and the server would keep its end for hours. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client } from 'pg';
import { findAccount } from '../../src/accounts/store.ts';
import { toCurrentSchema } from '../../src/migrations/timeline.ts';
import { StoreUnavailable } from '../../src/platform/database/database.ts';
import { openPostgres } from '../../src/platform/database/postgres/open.ts';
import { FULL } from '../../src/platform/database/postgres/rules/room.ts';
import { account } from '../store/rows.ts';
import { startPostgres } from '../support/postgres.ts';
import { ownDatabase } from '../support/postgres-database.ts';

const started = process.env['TESSERA_TEST_POSTGRES'] === undefined ? await startPostgres() : undefined;
if (started !== undefined) process.env['TESSERA_TEST_POSTGRES'] = started.url;

/** A network in front of a server: what is lost passes nothing on any more, also no end; what comes later passes. */
async function openNetwork(socketPath: string) {
  const open = new Set<Socket>();
  const passing = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ path: socketPath, allowHalfOpen: true });
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      passing.add(from);
      from.on('data', (bytes) => void (passing.has(from) && into.write(bytes)));
      from.on('error', () => {});
      from.on('end', () => void (passing.has(from) && into.end()));
      from.on('close', () => void (passing.has(from) && into.destroy()));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    lose: () => passing.clear(),
    close() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}

/** Tries until it is answered: a busy machine may keep an answer too long. */
async function insist<T>(act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}

test('connections that were lost are ended on the server before others take their place', async (t) => {
  const own = await ownDatabase();
  assert.ok(own !== undefined);
  const url = new URL(own.url);
  const operator = new Client({ connectionString: own.url });
  await operator.connect();
  const network = await openNetwork(`${url.searchParams.get('host')}/.s.PGSQL.5432`);
  const database = await openPostgres(`postgres://tessera@127.0.0.1:${network.port}${url.pathname}`, toCurrentSchema);
  t.after(async () => {
    await database.close();
    network.close();
    await operator.end();
    await own.drop();
    await started?.stop();
  });
  const backends = async (): Promise<number[]> => {
    const { rows } = await operator.query(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'tessera' AND datname = current_database()",
    );
    return rows.map(({ pid }) => pid);
  };
  const read = () => database.read(() => findAccount({ id: '1' }));
  let accounts = 0;
  // Another one each time: what was not acknowledged may have been done.
  const write = () => database.commit(() => account(String(++accounts)));
  await insist(write);
  // Each asked in a turn of its own, so that they share nothing and take all connections.
  const asked: Promise<unknown>[] = [];
  while ((database.load().connections?.read.busy ?? 0) < FULL.readers) {
    asked.push(read().catch(() => {}));
    await nextTurn();
  }
  await Promise.all(asked);
  const lost = await backends();
  network.lose();
  await assert.rejects(read(), StoreUnavailable);
  await insist(read);
  await write().catch(() => {});
  for (let left = lost; left.length > 0; ) {
    const now = await backends();
    assert.ok(now.length <= lost.length + 1, `${now.length} after ${lost.length}`);
    left = lost.filter((pid) => now.includes(pid));
  }
  await insist(write);
});
