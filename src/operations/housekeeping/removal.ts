import type { Work } from '../../platform/database/database.ts';
import type { Tables } from '../../platform/database/schema.ts';

/** The rows to remove: those that ended at `before` or earlier, at most `limit` of them. */
export interface Ended {
  readonly now: number;
  readonly before: number;
  readonly limit: number;
}

/** What a batch came to: fewer rows than its limit mean that no more are due. */
export interface Batch {
  readonly handled: number;
  readonly removed: number;
}

/** How one kind of rows is removed. */
export interface Removal {
  readonly table: keyof Tables;
  /** For how long a row is kept after its end, in milliseconds. */
  readonly kept: number;
  readonly batch: (p: Ended) => Work<Batch>;
  /** When the oldest of the rows ended that are due; undefined where none is. */
  readonly oldest: (p: { readonly before: number }) => Work<number | undefined>;
}

type Remove = (p: Ended) => Work<readonly unknown[]>;

/** All statements go through an index from the oldest end on, however many rows are due. */
export function removal(table: keyof Tables, kept: number, remove: Remove, oldest: Removal['oldest']): Removal {
  function* batch(p: Ended): Work<Batch> {
    const { length } = yield* remove(p);
    return { handled: length, removed: length };
  }
  return { table, kept, batch, oldest };
}

interface Review {
  /** The ids of rows whose review is due, in the order of that. */
  readonly listDue: (p: Pick<Ended, 'before' | 'limit'>) => Work<readonly string[]>;
  /** Removes a row where nothing rests on it any more. */
  readonly removeIfUnused: (p: { readonly id: string }) => Work<boolean>;
  readonly postpone: (p: { readonly id: string; readonly until: number }) => Work<void>;
  /** After how long a row that stays is looked at again, in milliseconds. */
  readonly again: number;
}

/** How rows are removed of which it is looked from time to time whether anything rests on them. */
export function reviewed(
  table: keyof Tables,
  { listDue, removeIfUnused, postpone, again }: Review,
  oldest: Removal['oldest'],
): Removal {
  function* batch({ now, before, limit }: Ended): Work<Batch> {
    const due = yield* listDue({ before, limit });
    let removed = 0;
    for (const id of due) {
      if (yield* removeIfUnused({ id })) removed++;
      else yield* postpone({ id, until: now + again });
    }
    return { handled: due.length, removed };
  }
  return { table, kept: 0, batch, oldest };
}

/** How rows of an append-only table are removed: always the oldest, by their ids. */
export function trimmed(
  table: keyof Tables,
  kept: number,
  trim: (p: Ended) => Work<number>,
  oldestAt: () => Work<number | undefined>,
): Removal {
  function* batch(p: Ended): Work<Batch> {
    const removed = yield* trim(p);
    return { handled: removed, removed };
  }
  function* oldest({ before }: { readonly before: number }): Work<number | undefined> {
    const at = yield* oldestAt();
    return at === undefined || at >= before ? undefined : at;
  }
  return { table, kept, batch, oldest };
}
