import type { Command } from 'commander';
import { wholeNumber } from './option-parsers.ts';

/** The part of a list to print. */
export interface PageOptions {
  readonly limit?: number;
  readonly after?: string;
}

export const withPageOptions = (command: Command): Command =>
  command
    .option('--limit <count>', 'at most this many (default: all)', wholeNumber(1, 1_000_000))
    .option('--after <id>', 'only items after this ID: the last one of the previous page');
