import { SECOND } from '../clock.ts';
import type { Ids } from './ids.ts';

const INTERVAL = 10 * SECOND;

/**
 * Keeps a node number at hand, from now on until stopped.
 * @param failed told where it cannot be had or kept; it is tried again every ten seconds
 */
export function keepNumber(ids: Pick<Ids, 'keep'>, failed: (error: unknown) => void) {
  let running: Promise<void> | undefined;
  const look = () => {
    running ??= ids
      .keep()
      .catch(failed)
      .finally(() => {
        running = undefined;
      });
  };
  look();
  const timer = setInterval(look, INTERVAL);
  timer.unref();
  return async function stop(): Promise<void> {
    clearInterval(timer);
    await running;
  };
}
