import { DAY, MINUTE } from '../platform/clock.ts';
import type { TablePart, TableParts, Work } from '../platform/database/database.ts';
import { many, one } from '../platform/database/statement.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { record } from './audit.ts';

const HOUSEKEEPING: Origin = { actor: { type: 'system', id: null }, address: null, requestId: null };

/**
 * How far the order of times may differ from the order of ids: an event has the time at which its request began, by the clock of its
 * node, and gets its id when it is written.
 */
export const DISORDER = 10 * MINUTE;

/** A trail with fewer events than this is not divided: deleting them costs little. */
const FEWEST_IN_A_PART = 1_000_000n;

/** For how long events are recorded until they become a part: a month, or less where they are not kept for long. */
const periodOf = (kept: number): number => Math.min(31 * DAY, kept / 12);

/** A part that reaches over more time loses its oldest events one by one, so that none is kept for much longer than it should. */
const longestOf = (kept: number): number => 1.25 * periodOf(kept);

const oldestEvents = many((db, p: { limit: number }) =>
  db.selectFrom('audit_event').select(['id', 'at']).orderBy('id').limit(p.limit),
);
const firstAfter = one((db, p: { id: string }) =>
  db.selectFrom('audit_event').select(['id', 'at']).where('id', '>', p.id).orderBy('id').limit(1),
);
const lastThrough = one((db, p: { id: string }) =>
  db.selectFrom('audit_event').select(['id', 'at']).where('id', '<=', p.id).orderBy('id', 'desc').limit(1),
);
const removeThrough = many((db, p: { id: string }) =>
  db.deleteFrom('audit_event').where('id', '<=', p.id).returning('id'),
);

/** For how long events are kept, in milliseconds, and the parts that the trail is kept in. */
export interface Trail {
  readonly kept: number;
  readonly parts: TableParts | undefined;
}

/** The largest id. */
export const NEWEST = '9223372036854775807';

/** The part of the oldest events. */
interface OldestPart {
  readonly parts: TableParts;
  readonly part: TablePart;
  readonly firstId: string;
  /** Over how much time it reaches. */
  readonly span: number;
  /** When its newest event is certainly the newest of its times. */
  readonly endedAt: number;
}

function* oldestPart({ parts }: Trail): Work<OldestPart | undefined> {
  const [part] = parts === undefined ? [] : yield* parts.list();
  if (parts === undefined || part === undefined) return undefined;
  const [first] = yield* oldestEvents({ limit: 1 });
  const last = yield* lastThrough({ id: part.through });
  // Nothing is left of it.
  if (first === undefined || last === undefined) return { parts, part, firstId: part.through, span: 0, endedAt: 0 };
  return { parts, part, firstId: first.id, span: last.at - first.at, endedAt: last.at + DISORDER };
}

/**
 * When a part may be dropped: it waits a minute for each of its hours after it was found to be due. A clock that is set wrong makes the
 * whole trail due at once, so operators have half a day to notice before the first month is lost.
 */
const dropsAt = (dueSince: number, { span }: OldestPart): number => dueSince + span / 60;

/**
 * Removes the oldest events, as far as they are from before an instant: always the oldest, so that a gap in the ids still reveals any
 * other removal. A part is dropped when all of it is due. The removal is recorded in the same commit.
 * @returns how many; of a part, how many ids it had
 */
export function* trimEvents(trail: Trail, order: TrimOrder): Work<number> {
  const oldest = yield* oldestPart(trail);
  if (oldest === undefined) return yield* trimRows(order, NEWEST);
  const { parts, part, firstId, span, endedAt } = oldest;
  const { now } = order;
  if (endedAt >= now - trail.kept) {
    if (part.dueSince !== null) yield* parts.noteDue(part, null);
    return span > longestOf(trail.kept) ? yield* trimRows(order, part.through) : 0;
  }
  if (part.dueSince === null) yield* parts.noteDue(part, now);
  if (now < dropsAt(part.dueSince ?? now, oldest)) return 0;
  yield* parts.drop(part);
  const events = Number(BigInt(part.through) - BigInt(firstId)) + 1;
  yield* recordTrim(now, { events, throughId: part.through });
  return events;
}

/** Removes the oldest events through an id. */
function* trimRows({ before, limit, now }: TrimOrder, through: string): Work<number> {
  const rows = yield* oldestEvents({ limit });
  const kept = rows.findIndex(({ id, at }) => at >= before || BigInt(id) > BigInt(through));
  const last = rows[(kept === -1 ? rows.length : kept) - 1];
  if (last === undefined) return 0;
  const events = (yield* removeThrough({ id: last.id })).length;
  // Another node may have removed them first.
  if (events > 0) yield* recordTrim(now, { events, throughId: last.id });
  return events;
}

const recordTrim = (now: number, details: { readonly events: number; readonly throughId: string }): Work<void> =>
  record({ at: now, type: 'events.trimmed', origin: HOUSEKEEPING, details });

interface TrimOrder {
  readonly before: number;
  readonly limit: number;
  readonly now: number;
}

/** When the oldest event happened. */
export function* oldestEventAt(): Work<number | undefined> {
  return (yield* oldestEvents({ limit: 1 }))[0]?.at;
}

/** The time of what should be gone first; a part counts from when it may be dropped. */
export function* oldestDueAt(trail: Trail): Work<number | undefined> {
  const oldest = yield* oldestPart(trail);
  if (oldest === undefined || oldest.span > longestOf(trail.kept)) return yield* oldestEventAt();
  const { dueSince } = oldest.part;
  return dueSince === null ? undefined : dropsAt(dueSince, oldest) - trail.kept;
}

/** Whether what was recorded since the last division makes a part of the trail: a month of it, if it is much. */
export function* isDividable({ kept, parts }: Trail, now: number): Work<boolean> {
  if (parts === undefined || !(yield* parts.mayDivide())) return false;
  const newestPart = (yield* parts.list()).at(-1);
  const first = yield* firstAfter({ id: newestPart?.through ?? '0' });
  const last = yield* lastThrough({ id: NEWEST });
  if (first === undefined || last === undefined) return false;
  return now - first.at >= periodOf(kept) && BigInt(last.id) - BigInt(first.id) >= FEWEST_IN_A_PART;
}
