import { ask } from '../../test/support/ask-postgres.ts';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { untilBack, untilRefused } from './probes.ts';
import { startNode } from './service.ts';
import { type Options, type Outcome, trial } from './trial.ts';

/** Each of so many times all processes are killed. */
const WHOLE = 5;

/**
 * `kill -9` of PostgreSQL under load: now and then of all its processes, which then are started again, and else of one of
 * them, whose fellows the server then ends by itself to recover.
 */
export async function killPostgres(server: PostgresServer, options: Options): Promise<Outcome> {
  const setting = { fault: 'kill -9 of PostgreSQL, and its return', server };
  return trial(setting, options, async ({ service, ledger, random, databaseUrl, over }) => {
    const node = await startNode({ settings: service.settings });
    service.front.targets = [node.port];
    return {
      async faults() {
        let longest = 0;
        for (let time = 1; time <= options.times; time++) {
          await ledger.more(1 + random(16));
          let back: number;
          if (time % WHOLE === 1) {
            await server.kill();
            await untilRefused(service, 3);
            await server.restart();
            back = await untilBack(service);
          } else {
            await killOne(databaseUrl);
            back = await untilBack(service);
          }
          longest = Math.max(longest, back);
          await over();
          options.progress(time);
        }
        return [`answers again at most ${seconds(longest)} after its return`];
      },
      end: () => node.stop(),
    };
  });
}

export const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(2)} s`;

/** Kills a process of the server that works for a node. */
async function killOne(url: string): Promise<void> {
  const [victim] = await ask<{ pid: number }>(
    url,
    "SELECT pid FROM pg_stat_activity WHERE application_name = 'tessera' AND datname = current_database() ORDER BY random()",
  );
  if (victim === undefined) throw new Error('no process of the server works for the node');
  try {
    process.kill(victim.pid, 'SIGKILL');
  } catch {
    // Its connection was closed in this moment: the next time it is another's turn.
  }
}
