import { Turns } from '../../turns.ts';

/** How many connections wait for locked rows at most. The others are for those who need no such row. */
const MAX_ROWS = 4;

export interface RowQueues {
  /** Runs a task after those that were queued for the same row, so that all of them need one connection. */
  run<T>(row: string, task: () => Promise<T>): Promise<T>;
  waiting(): number;
}

/** Queues tasks that wait for a row: many of them, such as the repetitions of one request, would otherwise use all connections. */
export function rowQueues(most = MAX_ROWS): RowQueues {
  /** The end of the last task for each row. */
  const last = new Map<string, Promise<void>>();
  const turns = new Turns<typeof last>(most);
  let waiting = 0;

  return {
    async run(row, task) {
      const earlier = last.get(row);
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      last.set(row, ended);
      waiting++;
      await earlier;
      await new Promise<void>((resolve) => turns.ask(last, resolve));
      waiting--;
      try {
        return await task();
      } finally {
        turns.giveBack(last);
        if (last.get(row) === ended) last.delete(row);
        end();
      }
    },
    waiting: () => waiting,
  };
}
