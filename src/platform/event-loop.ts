import { setImmediate as nextTurn } from 'node:timers/promises';

/** How many turns in a row have to be short, and how short, in milliseconds. */
const TURNS = 3;
const SHORT = 0.4;

/**
 * Resolves once the event loop has caught up with what came while it had no processor: some turns in a row were short.
 * @param patience how long a loop that does not catch up is waited for, in milliseconds
 */
export async function loopCaughtUp(patience: number): Promise<void> {
  const began = performance.now();
  let before = began;
  for (let short = 0; short < TURNS && before - began < patience; ) {
    await nextTurn();
    const now = performance.now();
    short = now - before < SHORT ? short + 1 : 0;
    before = now;
  }
}
