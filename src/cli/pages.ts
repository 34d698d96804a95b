import type { Command } from 'commander';
import type { Work } from '../platform/database/database.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { invalidRequest } from '../platform/oauth-error.ts';
import { wholeNumber } from './numbers.ts';

const PART = 500;

/** How much of a list is asked for. */
export interface PageOptions {
  readonly limit?: number;
  readonly after?: string;
}

/** The options of a list. */
export const withPageOptions = (command: Command): Command =>
  command
    .option('--limit <count>', 'at most so many; without it, all', wholeNumber(1, 1_000_000))
    .option('--after <id>', 'only those after this one, which was the last of the part before');

/** The items of a list that is read part by part, in the order of their ids. */
export function* allPages<T extends { readonly id: string }>(
  read: (part: { after: string; limit: number }) => Work<readonly T[]>,
  { limit = Number.POSITIVE_INFINITY, after: start = '0' }: PageOptions = {},
): Work<T[]> {
  if (start !== '0' && !isSnowflake(start)) throw invalidRequest('--after must be an id.');
  const found: T[] = [];
  for (let after = start; ; ) {
    const wanted = Math.min(PART, limit - found.length);
    const part: readonly T[] = yield* read({ after, limit: wanted });
    found.push(...part);
    const last = part.at(-1);
    if (last === undefined || part.length < wanted || found.length === limit) return found;
    after = last.id;
  }
}
