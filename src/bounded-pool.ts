import { OAuthError } from './oauth-error.ts';

/** Runs work a bounded number at a time; more than may wait is turned away. */
export interface BoundedPool {
  run<T>(work: () => Promise<T>): Promise<T>;
  load(): { readonly running: number; readonly waiting: number };
}

/**
 * @param concurrency how many run side by side
 * @param capacity how many may wait
 * @param busy what whoever comes beyond that is told, as `temporarily_unavailable`
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
  const waiting: (() => void)[] = [];

  async function handOver(took: number): Promise<void> {
    if (waiting.length > 0) await rest?.(took);
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }

  return {
    async run(work) {
      if (running >= concurrency) {
        if (waiting.length >= capacity) {
          throw new OAuthError(503, 'temporarily_unavailable', busy, { 'retry-after': '2' });
        }
        await new Promise<void>((resolve) => waiting.push(resolve));
      } else {
        running++;
      }
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
