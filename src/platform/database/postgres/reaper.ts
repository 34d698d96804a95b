import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from 'pg';
import { backendOf } from './pools.ts';
import type { Backend } from './start.ts';

/** How often the server is asked, in milliseconds. */
const INTERVAL = 250;

/** Terminates the server processes of connections that do not answer. */
export interface Reaper {
  /** @param gone called once the server has terminated this backend */
  watch(backend: Backend, gone: () => void): () => void;
  close(): Promise<void>;
}

/**
 * Terminates the given backends, and returns those that still exist. Commits are not terminated: one that waits for its standby would
 * become visible at once, and could be lost with the primary. A repeated revocation therefore waits like the first one.
 */
const END = `
  SELECT own.place,
    CASE WHEN a.wait_event = 'SyncRep' OR (a.state = 'active' AND a.query = 'COMMIT') THEN false
    ELSE pg_terminate_backend(a.pid) END
  FROM pg_stat_activity a JOIN unnest($1::int[], $2::numeric[]) WITH ORDINALITY AS own (pid, began, place)
    ON a.pid = own.pid AND own.began IN (extract(epoch FROM a.backend_start), extract(epoch FROM a.xact_start))`;

/** Uses a separate connection, because all others may be blocked. It is opened only while there is something to ask. */
export function reaper(pool: Pool): Reaper {
  const watched = new Map<Backend, () => void>();
  let [asking, closed] = [false, false];

  // If the network lost its own connection, that backend is terminated, too.
  let own: Backend | undefined;
  pool.on('connect', (client) => {
    const last = own;
    if (last !== undefined) watched.set(last, () => void watched.delete(last));
    own = backendOf(client);
  });

  async function ask(): Promise<void> {
    const asked = [...watched];
    const backends = asked.map(([backend]) => backend);
    const { rows } = await pool.query(END, [backends.map(({ pid }) => pid), backends.map(({ began }) => began)]);
    const there = new Set((rows as { place: string }[]).map(({ place }) => Number(place)));
    for (const [index, [, gone]] of asked.entries()) if (!there.has(index + 1)) gone();
  }

  async function askUntilGone(): Promise<void> {
    asking = true;
    while (watched.size > 0 && !closed) {
      await wait(INTERVAL);
      // An unreachable server cannot answer; the next round may reach it.
      if (watched.size > 0 && !closed) await ask().catch(() => {});
    }
    asking = false;
  }

  return {
    watch(backend, gone) {
      watched.set(backend, gone);
      if (!asking) void askUntilGone();
      return () => void watched.delete(backend);
    },
    async close() {
      closed = true;
      await pool.end();
    },
  };
}
