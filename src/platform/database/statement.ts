import type { Compilable, Kysely, RootOperationNode } from 'kysely';
import type { Row, Work } from './database.ts';
import type { Tables } from './schema.ts';

/** A placeholder in a built query, for a value that is passed when the query runs. */
class Parameter {
  readonly name: string;
  readonly encode: Codec<never>['encode'] | undefined;
  constructor(name: string, encode?: Codec<never>['encode']) {
    this.name = name;
    this.encode = encode;
  }
}

/** A parameter of a query as a codec stores it: `.where('scopes', '=', encoded(scopeSet, p.scopes))`. */
export const encoded = <T, Stored>(codec: Codec<T, Stored>, parameter: T): Stored =>
  parameter instanceof Parameter ? (new Parameter(parameter.name, codec.encode) as Stored) : codec.encode(parameter);

type Build<P, R> = (db: Kysely<Tables>, params: P) => Compilable<R>;

/**
 * How a database server may run a statement once for several units of work, in one transaction for all of them. Locks do not keep apart
 * the units of one transaction, so a statement that locks or writes has to say how they are kept apart.
 */
export interface Joint {
  /** The parameters that identify the row which it locks or writes. Only one unit of a transaction may name the same row. */
  readonly row?: readonly string[];
  /** A write that returns the row, which the unit has locked: the unit goes on as if it was changed. If not, the commit fails. */
  readonly certain?: true;
  /** It adds to a number. Additions to the same number become one, and last even if their unit of work runs again. */
  readonly sum?: Sum;
}

/** An upsert that adds to a number, and returns its row. */
export interface Sum {
  /** The column with the name of the number, and its parameter. */
  readonly of: string;
  /** The parameter that is added. */
  readonly amount: string;
  /** The returned column with the sum. */
  readonly total: string;
  /**
   * The parameter with the limit. Up to that, a unit of work must go on alike whatever the sum is: it does so before it gets the sum, and
   * starts again if that is above the limit.
   */
  readonly most: string;
  /** Parameters that additions have in common to become one. Only these may occur after the values. */
  readonly common: readonly string[];
}

/** A query that is built once and run many times as a prepared statement. */
export interface Statement<P, R> {
  readonly build: Build<P, R> & { readonly joint?: Joint };
}

/** Declares that a query which locks or writes may be run for several units of work at once. */
export const joint = <P extends object, R>(how: Joint, build: Build<P, R>): Build<P, R> =>
  Object.assign((db: Kysely<Tables>, params: P) => build(db, params), { joint: how });

/**
 * The statement of a query. The builder runs once for each database. Its parameters are placeholders then, so they can only be passed
 * to the query.
 */
export const statement = <P extends object, R>(build: Build<P, R>): Statement<never, unknown> =>
  ({ build }) as Statement<never, unknown>;

const placeholders = new Proxy({}, { get: (_target, name) => new Parameter(String(name)) });

/** A statement compiled for one kind of database. */
export interface Compiled {
  readonly sql: string;
  /** How many placeholders the SQL has. */
  readonly placeholders: number;
  /** The value of each placeholder, in order. */
  readonly bind: (params: Row) => unknown[];
  readonly kind: 'read' | 'lock' | 'write';
}

export function compile(statement: Statement<never, unknown>, builder: Kysely<Tables>): Compiled {
  const { sql, parameters, query } = statement.build(builder, placeholders as never).compile();
  return { sql, placeholders: parameters.length, bind: binder(parameters), kind: kindOf(query) };
}

function kindOf(query: RootOperationNode): Compiled['kind'] {
  if (query.kind !== 'SelectQueryNode') return 'write';
  return query.endModifiers === undefined ? 'read' : 'lock';
}

/** Generates code for each statement: looking up the names in each call would be several times as expensive. */
function binder(parameters: readonly unknown[]): Compiled['bind'] {
  const values = parameters.map((parameter, index) => {
    if (!(parameter instanceof Parameter)) return `constants[${index}]`;
    const name = JSON.stringify(parameter.name);
    const value = `given(params[${name}], ${name})`;
    return parameter.encode === undefined ? value : `constants[${index}].encode(${value})`;
  });
  return new Function('constants', 'given', `return (params) => [${values.join(', ')}];`)(parameters, given);
}

function given(value: unknown, name: string): unknown {
  if (value === undefined) throw new TypeError(`statement parameter "${name}" was not given`);
  return value;
}

const asIs = <R>(row: R): R => row;

/**
 * Declares a query for at most one row: `const findAccount = one((db, p: { id: string }) => db.selectFrom('account')…, toAccount)`.
 * The unit of work returns the first row, mapped, or undefined if there is none.
 */
export function one<P extends object, R>(build: Build<P, R>): (params: P) => Work<R | undefined>;
export function one<P extends object, R, T>(build: Build<P, R>, map: (row: R) => T): (params: P) => Work<T | undefined>;
export function one<P extends object, R>(build: Build<P, R>, map: (row: R) => unknown = asIs) {
  const query = statement(build);
  return function* one(params: P): Work<unknown> {
    const rows = yield { statement: query, params: params as Row };
    const row = rows[0] as R | undefined;
    return row === undefined ? undefined : map(row);
  };
}

/** Declares a query for any number of rows, each of them mapped. */
export function many<P extends object, R>(build: Build<P, R>): (params: P) => Work<readonly R[]>;
export function many<P extends object, R, T>(build: Build<P, R>, map: (row: R) => T): (params: P) => Work<readonly T[]>;
export function many<P extends object, R>(build: Build<P, R>, map: (row: R) => unknown = asIs) {
  const query = statement(build);
  return function* many(params: P): Work<readonly unknown[]> {
    const rows = (yield { statement: query, params: params as Row }) as readonly R[];
    return map === asIs ? rows : rows.map(map);
  };
}

/** Declares a write without a result: the next statement may be sent to a database server before this one is answered. */
export function command<P extends object>(build: Build<P, unknown>): (params: P) => Work<void> {
  const write = statement(build);
  return function* command(params: P): Work<void> {
    yield { statement: write, params: params as Row, effect: true };
  };
}

/** Declares a write that returns the rows that it changed; the unit of work returns whether there were any. */
export function changes<P extends object>(build: Build<P, unknown>): (params: P) => Work<boolean> {
  const write = statement(build);
  return function* changes(params: P): Work<boolean> {
    return (yield { statement: write, params: params as Row }).length > 0;
  };
}

/** How a value is read from a column and written to it. */
export interface Codec<T, Stored = unknown> {
  readonly decode: (stored: unknown) => T;
  readonly encode: (value: T) => Stored;
}

/** Where a part of a record is stored. */
interface StoredField<T, Column extends string> {
  readonly column: Column;
  readonly codec: Codec<T>;
}

/** The stored fields of a record. One may be a record with fields of its own, stored in the same row. */
interface StoredFields {
  // biome-ignore lint/suspicious/noExplicitAny: fields of any type
  readonly [name: string]: StoredField<any, string> | StoredFields;
}

/** The values of a record that has these fields. */
export type Values<F> = {
  readonly [Name in keyof F]: F[Name] extends { readonly codec: Codec<infer T> } ? T : Values<F[Name]>;
};

type ColumnOf<F> = { [Name in keyof F]: F[Name] extends { readonly column: infer C } ? C : ColumnOf<F[Name]> }[keyof F];

const isStoredField = (field: StoredField<unknown, string> | StoredFields): field is StoredField<unknown, string> =>
  typeof field['column'] === 'string';

/** Declares where a part of a record is stored. */
export const storedField = <T, const Column extends string>(
  column: Column,
  codec: Codec<T>,
): StoredField<T, Column> => ({ column, codec });

const asStored = <T>(stored: unknown): T => stored as T;
const unchanged = (value: unknown): unknown => value;

/** A value that is stored unchanged. It was validated before. */
export const plain = <T>(): Codec<T> => ({ decode: asStored, encode: unchanged });

/** One of a few values, each stored under another name. */
export function renamed<T extends string>(names: Readonly<Record<T, string>>): Codec<T, string> {
  const values = new Map(Object.entries(names).map(([value, name]) => [name, value as T]));
  return {
    decode: (stored) => {
      const value = values.get(String(stored));
      if (value === undefined) throw new Error(`${stored} is not one of ${[...values.keys()].join(', ')}`);
      return value;
    },
    encode: (value) => names[value],
  };
}

/** A value that is made of what a column holds, and is never written. */
export const readAs = <T>(decode: (stored: never) => T): Codec<T> => ({
  decode: decode as Codec<T>['decode'],
  encode: () => {
    throw new Error('This value is read only.');
  },
});

/** A boolean, stored as 1 or 0. */
export const bit: Codec<boolean> = { decode: (stored) => stored === 1, encode: (value) => (value ? 1 : 0) };

/** A value stored as JSON. */
export const json = <T>(): Codec<T> => ({
  decode: (stored) => JSON.parse(String(stored)) as T,
  encode: (value) => JSON.stringify(value),
});

/** A value stored as JSON. Null is stored as null, and read as `absent`. */
export const jsonOr = <T, A>(absent: A): Codec<T | A> => ({
  decode: (stored) => (stored === null ? absent : (JSON.parse(String(stored)) as T)),
  encode: (value) => (value === null ? null : JSON.stringify(value)),
});

/** A list whose members have a codec, stored as JSON. Null is read as `absent`. */
export const listOr = <T>(codec: Codec<T>, absent: readonly T[]): Codec<readonly T[]> => ({
  decode: (stored) => (stored === null ? absent : (JSON.parse(String(stored)) as unknown[]).map(codec.decode)),
  encode: (values) => JSON.stringify(values.map(codec.encode)),
});

/** The columns that store these fields. */
export const columnsOf = <F extends StoredFields>(fields: F): readonly ColumnOf<F>[] =>
  Object.values(fields).flatMap((field) => (isStoredField(field) ? [field.column] : columnsOf(field))) as never;

type Prefixed<P extends string, F> = {
  readonly [Name in keyof F]: F[Name] extends StoredField<infer T, infer Column>
    ? StoredField<T, `${P}${Column}`>
    : Prefixed<P, F[Name]>;
};

/** The same fields for a row with columns of several records: a prefix begins the names of these. */
export function prefixed<P extends string, F extends StoredFields>(prefix: P, fields: F): Prefixed<P, F> {
  const own = Object.entries(fields).map(([name, field]) => [
    name,
    isStoredField(field) ? { ...field, column: `${prefix}${field.column}` } : prefixed(prefix, field),
  ]);
  return Object.fromEntries(own);
}

/**
 * Compiles a function that reads a record from a row. It runs for every request, and an object literal is several times faster
 * than setting properties by computed names.
 */
export function decoder<F extends StoredFields>(fields: F): (row: object) => Values<F> {
  const decode: Codec<unknown>['decode'][] = [];
  const literal = (record: StoredFields): string => {
    const members = Object.entries(record).map(([name, field]) => {
      if (!isStoredField(field)) return `${name}: ${literal(field)}`;
      const { column, codec } = field;
      return codec.decode === asStored
        ? `${name}: row.${column}`
        : `${name}: decode[${decode.push(codec.decode) - 1}](row.${column})`;
    });
    return `{ ${members.join(', ')} }`;
  };
  return new Function('decode', `return (row) => (${literal(fields)});`)(decode);
}

/** The row that stores a record. */
export function encode<F extends StoredFields>(fields: F, values: Values<F>): { [C in ColumnOf<F> & string]: never } {
  const columns = Object.entries(fields).map(([name, field]) => {
    const value: unknown = values[name];
    return isStoredField(field) ? { [field.column]: field.codec.encode(value) } : encode(field, value as never);
  });
  return Object.assign({}, ...columns);
}
