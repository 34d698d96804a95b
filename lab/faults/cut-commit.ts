import type { PostgresServer } from '../../test/support/postgres.ts';
import { CHANGES } from './lives.ts';
import type { Network } from './network.ts';
import { startNode } from './service.ts';
import { type Options, type Outcome, trial } from './trial.ts';

/** Connections cut after COMMIT was done and before its answer arrived, at random points under load, until every kind of change has met it. */
export async function cutCommit(server: PostgresServer, network: Network, options: Options): Promise<Outcome> {
  const setting = {
    ...{ fault: 'the connection cut after COMMIT', server, through: network.through },
    days: 5,
  };
  return trial(setting, options, async ({ service, ledger, random, over }) => {
    const node = await startNode({ settings: service.settings });
    service.front.targets = [node.port];
    return {
      async faults() {
        let cut = 0;
        let next = 1;
        const missed = () => CHANGES.filter((what) => !ledger.unanswered.has(what));
        const enough = () => cut >= options.times && (options.sample === true || missed().length === 0);
        network.cutAfterCommit(() => {
          if (enough() || --next > 0) return false;
          next = 1 + random(5);
          cut++;
          return true;
        });
        while (!enough()) {
          await ledger.more(5);
          options.progress(cut);
        }
        await over();
        const counts = [...ledger.unanswered].map(([what, times]) => `${what} ${times}`);
        return [`cut ${cut} times; without an answer: ${counts.join(', ')}`];
      },
      end: () => node.stop(),
    };
  });
}
