import { SECOND } from '../platform/clock.ts';

/** Reports how far a step of a command is: on standard error, and not before it has taken a second. */
export function reportProgress(step: string): (done: number, total: number) => void {
  let last = performance.now();
  return (done, total) => {
    if (performance.now() - last < SECOND) return;
    last = performance.now();
    process.stderr.write(`${step}: ${Math.floor((100 * done) / Math.max(1, total))} %\n`);
  };
}
