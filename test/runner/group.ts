import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import type { Guard } from './guard.ts';

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface Circumstances {
  readonly env: NodeJS.ProcessEnv;
  /** The descriptor of a file: unlike a pipe, it takes what a killed process wrote last, and no child can keep it open. */
  readonly output: number;
  /** Once it is aborted, everything is killed. */
  readonly hardEnd: AbortSignal;
  readonly guard: Guard;
}

/** Kills a process group, and what left the group and still descends from it, as the processes of PostgreSQL do. */
export function killGroup(group: number): void {
  const running = processes();
  const doomed = new Set(running.filter((one) => one.group === group).map(({ pid }) => pid));
  // A child may come before its parent where process ids have begun anew.
  for (let size = -1; size !== doomed.size; ) {
    size = doomed.size;
    for (const { pid, parent } of running) if (doomed.has(parent)) doomed.add(pid);
  }
  for (const pid of [-group, ...doomed]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

/** The processes of the machine, where it lists them as Linux does: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html */
function processes(): Running[] {
  if (!existsSync('/proc/self/stat')) return [];
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      // The name of the program stands before these in parentheses, and may have some of its own.
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const [, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [{ pid: Number(name), parent: Number(parent), group: Number(group) }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

/**
 * Runs a command as the leader of a process group, which ends with it: what it started and did not end is killed. SIGKILL
 * needs no cooperation, so this also holds for a process that never returns to its event loop.
 */
export async function runInGroup(command: readonly string[], circumstances: Circumstances): Promise<Ending> {
  const { env, output, hardEnd, guard } = circumstances;
  const [file = '', ...args] = command;
  const child = spawn(file, args, { detached: true, env, stdio: ['ignore', output, output] });
  const exited = once(child, 'exit');
  if (child.pid === undefined) {
    await exited;
    throw new Error(`${file} could not be started`);
  }
  const group = child.pid;
  guard.watch(group);
  const end = () => killGroup(group);
  hardEnd.addEventListener('abort', end);
  if (hardEnd.aborted) end();
  const [code, signal] = await exited;
  hardEnd.removeEventListener('abort', end);
  end();
  guard.release(group);
  return { code, signal };
}
