import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { SECOND } from '../clock.ts';

/** Identifies a process so that another one on the same machine can tell for certain whether it has ended. */
export interface ProcessIdentity {
  /** The boot of the machine, and the namespaces that its process ids and its uptime belong to. */
  readonly machine: string;
  readonly pid: number;
  /** When it started: process ids are reused. */
  readonly started: string;
}

/** What a process learns from its machine. */
export interface Host {
  /** This process; undefined where other processes could not tell whether it has ended. */
  readonly self: ProcessIdentity | undefined;
  /** Whether a process has ended for certain; false in case of doubt. */
  hasEnded(other: ProcessIdentity): boolean;
  /** Milliseconds since the machine was booted, the same for all of its processes; setting the clock does not change them. */
  uptime(): number;
  /** Milliseconds since some moment, for this process only. */
  stopwatch(): number;
}

/** The machine of this process. Only Linux reveals enough about other processes to tell that they have ended. */
export function thisHost(): Host {
  const self = process.platform === 'linux' ? identify() : undefined;
  return {
    self,
    hasEnded: (other) => self !== undefined && other.machine === self.machine && isGone(other),
    uptime: () => (self === undefined ? 0 : uptime()),
    stopwatch: performance.now.bind(performance),
  };
}

function identify(): ProcessIdentity | undefined {
  try {
    const own = readStat('self');
    // In a container, /proc may belong to another process namespace.
    if (own.pid !== process.pid) return undefined;
    uptime();
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const namespaces = ['pid', 'time'].map((name) => readlinkSync(`/proc/self/ns/${name}`));
    // Two machines resumed from one memory image share the boot id; their host names must differ.
    return { machine: [hostname(), boot, ...namespaces].join(' '), pid: own.pid, started: own.started };
  } catch {
    return undefined;
  }
}

function isGone({ pid, started }: ProcessIdentity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM means that the process exists and belongs to another user, even if /proc hides it.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return true;
  }
  try {
    const stat = readStat(String(pid));
    return stat.started !== started || stat.state === 'Z' || stat.state === 'X';
  } catch {
    return false;
  }
}

/** proc_pid_stat(5): the name in parentheses may contain anything; the state follows it, and the start time is field 22. */
function readStat(pid: string): { readonly pid: number; readonly state: string; readonly started: string } {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, started] = [fields[0], fields[19]];
  if (state === undefined || started === undefined) throw new Error(`/proc/${pid}/stat has fewer fields than expected`);
  return { pid: Number.parseInt(text, 10), state, started };
}

function uptime(): number {
  const seconds = Number.parseFloat(readFileSync('/proc/uptime', 'latin1'));
  if (!Number.isFinite(seconds)) throw new Error('/proc/uptime does not begin with a number');
  return seconds * SECOND;
}
