import { writeSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { MINUTE } from './clock.ts';

/** How many bytes wait at most until they can be written. */
const MOST_WAITING = 1024 * 1024;

/** How often it is tried again, in milliseconds. */
const RETRY = 50;

/** How many lines were lost, and whether more are being lost now. */
export interface LogLoss {
  readonly dropped: number;
  readonly lasts: boolean;
}

/** The losses where lines go through several outputs. */
export const addLosses = (...losses: readonly (LogLoss | undefined)[]): LogLoss => ({
  dropped: losses.reduce((sum, loss) => sum + (loss?.dropped ?? 0), 0),
  lasts: losses.some((loss) => loss?.lasts),
});

/** Takes lines, and neither waits for their reader nor fails with their disk. */
export interface LogOutput {
  /** @param lines one line or several, each with its end */
  write(lines: string | Buffer): void;
  loss(): LogLoss;
  /** Resolves when nothing waits, or after so many milliseconds. */
  flush(most: number): Promise<void>;
}

interface Target {
  /**
   * Writes what it can without waiting.
   * @returns how many bytes that were
   */
  readonly put: (lines: string | Buffer) => number;
  /** The line that follows when lines were dropped and there is room again. */
  readonly notice?: (dropped: number) => string;
  /** Called when lines are dropped, once a minute. */
  readonly warn?: (cause: string, dropped: number) => void;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

/**
 * A log that cannot be written must not stop the service: a full disk fails, and a pipe that nobody reads blocks. What cannot be written
 * waits, up to {@link MOST_WAITING}; then lines are dropped and counted, and a line says how many when there is room again.
 */
export function openLogOutput({ put, notice, warn }: Target): LogOutput {
  const waiting: Buffer[] = [];
  let size = 0;
  let dropped = 0;
  /** How many of them no line has told of. */
  let unreported = 0;
  let cause = '';
  let warnedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  /** Returns what was not written. */
  function attempt(lines: string | Buffer): Buffer | undefined {
    let written = 0;
    try {
      written = put(lines);
      if (written === Buffer.byteLength(lines)) return undefined;
    } catch (error) {
      cause = codeOf(error);
    }
    return Buffer.from(lines).subarray(written);
  }

  function hold(lines: Buffer): void {
    waiting.push(lines);
    size += lines.length;
    timer ??= setInterval(retry, RETRY).unref();
  }

  function drop(lines: string | Buffer): void {
    const count = Math.max(1, lines.toString().split('\n').length - 1);
    dropped += count;
    unreported += count;
    const now = performance.now();
    if (now - warnedAt < MINUTE) return;
    warnedAt = now;
    warn?.(cause, dropped);
  }

  function write(lines: string | Buffer): void {
    if (waiting.length > 0) {
      if (size + lines.length > MOST_WAITING) drop(lines);
      else hold(Buffer.from(lines));
      return;
    }
    const left = attempt(lines);
    if (left !== undefined) hold(left);
  }

  function retry(): void {
    for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
      const left = attempt(first);
      size -= first.length - (left?.length ?? 0);
      if (left === undefined) waiting.shift();
      else waiting[0] = left;
      if (left?.length === first.length) return;
    }
    clearInterval(timer);
    timer = undefined;
    if (unreported === 0) return;
    const count = unreported;
    unreported = 0;
    if (notice) write(notice(count));
  }

  return {
    write,
    loss: () => ({ dropped, lasts: unreported > 0 }),
    async flush(most) {
      const until = performance.now() + most;
      for (retry(); waiting.length > 0 && performance.now() < until; retry()) await wait(RETRY);
    },
  };
}

/**
 * The standard output or the standard error of this process. A pipe does not block any more: reading the stream makes it so.
 */
export function standardOutput(name: 'stdout' | 'stderr', target: Omit<Target, 'put'> = {}): LogOutput {
  const { fd } = process[name];
  // What else writes there meets the same full disk.
  process[name].on('error', () => {});
  return openLogOutput({
    ...target,
    put: (lines) => (typeof lines === 'string' ? writeSync(fd, lines) : writeSync(fd, lines)),
  });
}
