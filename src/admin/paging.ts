import type { RepeatableParameters } from '../http/parameters.ts';
import { isSnowflake } from '../identifiers/snowflake.ts';
import { invalidRequest } from '../oauth-error.ts';

export const DEFAULT_LIMIT = 50;
export const LARGEST_LIMIT = 200;

/** Which part of a list is asked for. */
export interface PageQuery {
  /** The id after which the page begins; `0` is the start. */
  readonly after: string;
  readonly limit: number;
}

/** An opaque cursor. */
const encode = (id: string): string => Buffer.from(`after ${id}`).toString('base64url');

function decode(cursor: string): string {
  const id = /^after (\d+)$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'))?.[1] ?? '';
  if (!isSnowflake(id)) throw invalidRequest('cursor is not one of this list: take it from nextCursor.');
  return id;
}

/** @throws {OAuthError} `invalid_request` naming the parameter */
export function readPage(query: RepeatableParameters, allowed: readonly string[] = []): PageQuery {
  for (const name of query.repeated) throw invalidRequest(`${name} was sent more than once.`);
  for (const name of query.names) {
    const known = ['limit', 'cursor', ...allowed];
    if (!known.includes(name))
      throw invalidRequest(`${name.slice(0, 64)} is not a parameter here: ${known.join(', ')} are.`);
  }
  const limit = query.get('limit') ?? String(DEFAULT_LIMIT);
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > LARGEST_LIMIT) {
    throw invalidRequest(`limit must be a whole number from 1 to ${LARGEST_LIMIT}.`);
  }
  const cursor = query.get('cursor');
  return { after: cursor === undefined ? '0' : decode(cursor), limit: Number(limit) };
}

/** The text that is looked for. @throws {OAuthError} `invalid_request`: no name holds what it refuses */
export function readSearch(query: RepeatableParameters): string | undefined {
  const text = query.get('q');
  if (text !== undefined && (text.length > 256 || /\p{Cc}/u.test(text))) {
    throw invalidRequest('q must be at most 256 characters without control characters.');
  }
  return text;
}

/**
 * Reads one page more than by one item, to know whether there is a next.
 * @param read gives up to `limit` items after an id, in the order of their ids
 */
export async function page<T extends { readonly id: string }, V>(
  { after, limit }: PageQuery,
  read: (query: PageQuery) => Promise<readonly T[]>,
  view: (item: T) => V,
): Promise<{ items: V[]; nextCursor: string | null }> {
  const items = await read({ after, limit: limit + 1 });
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(view),
    nextCursor: items.length > limit && last !== undefined ? encode(last.id) : null,
  };
}
