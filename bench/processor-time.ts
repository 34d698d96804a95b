import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of user and system time. */
export interface ProcessorTime {
  readonly user: number;
  readonly system: number;
}

/** What the system tells of a process, behind its name: proc(5). Empty where it has ended, or the system does not say. */
function statOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  } catch {
    return [];
  }
}

/** Clock ticks are hundredths of a second on Linux. */
const TICK = 10;

/** A process and the processes that it has started. */
function family(pid: number): readonly number[] {
  try {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return [pid, ...all.map(Number).filter((other) => Number(statOf(other)[1]) === pid)];
  } catch {
    return [];
  }
}

/** The time of a process and of the processes that it has started, also of those that have ended; zero where the system does not say. */
export function processorTime(pid: number): ProcessorTime {
  const own = statOf(pid);
  let [user, system] = [Number(own[13] ?? 0), Number(own[14] ?? 0)];
  for (const process of family(pid)) {
    const fields = statOf(process);
    user += Number(fields[11] ?? 0);
    system += Number(fields[12] ?? 0);
  }
  return { user: user * TICK, system: system * TICK };
}

/** Memory in mebibytes that a process and those that it has started hold; what they share is counted for each. */
export function residentMemory(pid: number): number {
  let kibibytes = 0;
  for (const process of family(pid)) {
    try {
      kibibytes += Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${process}/status`, 'utf8'))?.[1] ?? 0);
    } catch {
      // It has ended meanwhile.
    }
  }
  return kibibytes / 1024;
}
