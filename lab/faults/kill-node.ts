import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { childrenOf, type Node, type Service, startNode } from './service.ts';
import { type Options, type Outcome, trial } from './trial.ts';

/** How many processes a service has whose processes are killed one by one. */
const PROCESSES = 2;
/** Each of so many times their supervisor is killed. */
const SUPERVISOR = 5;

async function startFor({ front, settings }: Service): Promise<Node> {
  const node = await startNode({ settings });
  front.targets = [node.port];
  return node;
}

/** Another node starts on what the killed one left behind. */
async function replace(node: Node, service: Service): Promise<Node> {
  await node.kill();
  service.front.targets = [];
  return startFor(service);
}

/**
 * `kill -9` of one of several processes that share the port, and now and then of their supervisor, at random points under load. What
 * follows from the first is up to the supervisor; after the second, another service starts on what was left behind.
 */
export async function killProcess(options: Options, server?: PostgresServer): Promise<Outcome> {
  const several = { ...options, processes: options.processes ?? PROCESSES };
  const setting = { fault: `kill -9 of one of ${several.processes} processes`, ...(server && { server }) };
  return trial(setting, several, async ({ service, ledger, random, over }) => {
    let node = await startFor(service);
    return {
      async faults() {
        for (let time = 1; time <= options.times; time++) {
          await ledger.more(1 + random(16));
          for (let turns = random(20); turns > 0; turns--) await nextTurn();
          if (time % SUPERVISOR === 2) {
            node = await replace(node, service);
          } else {
            const processes = childrenOf(node.process.pid);
            const victim = processes[random(processes.length)];
            // All may have been killed, and none started again yet.
            if (victim !== undefined) process.kill(victim, 'SIGKILL');
          }
          if (node.process.exitCode !== null) ledger.violated('the supervisor', 'ended with its processes');
          await over();
          options.progress(time);
        }
        return [];
      },
      end: () => node.stop(),
    };
  });
}

/** `kill -9` of the only node at random points under load; another one starts on what it left behind. */
export async function killNode(options: Options, server?: PostgresServer): Promise<Outcome> {
  return trial(
    { fault: 'kill -9 of a node', ...(server && { server }) },
    options,
    async ({ service, ledger, random, over }) => {
      let node = await startFor(service);
      return {
        async faults() {
          for (let time = 1; time <= options.times; time++) {
            await ledger.more(1 + random(16));
            // Not always in the very turn in which an answer came.
            for (let turns = random(20); turns > 0; turns--) await nextTurn();
            node = await replace(node, service);
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
