import { isSnowflake } from '../platform/ids/ids.ts';
import { invalidRequest } from '../platform/oauth-error.ts';
import * as Type from '../platform/validation/type.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/** The query parameters of a paged list, with those that filter it. */
export const pageParameters = <P extends Type.TProperties>(filters: P) =>
  Type.Object(
    {
      limit: Type.Integer({
        minimum: 1,
        maximum: MAX_LIMIT,
        default: DEFAULT_LIMIT,
        description: `a whole number from 1 to ${MAX_LIMIT}`,
      }),
      cursor: Type.Optional(Type.String({ description: '`nextCursor` of the previous page' })),
      ...filters,
    },
    { additionalProperties: false },
  );

/** The schema of a page of a list. */
export const pageOf = (item: Type.TSchema) =>
  Type.Object({
    items: Type.Array(item),
    nextCursor: Type.Union([Type.String(), Type.Null()], { about: 'Null at the end of the list.' }),
  });

/** The items to read: at most `limit`, in the order of their ids, after the id `after` (`0` for the start). */
export interface PageRequest {
  readonly after: string;
  readonly limit: number;
}

/** Cursors are opaque to callers. */
const encodeCursor = (id: string): string => Buffer.from(`after ${id}`).toString('base64url');

function decodeCursor(cursor: string): string {
  const id = /^after (\d+)$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'))?.[1] ?? '';
  if (!isSnowflake(id)) throw invalidRequest('cursor is not one of this list: take it from nextCursor.');
  return id;
}

/**
 * Reads a page of a list, and one item more to know whether there is a next page.
 * @throws {OAuthError} `invalid_request` for an invalid cursor
 */
export async function readPage<T extends { readonly id: string }, V>(
  { limit, cursor }: { readonly limit: number; readonly cursor?: string },
  read: (request: PageRequest) => Promise<readonly T[]>,
  view: (item: T) => V,
): Promise<{ items: V[]; nextCursor: string | null }> {
  const found = await read({ after: cursor === undefined ? '0' : decodeCursor(cursor), limit: limit + 1 });
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return {
    items: items.map(view),
    nextCursor: found.length > limit && last !== undefined ? encodeCursor(last.id) : null,
  };
}
