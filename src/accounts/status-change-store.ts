import type { Work } from '../platform/database/database.ts';
import { command, many } from '../platform/database/statement.ts';
import { spareChange } from '../platform/spare-change.ts';
import type { Bar } from './rules/bar.ts';

/** A decision on whether an account is barred, and what barred it before. */
export interface StatusChange {
  readonly id: string;
  /** Null for the command line on the server. */
  readonly operatorId: string | null;
  readonly former: Bar;
  readonly at: number;
}

/** How many decisions of one operator on one account are kept: nobody fills the store by barring and reinstating in turn. */
const MOST_KEPT = 50;

/** The decisions that are kept on an account, in their order. */
export const statusChangesOf = many(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('status_change')
      .select(['id', 'operator_id as operatorId', 'former', 'acted_at as at'])
      .where('account_id', '=', p.accountId)
      .orderBy('id'),
  ({ former, ...row }): StatusChange => ({ ...row, former: JSON.parse(former) }),
);

const insert = command((db, p: { accountId: string; operatorId: string | null; former: string; at: number }) =>
  db
    .insertInto('status_change')
    .values({ account_id: p.accountId, operator_id: p.operatorId, former: p.former, acted_at: p.at }),
);

/** Forgets a decision: what barred the account before bars it again. */
export const forgetStatusChange = command((db, p: { id: string }) =>
  db.deleteFrom('status_change').where('id', '=', p.id),
);

const setFormer = command((db, p: { id: string; former: string }) =>
  db.updateTable('status_change').set({ former: p.former }).where('id', '=', p.id),
);

/** Corrects what barred an account before a decision, where what was decided before that has ended. */
export const saveFormerBar = ({ id, former }: Pick<StatusChange, 'id' | 'former'>): Work<void> =>
  setFormer({ id, former: JSON.stringify(former) });

/** Keeps what barred an account before an operator decides on that, in the unit of work that does so and holds the account's lock. */
export function* keepStatusChange(accountId: string, { operatorId, former, at }: Omit<StatusChange, 'id'>): Work<void> {
  const kept = yield* statusChangesOf({ accountId });
  if (kept.filter((change) => change.operatorId === operatorId).length >= MOST_KEPT) {
    const spare = spareChange(kept, operatorId, () => true);
    if (spare !== undefined) yield* forgetStatusChange({ id: spare.id });
  }
  yield* insert({ accountId, operatorId, former: JSON.stringify(former), at });
}
