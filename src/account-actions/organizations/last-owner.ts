import { mayAct } from '../../accounts/rules/may-act.ts';
import { findAccount } from '../../accounts/store.ts';
import { holds, INSTALLATION, type Operator } from '../../operators/rights.ts';
import { listOwners, lockOrganization } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';

/**
 * Whether an account is the last owner of an organization who may act, inside a unit of work. Of two owners who leave at the same time one comes first: the
 * organization is locked until the unit of work ends.
 */
export function* isLastOwnerOf(organizationId: string, accountId: string, now: number): Work<boolean> {
  yield* lockOrganization({ id: organizationId });
  const owners = yield* listOwners({ organizationId });
  if (!owners.includes(accountId)) return false;
  for (const owner of owners) {
    if (owner === accountId) continue;
    const account = yield* findAccount({ id: owner });
    if (account !== undefined && mayAct(account, now)) return false;
  }
  return true;
}

/**
 * Keeps the last owner of an organization in it, and in the role, unless an operator of the installation decides otherwise: decisions §11. It
 * does not matter who acts, the owner or a key of theirs.
 * @throws {Failure} `conflict`
 */
export function* rejectLeaving(
  operator: Operator | undefined,
  { organizationId, accountId }: { readonly organizationId: string; readonly accountId: string },
  now: number,
): Work<void> {
  if (operator === undefined || holds(operator, 'members.manage', INSTALLATION)) return;
  if (!(yield* isLastOwnerOf(organizationId, accountId, now))) return;
  const who = operator.id === accountId ? 'You are' : 'The user is';
  throw conflict(`${who} the last owner of the organization. Make another member its owner first.`);
}
