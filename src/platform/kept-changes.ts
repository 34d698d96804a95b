import { isDeepStrictEqual } from 'node:util';
import { DAY } from './clock.ts';
import { type Settings, undoOf } from './settings.ts';
import { type Changed, hasAll, hasParts, type Parts, shown, type Undo } from './undo.ts';

/** A change of some fields of a record: what they had before, and what they have since. */
export interface KeptChange {
  /** In milliseconds since the Unix epoch. */
  readonly at: number;
  readonly fields: Readonly<Record<string, FieldChange>>;
  /** Other fields that changed, of which nobody can say what they had at the instant from which on changes were asked for. */
  readonly unclear?: readonly string[];
}

export interface FieldChange extends Changed<unknown> {
  /** When the first of several changes was that became one; where it is one alone, that is when it was. */
  readonly from?: number;
  /** When the first of these opened the field that did. */
  readonly opened?: number;
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
export function keepChange(kept: readonly KeptChange[], change: KeptChange, table: Settings): readonly KeptChange[] {
  const names = Object.keys(change.fields);
  const bounded = names.reduce(
    (all, name) => withFewerOf(name, undoOf(table, name), all, change.at),
    [...kept, change],
  );
  return bounded.filter(({ fields }) => Object.keys(fields).length > 0);
}

interface ChangeOfField {
  readonly change: KeptChange;
  readonly field: FieldChange;
}

/** When what a kept change tells of a field began. */
const beginningOf = ({ change, field }: ChangeOfField): number => field.from ?? change.at;

/** Since when a kept change tells that a field was open; undefined where it opened nothing. */
function openingOf({ change, field }: ChangeOfField, undo: Undo<unknown>): number | undefined {
  if (undo === shown || field.opened !== undefined) return field.opened;
  return isDeepStrictEqual(undo(field.after, field), field.after) ? undefined : beginningOf({ change, field });
}

function withFewerOf(name: string, undo: Undo<unknown>, all: readonly KeptChange[], now: number): KeptChange[] {
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
  const opened = openingOf(earlier, undo) ?? openingOf(later, undo);
  const joined = {
    ...joinedField(earlier.field, later.field, undo),
    from: beginningOf(earlier),
    ...(opened !== undefined && { opened }),
  };
  return all.map((change) => {
    if (change === later.change) return { ...change, fields: { ...change.fields, [name]: joined } };
    return change === earlier.change ? { ...change, fields: omit(change.fields, [name]) } : change;
  });
}

const omit = (fields: KeptChange['fields'], names: readonly string[]): KeptChange['fields'] =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));

/**
 * Two changes of a field, one after the other, as one: before it is what there was before the first one where nobody else changed anything between
 * them, so that what both did together may be nothing. What somebody else changed between them is there before it, and what the first one opened is
 * not, nor what it closed.
 */
function joinedField(
  first: FieldChange,
  { before, after }: FieldChange,
  undo: Undo<unknown>,
  valueBefore = valueBeforeBoth,
): FieldChange {
  // What the later one does not tell of is as the earlier one left it.
  const isUntold = (name: string): boolean =>
    hasParts(before) && hasParts(after) && !(name in before) && !(name in after);
  const untold = (value: unknown): Parts =>
    hasParts(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => isUntold(name))) : {};
  const [known, left] = [untold(first.before), untold(first.after)];
  const earlier = valueBefore(first, before, undo);
  return {
    before: hasParts(earlier) ? { ...known, ...earlier } : earlier,
    after: hasParts(after) ? { ...left, ...after } : after,
  };
}

/** What a field had before two changes, of which the later one found `between`; of an object, each part counts by itself. */
function valueBeforeBoth(first: FieldChange, between: unknown, undo: Undo<unknown>): unknown {
  if (isDeepStrictEqual(between, first.after)) return first.before;
  const undone = undo(between, first);
  if (!hasParts(between) || !hasParts(first.before) || !hasParts(first.after)) return undone;
  const { before, after } = first;
  const untouched = Object.keys(between).filter(
    (name) => name in before && isDeepStrictEqual(between[name], after[name]),
  );
  return { ...(hasParts(undone) ? undone : {}), ...Object.fromEntries(untouched.map((name) => [name, before[name]])) };
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

/**
 * The kept changes without what was undone of those of some fields that {@link changesSince} tells of. What they closed stays on record, with what
 * it was before.
 */
export const withoutOpenings = (
  kept: readonly KeptChange[],
  { since, until }: { readonly since: number; readonly until: number },
  names: readonly string[],
  table: Settings,
): readonly KeptChange[] =>
  kept
    .map((change) => {
      const fields = Object.entries(change.fields).flatMap(([name, field]): readonly [string, FieldChange][] => {
        const isTold = (field.from ?? change.at) >= since && change.at < until;
        if (!isTold || !names.includes(name)) return [[name, field]];
        const { opened: _, ...closed } = field;
        const after = undoOf(table, name)(field.after, field);
        return isDeepStrictEqual(field.before, after) ? [] : [[name, { ...closed, after }]];
      });
      return { ...change, fields: Object.fromEntries(fields) };
    })
    .filter(({ fields }) => Object.keys(fields).length > 0);

/**
 * Which fields were opened by changes, whatever became of that, and since when: unclear ones since ever. What is only shown opens nothing. What
 * was issued since then ends with who opened them.
 */
export function openedSince(changes: readonly KeptChange[], table: Settings): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const change of changes) {
    const unclear = (change.unclear ?? []).filter((name) => undoOf(table, name) !== shown);
    for (const name of unclear) found.set(name, 0);
    for (const [name, field] of Object.entries(change.fields)) {
      const at = openingOf({ change, field }, undoOf(table, name));
      if (at !== undefined) found.set(name, Math.min(at, found.get(name) ?? at));
    }
  }
  return found;
}

/** The changes of each field in turn: those that were several count from the first of them, since nothing is known of what was between. */
const inTurn = (changes: readonly KeptChange[]): readonly (readonly [name: string, field: FieldChange])[] =>
  changes
    .flatMap((change) => Object.entries(change.fields).map(([name, field]) => ({ name, field, change })))
    .toSorted((one, other) => beginningOf(one) - beginningOf(other) || one.change.at - other.change.at)
    .map(({ name, field }) => [name, field]);

/** What changes did to each field altogether. */
function altogether(
  changes: readonly KeptChange[],
  table: Settings,
  valueBefore = valueBeforeBoth,
): ReadonlyMap<string, FieldChange> {
  const fields = new Map<string, FieldChange>();
  for (const [name, field] of inTurn(changes)) {
    const earlier = fields.get(name);
    fields.set(name, earlier === undefined ? field : joinedField(earlier, field, undoOf(table, name), valueBefore));
  }
  return fields;
}

/**
 * The fields of a record as they are without some changes, which are undone as a table says; only those that differ. Without a table, they are
 * what they were before.
 */
export const putBack = <R extends object>(
  record: R,
  changes: readonly KeptChange[],
  table: Settings = {},
): Partial<R> => without(record, altogether(changes, table), table);

function without<R extends object>(record: R, changed: ReadonlyMap<string, FieldChange>, table: Settings): Partial<R> {
  const before = Object.entries(record).flatMap(([name, value]) => {
    const field = changed.get(name);
    const earlier = field === undefined ? value : undoOf(table, name)(value, field);
    return isDeepStrictEqual(earlier, value) ? [] : [[name, earlier]];
  });
  return Object.fromEntries(before) as Partial<R>;
}

/** Whether changes gave a field a value that it did not have before the first of them. */
export function isGiven(changes: readonly KeptChange[], name: string, value: unknown): boolean {
  const fields = inTurn(changes).flatMap(([of, field]) => (of === name ? [field] : []));
  const [first] = fields;
  return (
    first !== undefined &&
    !isDeepStrictEqual(first.before, value) &&
    fields.some(({ after }) => isDeepStrictEqual(after, value))
  );
}

/** What a field had before changes; undefined where none tells of it, or where it is unclear. */
export const valueBefore = (changes: readonly KeptChange[], name: string): unknown =>
  changes.some(({ unclear }) => unclear?.includes(name) === true)
    ? undefined
    : altogether(changes, {}).get(name)?.before;

/** What is left of two changes where all stays closed that the first one closed, though the other one opened it again. */
const closedBetween: typeof valueBeforeBoth = (first, between, undo) => undo(between, first);

/**
 * Which fields are not wholly what they were before changes, also without these: what was closed is not given again, somebody else changed them
 * since, or they are unclear. So are those that were closed and opened again: who closed them may not have opened them.
 */
export function fieldsLeft<R extends object>(
  record: R,
  changes: readonly KeptChange[],
  table: Settings = {},
): readonly (keyof R & string)[] {
  const first = new Map<string, unknown>();
  for (const [name, { before }] of inTurn(changes)) if (!first.has(name)) first.set(name, before);
  const unclear = new Set(changes.flatMap((change) => change.unclear ?? []));
  const [whole, undone] = [putBack(record, changes), putBack(record, changes, table)];
  const closed = without(record, altogether(changes, table, closedBetween), table);
  return (Object.keys(record) as (keyof R & string)[]).filter((name) => {
    if (unclear.has(name)) return true;
    if (!first.has(name)) return false;
    const isFromElsewhere = !(name in whole) && !isDeepStrictEqual(record[name], first.get(name));
    const left = { ...record, ...undone }[name];
    const isOpenAgain = !isDeepStrictEqual({ ...record, ...closed }[name], left);
    return isFromElsewhere || isOpenAgain || !hasAll(left, { ...record, ...whole }[name]);
  });
}
