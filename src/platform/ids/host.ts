import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { SECOND } from '../clock.ts';

/** Which process on which machine, in words by which another one there can be certain that it has ended. */
export interface Identity {
  /** The machine since it was booted, and what decides about its process ids and its uptime: their namespaces. */
  readonly machine: string;
  readonly pid: number;
  /** When it started, since a process id is given again. */
  readonly started: string;
}

/** What a process learns from the machine that it runs on. */
export interface Host {
  /** This process, or undefined where no other process could tell that it has ended. */
  readonly self: Identity | undefined;
  /** Whether a process has ended for certain. It is alive as long as that is in doubt. */
  hasEnded(other: Identity): boolean;
  /** Milliseconds since the machine was booted, as every process on it reads them; no step of the clock changes them. */
  uptime(): number;
  /** Milliseconds since some moment, as this process alone reads them. */
  stopwatch(): number;
}

/** The machine of this process. Only Linux tells enough of another process. */
export function thisHost(): Host {
  const self = process.platform === 'linux' ? identify() : undefined;
  return {
    self,
    hasEnded: (other) => self !== undefined && other.machine === self.machine && isGone(other),
    uptime: () => (self === undefined ? 0 : uptime()),
    stopwatch: () => performance.now(),
  };
}

function identify(): Identity | undefined {
  try {
    const own = readStat('self');
    // A container may show the processes of another namespace than the one that its own process ids are of.
    if (own.pid !== process.pid) return undefined;
    uptime();
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const namespaces = ['pid', 'time'].map((name) => readlinkSync(`/proc/self/ns/${name}`));
    // A machine that was resumed from an image of another's memory has its boot id, and hopefully not its name.
    return { machine: [hostname(), boot, ...namespaces].join(' '), pid: own.pid, started: own.started };
  } catch {
    return undefined;
  }
}

function isGone({ pid, started }: Identity): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another user answers EPERM, also where /proc hides it.
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return true;
  }
  try {
    const stat = readStat(String(pid));
    return stat.started !== started || stat.state === 'Z' || stat.state === 'X';
  } catch {
    return false;
  }
}

/** proc_pid_stat(5): the name in parentheses may hold anything; the state follows it, and the start is the 22nd field. */
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
