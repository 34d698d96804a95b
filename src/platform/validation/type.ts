/**
 * JSON Schemas, each with the type of what it admits: as many kinds as there are in use. They are used as
 * `Type.Object({ name: Type.String() })`, and `Type.Static<typeof schema>` is what a value is once it was validated.
 */
declare const admitted: unique symbol;
const optional = Symbol('optional');

type Keywords = Readonly<Record<string, unknown>>;

/** A schema of values of a type. The type is known to the compiler alone. */
export interface TSchema<T = unknown> {
  readonly [admitted]?: T;
  readonly [keyword: string]: unknown;
}
export type TProperties = Readonly<Record<string, TSchema>>;
export type TString = TSchema<string>;
interface TOptional {
  readonly [optional]: true;
}
interface TObject<P extends TProperties> extends TSchema<Members<P>> {
  readonly properties: P;
}
interface TArray<S extends TSchema> extends TSchema<Static<S>[]> {
  readonly items: S;
}

/** The type of the values that a schema admits. */
export type Static<S extends TSchema> = S extends TSchema<infer T> ? T : never;

type OptionalIn<P extends TProperties> = { [K in keyof P]: P[K] extends TOptional ? K : never }[keyof P];
type Plain<T> = { [K in keyof T]: T[K] };
type Members<P extends TProperties> = Plain<
  { [K in Exclude<keyof P, OptionalIn<P>>]: Static<P[K]> } & { [K in OptionalIn<P>]?: Static<P[K]> }
>;

const kind =
  <T>(type: string) =>
  (keywords: Keywords = {}): TSchema<T> => ({ type, ...keywords });

const string = kind<string>('string');
const integer = kind<number>('integer');
const boolean = kind<boolean>('boolean');
const nothing = kind<null>('null');

const array = <S extends TSchema>(items: S, keywords: Keywords = {}): TArray<S> => ({
  type: 'array',
  items,
  ...keywords,
});

const union = <S extends readonly TSchema[]>(anyOf: [...S], keywords: Keywords = {}): TSchema<Static<S[number]>> => ({
  anyOf,
  ...keywords,
});

/** A field that may be left out. */
const mayBeLeftOut = <S extends TSchema>(schema: S): S & TOptional => ({ ...schema, [optional]: true });

function object<P extends TProperties>(properties: P, keywords: Keywords = {}): TObject<P> {
  const required = Object.keys(properties).filter((name) => !(optional in (properties[name] ?? {})));
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...keywords };
}

/** A schema that says more than its type can be read from. */
const unsafe = <T>(schema: Keywords): TSchema<T> => schema;

export {
  array as Array,
  boolean as Boolean,
  integer as Integer,
  mayBeLeftOut as Optional,
  nothing as Null,
  object as Object,
  string as String,
  union as Union,
  unsafe as Unsafe,
};
