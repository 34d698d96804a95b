import type { Reading } from './variable.ts';

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A level of the log, as a setting. */
export function logLevel(value: string): Reading<LogLevel> {
  const level = LOG_LEVELS.find((known) => known === value);
  return level === undefined ? { problem: `must be one of ${LOG_LEVELS.join(', ')}` } : { value: level };
}
