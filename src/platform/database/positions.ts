/** As many named parameters as a statement with `in (…)` has: a statement is built once, so its list has one length. */
export interface Positions {
  /** The parameters of the list, for the statement. */
  readonly list: (params: Readonly<Record<string, string>>) => string[];
  /** Values as the parameters of as many statements as it takes; the last one is filled up. */
  readonly chunks: (values: readonly string[]) => readonly Readonly<Record<string, string>>[];
}

/** @param filler a value that no row has */
export function positionsOf(size: number, filler: string): Positions {
  const names = Array.from({ length: size }, (_, index) => `value${index}`);
  return {
    list: (params) => names.map((name) => params[name] ?? filler),
    chunks: (values) =>
      Array.from({ length: Math.ceil(values.length / size) }, (_, chunk) =>
        Object.fromEntries(names.map((name, index) => [name, values[chunk * size + index] ?? filler])),
      ),
  };
}
