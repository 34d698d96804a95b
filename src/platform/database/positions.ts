/** Values as named parameters, each with the number of its position. */
export type Positioned<Prefix extends string = 'value'> = Readonly<Record<`${Prefix}${number}`, string>>;

/** As many named parameters as a statement with `in (…)` has: a statement is built once, so its list has one length. */
export interface Positions<Prefix extends string = 'value'> {
  /** The parameters of the list, for the statement. */
  readonly list: (params: Positioned<Prefix>) => string[];
  /** Values as the parameters of as many statements as it takes; the last one is filled up. */
  readonly chunks: (values: readonly string[]) => readonly Positioned<Prefix>[];
}

/** @param filler a value that no row has */
export function positionsOf(size: number, filler: string): Positions;
/** @param prefix of the names of the parameters, where a statement has more than one list */
export function positionsOf<Prefix extends string>(size: number, filler: string, prefix: Prefix): Positions<Prefix>;
export function positionsOf(size: number, filler: string, prefix = 'value'): Positions<string> {
  const names = Array.from({ length: size }, (_, index) => `${prefix}${index}` as const);
  return {
    list: (params) => names.map((name) => params[name] ?? filler),
    chunks: (values) =>
      Array.from({ length: Math.ceil(values.length / size) }, (_, chunk) =>
        Object.fromEntries(names.map((name, index) => [name, values[chunk * size + index] ?? filler])),
      ),
  };
}
