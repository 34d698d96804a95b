import { type AccountRestrictions, accountStatus } from '../../verdict/rules.ts';

/** Whether a person may act for others, such as by an invitation or a key: not while barred, nor while the deletion of the account is due. */
export const mayAct = (
  account: AccountRestrictions & { readonly deletionDueAt: number | null },
  now: number,
): boolean => accountStatus(account, now) === 'active' && account.deletionDueAt === null;

/**
 * Whether an operator had the account suspended and deleted later: nobody who is suspended can ask for the deletion of their own account.
 * Until an operator lifts the suspension, the person does not call off the deletion.
 */
export const isOffboarded = ({
  suspendedAt,
  deletionRequestedAt,
}: {
  readonly suspendedAt: number | null;
  readonly deletionRequestedAt: number | null;
}): boolean => suspendedAt !== null && deletionRequestedAt !== null && suspendedAt <= deletionRequestedAt;
