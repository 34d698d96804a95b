/**
 * Builds JSON Schemas with static types, like TypeBox but only with the kinds in use:
 * `const schema = Type.Object({ name: Type.String() })`, and `Type.Static<typeof schema>` is the type of a validated value.
 */
declare const staticType: unique symbol;
const optional = Symbol('optional');

type Keywords = Readonly<Record<string, unknown>>;

/** A schema of values of type T, which exists only at compile time. */
export interface TSchema<T = unknown> {
  readonly [staticType]?: T;
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

/** The type of the values that a schema accepts. */
export type Static<S extends TSchema> = S extends TSchema<infer T> ? T : never;

type OptionalIn<P extends TProperties> = { [K in keyof P]: P[K] extends TOptional ? K : never }[keyof P];
type Simplify<T> = { [K in keyof T]: T[K] };
type Members<P extends TProperties> = Simplify<
  { [K in Exclude<keyof P, OptionalIn<P>>]: Static<P[K]> } & { [K in OptionalIn<P>]?: Static<P[K]> }
>;

const kind =
  <T>(type: string) =>
  (keywords: Keywords = {}): TSchema<T> => ({ type, ...keywords });

const string = kind<string>('string');
const integer = kind<number>('integer');
const boolean = kind<boolean>('boolean');
const nullSchema = kind<null>('null');

const array = <S extends TSchema>(items: S, keywords: Keywords = {}): TArray<S> => ({
  type: 'array',
  items,
  ...keywords,
});

const union = <S extends readonly TSchema[]>(anyOf: [...S], keywords: Keywords = {}): TSchema<Static<S[number]>> => ({
  anyOf,
  ...keywords,
});

/** An optional field. */
const optionalField = <S extends TSchema>(schema: S): S & TOptional => ({ ...schema, [optional]: true });

function object<P extends TProperties>(properties: P, keywords: Keywords = {}): TObject<P> {
  const required = Object.keys(properties).filter((name) => !(optional in (properties[name] ?? {})));
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...keywords };
}

/** A schema whose type cannot be inferred. */
const unsafe = <T>(schema: Keywords): TSchema<T> => schema;

export {
  array as Array,
  boolean as Boolean,
  integer as Integer,
  nullSchema as Null,
  object as Object,
  optionalField as Optional,
  string as String,
  union as Union,
  unsafe as Unsafe,
};
