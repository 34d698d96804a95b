import type { Database } from '../platform/database/database.ts';
import { containing } from '../platform/database/text-search.ts';
import { ACCOUNT_STEP, ANY, ANY_ID, BLOCK, eventsIn, type RecordedEvent } from './event-store.ts';
import type { EventFilter } from './schema.ts';
import {
  boundsOf,
  type EventSearch,
  type IdRange,
  isDivided,
  largest,
  rangeAt,
  readTrail,
  type SearchedTrail,
  smallest,
  type TrailRange,
  wasTrimmed,
} from './search-ranges.ts';

/** What a search found so far. */
export interface FoundEvents {
  readonly items: readonly RecordedEvent[];
  /** The id after which to go on; undefined where no events are left. */
  readonly next: string | undefined;
}

/** How many events one read examines at most, so that other reads do not wait for it. */
const STEP = 20_000;
/** How many blocks one read looks up at most. It starts with one: a page is soon full when there are many events. */
const MAX_BLOCKS = 256;

/** How many events one search examines at most before it says where to go on. */
const MOST = 200_000;
/** A lookup by an index, of a block or of an event of an account, takes as long as so many events that lie next to each other. */
const LOOKUP = 25;

/**
 * Searches for events in the order asked for. No read takes long, and there are only so many of them: where few events match, fewer than
 * `limit` are found, or none, and the search goes on after `next`.
 */
export async function searchEvents(database: Database, search: EventSearch): Promise<FoundEvents> {
  for (;;) {
    const trail = await readTrail(database, stepsFor(search.filter));
    try {
      const found = await examine(database, trail, search);
      if (!(await isDivided(database, trail))) return found;
    } catch (error) {
      if (!(await wasTrimmed(database, trail))) throw error;
    }
  }
}

/** Lists the events that {@link searchEvents} finds, until there are enough, or no more. */
export async function listEvents(database: Database, search: EventSearch): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  for (let after: string | undefined = search.after; after !== undefined && events.length < search.limit; ) {
    const found: FoundEvents = await searchEvents(database, { ...search, after, limit: search.limit - events.length });
    events.push(...found.items);
    after = found.next;
  }
  return events;
}

async function examine(database: Database, trail: SearchedTrail, search: EventSearch): Promise<FoundEvents> {
  const { filter, order, limit } = search;
  const criteria = criteriaOf(filter);
  const items: RecordedEvent[] = [];
  let { first, last } = await boundsOf(database, trail, search);
  let [left, blocks] = [MOST, 1];
  let searched = await rangeAt(trail, order, { first, last });
  // One more than there is room for says whether the list ends here.
  while (searched !== undefined && left > 0) {
    const step: Step = await nextStep(database, searched, { order, blocks, userId: criteria.userId });
    const range = { from: String(step.first), to: String(step.last), limit: limit + 1 - items.length };
    const find = eventsIn(searched.extent)[order][searched.steps];
    items.push(...(await database.read(() => find({ ...criteria, ...range }))));
    if (items.length > limit) return { items: items.slice(0, limit), next: items[limit - 1]?.id };
    left -= step.cost;
    blocks = Math.min(8 * blocks, MAX_BLOCKS);
    if (order === 'asc') first = step.last + 1n;
    else last = step.first - 1n;
    searched = await rangeAt(trail, order, { first, last });
  }
  return { items, next: searched && String(order === 'asc' ? first - 1n : last + 1n) };
}

/** What one read examines. */
interface Step extends IdRange {
  /** As a number of events that lie next to each other. */
  readonly cost: number;
}

interface StepOptions {
  readonly order: 'asc' | 'desc';
  readonly userId: string;
  /** How many blocks to look up, where that is how events are found. */
  readonly blocks: number;
}

async function nextStep(database: Database, range: TrailRange, { order, userId, blocks }: StepOptions): Promise<Step> {
  const { first, last, extent, steps } = range;
  if (steps === 'accountIndexed') {
    const range = { userId, from: String(first), to: String(last) };
    const end = await database.read(() => eventsIn(extent)[order].endOfAccountStep(range));
    const cost = ACCOUNT_STEP * LOOKUP;
    if (end === undefined) return { first, last, cost };
    return order === 'asc' ? { first, last: BigInt(end.id), cost } : { first: BigInt(end.id), last, cost };
  }
  const size = BigInt(steps === 'all' ? STEP : blocks * BLOCK);
  const cost = steps === 'all' ? STEP : blocks * LOOKUP;
  return order === 'asc'
    ? { first, last: smallest(last, first + size - 1n), cost }
    : { first: largest(first, last - size + 1n), last, cost };
}

const stepsFor = ({ userId, clientId }: EventFilter) =>
  userId !== undefined ? 'account' : clientId !== undefined ? 'client' : 'all';

const criteriaOf = (filter: EventFilter) => ({
  type: filter.type ?? ANY,
  family: `${filter.type ?? ANY}.%`,
  actor: filter.actor ?? ANY,
  actorId: filter.actorId ?? ANY_ID,
  userId: filter.userId ?? ANY_ID,
  clientId: filter.clientId ?? ANY_ID,
  address: filter.address ?? ANY,
  requestId: filter.requestId ?? ANY,
  outcome: filter.outcome ?? ANY,
  // As the details are stored.
  details: filter.upstreamId === undefined ? ANY : containing(`"upstreamId":"${filter.upstreamId}"`),
  since: filter.since === undefined ? 0 : Date.parse(filter.since),
  until: filter.until === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(filter.until),
});
