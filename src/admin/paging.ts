import { invalid } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
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
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      about: 'Null at the end of the list, and only there.',
    }),
  });

/** The items to read: at most `limit`, in the order of their ids, after the id `after` (`0` for the start). */
export interface PageRequest {
  readonly after: string;
  readonly limit: number;
}

/** The cursor after an item. Cursors are opaque to callers; the command line makes one of the ID that a person gives. */
export const encodeCursor = (id: string): string => Buffer.from(`after ${id}`).toString('base64url');

function decodeCursor(cursor: string): string {
  const id = /^after (\d+)$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'))?.[1] ?? '';
  if (!isSnowflake(id)) throw invalid('cursor is not one of this list: take it from nextCursor.');
  return id;
}

/** The parameters of a request for a page. */
interface PageQuery {
  readonly limit: number;
  readonly cursor?: string;
}

interface Page<V> {
  readonly items: readonly V[];
  readonly nextCursor: string | null;
}

/**
 * Reads a page of a list where one request examines only so many items: a page may be short before the end of the list.
 * @param read answers with at most `limit` items, and with the id after which to go on, if there is more
 * @throws {OAuthError} `invalid_request` for an invalid cursor
 */
export async function readBoundedPage<T, V>(
  { limit, cursor }: PageQuery,
  read: (request: PageRequest) => Promise<{ readonly items: readonly T[]; readonly next: string | undefined }>,
  view: (item: T) => V,
): Promise<Page<V>> {
  const { items, next } = await read({ after: cursor === undefined ? '0' : decodeCursor(cursor), limit });
  return { items: items.map(view), nextCursor: next === undefined ? null : encodeCursor(next) };
}

/**
 * Reads a page of a list, and one item more to know whether there is a next page.
 * @throws {OAuthError} `invalid_request` for an invalid cursor
 */
export const readPage = <T extends { readonly id: string }, V>(
  query: PageQuery,
  read: (request: PageRequest) => Promise<readonly T[]>,
  view: (item: T) => V,
): Promise<Page<V>> =>
  readBoundedPage(
    query,
    async ({ after, limit }) => {
      const found = await read({ after, limit: limit + 1 });
      const items = found.slice(0, limit);
      return { items, next: found.length > limit ? items.at(-1)?.id : undefined };
    },
    view,
  );
