// Locks of the rows that a query reads, until the unit of work ends. They exist here alone: the dialect of SQLite must know each of them
// to leave it out, since SQLite has one writer at a time and no such clauses.

import type { SelectQueryBuilder } from 'kysely';

/** For a unit that deletes the rows, or changes what others refer to. */
export const forUpdate = <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>, of?: TB & string) =>
  query.forUpdate(of);

/** For a unit that changes the rows. Rows that refer to them may still be written. */
export const forNoKeyUpdate = <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>, of?: TB & string) =>
  query.forNoKeyUpdate(of);

/** For a unit that relies on the rows: others may do so at the same time, and change them, but not delete them. */
export const forKeyShare = <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>, of?: TB & string) =>
  query.forKeyShare(of);

/** For a unit that relies on the values of the rows: others may read them, but not change or delete them. */
export const forShare = <DB, TB extends keyof DB, O>(query: SelectQueryBuilder<DB, TB, O>, of?: TB & string) =>
  query.forShare(of);
