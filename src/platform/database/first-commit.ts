import type { Database, Work } from './database.ts';

/**
 * A database whose first commit begins with another piece of work: it decides whether the rest still holds, and rolls all of it back by
 * an error.
 */
export function beforeFirstCommit(database: Database, first: () => Work<void>): Database {
  let isDone = false;
  return {
    ...database,
    async commit(work) {
      if (isDone) return database.commit(work);
      const result = await database.commit(function* checked() {
        yield* first();
        return yield* work();
      });
      isDone = true;
      return result;
    },
  };
}
