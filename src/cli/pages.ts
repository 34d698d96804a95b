import type { Command } from 'commander';
import type { Work } from '../platform/database/database.ts';
import { invalid } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { wholeNumber } from './option-parsers.ts';

const PAGE_SIZE = 500;

/** The part of a list to print. */
export interface PageOptions {
  readonly limit?: number;
  readonly after?: string;
}

export const withPageOptions = (command: Command): Command =>
  command
    .option('--limit <count>', 'at most this many (default: all)', wholeNumber(1, 1_000_000))
    .option('--after <id>', 'only items after this ID: the last one of the previous page');

/** The id after which a list begins. */
function startOf(after: string): string {
  if (after !== '0' && !isSnowflake(after)) throw invalid('--after must be an ID.');
  return after;
}

/** Reads a list page by page, in the order of IDs. */
export function* allPages<T extends { readonly id: string }>(
  read: (page: { after: string; limit: number }) => Work<readonly T[]>,
  { limit = Number.POSITIVE_INFINITY, after: start = '0' }: PageOptions = {},
): Work<T[]> {
  const found: T[] = [];
  for (let after = startOf(start); ; ) {
    const wanted = Math.min(PAGE_SIZE, limit - found.length);
    const page: readonly T[] = yield* read({ after, limit: wanted });
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < wanted || found.length === limit) return found;
    after = last.id;
  }
}

/** Searches through a list until enough is found, or to its end. */
export async function allFound<T>(
  search: (page: { after: string; limit: number }) => Promise<{ items: readonly T[]; next: string | undefined }>,
  { limit = Number.POSITIVE_INFINITY, after: start = '0' }: PageOptions,
): Promise<T[]> {
  const found: T[] = [];
  for (let after: string | undefined = startOf(start); after !== undefined && found.length < limit; ) {
    const page = await search({ after, limit: Math.min(PAGE_SIZE, limit - found.length) });
    found.push(...page.items);
    after = page.next;
  }
  return found;
}
