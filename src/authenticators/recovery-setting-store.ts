import type { Work } from '../platform/database/database.ts';
import { changes, one } from '../platform/database/statement.ts';

const find = one((db, p: { accountId: string }) =>
  db.selectFrom('recovery_setting').select('code_required_at').where('account_id', '=', p.accountId),
);

/** Whether a person chose that mail recovers the account only together with a recovery code. */
export function* requiresRecoveryCode(accountId: string): Work<boolean> {
  return (yield* find({ accountId })) !== undefined;
}

/** Requires a recovery code from now on; false where one was required before. The caller holds the account's lock. */
export const requireRecoveryCode = changes((db, p: { accountId: string; now: number }) =>
  db
    .insertInto('recovery_setting')
    .values({ account_id: p.accountId, code_required_at: p.now })
    .onConflict((conflict) => conflict.column('account_id').doNothing())
    .returning('account_id'),
);

/** Lets mail alone recover the account again; false where it did before. */
export const allowMailAlone = changes((db, p: { accountId: string }) =>
  db.deleteFrom('recovery_setting').where('account_id', '=', p.accountId).returning('account_id'),
);
