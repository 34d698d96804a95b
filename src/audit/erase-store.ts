import { constant } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { command, many } from '../platform/database/statement.ts';

/** The events whose details contain text that an operator wrote about a person. */
const eventsWithReason = many((db, p: { accountId: string }) =>
  db
    .selectFrom('audit_event')
    .select(['id', 'details'])
    .where('account_id', '=', p.accountId)
    // As in the condition of the index `audit_event_with_reason`.
    .where('type', 'in', [constant('account.banned'), constant('account.suspended')]),
);

const setDetails = command((db, p: { id: string; details: string }) =>
  db.updateTable('audit_event').set({ details: p.details }).where('id', '=', p.id),
);

/** Removes the text that operators wrote about a person from the events about them. The events stay, marked as erased. */
export function* eraseReasons(accountId: string): Work<void> {
  for (const { id, details } of yield* eventsWithReason({ accountId })) {
    const known: unknown = JSON.parse(details);
    if (typeof known !== 'object' || known === null || !('reason' in known) || known.reason === null) continue;
    yield* setDetails({ id, details: JSON.stringify({ ...known, reason: null, erased: ['reason'] }) });
  }
}
