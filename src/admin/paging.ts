import { isSnowflake } from '../platform/ids/ids.ts';
import { invalidRequest } from '../platform/oauth-error.ts';
import * as Type from '../platform/validation/type.ts';

const DEFAULT_LIMIT = 50;
const LARGEST_LIMIT = 200;

/** The parameters of a list. @param filters what it can be narrowed by */
export const listQuery = <P extends Type.TProperties>(filters: P) =>
  Type.Object(
    {
      limit: Type.Integer({
        minimum: 1,
        maximum: LARGEST_LIMIT,
        default: DEFAULT_LIMIT,
        description: `a whole number from 1 to ${LARGEST_LIMIT}`,
      }),
      cursor: Type.Optional(Type.String({ description: 'the `nextCursor` of the answer before' })),
      ...filters,
    },
    { additionalProperties: false },
  );

/** A part of a list. */
export const listOf = (item: Type.TSchema) =>
  Type.Object({
    items: Type.Array(item),
    nextCursor: Type.Union([Type.String(), Type.Null()], { about: 'Null at the end of the list.' }),
  });

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

/**
 * Reads one page more than by one item, to know whether there is a next.
 * @param read gives up to `limit` items after an id, in the order of their ids
 * @throws {OAuthError} `invalid_request` for a cursor that is none
 */
export async function page<T extends { readonly id: string }, V>(
  { limit, cursor }: { readonly limit: number; readonly cursor?: string },
  read: (query: PageQuery) => Promise<readonly T[]>,
  view: (item: T) => V,
): Promise<{ items: V[]; nextCursor: string | null }> {
  const items = await read({ after: cursor === undefined ? '0' : decode(cursor), limit: limit + 1 });
  const shown = items.slice(0, limit);
  const last = shown.at(-1);
  return {
    items: shown.map(view),
    nextCursor: items.length > limit && last !== undefined ? encode(last.id) : null,
  };
}
