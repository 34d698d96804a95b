import { readdirSync, readFileSync } from 'node:fs';

/** What the system tells of a process, behind its name: proc(5). */
const statOf = (pid: number): readonly string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];

/** Clock ticks are hundredths of a second on Linux. */
const TICK = 10;

/** User and system time of a process so far, in milliseconds; zero where the system does not tell. */
export function processorTime(pid: number): { user: number; system: number } {
  try {
    const fields = statOf(pid);
    return { user: Number(fields[11]) * TICK, system: Number(fields[12]) * TICK };
  } catch {
    return { user: 0, system: 0 };
  }
}

/** The same, in one number, of a process and the processes that it has started. */
export function treeTime(pid: number): number {
  let sum = 0;
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
