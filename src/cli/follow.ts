import { setTimeout as wait } from 'node:timers/promises';
import { SECOND } from '../platform/clock.ts';

/** Rows are polled with an overlap: with several nodes, a row may become visible after one with a higher id. */
const POLL_INTERVAL = SECOND;
const OVERLAP = 500n;
const MAX_ROWS = 10_000;

interface Followed<Row> {
  /** The id of the newest row. */
  readonly newest: () => Promise<bigint>;
  /** The rows after an id, oldest first. */
  readonly list: (after: string, limit: number) => Promise<readonly Row[]>;
  readonly show: (row: Row) => void;
}

/** Prints the rows after `start` until standard output is closed. */
export async function follow<Row extends { readonly id: string }>(
  start: bigint,
  { newest, list, show }: Followed<Row>,
): Promise<void> {
  let shown = new Set<string>();
  for (let seen = start; process.stdout.writable; await wait(POLL_INTERVAL)) {
    const last = await newest();
    const after = String(seen - OVERLAP > start ? seen - OVERLAP : start);
    const rows = await list(after, MAX_ROWS);
    for (const row of rows) if (!shown.has(row.id)) show(row);
    shown = new Set(rows.map(({ id }) => id));
    // A full page means that more rows may follow it.
    seen = rows.length < MAX_ROWS ? last : BigInt(rows.at(-1)?.id ?? last);
  }
}
