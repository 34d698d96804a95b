import type { TestEvent } from 'node:test/reporters';

const COUNTED = ['tests', 'suites', 'passed', 'failed', 'cancelled', 'skipped', 'todo'] as const;
/** How many tests ended in which way. */
export type Counts = Record<(typeof COUNTED)[number], number>;

export const NONE: Counts = { tests: 0, suites: 0, passed: 0, failed: 0, cancelled: 0, skipped: 0, todo: 0 };

export function add(one: Counts, other: Counts): Counts {
  const sum = { ...NONE };
  for (const name of COUNTED) sum[name] = one[name] + other[name];
  return sum;
}

/** How many tests did not end well. */
export const failures = ({ failed, cancelled }: Counts): number => failed + cancelled;

/** What a file of tests came to. */
export interface FileResult {
  readonly file: string;
  readonly counts: Counts;
  /** In milliseconds. */
  readonly duration: number;
}

type Ended = Extract<TestEvent, { type: 'test:pass' | 'test:fail' }>;

function failureType({ data: { details } }: Ended): unknown {
  return 'error' in details && 'failureType' in details.error ? details.error.failureType : undefined;
}

/** What a test counts as; a test that its file ended before it could is cancelled. */
function endedAs(event: Ended): keyof Counts {
  const { type, data } = event;
  if (data.skip !== undefined && data.skip !== false) return 'skipped';
  if (data.todo !== undefined && data.todo !== false) return 'todo';
  if (type === 'test:pass') return 'passed';
  const early = ['cancelledByParent', 'testAborted', 'testTimeoutFailure'];
  return early.includes(String(failureType(event))) ? 'cancelled' : 'failed';
}

function counted(counts: Counts, event: Ended): Counts {
  if (event.data.details.type === 'suite') return add(counts, { ...NONE, suites: 1 });
  return add(counts, { ...NONE, tests: 1, [endedAs(event)]: 1 });
}

/** Whether a file failed by itself, and not only by its tests. */
const failedItself = (event: Ended): boolean => event.type === 'test:fail' && failureType(event) !== 'subtestsFailed';

/**
 * A reporter that writes a line of JSON for each file that load.ts ran, for the runner to add up.
 * https://nodejs.org/api/test.html#event-testpass
 */
export default async function* results(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let counts = NONE;
  for await (const event of events) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    if (event.data.nesting > 0) {
      counts = counted(counts, event);
      continue;
    }
    if (failedItself(event)) counts = counted(counts, event);
    const result: FileResult = { file: event.data.name, counts, duration: event.data.details.duration_ms };
    yield `${JSON.stringify(result)}\n`;
    counts = NONE;
  }
}
