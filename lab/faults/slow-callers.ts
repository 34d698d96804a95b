import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { startNode } from './service.ts';
import { type Options, type Outcome, trial } from './trial.ts';

const SCRIPT = fileURLToPath(new URL('./slow-sockets.ts', import.meta.url));
const SOCKETS = 6000;
/** Each process, which has descriptors of its own, keeps so many; those beyond the thousand stand in for those that the node has just closed. */
const EACH = 1100;
const PROCESSES = 6;

/** Thousands of sockets that are idle or never finish what they send, beside the usual load. */
export async function slowCallers(options: Options, server?: PostgresServer): Promise<Outcome> {
  const processes = options.sample ? 1 : PROCESSES;
  const sockets = (SOCKETS / PROCESSES) * processes;
  const setting = { fault: `${SOCKETS.toLocaleString('en')} idle and slow sockets`, ...(server && { server }) };
  return trial(setting, options, async ({ service, ledger, over }) => {
    const node = await startNode({ settings: service.settings });
    service.front.targets = [node.port];
    const children: { child: ChildProcess; open: number }[] = [];
    return {
      async faults() {
        for (let n = 0; n < processes; n++) children.push(open(node.port));
        const now = () => children.reduce((sum, { open }) => sum + open, 0);
        let most = 0;
        for (let time = 1; time <= options.times; time++) {
          // The node ends those that are too slow, and they come again.
          while (now() < sockets) await ledger.more(1);
          most = Math.max(most, now());
          await ledger.more(40);
          await over();
          options.progress(time);
        }
        if (ledger.left > 0) ledger.violated('the load', `has ${ledger.left} requests without an answer`);
        return [`${most.toLocaleString('en')} sockets open at once`];
      },
      async end() {
        for (const { child } of children) {
          const ended = once(child, 'exit');
          if (child.kill('SIGKILL')) await ended;
        }
        await node.stop();
      },
    };
  });
}

function open(port: number): { child: ChildProcess; open: number } {
  const child = spawn(process.execPath, [SCRIPT, String(port), String(EACH)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const one = { child, open: 0 };
  createInterface({ input: child.stdout }).on('line', (line) => {
    one.open = Number(line);
  });
  return one;
}
