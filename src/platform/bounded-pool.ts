import { Failure } from './failure.ts';

/** Runs a bounded number of tasks at a time, and queues a bounded number of others. */
export interface BoundedPool {
  /**
   * @param flows the flows that the task belongs to, such as `address 192.0.2.1`: each gets a fair share of the pool
   * @throws {Failure} `unavailable` if the queue is full, or fills up with tasks of flows that had less
   */
  run<T>(task: () => Promise<T>, flows?: readonly string[]): Promise<T>;
  load(): { readonly running: number; readonly waiting: number };
}

interface QueuedTask {
  /** Its virtual start time: the more tasks of its flows are ahead of it, the later. */
  readonly start: number;
  readonly flows: readonly string[];
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/**
 * The queue uses start-time fair queuing: a task starts one step of virtual time after the last queued task of its flows, and the
 * earliest start is served first. So a flow that fills the queue only delays itself. In a full queue the latest start is evicted
 * for an earlier one, and a flow without a queued task always gets a place. Tasks without flows are served in order of arrival.
 * @param concurrency how many tasks run at a time
 * @param capacity how many tasks may be queued
 * @param busy the description of the error for a rejected task
 * @param pause awaited after a task that took so many milliseconds, before the next queued task starts; it must not reject
 */
export function boundedPool(
  concurrency: number,
  capacity: number,
  busy: string,
  pause?: (took: number) => Promise<void>,
): BoundedPool {
  let running = 0;
  let virtualTime = 0;
  /** In the order of their starts; equal starts in the order of arrival. */
  const queue: QueuedTask[] = [];

  const queueFull = () => new Failure('unavailable', busy, { retryAfter: 2 });

  function enqueue(flows: readonly string[]): Promise<void> {
    const ahead = queue.findLast((task) => task.flows.some((flow) => flows.includes(flow)));
    const start = Math.max(virtualTime, ahead === undefined ? 0 : ahead.start + 1);
    if (queue.length >= capacity) {
      const last = queue.at(-1);
      const isNewFlow = flows.length > 0 && ahead === undefined;
      const evicted = last !== undefined && last.start > start ? last : isNewFlow ? taskOfLargestFlow() : undefined;
      if (evicted === undefined) throw queueFull();
      queue.splice(queue.indexOf(evicted), 1);
      evicted.reject(queueFull());
    }
    return new Promise((resolve, reject) => {
      const later = queue.findIndex((task) => task.start > start);
      queue.splice(later === -1 ? queue.length : later, 0, { start, flows, resolve, reject });
    });
  }

  /** The first task of the flow with the most queued tasks, even if each flow has one: a new flow then still gets a place. */
  function taskOfLargestFlow(): QueuedTask | undefined {
    const counts = new Map<string, number>();
    for (const { flows } of queue) for (const flow of flows) counts.set(flow, (counts.get(flow) ?? 0) + 1);
    const size = (task: QueuedTask) => Math.max(0, ...task.flows.map((flow) => counts.get(flow) ?? 0));
    return queue.reduce<QueuedTask | undefined>(
      (largest, task) => (largest === undefined || size(task) > size(largest) ? task : largest),
      undefined,
    );
  }

  async function startNext(took: number): Promise<void> {
    if (queue.length > 0) await pause?.(took);
    const next = queue.shift();
    if (next === undefined) {
      running--;
      return;
    }
    // Time advances even if every new task is of a new flow, so that each queued task is reached.
    virtualTime = Math.max(next.start, virtualTime + 1 / (queue.length + 1));
    next.resolve();
  }

  return {
    async run(task, flows = []) {
      if (running >= concurrency) await enqueue(flows);
      else running++;
      const startedAt = performance.now();
      try {
        return await task();
      } finally {
        void startNext(performance.now() - startedAt);
      }
    },
    load: () => ({ running, waiting: queue.length }),
  };
}
