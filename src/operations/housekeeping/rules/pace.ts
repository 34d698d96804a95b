/** How many rows a batch has: at least, at first, and at most. */
export const BATCH = { least: 100, first: 100, most: 500 } as const;

/** How long a batch took until it was committed, and for how much of that this process was busy, in milliseconds. */
export interface BatchTime {
  readonly took: number;
  readonly busy: number;
}

/**
 * Requests to this node wait while it is busy: on SQLite, for a whole batch. A few milliseconds of that are the commit itself, which is why
 * batches do not become ever smaller.
 */
const SLOW: BatchTime = { took: 50, busy: 10 };
const FAST: BatchTime = { took: 20, busy: 4 };
const LONGEST_REST = 200;

/** How many rows the next batch has, after one that took so long. */
export function nextBatchSize(size: number, { took, busy }: BatchTime): number {
  if (took > SLOW.took || busy > SLOW.busy) return Math.max(BATCH.least, Math.floor(size / 2));
  return took < FAST.took && busy < FAST.busy ? Math.min(BATCH.most, size * 2) : size;
}

/** How long to rest after a batch, in milliseconds: two thirds of the node and half of the database are for requests. */
export const restAfter = ({ took, busy }: BatchTime): number =>
  Math.min(LONGEST_REST, Math.ceil(Math.max(took, busy * 2)));
