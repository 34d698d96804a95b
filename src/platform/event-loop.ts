import { setImmediate as nextTurn } from 'node:timers/promises';

/** The number of consecutive turns that have to be short, and the longest short turn in milliseconds. */
const SHORT_TURNS = 3;
const LONGEST_SHORT_TURN = 0.4;

/**
 * Resolves once the event loop has caught up with events that arrived while it was blocked: several consecutive turns were short.
 * @param timeout the longest wait, in milliseconds
 */
export async function loopCaughtUp(timeout: number): Promise<void> {
  const began = performance.now();
  let before = began;
  for (let short = 0; short < SHORT_TURNS && before - began < timeout; ) {
    await nextTurn();
    const now = performance.now();
    short = now - before < LONGEST_SHORT_TURN ? short + 1 : 0;
    before = now;
  }
}
