import { one } from '../platform/database/statement.ts';

/** The id of a membership; undefined where the person is not in the group. */
export const findGroupMember = one(
  (db, p: { groupId: string; accountId: string }) =>
    db.selectFrom('group_member').select('id').where('group_id', '=', p.groupId).where('account_id', '=', p.accountId),
  ({ id }) => id,
);
