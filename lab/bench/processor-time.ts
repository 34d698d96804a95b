import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of user and system time. */
export interface ProcessorTime {
  readonly user: number;
  readonly system: number;
}

/** The fields of /proc/<pid>/stat after the name: proc(5). Empty if the process has ended, or on other systems. */
function statOf(pid: number | string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  } catch {
    return [];
  }
}

/** Clock ticks are hundredths of a second on Linux. */
const TICK = 10;

/** A process and its descendants. */
function family(pid: number): readonly number[] {
  try {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return [pid, ...all.map(Number).filter((other) => Number(statOf(other)[1]) === pid)];
  } catch {
    return [];
  }
}

/** CPU time of a process and its descendants, including ended ones; zero on other systems. */
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

/** CPU time of a process's main thread, which runs the event loop, in milliseconds; zero on other systems. */
export function loopTime(pid: number): number {
  const fields = statOf(`${pid}/task/${pid}`);
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK;
}

/** Resident memory in MiB of a process and its descendants; shared memory is counted for each. */
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
