import { hostname } from 'node:os';
import type { LogLevel } from '../platform/config/log-level.ts';
import { logLine, plainLogger } from '../platform/log.ts';
import { type LogOutput, standardOutput } from '../platform/log-output.ts';

/** Where a process that serves writes: its log, and what is for the person who started it. */
export interface Logs {
  readonly out: LogOutput;
  readonly err: LogOutput;
}

export function openLogs(level: LogLevel): Logs {
  const every = { pid: process.pid, hostname: hostname(), clock: Date.now };
  const err = standardOutput('stderr');
  const out = standardOutput('stdout', {
    notice(dropped) {
      let text = '';
      const log = plainLogger(level, every, (line) => {
        text = line;
      });
      logLine(log, 'warn', 'lines of the log were dropped', { dropped });
      return text;
    },
    warn(cause, dropped) {
      err.write(
        `Warning: The log on the standard output takes no more lines (${cause}): ${dropped} dropped so far. The service goes on. ` +
          'Make room on its disk, or see that its reader reads.\n',
      );
    },
  });
  return { out, err };
}
