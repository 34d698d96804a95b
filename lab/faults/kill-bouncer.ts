import { openBouncer } from '../../test/support/pgbouncer.ts';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { seconds } from './kill-postgres.ts';
import { untilBack, untilRefused } from './probes.ts';
import { startNode } from './service.ts';
import { type Options, type Outcome, trial } from './trial.ts';

/** PgBouncer between node and PostgreSQL, which ends in turns by `kill -9` and by its own way to stop, and starts again. */
export async function killBouncer(
  server: PostgresServer,
  mode: 'session' | 'transaction',
  options: Options,
): Promise<Outcome> {
  const bouncer = await openBouncer(server, { mode, size: 24 });
  const setting = { fault: `kill -9 of PgBouncer (${mode} mode), and its restart`, server, through: bouncer.through };
  try {
    return await trial(setting, options, async ({ service, ledger, random, over }) => {
      const node = await startNode({ settings: service.settings });
      service.front.targets = [node.port];
      return {
        async faults() {
          let longest = 0;
          for (let time = 1; time <= options.times; time++) {
            await ledger.more(1 + random(16));
            await bouncer.end(time % 2 === 1 ? 'SIGKILL' : 'SIGTERM');
            await untilRefused(service, 3);
            await bouncer.start();
            longest = Math.max(longest, await untilBack(service));
            await over();
            options.progress(time);
          }
          return [`answers again at most ${seconds(longest)} after its return`];
        },
        end: () => node.stop(),
      };
    });
  } finally {
    await bouncer.close();
  }
}
