import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from 'pg';
import { backendOf } from './pools.ts';
import type { Backend } from './start.ts';

/** How often the server is asked. */
const PAUSE = 250;

/** Ends what the server still does for connections that give no answer. */
export interface Reaper {
  /** @param gone called once the server has ended this backend */
  watch(backend: Backend, gone: () => void): () => void;
  close(): Promise<void>;
}

/**
 * Ends those that are meant, and answers which of them are still there. A commit is let be: one that waits for its standby
 * would end at once, be seen by others, and be lost with the primary. So whoever repeats a revocation waits as the first did.
 */
const END = `
  SELECT own.place,
    CASE WHEN a.wait_event = 'SyncRep' OR (a.state = 'active' AND a.query = 'COMMIT') THEN false
    ELSE pg_terminate_backend(a.pid) END
  FROM pg_stat_activity a JOIN unnest($1::int[], $2::numeric[]) WITH ORDINALITY AS own (pid, began, place)
    ON a.pid = own.pid AND extract(epoch FROM a.backend_start) = own.began`;

/** Asks on a connection of its own, since the others may all be without an answer; it has none while there is nothing to ask. */
export function reaper(pool: Pool): Reaper {
  const watched = new Map<Backend, () => void>();
  let [asking, closed] = [false, false];

  // Nor is its own left behind, where the network has lost that.
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
      await wait(PAUSE);
      // A server that is away cannot tell; the next round may find it back.
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
