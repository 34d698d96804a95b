import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Options, Work } from './options.ts';
import { say } from './say.ts';

/** What each work measured. It is kept until all of them are complete, so that a run that was interrupted can be continued. */
export interface Parts {
  /** Runs a work, or returns what it measured before. */
  measure<T>(work: Work, run: () => Promise<readonly T[]>): Promise<readonly T[]>;
  /** Whether a work is still to be run. */
  isDue(work: Work): boolean;
  /** How long the measurements took, in minutes, with those of earlier runs. */
  minutes(): number;
  /** The works are complete: nothing is left to be continued. */
  complete(): void;
}

interface Kept {
  /** The options that the results depend on. */
  readonly options: string;
  minutes: number;
  readonly parts: { [work in Work]?: readonly unknown[] };
}

export function openParts(options: Options): Parts {
  const { people, rounds, seconds, against, sizes, long, results, only } = options;
  const file = join(results, 'unfinished.json');
  const key = JSON.stringify({ people, rounds, seconds, against: [...against], sizes, long });
  const kept = (options.resume ? read(file, key) : undefined) ?? { options: key, minutes: 0, parts: {} };
  let since = performance.now();
  const spend = (): void => {
    const now = performance.now();
    kept.minutes += (now - since) / 60_000;
    since = now;
  };
  return {
    async measure<T>(work: Work, run: () => Promise<readonly T[]>) {
      if (!only.has(work)) return [];
      const before = kept.parts[work];
      if (before !== undefined) return before as readonly T[];
      const measured = await run();
      kept.parts[work] = measured;
      spend();
      mkdirSync(results, { recursive: true });
      writeFileSync(file, JSON.stringify(kept));
      return measured;
    },
    isDue: (work) => only.has(work) && kept.parts[work] === undefined,
    minutes: () => kept.minutes,
    complete: () => rmSync(file, { force: true }),
  };
}

function read(file: string, key: string): Kept | undefined {
  let kept: Kept;
  try {
    kept = JSON.parse(readFileSync(file, 'utf8')) as Kept;
  } catch {
    // None, or one that was not written whole.
    return undefined;
  }
  if (kept.options === key) return kept;
  say(`${file} is of a run with other options, and is not continued.`);
  return undefined;
}
