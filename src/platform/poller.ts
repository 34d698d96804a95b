export interface Poller {
  /** Runs the work now. During a run, it makes it run once more. Resolves when nothing is left to run. */
  poll(): Promise<void>;
  /** Whether the work is running. */
  isRunning(): boolean;
  /** Starts no other run, and waits for one under way. */
  stop(): Promise<void>;
}

/**
 * Runs work every `interval` milliseconds, once at a time.
 * @param failed is given the errors of runs, after which the next one is tried all the same
 */
export function startPoller(work: () => Promise<void>, interval: number, failed: (error: unknown) => void): Poller {
  let stopped = false;
  let running: Promise<void> | undefined;
  let again = false;

  async function run(): Promise<void> {
    do {
      again = false;
      try {
        await work();
      } catch (error) {
        failed(error);
      }
    } while (again && !stopped);
    // At once: a poll in between would not be followed by a run.
    running = undefined;
  }

  function poll(): Promise<void> {
    if (stopped) return Promise.resolve();
    if (running !== undefined) {
      again = true;
      return running;
    }
    running = run();
    return running;
  }

  const timer = setInterval(poll, interval);
  timer.unref();
  return {
    poll,
    isRunning: () => running !== undefined,
    async stop() {
      stopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
