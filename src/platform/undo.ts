import { isDeepStrictEqual } from 'node:util';

/** A change of a setting: what it had before, and what it has since. */
export interface Changed<Value> {
  readonly before: Value;
  readonly after: Value;
}

/**
 * What a setting is without a change of it: what was opened ends, and what was closed stays closed. It is never more open than it is now, nor
 * than it was before the change. What somebody else changed since stays.
 */
export type Undo<Value> = (now: Value, change: Changed<Value>) => Value;

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

export type Parts = Readonly<Record<string, unknown>>;
export const hasParts = (value: unknown): value is Parts =>
  typeof value === 'object' && value !== null && !isList(value);

const isIn = (list: readonly unknown[], one: unknown): boolean => list.some((other) => isDeepStrictEqual(one, other));

/** For what is only shown: it is again what it was before. */
export const shown = <Value>(now: Value, change: Changed<Value>): Value => without(now, change) as Value;

/**
 * What a setting has without a change, whatever that did. Of a list, and of an object such as a key set, others may have changed something else
 * since; any other setting stays where somebody else changed it.
 */
function without(now: unknown, { before, after }: Changed<unknown>): unknown {
  if (isDeepStrictEqual(now, after)) return before;
  if (hasParts(now) && hasParts(after)) return withoutParts(now, { before: before ?? {}, after });
  const earlier = before ?? [];
  if (!isList(now) || !isList(earlier) || !isList(after)) return now;
  const removed = earlier.filter((one) => !isIn(after, one) && !isIn(now, one));
  return [...now.filter((one) => isIn(earlier, one) || !isIn(after, one)), ...removed];
}

function withoutParts(now: Parts, { before, after }: { readonly before: unknown; readonly after: Parts }): unknown {
  if (!hasParts(before)) return now;
  const names = new Set([...Object.keys(now), ...Object.keys(before)]);
  const parts = [...names].map((name) => [name, without(now[name], { before: before[name], after: after[name] })]);
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
}

/**
 * For a list, an object of parts, and a value that is an access by itself, such as an address: what was added or set goes, and what was removed
 * is not given again. Null is nothing.
 */
export const added = <Value>(now: Value, change: Changed<Value>): Value =>
  (common(now, without(now, change)) ?? null) as Value;

/** What is in both; undefined for nothing. */
function common(now: unknown, before: unknown): unknown {
  if (isDeepStrictEqual(now, before)) return now;
  if (isList(now) && isList(before)) return now.filter((one) => isIn(before, one));
  if (!hasParts(now) || !hasParts(before)) return undefined;
  const parts = Object.entries(now).map(([name, part]) => [name, common(part, before[name])]);
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
}

/** Whether a setting has all that another value of it has, in whatever order. */
export function hasAll(value: unknown, other: unknown): boolean {
  if (isList(value) && isList(other)) return other.every((one) => isIn(value, one));
  if (!hasParts(value) || !hasParts(other)) return isDeepStrictEqual(value, other);
  return Object.entries(other).every(([name, part]) => hasAll(value[name], part));
}

/**
 * As {@link added} for a list of which null is everything. Who makes a list of everything narrows it, and did not decide that all of the list is
 * allowed: where everything was opened, of such a list what there was before holds.
 */
export function addedToSome<Value>(now: readonly Value[] | null, change: Changed<readonly Value[] | null>) {
  const { before, after } = change;
  if (now === null) return after === null ? before : now;
  if (before === null) return now;
  return after === null ? now.filter((one) => isIn(before, one)) : added(now, change);
}

/** As {@link added} for a list of things with names, or null: what else such a thing has is only shown. */
export function addedByName<Value extends { readonly name: string }>(
  now: readonly Value[] | null,
  change: Changed<readonly Value[] | null>,
): readonly Value[] | null {
  const before = shown(now, change);
  if (now === null || before === null) return null;
  return now.flatMap((one) => (isIn(before, one) ? [one] : before.filter(({ name }) => name === one.name)));
}

/** For values in an order, the most closed first: the more closed of what it was and what it is. */
export const ordered =
  <Value>(...values: readonly Value[]): Undo<Value> =>
  (now, { before, after }) =>
    now === after && values.indexOf(before) < values.indexOf(now) ? before : now;

/** For a bound, null for none: the lower one. */
export const bound: Undo<number | null> = (now, { before, after }) =>
  now === after && (before ?? Number.POSITIVE_INFINITY) < (now ?? Number.POSITIVE_INFINITY) ? before : now;

/** For what restricts where it is set, to one thing or another: it is what it was before, unless that was nothing. */
export const restriction: Undo<string | null> = (now, { before, after }) => (now === after ? (before ?? now) : now);
