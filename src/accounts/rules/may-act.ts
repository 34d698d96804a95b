import { type AccountRestrictions, accountStatus } from '../../verdict/rules.ts';

/** Whether a person may act for others, such as by an invitation or a key: not while barred, nor while the deletion of the account is due. */
export const mayAct = (
  account: AccountRestrictions & { readonly deletionDueAt: number | null },
  now: number,
): boolean => accountStatus(account, now) === 'active' && account.deletionDueAt === null;
