import { isDeepStrictEqual } from 'node:util';

/** A change of some fields of a record: what they had before, and what they have since. */
export interface KeptChange {
  /** In milliseconds since the Unix epoch. */
  readonly at: number;
  readonly fields: Readonly<Record<string, FieldChange>>;
}

export interface FieldChange {
  readonly before: unknown;
  readonly after: unknown;
}

/** How many changes are kept apart. */
const MOST_KEPT = 10;

/** How those fields of a record changed that are named. */
export function changeOf<R extends object>(
  before: R,
  after: R,
  names: readonly (keyof R & string)[],
  at: number,
): KeptChange {
  const differing = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  return {
    at,
    fields: Object.fromEntries(differing.map((name) => [name, { before: before[name], after: after[name] }])),
  };
}

/** Two changes, one after the other, as one. */
const joined = (earlier: KeptChange, later: KeptChange): KeptChange => ({
  at: later.at,
  fields: {
    ...earlier.fields,
    ...Object.fromEntries(
      Object.entries(later.fields).map(([name, { before, after }]) => [
        name,
        { before: name in earlier.fields ? earlier.fields[name]?.before : before, after },
      ]),
    ),
  },
});

/** Adds a change to those that are kept. Of very many, the oldest become one, which counts as of the later of them. */
export function keepChange(kept: readonly KeptChange[], change: KeptChange): readonly KeptChange[] {
  const all = [...kept, change];
  const [first, second, ...others] = all;
  if (all.length <= MOST_KEPT || first === undefined || second === undefined) return all;
  return [joined(first, second), ...others];
}

const isList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

/** What a field has without a change: of a list, others may have changed it since; any other field stays where somebody else changed it. */
function without(current: unknown, { before, after }: FieldChange): unknown {
  if (isDeepStrictEqual(current, after)) return before;
  if (!isList(current) || !isList(before) || !isList(after)) return current;
  const isAdded = (one: string): boolean => after.includes(one) && !before.includes(one);
  const removed = before.filter((one) => !after.includes(one) && !current.includes(one));
  return [...current.filter((one) => !isAdded(one)), ...removed];
}

/** The fields of a record as they are without some changes, the latest of which are undone first. Only those that differ. */
export function putBack<R extends object>(record: R, changes: readonly KeptChange[]): Partial<R> {
  const current: Record<string, unknown> = Object.fromEntries(Object.entries(record));
  const latestFirst = changes.toSorted((one, other) => one.at - other.at).toReversed();
  for (const { fields } of latestFirst) {
    for (const [name, change] of Object.entries(fields)) current[name] = without(current[name], change);
  }
  return Object.fromEntries(
    Object.entries(record)
      .filter(([name, value]) => !isDeepStrictEqual(current[name], value))
      .map(([name]) => [name, current[name]]),
  ) as Partial<R>;
}
