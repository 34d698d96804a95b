import { readdirSync, readFileSync } from 'node:fs';
import { type Driver, load } from './load.ts';
import { say } from './say.ts';
import { median } from './statistics.ts';

/*
 * Servers that take turns: each answers a few hundred requests, many times, and what is compared is the processor time of those that are
 * next to each other. Other work of the machine disturbs that far less than rates.
 */

export const CONNECTIONS = 32;

/** A server at one kind of work. */
export interface Arm {
  readonly name: string;
  readonly work: string;
  /** Microseconds of processor time per request in each round. */
  readonly micros: number[];
  run(): Promise<void>;
}

/** Nanoseconds that the threads of a process have run: proc(5). The clock of `stat` ticks only a hundred times a second. */
function nanoseconds(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, 'utf8').split(' ')[0]));
  return times.reduce((sum, time) => sum + time, 0);
}

/** The first requests of a load. */
function firstOf(driver: Driver, most: number): Driver {
  let left = most;
  return { ...driver, next: (connection) => (left-- > 0 ? driver.next(connection) : undefined) };
}

/** An arm of a server that is running. @param count how many requests it answers in each round */
export function armOf(
  of: Pick<Arm, 'name' | 'work'>,
  { port, pid }: { readonly port: number; readonly pid: number },
  driver: Driver,
  count: number,
): Arm {
  const micros: number[] = [];
  return {
    ...of,
    micros,
    async run() {
      const before = nanoseconds(pid);
      await load(port, CONNECTIONS, Number.POSITIVE_INFINITY, firstOf(driver, count));
      micros.push((nanoseconds(pid) - before) / 1000 / count);
    },
  };
}

/** Lets the arms of each work take turns, each as often first as last. */
export async function takeTurns(arms: readonly Arm[], rounds: number): Promise<void> {
  say('Warming up …');
  for (const arm of arms) {
    for (let time = 0; time < 10; time++) await arm.run();
    arm.micros.length = 0;
  }
  const works = byWork(arms);
  for (let round = 0; round < rounds; round++) {
    if (round % 20 === 0) say(`Round ${round + 1} of ${rounds} …`);
    for (const of of works) {
      for (let index = 0; index < of.length; index++) await of[(index + round) % of.length]?.run();
    }
  }
}

const byWork = (arms: readonly Arm[]): readonly (readonly Arm[])[] =>
  [...new Set(arms.map(({ work }) => work))].map((work) => arms.filter((arm) => arm.work === work));

/** A table of the medians, relative to the arm that the others are compared with. */
export function armsTable(arms: readonly Arm[], what: string, base: string): string {
  const lines = [
    `| Work | ${what} | CPU in µs per request, median | Relative to ${base}, median of the rounds |`,
    '|---|---|---|---|',
  ];
  for (const of of byWork(arms)) {
    const first = of.find(({ name }) => name === base);
    for (const { work, name, micros } of of) {
      const relative = median(micros.map((each, round) => each / (first?.micros[round] ?? Number.NaN)));
      lines.push(`| ${work} | ${name} | ${median(micros).toFixed(1)} | ${relative.toFixed(3)} |`);
    }
  }
  return lines.join('\n');
}
