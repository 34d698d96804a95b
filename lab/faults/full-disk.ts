import { spawnSync } from 'node:child_process';
import { appendFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { childrenOf } from './service.ts';

/** A disk that can be full for one process, the data of which lie in one folder of it. */
export interface Disk {
  readonly name: string;
  /** What the process is started with. */
  readonly wrapper: readonly string[];
  /** What another command is started with, to see what the process sees. */
  enter(pid: number): readonly string[];
  fill(pid: number): void;
  free(pid: number): void;
}

const works = (command: readonly string[]): boolean => spawnSync(command[0] ?? '', command.slice(1)).status === 0;

/**
 * What a command is started with to see a file system of its own in a folder, which goes with it; undefined where the system does not allow
 * that.
 * @param limits as for `mount -t tmpfs -o`
 */
export function mounting(folder: string, limits: string): readonly string[] | undefined {
  const mounted = (flags: readonly string[]) => [
    ...['unshare', ...flags, '--mount', 'sh', '-c', `mount -t tmpfs -o ${limits} tmpfs "$0" && exec "$@"`, folder],
  ];
  // Root may mount; others may in a user namespace of their own, where the system allows that.
  return [[], ['--user', '--map-root-user']].map(mounted).find((wrapper) => works([...wrapper, 'true']));
}

/** A file system of its own, which the process alone sees and which goes with it. */
function small(folder: string): Disk | undefined {
  const wrapper = mounting(folder, 'size=48m');
  if (wrapper === undefined) return undefined;
  const user = wrapper.includes('--user') ? ['--user', '--preserve-credentials'] : [];
  const filler = (pid: number) => join(`/proc/${pid}/root`, folder, 'filler');
  return {
    name: 'a file system of 48 MiB without a byte left',
    wrapper,
    enter: (pid) => ['nsenter', `--target=${pid}`, '--mount', ...user],
    fill(pid) {
      for (let size = 1 << 20; size >= 1; ) {
        try {
          appendFileSync(filler(pid), Buffer.alloc(size));
        } catch {
          size >>= 1;
        }
      }
    },
    free: (pid) => rmSync(filler(pid)),
  };
}

/** A limit on the size of files, which binds root too: nothing can be written to the database or its journal. */
function limited(): Disk | undefined {
  if (!works(['prlimit', '--fsize'])) return undefined;
  // Each process has its own limit: those that a supervisor has started, too.
  const limit = (pid: number, bytes: string) => {
    for (const one of [pid, ...childrenOf(pid)]) {
      if (!works(['prlimit', '--pid', String(one), `--fsize=${bytes}:`])) throw new Error('prlimit failed');
    }
  };
  return {
    name: 'files that cannot grow (RLIMIT_FSIZE)',
    wrapper: [],
    enter: () => [],
    // Less than any of them has: what they hold can be read, and nothing can be added.
    fill: (pid) => limit(pid, '4096'),
    free: (pid) => limit(pid, 'unlimited'),
  };
}

/** The nearest to a full disk that this system allows; undefined where it allows none. */
export const fillable = (folder: string, way: 'any' | 'limit' = 'any'): Disk | undefined =>
  (way === 'any' ? small(folder) : undefined) ?? limited();
