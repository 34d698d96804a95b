import type { TSchema } from './type.ts';

/** How a value is stored in a column. */
export interface Codec<T> {
  readonly decode: (stored: unknown) => T;
  readonly encode: (value: T) => unknown;
}

/** The command-line option that sets a field. */
export interface FieldOption {
  /** As in `--redirect-uri <uri>`. */
  readonly flags: string;
  readonly about: string;
  /** How its text becomes the value: an empty text is null where the field is nullable, a list takes each occurrence as an item. */
  readonly kind: 'text' | 'nullable text' | 'list' | 'switch' | 'nullable seconds' | 'JSON list' | 'JSON file';
  /** Of a switch: what its `--no-` form says. */
  readonly aboutOff?: string;
}

/** A field of a record, declared once: its column, codec, initial value, schemas and command-line option. */
export interface Field<T, Column extends string = string> {
  readonly column: Column;
  readonly codec: Codec<T>;
  /** The value in a new record that is given none, or how it follows from the others that are given. */
  readonly initial?: NoInfer<T> | ((given: Readonly<Record<string, unknown>>) => NoInfer<T>);
  /** What may be given. */
  readonly schema: TSchema<unknown>;
  /** How it is shown. */
  readonly record: TSchema<unknown>;
  readonly option?: FieldOption;
}

/** A part of a record that is neither given nor shown as it is. */
type StoredField<T, Column extends string = string> = Pick<Field<T, Column>, 'column' | 'codec'>;

/** Declares a field. */
export const declareField = <T, const Column extends string>(declared: Field<T, Column>): Field<T, Column> => declared;

/** Declares a part of a record that is neither given nor shown as it is. */
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
const asGiven = (value: unknown): unknown => value;

/** A value that is stored as it is; it was validated before. */
export const plain = <T>(): Codec<T> => ({ decode: asStored, encode: asGiven });

/** A boolean, stored as 1 or 0. */
export const bit: Codec<boolean> = { decode: (stored) => stored === 1, encode: (value) => (value ? 1 : 0) };

/** A value, stored as JSON. */
export const json = <T>(): Codec<T> => ({
  decode: (stored) => JSON.parse(String(stored)) as T,
  encode: (value) => JSON.stringify(value),
});

/** A value, stored as JSON or as null, which is read as `absent`. */
export const jsonOr = <T, A>(absent: A): Codec<T | A> => ({
  decode: (stored) => (stored === null ? absent : (JSON.parse(String(stored)) as T)),
  encode: (value) => (value === null ? null : JSON.stringify(value)),
});

/** The columns of fields. */
export const columnsOf = <F extends StoredFields>(fields: F): readonly F[keyof F]['column'][] =>
  Object.values(fields).map(({ column }) => column);

/**
 * A function that reads the values of fields from a row. It is compiled once, as the parameters of a statement are, because it
 * runs for every request: an object literal is made several times as fast as members are set by their names.
 */
export function decoder<F extends StoredFields>(fields: F): (row: object) => Values<F> {
  const members = Object.entries(fields).map(([name, { column, codec }], index) =>
    codec.decode === asStored ? `${name}: row.${column}` : `${name}: decode[${index}](row.${column})`,
  );
  const decode = Object.values(fields).map(({ codec }) => codec.decode);
  return new Function('decode', `return (row) => ({ ${members.join(', ')} });`)(decode);
}

/** The columns of a row that hold the values of fields. */
export const encode = <F extends StoredFields>(fields: F, values: Values<F>): { [C in F[keyof F]['column']]: never } =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { column, codec }]) => [column, codec.encode(values[name])]),
  ) as never;

/** The fields of a new record: each as it is given, or with its initial value. */
export const initialValues = <F extends Fields>(fields: F, given: Readonly<Record<string, unknown>>): Values<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { initial }]) => [
      name,
      given[name] ?? (typeof initial === 'function' ? initial(given) : initial),
    ]),
  ) as Values<F>;

/** One of the two schemas of each field. */
export const schemasOf = <F extends Fields>(fields: F, which: 'schema' | 'record'): Record<keyof F, TSchema> =>
  Object.fromEntries(Object.entries(fields).map(([name, declared]) => [name, declared[which]])) as never;
