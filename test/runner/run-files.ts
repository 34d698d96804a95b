import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { add, type Counts, type FileResult, failures, NONE } from './counts.ts';
import { type Ending, runInGroup } from './group.ts';
import type { Guard } from './guard.ts';

/** A file of tests on one of the stores. */
export interface TestFile {
  readonly path: string;
  readonly label: string;
}

/** Files that run one after the other in one process, which loads the sources once for all of them. */
export interface Batch {
  readonly files: readonly TestFile[];
  readonly env: NodeJS.ProcessEnv;
}

export interface Conditions {
  readonly guard: Guard;
  /** How many batches run side by side. */
  readonly concurrency: number;
  /** When a test fails that has not ended, in milliseconds. */
  readonly testTimeout: number;
  /** Aborted when a batch must end whatever it is doing; asked for as the batch begins. */
  hardEnd(): AbortSignal;
  print(text: string): void;
}

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

interface Outcome {
  readonly results: readonly FileResult[];
  /** Why the process failed, where its tests do not say it. */
  readonly problem: string | undefined;
  readonly log: string;
}

/** Runs batches of tests, each in a process group that ends with it, and answers how many tests ended in which way. */
export async function runFiles(batches: readonly Batch[], conditions: Conditions): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-tests-'));
  const waiting = [...batches];
  const failed: string[] = [];
  let sum = NONE;
  const worker = async (_: unknown, index: number) => {
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
      const outcome = await runBatch(batch, join(folder, String(index)), conditions);
      const lines = linesOf(batch.files, outcome);
      if (lines.some(({ counts }) => failures(counts) > 0)) conditions.print(outcome.log);
      for (const { counts, text } of lines) {
        sum = add(sum, counts);
        if (failures(counts) > 0) failed.push(text);
        conditions.print(text);
      }
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

async function runBatch({ files, env }: Batch, scratch: string, conditions: Conditions): Promise<Outcome> {
  const { guard, testTimeout } = conditions;
  const [log, counts] = [`${scratch}.log`, `${scratch}.jsonl`];
  const hardEnd = conditions.hardEnd();
  const output = openSync(log, 'w');
  const command = [
    ...[process.execPath, '--test-force-exit', `--test-timeout=${testTimeout}`],
    ...['--test-reporter=spec', '--test-reporter-destination=stdout'],
    ...[`--test-reporter=${here('counts.ts')}`, `--test-reporter-destination=${counts}`],
    ...[here('load.ts'), ...files.map(({ path }) => path)],
  ];
  let ending: Ending;
  try {
    // As under `node --test`: it is how modules know that they are part of a test.
    ending = await runInGroup(command, { env: { ...env, NODE_TEST_CONTEXT: 'file' }, output, hardEnd, guard });
  } finally {
    closeSync(output);
  }
  const results = readResults(counts);
  rmSync(counts, { force: true });
  const complete = results.length === files.length;
  return { results, problem: problemOf(ending, hardEnd, complete, results), log: readFileSync(log, 'utf8') };
}

function readResults(path: string): FileResult[] {
  if (!existsSync(path)) return [];
  // Only whole lines: the process may have been killed while it wrote one.
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as FileResult);
}

function problemOf(
  { code, signal }: Ending,
  hardEnd: AbortSignal,
  complete: boolean,
  results: readonly FileResult[],
): string | undefined {
  if (hardEnd.aborted) return 'it did not end in time, and was killed with everything that it had started';
  if (!complete) return `it ended with ${signal ?? `status ${code}`} before its tests had`;
  const failed = results.some(({ counts }) => failures(counts) > 0);
  return code !== 0 && !failed ? `it ended with ${signal ?? `status ${code}`}` : undefined;
}

interface Line {
  readonly counts: Counts;
  readonly text: string;
}

/** What to print of each file. Where the process failed by itself, so did the files without a result, or else the last one. */
function linesOf(files: readonly TestFile[], { results, problem }: Outcome): Line[] {
  const resultOf = ({ path }: TestFile) => results.find(({ file }) => file === path);
  const unfinished = files.filter((file) => resultOf(file) === undefined);
  const failed = problem === undefined ? [] : unfinished.length > 0 ? unfinished : files.slice(-1);
  return files.map((file) => {
    const { counts: found = NONE, duration = 0 } = resultOf(file) ?? {};
    const why = failed.includes(file) ? problem : undefined;
    const counts = why === undefined ? found : add(found, { ...NONE, tests: 1, failed: 1 });
    const mark = failures(counts) === 0 ? '✔' : '✖';
    const end = why === undefined ? '' : `: ${why}`;
    return { counts, text: `${mark} ${file.label} (${counts.tests} tests, ${(duration / 1000).toFixed(1)} s)${end}\n` };
  });
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
