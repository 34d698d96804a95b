import { type Clock, SECOND } from '../clock.ts';
import type { Meter } from './meter.ts';
import { afterEvent, type Outage, type OutageEvent, type OutageLine } from './rules/outage.ts';

/** The reason of a refusal because the store is unavailable, in the log and the metrics. */
export const STORE_UNAVAILABLE = 'the store is unavailable';

/** Tracks outages of the store by the work that failed because of it. */
export interface Outages {
  /** @param refused whether a request was refused; otherwise background work failed */
  failed(error: Error, refused: boolean): void;
  /** Whether an outage is in progress. */
  lasts(): boolean;
  stop(): void;
}

/** Logs an outage of the store as a whole, whatever fails because of it. A timer notices its end, without any request. */
export function watchOutages(
  clock: Clock,
  meter: Pick<Meter, 'refusedForStore'>,
  log: (line: OutageLine) => void,
): Outages {
  let outage: Outage | undefined;
  function on(event: OutageEvent): void {
    const after = afterEvent(outage, event, clock());
    outage = after.outage;
    if (after.line !== undefined) log(after.line);
  }
  const timer = setInterval(() => on({ kind: 'passed' }), SECOND);
  timer.unref();
  return {
    failed(error, refused) {
      if (refused) meter.refusedForStore();
      on({ kind: 'failed', refused, cause: error.message });
    },
    lasts: () => outage !== undefined,
    stop: () => clearInterval(timer),
  };
}
