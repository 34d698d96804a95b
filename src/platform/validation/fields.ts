import type { Codec, Values } from '../database/statement.ts';
import * as Type from './type.ts';

/** The command-line option that sets a field. */
export interface FieldOption {
  /** As in `--redirect-uri <uri>`. */
  readonly flags: string;
  readonly about: string;
  /** How the option's text is parsed: for a nullable kind, an empty text is null; a list gets one item for each occurrence. */
  readonly kind:
    | 'text'
    | 'nullable text'
    | 'list'
    /** Of `NAME` or `NAME=DESCRIPTION`. */
    | 'described list'
    /** Of `NAME=TEXT` in English or `NAME@LANGUAGE=TEXT`. */
    | 'translated list'
    | 'switch'
    | 'nullable seconds'
    | 'JSON list'
    | 'JSON object'
    | 'JSON file';
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

/** Declares a field. */
export const declareField = <T, const Column extends string>(declared: Field<T, Column>): Field<T, Column> => declared;

// biome-ignore lint/suspicious/noExplicitAny: fields of any type
type Fields = Readonly<Record<string, Field<any>>>;

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
