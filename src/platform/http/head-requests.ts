import { AsyncLocalStorage } from 'node:async_hooks';
import type { Database, Work } from '../database/database.ts';

/** Ends a unit of work whose result is all that is wanted of it. */
class Undone extends Error {
  readonly result: unknown;
  constructor(result: unknown) {
    super('undone');
    this.result = result;
  }
}

/** Runs a unit of work and undoes it. */
async function undo<T>(database: Database, work: () => Work<T>): Promise<T> {
  try {
    return await database.commit(function* run(): Work<T> {
      throw new Undone(yield* work());
    });
  } catch (error) {
    if (error instanceof Undone) return error.result as T;
    throw error;
  }
}

/** How requests with HEAD are answered: by the handler of GET (RFC 9110 §9.3.2), of which nothing remains. */
export interface HeadRequests {
  /** Whether the caller runs on behalf of such a request. */
  isHead(): boolean;
  /** Goes on with such a request. */
  enter(next: () => void): void;
  /** For handlers: what they commit for such a request is undone. */
  readonly database: Database;
}

/**
 * Scanners of mail and of links send HEAD to every address, and must spend, begin and record nothing.
 * @param database what background work commits to, whatever started it
 */
export function headRequests(database: Database): HeadRequests {
  const requests = new AsyncLocalStorage<true>();
  const isHead = (): boolean => requests.getStore() === true;
  return {
    isHead,
    enter: (next) => requests.run(true, next),
    database: {
      ...database,
      commit: (work) => (isHead() ? undo(database, work) : database.commit(work)),
    },
  };
}
