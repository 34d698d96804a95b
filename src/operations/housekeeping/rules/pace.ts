/** How many rows a batch has: at least, at first, and at most. */
export const BATCH = { least: 50, first: 200, most: 500 } as const;

/** A batch that takes longer delays the requests that arrive meanwhile; on SQLite, they wait for all of it. In milliseconds. */
const SLOW = 8;
const FAST = 3;
/** For each millisecond of work there are this many of rest, */
const REST_RATIO = 2;
/** but no more than this at once. */
const LONGEST_REST = 200;

/** How many rows the next batch has, after one that took so long. */
export function nextBatchSize(size: number, took: number): number {
  if (took > SLOW) return Math.max(BATCH.least, Math.floor(size / 2));
  return took < FAST ? Math.min(BATCH.most, size * 2) : size;
}

/** How long to rest after a batch, in milliseconds, so that requests come first. */
export const restAfter = (took: number): number => Math.min(LONGEST_REST, Math.ceil(took * REST_RATIO));
