/** Runs work a bounded number at a time; more than may wait is turned away. */
export interface BoundedPool {
  run<T>(work: () => Promise<T>): Promise<T>;
  load(): { readonly running: number; readonly waiting: number };
}

/**
 * @param concurrency how many run side by side
 * @param capacity how many may wait
 * @param refusal what whoever comes beyond that gets
 */
export function boundedPool(concurrency: number, capacity: number, refusal: () => Error): BoundedPool {
  let running = 0;
  const waiting: (() => void)[] = [];
  return {
    async run(work) {
      if (running >= concurrency) {
        if (waiting.length >= capacity) throw refusal();
        await new Promise<void>((resolve) => waiting.push(resolve));
      } else {
        running++;
      }
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        if (next === undefined) running--;
        else next();
      }
    },
    load: () => ({ running, waiting: waiting.length }),
  };
}
