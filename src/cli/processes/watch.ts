import { SECOND } from '../../platform/clock.ts';

/** How often each process is asked whether it works. */
const INTERVAL = 10 * SECOND;
/** How many questions in a row it may leave unanswered. */
const PATIENCE = 6;

/** Something that answers while it works. */
interface Watched {
  /** How many questions in a row it has not answered. */
  unanswered: number;
}

/**
 * Finds processes that live and do not work: one whose event loop hangs gets few new connections, so that no health check would notice,
 * but those that it has wait, and so may everybody for its turn to hash.
 * @param all those that serve now
 * @returns what ends the watch
 */
export function watch<T extends Watched>(
  all: () => readonly T[],
  ask: (one: T) => void,
  hangs: (one: T) => void,
): () => void {
  const timer = setInterval(() => {
    for (const one of all()) {
      if (one.unanswered >= PATIENCE) hangs(one);
      else ask(one);
      one.unanswered++;
    }
  }, INTERVAL);
  return () => clearInterval(timer);
}
