import type { Database, Work } from '../platform/database/database.ts';
import { many } from '../platform/database/statement.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { record } from './audit.ts';

const BATCH = 500;
const HOUSEKEEPING: Origin = { actor: { type: 'system', id: null }, address: null, requestId: null };

const oldestEvents = many((db, p: { limit: number }) =>
  db.selectFrom('audit_event').select(['id', 'at']).orderBy('id').limit(p.limit),
);
const removeThrough = many((db, p: { id: string }) =>
  db.deleteFrom('audit_event').where('id', '<=', p.id).returning('id'),
);

/**
 * Removes the events from before an instant, always the oldest, so that a gap in the ids still reveals any other removal. The removal is
 * recorded in the same commit.
 * @returns how many were removed
 */
export async function trimEvents(database: Database, before: number, now: number): Promise<number> {
  let removed = 0;
  for (let batch = BATCH; batch === BATCH; removed += batch) {
    batch = await database.commit(() => trimBatch(before, now));
  }
  return removed;
}

function* trimBatch(before: number, now: number): Work<number> {
  const rows = yield* oldestEvents({ limit: BATCH });
  const kept = rows.findIndex(({ at }) => at >= before);
  const last = rows[(kept === -1 ? rows.length : kept) - 1];
  if (last === undefined) return 0;
  const events = (yield* removeThrough({ id: last.id })).length;
  // Another node may have removed them first.
  if (events > 0) {
    const details = { events, throughId: last.id };
    yield* record({ at: now, type: 'events.trimmed', origin: HOUSEKEEPING, details });
  }
  return events;
}
