import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { PostgresServer } from '../../test/support/postgres.ts';
import { startNode } from './service.ts';
import { type Options, type Outcome, trial } from './trial.ts';

/** How much more a running node may take at most, in MiB. */
const LEFT = 8;
const MIB = 1 << 20;
/** How long a node may live under its limit, in milliseconds. */
const PATIENCE = 30_000;

/** A limit on the memory of a running node, under which it dies at some point under load; another one starts. */
export async function exhaustMemory(options: Options, server?: PostgresServer): Promise<Outcome> {
  return trial({ fault: 'no memory left', ...(server && { server }) }, options, async (one) => {
    const { service, ledger, random, over } = one;
    const { front, settings } = service;
    let node = await startNode({ settings });
    front.targets = [node.port];
    return {
      async faults() {
        const ends = new Map<string, number>();
        for (let time = 1; time <= options.times; time++) {
          await ledger.more(1 + random(16));
          const ended = once(node.process, 'exit');
          limit(node.process.pid ?? 0, random(LEFT * MIB));
          // What it has may be enough for it: then it is killed.
          let alive = false;
          const patience = setTimeout(() => {
            alive = node.process.kill('SIGKILL');
          }, PATIENCE);
          const [code, signal] = await ended;
          clearTimeout(patience);
          front.targets = [];
          const how = alive ? 'us, since it lived on' : String(signal ?? `status ${code}`);
          ends.set(how, (ends.get(how) ?? 0) + 1);
          node = await startNode({ settings });
          front.targets = [node.port];
          await over();
          options.progress(time);
        }
        return [`ended by ${[...ends].map(([how, times]) => `${how} (${times})`).join(', ')}`];
      },
      end: () => node.stop(),
    };
  });
}

/** RLIMIT_DATA counts all memory that a process can write to. */
function limit(pid: number, left: number): void {
  const [, used] = /^VmData:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  const bytes = Number(used) * 1024 + left;
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(pid), `--data=${bytes}:`], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`prlimit failed: ${stderr}`);
}
