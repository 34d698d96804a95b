import { one } from '../platform/database/statement.ts';

const find = one((db, p: { accountId: string }) =>
  db.selectFrom('recovery_setting').select('code_required_at').where('account_id', '=', p.accountId),
);

/** Whether a link by mail alone does not recover an account, but a recovery code is asked for, too. */
export function* isCodeRequired(account: { readonly accountId: string }) {
  return (yield* find(account)) !== undefined;
}
