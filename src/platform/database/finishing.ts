import type { Database, Work } from './database.ts';

const FINISHING = new WeakSet<() => Work<unknown>>();

/**
 * A database for the units of work that finish what an earlier commit of the same request made: an ending would otherwise live on in part,
 * with nobody who goes on. The database of an operator runs them also where that commit, or somebody meanwhile, took the operator's right.
 */
export const finishingDatabase = (database: Database): Database => ({
  ...database,
  commit(work) {
    const unit: typeof work = () => work();
    FINISHING.add(unit);
    return database.commit(unit);
  },
});

/** Whether a unit of work came by a {@link finishingDatabase}. */
export const isFinishing = (work: () => Work<unknown>): boolean => FINISHING.has(work);

/** A unit of work around another one, which finishes something if that does. */
export function around<T>(inner: () => Work<unknown>, unit: () => Work<T>): () => Work<T> {
  if (isFinishing(inner)) FINISHING.add(unit);
  return unit;
}
