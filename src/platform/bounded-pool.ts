import { OAuthError } from './oauth-error.ts';

/** Runs work a bounded number at a time; more than may wait is turned away. */
export interface BoundedPool {
  /**
   * @param sharers those on whose behalf the work is done, such as `address 192.0.2.1`: each gets a fair share of the pool
   * @throws {OAuthError} `temporarily_unavailable` where the queue is full, or filled up with those who have had less
   */
  run<T>(work: () => Promise<T>, sharers?: readonly string[]): Promise<T>;
  load(): { readonly running: number; readonly waiting: number };
}

interface Waiting {
  /** The virtual time at which it may start: the later, the more its sharers have ahead of it. */
  readonly start: number;
  readonly sharers: readonly string[];
  readonly begin: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * The queue is served by start-time fair queuing: what a sharer adds starts one step of virtual time after all of it that waits,
 * and the earliest start is served first. So a sharer that fills the queue delays itself. Once the queue is full, the latest
 * start gives way to an earlier one, and a sharer without any work in it always gets a place. Work without sharers is served in
 * the order in which it came.
 * @param concurrency how many run side by side
 * @param capacity how many may wait
 * @param busy what a caller that is turned away is told, as `temporarily_unavailable`
 * @param rest what is waited for between a piece of work, which took so many milliseconds, and the next of those that wait;
 *   nothing unless told. It must not fail
 */
export function boundedPool(
  concurrency: number,
  capacity: number,
  busy: string,
  rest?: (took: number) => Promise<void>,
): BoundedPool {
  let running = 0;
  let virtualTime = 0;
  /** In the order of their starts; for equal ones in the order in which they came. */
  const waiting: Waiting[] = [];

  const refusal = () => new OAuthError(503, 'temporarily_unavailable', busy, { 'retry-after': '2' });

  function wait(sharers: readonly string[]): Promise<void> {
    const ahead = waiting.findLast((entry) => entry.sharers.some((sharer) => sharers.includes(sharer)));
    const start = Math.max(virtualTime, ahead === undefined ? 0 : ahead.start + 1);
    if (waiting.length >= capacity) {
      const last = waiting.at(-1);
      const newcomer = sharers.length > 0 && ahead === undefined;
      const out = last !== undefined && last.start > start ? last : newcomer ? largestSharer() : undefined;
      if (out === undefined) throw refusal();
      waiting.splice(waiting.indexOf(out), 1);
      out.refuse(refusal());
    }
    return new Promise((begin, refuse) => {
      const later = waiting.findIndex((entry) => entry.start > start);
      waiting.splice(later === -1 ? waiting.length : later, 0, { start, sharers, begin, refuse });
    });
  }

  /** The first of those whose sharer has most that waits. Where all have one each, a newcomer still gets its chance. */
  function largestSharer(): Waiting | undefined {
    const counts = new Map<string, number>();
    for (const { sharers } of waiting) for (const sharer of sharers) counts.set(sharer, (counts.get(sharer) ?? 0) + 1);
    const share = (entry: Waiting) => Math.max(0, ...entry.sharers.map((sharer) => counts.get(sharer) ?? 0));
    return waiting.reduce<Waiting | undefined>(
      (most, entry) => (most === undefined || share(entry) > share(most) ? entry : most),
      undefined,
    );
  }

  async function handOver(took: number): Promise<void> {
    if (waiting.length > 0) await rest?.(took);
    const next = waiting.shift();
    if (next === undefined) {
      running--;
      return;
    }
    // It moves on even where all that comes is from new sharers, so that whatever waits is reached.
    virtualTime = Math.max(next.start, virtualTime + 1 / (waiting.length + 1));
    next.begin();
  }

  return {
    async run(work, sharers = []) {
      if (running >= concurrency) await wait(sharers);
      else running++;
      const began = performance.now();
      try {
        return await work();
      } finally {
        void handOver(performance.now() - began);
      }
    },
    load: () => ({ running, waiting: waiting.length }),
  };
}
