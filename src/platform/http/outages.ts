import { type Clock, SECOND } from '../clock.ts';
import { afterEvent, type Outage, type OutageEvent, type OutageLine } from './rules/outage.ts';
import type { Meter } from './server.ts';

/** How a refusal for the store is told from others, in the log and the figures. */
export const STORE_UNAVAILABLE = 'the store is unavailable';

/** What is known of the store from work that it failed. */
export interface Outages {
  /** @param refused whether a request was refused for it; otherwise it was work beside the requests */
  failed(error: Error, refused: boolean): void;
  lasts(): boolean;
  stop(): void;
}

/** Tells the log of an outage of the store as a whole, whatever it fails. Its end is noticed without any request. */
export function watchOutages(
  clock: Clock,
  meter: Pick<Meter, 'refusedForStore'>,
  tell: (line: OutageLine) => void,
): Outages {
  let outage: Outage | undefined;
  function on(event: OutageEvent): void {
    const after = afterEvent(outage, event, clock());
    outage = after.outage;
    if (after.line !== undefined) tell(after.line);
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
