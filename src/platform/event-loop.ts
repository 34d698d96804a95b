import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';

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

/** In milliseconds: far more than the difference that an account makes, and less than a person notices. */
const STEP = 20;

/**
 * Resolves when a whole number of steps of 20 ms has passed, so that an answer does not tell by its time what it took to make.
 * @param began when the work began, by `performance.now()`
 */
export async function endOfStep(began: number): Promise<void> {
  const end = began + Math.ceil((performance.now() - began) / STEP) * STEP;
  // A timer would keep the fraction of a millisecond: what is left of it passes in short turns of the event loop.
  await wait(Math.max(0, Math.floor(end - performance.now()) - 1));
  while (performance.now() < end) await nextTurn();
}
