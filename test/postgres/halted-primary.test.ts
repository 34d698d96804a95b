// store: PostgreSQL
/** A primary that was replaced while it was halted answers when it is woken: none of that counts. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Pair, startPair } from '../../lab/faults/pair.ts';
import { StoreUnavailable } from '../../src/platform/database/database.ts';
import { connections, deadline } from '../../src/platform/database/postgres/connections.ts';
import { translate } from '../../src/platform/database/postgres/errors.ts';
import { reaperPool, servicePool } from '../../src/platform/database/postgres/pools.ts';
import { openPrimary } from '../../src/platform/database/postgres/primary.ts';
import { reaper } from '../../src/platform/database/postgres/reaper.ts';
import { ask } from '../support/ask-postgres.ts';
import { type PostgresServer, THROWN_AWAY } from '../support/postgres.ts';

let pair: Pair;
before(async () => {
  pair = await startPair(THROWN_AWAY);
});
after(() => pair.stop());

const folderOf = ({ url }: PostgresServer): string => new URL(url).searchParams.get('host') ?? '';

/** Halts a server with all its processes; returns what wakes it. */
async function halt(server: PostgresServer): Promise<() => void> {
  const rows = await ask<{ pid: number }>(server.url, 'SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
  const all = [server.process.pid ?? 0, ...rows.map(({ pid }) => pid)];
  const signal = (name: NodeJS.Signals) => {
    for (const pid of all) {
      try {
        process.kill(pid, name);
      } catch {
        // It has ended by itself meanwhile.
      }
    }
  };
  signal('SIGSTOP');
  return () => signal('SIGCONT');
}

/** As units of work do with the error of a connection, which may be that the former primary closed it. */
const toOutage = (error: unknown): never => {
  throw translate(error);
};

const TIMELINE = "SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int AS timeline";

test('a primary that is woken after it was replaced is not believed, also before the next look at the others', async () => {
  const { primary: former, standby: successor } = pair;
  const hosts = [former, successor].map(folderOf).join(',');
  // It is not watched: nothing but its silence says that the primary may have been replaced.
  const primary = openPrimary(`postgres://tessera@/postgres?host=${hosts}&target_session_attrs=read-write`);
  const reaping = reaper(reaperPool(primary));
  const readers = connections(servicePool(primary, 4), primary, reaping);
  const read = async (): Promise<number> => {
    const { rows } = await readers.lend(deadline(), (send) => send({ text: TIMELINE }));
    return (rows as { timeline: number }[])[0]?.timeline ?? 0;
  };
  try {
    assert.deepEqual(await Promise.all([read(), read(), read()]), [1, 1, 1]);
    const wake = await halt(former);
    try {
      const asked = performance.now();
      const outstanding = assert.rejects(read().catch(toOutage), StoreUnavailable);
      await ask(successor.url, 'SELECT pg_promote()');
      while (performance.now() < asked + 150) await pause(10);
      wake();
      // These have connections that were idle meanwhile.
      const soon = await Promise.allSettled([read(), read()]);
      for (const one of soon) if (one.status === 'fulfilled') assert.equal(one.value, 2);
      await outstanding;
    } finally {
      wake();
    }
    for (;;) {
      const timeline = await read().catch(() => undefined);
      assert.notEqual(timeline, 1);
      if (timeline === 2) break;
    }
  } finally {
    await readers.close();
    await reaping.close();
    await primary.close();
  }
});
