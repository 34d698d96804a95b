import type { Fault } from './faults.ts';
import type { Options, Outcome } from './trial.ts';

/** What a fault is run with, but for its times and its progress. */
type Common = Omit<Options, 'times' | 'progress'>;

export interface Wanted {
  readonly name: string;
  readonly fault: Fault;
  readonly times: number;
}

interface Listener {
  /** So many of a fault are done, of all its databases together. */
  progress(name: string, done: number): void;
  finished(name: string, outcome: Outcome): void;
}

/**
 * Runs faults, each so many times on as many databases as that takes, and several databases side by side.
 * @param lanes how many of them
 * @returns the outcomes in the order of the faults
 */
export async function runAll(
  wanted: readonly Wanted[],
  common: Common,
  lanes: number,
  { progress, finished }: Listener,
): Promise<Outcome[]> {
  const all = wanted.map(({ name, fault, times }) => ({
    name,
    fault,
    times,
    done: 0,
    left: 0,
    parts: [] as Outcome[],
  }));
  const jobs = all.flatMap((one) => {
    const { batch = one.times } = one.fault;
    const sizes = Array.from({ length: Math.ceil(one.times / batch) }, (_, n) =>
      Math.min(batch, one.times - n * batch),
    );
    one.left = sizes.length;
    return sizes.map((times, n) => ({ one, times, seed: common.seed + n * batch }));
  });
  const lane = async () => {
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
      const { one, times, seed } = job;
      let before = 0;
      const part = await one.fault.run({
        ...{ ...common, times, seed },
        progress(done) {
          one.done += done - before;
          before = done;
          progress(one.name, one.done);
        },
      });
      one.parts.push(part);
      if (--one.left === 0) finished(one.name, one.parts.reduce(sum));
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return all.map(({ parts }) => parts.reduce(sum));
}

/** Runs one fault alone. */
export async function runFault(fault: Fault, { times, progress, ...common }: Options): Promise<Outcome> {
  const listener: Listener = { progress: (_, done) => progress(done), finished: () => {} };
  const [outcome] = await runAll([{ name: '', fault, times }], common, 1, listener);
  if (outcome === undefined) throw new Error('a fault must happen once at least');
  return outcome;
}

const sum = (one: Outcome, other: Outcome): Outcome => ({
  ...one,
  times: one.times + other.times,
  acknowledged: one.acknowledged + other.acknowledged,
  unanswered: one.unanswered + other.unanswered,
  refused: one.refused + other.refused,
  violations: [...one.violations, ...other.violations],
  notes: [...one.notes, ...other.notes],
});
