import { type Expression, type Kysely, sql } from 'kysely';
import type { Database, Work } from './database.ts';
import type { Tables } from './schema.ts';

const literally = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** A LIKE pattern for values that contain a text literally. */
export const containing = (text: string): string => `%${literally(text)}%`;

/** A LIKE pattern for values that begin with a text literally. */
export const beginning = (text: string): string => `${literally(text)}%`;

/** Whether a column matches a pattern. */
export const matches = (column: Expression<string>, pattern: string) =>
  sql<boolean>`${column} like ${pattern} escape '\\'`;

/** What a search of everything asks of each kind of object. */
export interface NamedSearch {
  /** A text in lower case; SQLite converts ASCII letters only, so names are compared with the text as typed as well. */
  readonly pattern: string;
  readonly asTyped: string;
  /** The text as an id; `0` where it is none. */
  readonly id: string;
  readonly limit: number;
}

/** An object that a search of everything has found. */
export interface NamedRow {
  readonly id: string;
  readonly name: string;
  /** What tells it from others of that name; null for its id. */
  readonly note: string | null;
}

/** The ids among which a search of everything looks: those of the first rows of a table, and the id that was typed. */
export const soughtIds = (
  db: Kysely<Tables>,
  table: 'admin_key' | 'client' | 'organization' | 'upstream' | 'user_group',
  p: Pick<NamedSearch, 'id'>,
) =>
  db
    .selectFrom(db.selectFrom(table).select('id').where('id', '>', '0').orderBy('id').limit(SEARCH_SIZE).as('first'))
    .select('first.id')
    .union(db.selectFrom(table).select('id').where('id', '=', p.id))
    .as('sought');

/** A search through a table in the order of its ids. */
export interface Search {
  readonly after: string;
  readonly limit: number;
  /** How many rows one read examines. */
  readonly size?: number;
  /** How many reads there are at most. */
  readonly steps?: number;
}

/** Part of a table: the rows after one id, through another. */
export interface SearchRange {
  readonly after: string;
  readonly through: string;
  readonly limit: number;
}

/** What a search found so far. */
export interface Found<T> {
  readonly items: readonly T[];
  /** The id after which to go on; undefined where no rows are left. */
  readonly next: string | undefined;
}

/** How many rows one read of a search examines at most, so that other requests do not wait for it. */
const SEARCH_SIZE = 5000;
/** How many such reads one request waits for at most. */
const SEARCH_STEPS = 10;

/**
 * Searches for what no index finds: rows are examined until there are enough, but only so many for one request. In a large table, fewer
 * than `limit` are found, or none, and the search goes on after `next`.
 * @param lastOfStep the last id of the next rows to examine
 * @param searchStep the rows of a range that are sought
 */
export async function searchInSteps<T extends { readonly id: string }>(
  database: Pick<Database, 'read'>,
  { after: start, limit, size = SEARCH_SIZE, steps = SEARCH_STEPS }: Search,
  lastOfStep: (step: { after: string; size: number }) => Work<{ readonly id: string | null } | undefined>,
  searchStep: (range: SearchRange) => Work<readonly T[]>,
): Promise<Found<T>> {
  const items: T[] = [];
  let after = start;
  for (let step = 0; step < steps; step++) {
    const through = (await database.read(() => lastOfStep({ after, size })))?.id;
    if (through == null) return { items, next: undefined };
    // One more than there is room for says whether the list ends here.
    const range = { after, through, limit: limit - items.length + 1 };
    items.push(...(await database.read(() => searchStep(range))));
    const [beyond] = items.splice(limit);
    if (beyond !== undefined) return { items, next: String(BigInt(beyond.id) - 1n) };
    after = through;
  }
  return { items, next: after };
}
