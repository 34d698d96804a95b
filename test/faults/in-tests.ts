import type { Options } from './trial.ts';

/** A fault as the tests have it: fewer people, on a machine that does other things besides. */
export const inTests = (times: number): Options => ({ times, seed: 1, people: 3, progress: () => {} });
