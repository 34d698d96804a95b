import type { Options } from './trial.ts';

/** A short sample of a fault, for `npm test`; `npm run faults` has more of each, and for longer. */
export const inTests = (times: number): Options => ({
  ...{ times, seed: 1, people: 3, sample: true },
  progress: () => {},
});
