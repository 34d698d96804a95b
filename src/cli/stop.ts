import { setTimeout as wait } from 'node:timers/promises';
import { SECOND } from '../platform/clock.ts';
import { isRunByNpx } from '../platform/config/npx.ts';
import { SHARE_OF_SUPERVISOR, STOP_TIMEOUT } from '../platform/stop.ts';
import type { Config } from '../settings/config.ts';
import type { Logs } from './logs.ts';

/** How long the last lines of the log may take. */
const FLUSH_TIMEOUT = SECOND / 2;

interface Stoppable {
  drain(): void;
  close(patiently?: boolean): Promise<void>;
}

/**
 * Closes the service and ends the process. One deadline holds for all of it: whatever does not answer, such as a silent database, keeps
 * the process no longer than that. What is cut off then is as after a crash, from which nothing is lost that was acknowledged.
 * @param isSupervised whether a supervisor waits for this process, which itself has to end in time
 */
export async function end(
  close: () => Promise<void>,
  { out, err }: Logs,
  { isSupervised = false, exit = exitNow }: { isSupervised?: boolean; exit?: (status: number) => void } = {},
): Promise<void> {
  const { promise: deadline, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => resolve('late'), STOP_TIMEOUT - (isSupervised ? SHARE_OF_SUPERVISOR : 0));
  let status = 0;
  try {
    if ((await Promise.race([close(), deadline])) === 'late') {
      err.write('Warning: The service ended without what did not answer in time, such as the database or an app.\n');
    }
  } catch (error) {
    err.write(`${String(error)}\n`);
    status = 1;
  }
  clearTimeout(timer);
  await Promise.all([out.flush(FLUSH_TIMEOUT), err.flush(FLUSH_TIMEOUT)]);
  exit(status);
}

/**
 * Ends the process. Node waits for what the system still does in other threads, such as to ask a name service that does not answer;
 * a program in its place does not.
 */
function exitNow(status: number): void {
  const program = [process.execPath, '--eval', `process.exit(${status})`];
  if (process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap')) process.execve?.(process.execPath, program, {});
  process.exit(status);
}

/** The process that started this one. It may end while the server starts, so it is asked for first. */
const PARENT = process.ppid;

/**
 * `npx tessera serve` starts the command in a shell, which a signal to npm ends without passing it on: the server would be left behind.
 */
function stopWithShell(): void {
  const timer = setInterval(() => {
    if (process.ppid === PARENT) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, SECOND).unref();
}

/** Ends the process when it is told to. Called before the server says that it is ready: from then on it may be stopped. */
export function stopOnSignals({ drainSeconds }: Config, service: Stoppable, logs: Logs): void {
  let stoppingSince: number | undefined;
  if (isRunByNpx()) stopWithShell();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      // A second signal stops the server without waiting for requests. One within a second is the same signal: npm forwards a
      // signal that the supervisor has also sent to this process.
      if (stoppingSince !== undefined) {
        if (performance.now() - stoppingSince > SECOND) process.exit(1);
        return;
      }
      stoppingSince = performance.now();
      service.drain();
      // Load balancers need time to notice the drain only if a supervisor stops the server, not on Ctrl+C.
      const drainTime = signal === 'SIGTERM' ? drainSeconds * SECOND : 0;
      void wait(drainTime).then(() => end(() => service.close(signal === 'SIGTERM'), logs));
    });
  }
}
