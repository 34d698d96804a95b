import type { Version } from '../../version.ts';
import type { Query } from './migrate.ts';

/** The differences between the two databases in table definitions. */
export interface ColumnTypes {
  /** A 64-bit integer. */
  readonly int: string;
  /** A 64-bit primary key that the database generates without reusing a number. */
  readonly serial: string;
  /** Bytes of any length. */
  readonly bytes: string;
  /** Table options after the closing parenthesis. */
  readonly options: string;
  /** The current time in milliseconds, as an expression. */
  readonly now: string;
}

/** The statements of a migration. */
export type Statements = (types: ColumnTypes) => readonly string[];

/**
 * A migration that only adds: every statement of the version before still runs and means the same. Nodes of that version go on
 * serving, and may be started on the new schema.
 */
interface Expand {
  readonly kind: 'expand';
  readonly statements: Statements;
}

/** A migration that removes or restricts what the version before no longer uses. */
interface Contract {
  readonly kind: 'contract';
  /** The earliest version that runs on the schema afterwards: the first one that does not use what this removes. */
  readonly earliest: Version;
  readonly statements: Statements;
}

/** An index of a table that may be large when it gets it. */
export interface NewIndex {
  readonly name: string;
  readonly table: string;
  readonly columns: string;
  /** The rows that it contains; all of them if left out. */
  readonly where?: string;
}

/** An expansion by indexes. PostgreSQL builds them outside of a transaction, while others write to the tables. */
export interface IndexMigration {
  readonly kind: 'indexes';
  readonly indexes: readonly NewIndex[];
  /** The same in a transaction: for a new database, and for SQLite, which has one writer anyway. */
  readonly statements: Statements;
}

/** How rows are changed. Nodes of the version before, which do not know of it, may change and add rows meanwhile. */
export interface RowChange {
  /** A table whose key is a positive `id`. */
  readonly table: string;
  readonly set: string;
  /** Which rows are changed. */
  where(types: ColumnTypes): string;
}

/** An expansion that fills in a column of existing rows, in batches of a short transaction each. */
export interface RowMigration {
  readonly kind: 'rows';
  readonly change: RowChange;
  /** For a new database, which has no rows. */
  readonly statements: Statements;
}

/** An expansion that rewrites rows in a way that SQL cannot, in one transaction: for rows of which there are few. */
export interface RewriteMigration {
  readonly kind: 'rewrite';
  /** @returns what it left for an operator to decide, with the remedy */
  rewrite(query: Query): Promise<readonly string[]>;
  /** For a new database, which has no rows. */
  readonly statements: Statements;
}

/** An entry of a timeline. */
export type Migration = Expand | Contract | IndexMigration | RowMigration | RewriteMigration;

/** The migrations from an empty database to the schema of a version, in their order. */
export type Timeline = Readonly<Record<string, Migration>>;

/** The condition of an index, as it is written behind its columns. */
export const condition = (where: string | undefined): string => (where === undefined ? '' : ` WHERE ${where}`);

/** Adds tables and columns. */
export const expand = (statements: Statements): Expand => ({ kind: 'expand', statements });

/** Adds indexes to tables that may be large. */
export const addIndexes = (...indexes: readonly NewIndex[]): IndexMigration => ({
  kind: 'indexes',
  indexes,
  statements: () =>
    indexes.map(
      ({ name, table, columns, where }) => `CREATE INDEX ${name} ON ${table} (${columns})${condition(where)}`,
    ),
});

/** Changes the rows of a table that may be large. */
export const changeRows = (change: RowChange): RowMigration => ({ kind: 'rows', change, statements: () => [] });
