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

/** Reports how many items a step of a command has handled, where their number is not known: on standard error, at most once a second. */
export function countProgress(what: string): (done: number) => void {
  let last = performance.now();
  return (done) => {
    if (performance.now() - last < SECOND) return;
    last = performance.now();
    process.stderr.write(`${what}: ${done}\n`);
  };
}

/** Of smaller databases, the check takes about a second. */
const LARGE = 2 ** 27;

/** Reports that the structure of a database is checked next. SQLite does not tell how far that is. */
export function announceCheck(bytes: number): void {
  if (bytes >= LARGE) process.stderr.write(`Checking the structure of ${Math.round(bytes / 2 ** 20)} MiB\n`);
}
