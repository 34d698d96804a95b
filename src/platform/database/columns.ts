/**
 * The named columns of a row; a list that lacks a column of the table is a type error where the whole row is wanted.
 *
 * Statements name their columns: `*` means something else as soon as a newer version adds one, and PostgreSQL then refuses
 * every statement that was prepared with it.
 */
export function pick<Row, Name extends keyof Row>(row: Row, names: readonly Name[]): Pick<Row, Name> {
  return Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>;
}
