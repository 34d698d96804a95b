import { readdirSync, readFileSync } from 'node:fs';

/** What the system tells of a process, behind its name: proc(5). */
const statOf = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];

/** Clock ticks are hundredths of a second on Linux. */
const TICK = 10;

/** User and system time of a process so far, in milliseconds, and of its children that have ended; zero where nobody tells. */
export function processorTime(pid: number): { user: number; system: number; ended: number } {
  try {
    const fields = statOf(pid);
    const ended = (Number(fields[13]) + Number(fields[14])) * TICK;
    return { user: Number(fields[11]) * TICK, system: Number(fields[12]) * TICK, ended };
  } catch {
    return { user: 0, system: 0, ended: 0 };
  }
}

/** All of it in one number, of a process and the processes that it has started. */
export function treeTime(pid: number): number {
  let sum = processorTime(pid).ended;
  try {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const process = Number(name);
      if (process !== pid && parentOf(process) !== pid) continue;
      const { user, system } = processorTime(process);
      sum += user + system;
    }
  } catch {
    return 0;
  }
  return sum;
}

/** 0 where the process has ended meanwhile. */
function parentOf(pid: number): number {
  try {
    return Number(statOf(pid)[1]);
  } catch {
    return 0;
  }
}
