import { isDeepStrictEqual } from 'node:util';
import { DAY } from './clock.ts';

/** A change of some fields of a record: what they had before, and what they have since. */
export interface KeptChange {
  /** In milliseconds since the Unix epoch. */
  readonly at: number;
  readonly fields: Readonly<Record<string, FieldChange>>;
  /** Other fields that changed, of which nobody can say what they had at the instant from which on changes were asked for. */
  readonly unclear?: readonly string[];
}

export interface FieldChange {
  readonly before: unknown;
  readonly after: unknown;
  /** When the first of several changes was that became one; where it is one alone, that is when it was. */
  readonly from?: number;
}

/** How many changes of a field are kept apart. */
const MOST_KEPT = 10;
/** Within this time a report reaches back: what is older is put back as a whole or not at all, so that none of it needs to be apart. */
const REACH = 30 * DAY;

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

/**
 * Adds a change to those that are kept. Of very many changes of one field, two become one: those of before any report's reach, or else the two
 * between which the least time passed. So a burst of changes becomes one by itself, and does not take in what was changed long before it.
 */
export function keepChange(kept: readonly KeptChange[], change: KeptChange): readonly KeptChange[] {
  const names = Object.keys(change.fields);
  const bounded = names.reduce((all, name) => withFewerOf(name, all, change.at), [...kept, change]);
  return bounded.filter(({ fields }) => Object.keys(fields).length > 0);
}

interface ChangeOfField {
  readonly change: KeptChange;
  readonly field: FieldChange;
}

/** When what a kept change tells of a field began. */
const beginningOf = ({ change, field }: ChangeOfField): number => field.from ?? change.at;

function withFewerOf(name: string, all: readonly KeptChange[], now: number): KeptChange[] {
  const found = all.flatMap((change): readonly ChangeOfField[] => {
    const field = change.fields[name];
    return field === undefined ? [] : [{ change, field }];
  });
  if (found.length <= MOST_KEPT) return [...all];
  const pairs = found.flatMap((later, index) => {
    const earlier = found[index - 1];
    const isOld = later.change.at < now - REACH;
    return earlier === undefined
      ? []
      : [{ earlier, later, apart: isOld ? Number.NEGATIVE_INFINITY : beginningOf(later) - earlier.change.at }];
  });
  const { earlier, later } = pairs.reduce((least, pair) => (pair.apart < least.apart ? pair : least));
  const joined = { ...joinedField(earlier.field, later.field), from: beginningOf(earlier) };
  return all.map((change) => {
    if (change === later.change) return { ...change, fields: { ...change.fields, [name]: joined } };
    return change === earlier.change ? { ...change, fields: omit(change.fields, [name]) } : change;
  });
}

const omit = (fields: KeptChange['fields'], names: readonly string[]): KeptChange['fields'] =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

/** Two changes of a field, one after the other, as one: what somebody else changed between them is there before it. */
function joinedField(first: FieldChange, { before, after }: FieldChange): FieldChange {
  // What the later one does not tell of is as the earlier one left it.
  const isUntold = (name: string): boolean =>
    hasParts(before) && hasParts(after) && !(name in before) && !(name in after);
  const untold = (value: unknown): Parts =>
    hasParts(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => isUntold(name))) : {};
  const [known, left] = [untold(first.before), untold(first.after)];
  const earlier = without(before, first);
  return {
    before: hasParts(earlier) ? { ...known, ...earlier } : earlier,
    after: hasParts(after) ? { ...left, ...after } : after,
  };
}

/**
 * The kept changes from one instant on, and before another one. Where one that is outside is part of such a change, its field is unclear: it
 * stays as it is, so that nobody lifts what was decided before by changing it often.
 */
export const changesSince = (
  kept: readonly KeptChange[],
  since: number,
  until = Number.POSITIVE_INFINITY,
): readonly KeptChange[] =>
  kept
    .filter(({ at }) => at >= since)
    .map(({ at, fields }) => {
      const begun = (name: string): number => fields[name]?.from ?? at;
      const later = Object.keys(fields).filter((name) => begun(name) >= until);
      const unclear = Object.keys(fields).filter((name) => begun(name) < since || (begun(name) < until && at >= until));
      return { at, fields: omit(fields, [...unclear, ...later]), unclear };
    });

/** The kept changes without those of some fields that {@link changesSince} tells of: they were put back. */
export const withoutChanges = (
  kept: readonly KeptChange[],
  since: number,
  until: number,
  names: readonly string[],
): readonly KeptChange[] =>
  kept
    .map((change) => {
      const isTold = (name: string): boolean => (change.fields[name]?.from ?? change.at) >= since && change.at < until;
      return { ...change, fields: omit(change.fields, names.filter(isTold)) };
    })
    .filter(({ fields }) => Object.keys(fields).length > 0);

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

type Parts = Readonly<Record<string, unknown>>;
const hasParts = (value: unknown): value is Parts => typeof value === 'object' && value !== null && !isList(value);

const isIn = (list: readonly unknown[], one: unknown): boolean => list.some((other) => isDeepStrictEqual(one, other));

/**
 * What a field has without a change. Of a list, and of an object such as a key set, others may have changed something else since; any other
 * field stays where somebody else changed it.
 */
function without(current: unknown, { before, after }: FieldChange): unknown {
  if (isDeepStrictEqual(current, after)) return before;
  if (hasParts(current) && hasParts(after)) return withoutParts(current, { before: before ?? {}, after });
  const earlier = before === undefined ? [] : before;
  if (!isList(current) || !isList(earlier) || !isList(after)) return current;
  const removed = earlier.filter((one) => !isIn(after, one) && !isIn(current, one));
  return [...current.filter((one) => isIn(earlier, one) || !isIn(after, one)), ...removed];
}

function withoutParts(current: Parts, { before, after }: { readonly before: unknown; readonly after: Parts }): unknown {
  if (!hasParts(before)) return current;
  const names = new Set([...Object.keys(current), ...Object.keys(before)]);
  const parts = [...names].map((name) => [name, without(current[name], { before: before[name], after: after[name] })]);
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
}

/** What changes did to each field altogether. */
function altogether(changes: readonly KeptChange[]): ReadonlyMap<string, FieldChange> {
  const fields = new Map<string, FieldChange>();
  for (const change of changes.toSorted((one, other) => one.at - other.at)) {
    for (const [name, field] of Object.entries(change.fields)) {
      const earlier = fields.get(name);
      fields.set(name, earlier === undefined ? field : joinedField(earlier, field));
    }
  }
  return fields;
}

/** The fields of a record as they are without some changes. Only those that differ. */
export function putBack<R extends object>(record: R, changes: readonly KeptChange[]): Partial<R> {
  const changed = altogether(changes);
  const before = Object.entries(record).flatMap(([name, value]) => {
    const field = changed.get(name);
    const earlier = field === undefined ? value : without(value, field);
    return isDeepStrictEqual(earlier, value) ? [] : [[name, earlier]];
  });
  return Object.fromEntries(before) as Partial<R>;
}

/** What a field had before changes; undefined where none tells of it, or where it is unclear. */
export const valueBefore = (changes: readonly KeptChange[], name: string): unknown =>
  changes.some(({ unclear }) => unclear?.includes(name) === true) ? undefined : altogether(changes).get(name)?.before;

/** Which fields have neither what they had before changes nor what these left, as somebody else changed them since, or are unclear. */
export function changedSince<R extends object>(record: R, changes: readonly KeptChange[]): readonly string[] {
  const earliestFirst = changes.toSorted((one, other) => one.at - other.at);
  const back = putBack(record, changes);
  const first = new Map<string, unknown>();
  for (const { fields } of earliestFirst) {
    for (const [name, { before }] of Object.entries(fields)) if (!first.has(name)) first.set(name, before);
  }
  const unclear = changes.flatMap((change) => change.unclear ?? []);
  return Object.entries(record)
    .filter(
      ([name, value]) =>
        unclear.includes(name) || (first.has(name) && !(name in back) && !isDeepStrictEqual(value, first.get(name))),
    )
    .map(([name]) => name);
}
