import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { say } from './say.ts';

/** The processors that this process may use; none where the system does not tell. */
function allowed(): readonly number[] {
  try {
    const list = /^Cpus_allowed_list:\s+(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
    return list.split(',').flatMap((range) => {
      const [first = 0, last = first] = range.split('-').map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => first + index);
    });
  } catch {
    return [];
  }
}

/** Moves a process with all of its threads to these processors, or its main thread alone. @returns whether `taskset` did so */
function move(
  pid: number,
  processors: readonly number[],
  threads: 'all threads' | 'main thread' = 'all threads',
): boolean {
  const all = threads === 'all threads' ? ['--all-tasks'] : [];
  const { status } = spawnSync('taskset', [...all, '--cpu-list', '--pid', processors.join(','), String(pid)]);
  return status === 0;
}

/** Leaves a processor to the threads of a server that do not run its event loop, such as those that hash and sign. */
export interface Processors {
  /** Runs a load while the event loop of a server shares one processor with this process, and its other threads have another. */
  apart<T>(server: { readonly pid?: number | undefined }, run: () => Promise<T>): Promise<T>;
}

/** @returns undefined where there is one processor, or no `taskset` (Linux, util-linux): then it says what is left out */
export function processors(): Processors | undefined {
  const all = allowed();
  const [first, second] = all;
  if (first === undefined || second === undefined || !move(process.pid, all)) {
    say('Left out: the rows with threads apart, which need two processors and taskset (Linux, util-linux).');
    return undefined;
  }
  return {
    async apart({ pid = 0 }, run) {
      // Threads that exist by now: a new one would join the thread that starts it.
      move(pid, [second]);
      move(pid, [first], 'main thread');
      move(process.pid, [first]);
      try {
        return await run();
      } finally {
        move(pid, all);
        move(process.pid, all);
      }
    },
  };
}
