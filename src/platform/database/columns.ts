import { type RawBuilder, sql } from 'kysely';
import type { Tables } from './schema.ts';

/**
 * The named columns of a row. Where the whole row is wanted, a list that lacks a column of the table is a type error.
 *
 * Statements name their columns: the meaning of `*` changes as soon as a newer version adds one, and PostgreSQL then refuses
 * every statement that was prepared with it.
 */
export function pick<Row, Name extends keyof Row>(row: Row, names: readonly Name[]): Pick<Row, Name> {
  return Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>;
}

/**
 * Whether a column of a result has ids, which are read as text: they exceed the whole numbers of JavaScript. A statement that renames such
 * a column calls it `…Id`.
 */
export const isIdColumn = (name: string): boolean =>
  name === 'id' || name.endsWith('_id') || name.endsWith('Id') || name === 'used_by' || name === 'last_event';

/**
 * A constant written into the SQL. The condition or expression of an index contains constants, and a database does not match
 * parameters with them.
 * @throws {TypeError} for anything but a word or a number, so that no value from outside gets into the SQL
 */
export function constant<T extends string | number>(value: T): RawBuilder<T> {
  if (!/^[\w.]+$/.test(String(value)))
    throw new TypeError(`${value} must not be written into SQL: it is not a constant`);
  return sql.lit(value);
}

/**
 * The negative of an id column. An index on it serves a query that must not use the primary key: it contains only the rows that the
 * query can match, while a lookup by the id would read a page of the table for each.
 */
export const negated = (column: string): RawBuilder<number> => sql<number>`-${sql.ref(column)}`;

/**
 * The rows of a table.
 * @param extent `all` of them, those `outside` of its parts, or those of a part, by its name. A database that does not keep the table in
 * parts knows `all` only: see `TableParts`.
 */
export const rowsFrom = <T extends keyof Tables & string>(table: T, extent: string) => {
  const rows = extent === 'all' || extent === 'outside' ? table : extent;
  return sql<Tables[T]>`${sql.raw(extent === 'outside' ? 'only ' : '')}${sql.table(rows)}`.as(table);
};
