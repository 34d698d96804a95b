import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Ending, runInGroup } from './group.ts';
import type { Guard } from './guard.ts';

/** A file of tests on one of the stores. */
export interface TestFile {
  readonly path: string;
  readonly label: string;
  readonly env: NodeJS.ProcessEnv;
}

export interface Conditions {
  readonly guard: Guard;
  /** How many files run side by side. */
  readonly concurrency: number;
  /** When a test fails that has not ended, in milliseconds. */
  readonly testTimeout: number;
  /** Aborted when a file must end whatever it is doing; asked for as the file begins. */
  hardEnd(): AbortSignal;
  print(text: string): void;
}

const COUNTED = ['tests', 'suites', 'passed', 'failed', 'cancelled', 'skipped', 'todo'] as const;
export type Counts = Record<(typeof COUNTED)[number], number>;

const NONE: Counts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };

const add = (one: Counts, other: Counts): Counts => {
  const sum = { ...NONE };
  for (const name of COUNTED) sum[name] = one[name] + other[name];
  return sum;
};

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

interface Result {
  readonly counts: Counts;
  /** Why it failed, where its tests do not say it. */
  readonly problem: string | undefined;
  readonly log: string;
}

/** Runs files of tests, each in a process group that ends with it, and answers how many tests ended in which way. */
export async function runFiles(files: readonly TestFile[], conditions: Conditions): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-tests-'));
  const waiting = [...files];
  const failed: string[] = [];
  let sum = NONE;
  const worker = async (_: unknown, index: number) => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const begun = performance.now();
      const result = await runFile(file, join(folder, String(index)), conditions);
      sum = add(sum, result.counts);
      const line = outcome(file, result, performance.now() - begun);
      if (failures(result.counts) > 0) {
        failed.push(line);
        conditions.print(result.log);
      }
      conditions.print(line);
    }
  };
  try {
    await Promise.all(Array.from({ length: conditions.concurrency }, worker));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  if (failed.length > 0) conditions.print(`\nFailed:\n${failed.join('')}\n`);
  return sum;
}

async function runFile(file: TestFile, scratch: string, conditions: Conditions): Promise<Result> {
  const { guard, testTimeout } = conditions;
  const [log, counts] = [`${scratch}.log`, `${scratch}.json`];
  const hardEnd = conditions.hardEnd();
  const output = openSync(log, 'w');
  const command = [
    ...[process.execPath, '--test-force-exit', `--test-timeout=${testTimeout}`],
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...[`--test-reporter=${here('counts.ts')}`, `--test-reporter-destination=${counts}`],
    ...[here('load.ts'), file.path],
  ];
  // As under `node --test`: it is how modules know that they are part of a test.
  const env = { ...file.env, NODE_TEST_CONTEXT: 'file' };
  let ending: Ending;
  try {
    ending = await runInGroup(command, { env, output, hardEnd, guard });
  } finally {
    closeSync(output);
  }
  const counted = readCounts(counts);
  rmSync(counts, { force: true });
  const problem = problemOf(ending, hardEnd, counted);
  const found = counted ?? NONE;
  const whole = problem === undefined ? found : add(found, { ...NONE, tests: 1, failed: 1 });
  return { counts: whole, problem, log: readFileSync(log, 'utf8') };
}

function readCounts(path: string): Counts | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Counts;
  } catch {
    // The process ended before its summary.
    return undefined;
  }
}

function problemOf({ code, signal }: Ending, hardEnd: AbortSignal, counts: Counts | undefined): string | undefined {
  if (hardEnd.aborted) return 'it did not end in time, and was killed with everything that it had started';
  if (counts === undefined) return `it ended with ${signal ?? `status ${code}`} before its tests had`;
  if (code !== 0 && failures(counts) === 0) return `it ended with ${signal ?? `status ${code}`}`;
  return undefined;
}

/** How many tests did not end well. */
export const failures = ({ failed, cancelled }: Counts): number => failed + cancelled;

function outcome({ label }: TestFile, { counts, problem }: Result, duration: number): string {
  const mark = failures(counts) === 0 ? '✔' : '✖';
  const why = problem === undefined ? '' : `: ${problem}`;
  return `${mark} ${label} (${counts.tests} tests, ${(duration / 1000).toFixed(1)} s)${why}\n`;
}

/** The summary with which Node's own runner closes its output. */
export function summary(counts: Counts, duration: number): string {
  const lines = [
    ...[`tests ${counts.tests}`, `suites ${counts.suites}`, `pass ${counts.passed}`, `fail ${counts.failed}`],
    ...[`cancelled ${counts.cancelled}`, `skipped ${counts.skipped}`, `todo ${counts.todo}`],
    `duration_ms ${duration}`,
  ];
  return lines.map((line) => `ℹ ${line}\n`).join('');
}
