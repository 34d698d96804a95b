import type { Work } from '../platform/database/database.ts';
import { many } from '../platform/database/statement.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { record } from './audit.ts';

const HOUSEKEEPING: Origin = { actor: { type: 'system', id: null }, address: null, requestId: null };

const oldestEvents = many((db, p: { limit: number }) =>
  db.selectFrom('audit_event').select(['id', 'at']).orderBy('id').limit(p.limit),
);
const removeThrough = many((db, p: { id: string }) =>
  db.deleteFrom('audit_event').where('id', '<=', p.id).returning('id'),
);

/**
 * Removes the oldest events, as far as they are from before an instant: always the oldest, so that a gap in the ids still reveals any
 * other removal. The removal is recorded in the same commit.
 * @returns how many
 */
export function* trimEvents({ before, limit, now }: TrimOrder): Work<number> {
  const rows = yield* oldestEvents({ limit });
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

interface TrimOrder {
  readonly before: number;
  readonly limit: number;
  readonly now: number;
}

/** When the oldest event happened. */
export function* oldestEventAt(): Work<number | undefined> {
  return (yield* oldestEvents({ limit: 1 }))[0]?.at;
}
