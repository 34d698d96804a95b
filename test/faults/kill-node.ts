import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PostgresServer } from '../support/postgres.ts';
import { type Node, startNode } from './service.ts';
import { type Options, type Outcome, trial } from './trial.ts';

/** `kill -9` of the only node at random points under load; another one starts on what it left behind. */
export async function killNode(options: Options, server?: PostgresServer): Promise<Outcome> {
  return trial(
    { fault: 'kill -9 of a node', ...(server && { server }) },
    options,
    async ({ service, ledger, random, over }) => {
      const { front, settings } = service;
      let node: Node = await startNode({ settings });
      front.targets = [node.port];
      return {
        async faults() {
          for (let time = 1; time <= options.times; time++) {
            await ledger.more(1 + random(16));
            // Not always in the very turn in which an answer came.
            for (let turns = random(20); turns > 0; turns--) await nextTurn();
            await node.kill();
            front.targets = [];
            node = await startNode({ settings });
            front.targets = [node.port];
            await over();
            options.progress(time);
          }
          return [];
        },
        end: () => node.stop(),
      };
    },
  );
}
