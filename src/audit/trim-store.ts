import type { Database, Work } from '../platform/database/database.ts';
import { all, statement } from '../platform/database/statement.ts';
import type { Origin } from '../platform/http/origin.ts';
import { record } from './audit.ts';

const BATCH = 500;
const HOUSEKEEPING: Origin = { actor: { type: 'system', id: null }, address: null, requestId: null };

const oldest = statement((db, p: { limit: number }) =>
  db.selectFrom('audit_event').select(['id', 'at']).orderBy('id').limit(p.limit),
);
const removeThrough = statement((db, p: { id: string }) =>
  db.deleteFrom('audit_event').where('id', '<=', p.id).returning('id'),
);

/**
 * Removes the events from before an instant: the oldest first and none in between, so that a gap still shows. What was
 * removed is recorded with it.
 * @returns how many went
 */
export async function trimEvents(database: Database, before: number, now: number): Promise<number> {
  let removed = 0;
  for (let batch = BATCH; batch === BATCH; removed += batch) {
    batch = await database.commit(function* trim(): Work<number> {
      const rows = yield* all(oldest, { limit: BATCH });
      const kept = rows.findIndex(({ at }) => at >= before);
      const last = rows[(kept === -1 ? rows.length : kept) - 1];
      if (last === undefined) return 0;
      const events = (yield* all(removeThrough, { id: last.id })).length;
      // Another node may have been faster.
      if (events > 0) {
        const details = { events, throughId: last.id };
        yield* record({ at: now, type: 'events.trimmed', origin: HOUSEKEEPING, details });
      }
      return events;
    });
  }
  return removed;
}
