import type { Compilable, Kysely } from 'kysely';
import type { Row, Work } from './database.ts';
import type { Tables } from './schema.ts';

/** Stands in a built query for a value that is given when the query runs. */
class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

type Build<P, R> = (db: Kysely<Tables>, params: P) => Compilable<R>;

/** A query built once with a query builder and run many times as a prepared statement. */
export interface Statement<P, R> {
  readonly build: Build<P, R>;
}

/** The rows of a statement. */
export type RowOf<S> = S extends Statement<infer _P, infer R> ? R : never;

/**
 * Declares a statement: `statement((db, p: { id: string }) => db.selectFrom('account').selectAll().where('id', '=', p.id))`.
 *
 * The builder runs once for each database; `p` holds placeholders then, so it may only be handed on to the query.
 */
export function statement<P extends object, R>(build: Build<P, R>): Statement<P, R> {
  return { build };
}

const placeholders = new Proxy({}, { get: (_target, name) => new Parameter(String(name)) });

/** The SQL of a statement and the names of its parameters in the order of their placeholders. */
export function compile(
  statement: Statement<never, unknown>,
  builder: Kysely<Tables>,
): { sql: string; parameters: readonly unknown[] } {
  return statement.build(builder, placeholders as never).compile();
}

/** The value of each placeholder, in order. */
export function bind(parameters: readonly unknown[], params: Readonly<Record<string, unknown>>): unknown[] {
  return parameters.map((parameter) => {
    if (!(parameter instanceof Parameter)) return parameter;
    const value = params[parameter.name];
    if (value === undefined) throw new TypeError(`statement parameter "${parameter.name}" was not given`);
    return value;
  });
}

/** All rows of a statement. */
export function* all<P extends object, R>(statement: Statement<P, R>, params: P): Work<R[]> {
  const rows = yield { statement: statement as Statement<never, unknown>, params: params as Row };
  // The query builder typed R from the schema; the drivers give rows of that shape.
  return rows as R[];
}

/** The first row of a statement, if there is one. */
export function* first<P extends object, R>(statement: Statement<P, R>, params: P): Work<R | undefined> {
  const rows = yield* all(statement, params);
  return rows[0];
}

/** Runs a statement for its effect: a database server may be sent the next one before it has answered this. */
export function* run<P extends object>(statement: Statement<P, unknown>, params: P): Work<void> {
  yield { statement: statement as Statement<never, unknown>, params: params as Row, effect: true };
}
