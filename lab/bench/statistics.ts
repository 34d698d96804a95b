import type { Row } from './measure.ts';

export const median = (numbers: readonly number[]): number => {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
};

/** A value over several rounds. */
export interface Spread {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

export const spreadOf = (numbers: readonly number[]): Spread => ({
  median: median(numbers),
  lowest: Math.min(...numbers),
  highest: Math.max(...numbers),
});

/** The summary of all rounds of a cell. */
export type Summary = { readonly [Figure in keyof Row]: Spread };

export function summaryOf(rows: readonly Row[]): Summary {
  const names = Object.keys(rows[0] ?? {}) as (keyof Row)[];
  return Object.fromEntries(names.map((name) => [name, spreadOf(rows.map((row) => row[name]))])) as Summary;
}
