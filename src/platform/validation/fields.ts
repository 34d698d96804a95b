import * as Type from './type.ts';

/** How a value is read from a column and written to it. */
export interface Codec<T> {
  readonly decode: (stored: unknown) => T;
  readonly encode: (value: T) => unknown;
}

/** The command-line option that sets a field. */
export interface FieldOption {
  /** As in `--redirect-uri <uri>`. */
  readonly flags: string;
  readonly about: string;
  /** How the option's text is parsed: for a nullable kind, an empty text is null; a list gets one item for each occurrence. */
  readonly kind: 'text' | 'nullable text' | 'list' | 'switch' | 'nullable seconds' | 'JSON list' | 'JSON file';
  /** The help text of a switch's `--no-` form. */
  readonly aboutOff?: string;
}

/** A field of a record, declared once: its column, codec, default, schemas and command-line option. */
export interface Field<T, Column extends string = string> {
  readonly column: Column;
  readonly codec: Codec<T>;
  /** The default in a new record, or a function that derives it from the values that were given. */
  readonly initial?: NoInfer<T> | ((given: Readonly<Record<string, unknown>>) => NoInfer<T>);
  /** The values that a request may set. */
  readonly schema: Type.TSchema<unknown>;
  /** The value in a response. */
  readonly record: Type.TSchema<unknown>;
  readonly option?: FieldOption;
}

/** A column of a record that requests do not set directly. */
type StoredField<T, Column extends string = string> = Pick<Field<T, Column>, 'column' | 'codec'>;

/** Declares a field. */
export const declareField = <T, const Column extends string>(declared: Field<T, Column>): Field<T, Column> => declared;

/** Declares a column of a record that requests do not set directly. */
export const storedField = <T, const Column extends string>(
  column: Column,
  codec: Codec<T>,
): StoredField<T, Column> => ({ column, codec });

// biome-ignore lint/suspicious/noExplicitAny: fields of any type
type StoredFields = Readonly<Record<string, StoredField<any>>>;
// biome-ignore lint/suspicious/noExplicitAny: fields of any type
type Fields = Readonly<Record<string, Field<any>>>;

/** The values of a record that has these fields. */
export type Values<F extends StoredFields> = { readonly [Name in keyof F]: ReturnType<F[Name]['codec']['decode']> };

const asStored = <T>(stored: unknown): T => stored as T;
const unchanged = (value: unknown): unknown => value;

/** A value that is stored unchanged. It was validated before. */
export const plain = <T>(): Codec<T> => ({ decode: asStored, encode: unchanged });

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

/** The columns that store these fields. */
export const columnsOf = <F extends StoredFields>(fields: F): readonly F[keyof F]['column'][] =>
  Object.values(fields).map(({ column }) => column);

/**
 * Compiles a function that reads the values of fields from a row. It runs for every request, and an object literal is several
 * times faster than setting properties by computed names.
 */
export function decoder<F extends StoredFields>(fields: F): (row: object) => Values<F> {
  const members = Object.entries(fields).map(([name, { column, codec }], index) =>
    codec.decode === asStored ? `${name}: row.${column}` : `${name}: decode[${index}](row.${column})`,
  );
  const decode = Object.values(fields).map(({ codec }) => codec.decode);
  return new Function('decode', `return (row) => ({ ${members.join(', ')} });`)(decode);
}

/** The row that stores the values of fields. */
export const encode = <F extends StoredFields>(fields: F, values: Values<F>): { [C in F[keyof F]['column']]: never } =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { column, codec }]) => [column, codec.encode(values[name])]),
  ) as never;

/** The values of a new record: those that were given, and defaults for the rest. */
export const initialValues = <F extends Fields>(fields: F, given: Readonly<Record<string, unknown>>): Values<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { initial }]) => [
      name,
      given[name] ?? (typeof initial === 'function' ? initial(given) : initial),
    ]),
  ) as Values<F>;

/** Each field's schema for requests (`schema`) or for responses (`record`). */
export const schemasOf = <F extends Fields>(fields: F, which: 'schema' | 'record'): Record<keyof F, Type.TSchema> =>
  Object.fromEntries(Object.entries(fields).map(([name, declared]) => [name, declared[which]])) as never;

/** Schemas of properties that may be left out. */
export const optional = (schemas: Type.TProperties): Type.TProperties =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, Type.Optional(schema)]));

/** The schema of a JSON request body that has no other properties than these. */
export const requestBody = <P extends Type.TProperties>(title: string, properties: P) =>
  Type.Object(properties, { additionalProperties: false, description: 'a JSON object', title });
