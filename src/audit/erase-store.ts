import { sql } from 'kysely';
import type { Work } from '../platform/database/database.ts';
import { all, run, statement } from '../platform/database/statement.ts';

/** The events whose details hold a text that an operator wrote about a person. */
const withReason = statement((db, p: { accountId: string }) =>
  db
    .selectFrom('audit_event')
    .select(['id', 'details'])
    .where('account_id', '=', p.accountId)
    // Written out, as in the index: a database does not take a parameter for what its index says.
    .where(sql<boolean>`type in ('account.banned', 'account.suspended')`),
);
const setDetails = statement((db, p: { id: string; details: string }) =>
  db.updateTable('audit_event').set({ details: p.details }).where('id', '=', p.id),
);

/** Removes what operators wrote about a person from the events about them. The events stay, and say that it was removed. */
export function* eraseReasons(accountId: string): Work<void> {
  for (const { id, details } of yield* all(withReason, { accountId })) {
    const known: unknown = JSON.parse(details);
    if (typeof known !== 'object' || known === null || !('reason' in known) || known.reason === null) continue;
    yield* run(setDetails, { id, details: JSON.stringify({ ...known, reason: null, erased: ['reason'] }) });
  }
}
