import type { Database, TablePart, Work } from '../platform/database/database.ts';
import { ANY_ID, eventsIn } from './event-store.ts';
import type { EventFilter } from './schema.ts';
import { DISORDER, NEWEST } from './trim-store.ts';

export interface EventSearch {
  readonly filter: EventFilter;
  /** In the order of recording, or newest first. */
  readonly order: 'asc' | 'desc';
  /** The event that precedes the results, in that order; `0` to start at the beginning. */
  readonly after: string;
  readonly limit: number;
}

/** A range of ids. */
export interface IdRange {
  readonly first: bigint;
  readonly last: bigint;
}

/** Ids whose events are found by the same statements. */
export interface TrailRange extends IdRange {
  /** In which tables the events are: see {@link eventsIn}. */
  readonly extent: string;
  readonly steps: 'all' | 'client' | 'account' | 'accountIndexed';
}

/** The first and the last event of a table. */
interface Edges extends IdRange {
  readonly firstAt: number;
  readonly lastAt: number;
}

/** The trail as one search sees it. */
export interface SearchedTrail {
  /** The events that are in no part; undefined if there are none. */
  readonly recent: (TrailRange & Edges) | undefined;
  /** The parts, the oldest first. They are read when the search gets there. */
  parts(): Promise<readonly TablePart[]>;
  /** The ranges of the parts. */
  older(): Promise<readonly TrailRange[]>;
}

/** When the ids between which an instant lies are so close to each other, all of them are examined. */
const NEAR = 100n;

export const largest = (a: bigint, b: bigint): bigint => (a > b ? a : b);
export const smallest = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** @param steps which statements find the events where there is no better index */
export async function readTrail(
  database: Database,
  steps: Exclude<TrailRange['steps'], 'accountIndexed'>,
): Promise<SearchedTrail> {
  const extent = database.auditParts === undefined ? 'all' : 'outside';
  const edges = await edgesOf(database, extent);
  let parts: Promise<readonly TablePart[]> | undefined;
  let older: Promise<readonly TrailRange[]> | undefined;
  const readParts = () => (parts ??= listParts(database));
  return {
    recent: edges && { ...edges, extent, steps },
    parts: readParts,
    older: () => (older ??= readParts().then((list) => rangesOf(database, list, steps))),
  };
}

const edgesOf = (database: Database, extent: string): Promise<Edges | undefined> =>
  database.read(function* readEdges() {
    // The last one first: if the events become a part in between, it tells, because it is not there any more.
    const last = yield* eventsIn(extent).previous({ id: NEWEST });
    const first = yield* eventsIn(extent).next({ id: ANY_ID });
    return first && last && { first: BigInt(first.id), last: BigInt(last.id), firstAt: first.at, lastAt: last.at };
  });

const listParts = async ({ auditParts, read }: Database): Promise<readonly TablePart[]> =>
  auditParts === undefined ? [] : read(() => auditParts.list());

async function rangesOf(
  database: Database,
  parts: readonly TablePart[],
  steps: TrailRange['steps'],
): Promise<readonly TrailRange[]> {
  const [oldest] = parts;
  if (oldest === undefined) return [];
  const start = await database.read(() => eventsIn(oldest.name).next({ id: ANY_ID }));
  const first = BigInt(start?.id ?? oldest.through);
  const ranges = parts.map(({ name, through }, index): TrailRange => {
    const before = parts[index - 1];
    return { first: before ? BigInt(before.through) + 1n : first, last: BigInt(through), extent: name, steps };
  });
  if (steps !== 'account') return ranges;
  const bare = parts.findIndex(({ isIndexed }) => !isIndexed);
  const indexed = ranges.splice(0, bare === -1 ? ranges.length : bare).at(-1);
  // One lookup in all tables takes less than one after the other in each.
  return indexed ? [{ first, last: indexed.last, extent: 'all', steps: 'accountIndexed' }, ...ranges] : ranges;
}

/** Whether the recent events have become a part: some of them were then perhaps looked for where they no longer were. */
export async function isDivided(database: Database, { recent }: SearchedTrail): Promise<boolean> {
  if (recent === undefined || database.auditParts === undefined) return false;
  const last = String(recent.last);
  return (await database.read(() => eventsIn(recent.extent).next({ id: last })))?.id !== last;
}

/** Whether a part was dropped: the statements on it fail then. */
export async function wasTrimmed(database: Database, { parts }: SearchedTrail): Promise<boolean> {
  const names = new Set((await listParts(database)).map(({ name }) => name));
  return (await parts()).some(({ name }) => !names.has(name));
}

/** Where a search goes on among the ids that are left: undefined if there are no events any more. */
export async function rangeAt(
  { recent, older }: SearchedTrail,
  order: 'asc' | 'desc',
  { first, last }: IdRange,
): Promise<TrailRange | undefined> {
  let range: TrailRange | undefined = recent;
  if (recent === undefined || (order === 'asc' ? first : last) < recent.first) {
    const ranges = await older();
    range =
      order === 'asc'
        ? (ranges.find((one) => one.last >= first) ?? recent)
        : ranges.findLast((one) => one.first <= last);
  }
  const found = range && { ...range, first: largest(first, range.first), last: smallest(last, range.last) };
  return found && found.first <= found.last ? found : undefined;
}

/** The ids between which all results of a search are. */
export async function boundsOf(
  database: Database,
  trail: SearchedTrail,
  { filter, order, after }: EventSearch,
): Promise<IdRange> {
  let [first, last] = [1n, BigInt(NEWEST)];
  if (after !== ANY_ID && order === 'asc') first = BigInt(after) + 1n;
  if (after !== ANY_ID && order === 'desc') last = BigInt(after) - 1n;
  if (filter.since !== undefined) {
    first = largest(first, (await idsAround(database, trail, Date.parse(filter.since) - DISORDER)).first);
  }
  if (filter.until !== undefined) {
    last = smallest(last, (await idsAround(database, trail, Date.parse(filter.until) + DISORDER)).last);
  }
  return { first, last };
}

/** The ids between which an instant lies: events before the first are older, those after the last are not. */
async function idsAround(database: Database, { recent, parts }: SearchedTrail, instant: number): Promise<IdRange> {
  if (recent && recent.firstAt < instant) return database.read(() => narrow(recent.extent, recent, instant));
  for (const { name } of (await parts()).toReversed()) {
    const edges = await edgesOf(database, name);
    if (edges && edges.firstAt < instant) return database.read(() => narrow(name, edges, instant));
  }
  return { first: 0n, last: 0n };
}

/**
 * Times increase with ids, except for some disorder. An index of times would make every event more expensive to write.
 * @param edges of a table whose first event is older
 */
function* narrow(extent: string, edges: Edges, instant: number): Work<IdRange> {
  let { first, last, firstAt, lastAt } = edges;
  for (let round = 0; last - first > NEAR; round++) {
    // By proportion, because events happen at a similar rate, and in the middle, for where they do not.
    const share = round % 2 === 0 ? (instant - firstAt) / (lastAt - firstAt) : 0.5;
    const middle = first + BigInt(Math.floor(Number(last - first) * Math.max(0, Math.min(share, 1))));
    const event = yield* eventsIn(extent).next({ id: String(middle) });
    if (event !== undefined && event.at < instant) [first, firstAt] = [BigInt(event.id) + 1n, event.at];
    else [last, lastAt] = [middle - 1n, event?.at ?? lastAt];
  }
  return { first, last };
}
