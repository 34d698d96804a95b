import { findAccount } from '../../accounts/store.ts';
import { holds, INSTALLATION, type Operator } from '../../operators/rights.ts';
import { listOwners, lockOrganization } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';

/**
 * Whether an account is the last owner of an organization, inside a unit of work. Of two owners who leave at the same time one comes first: the
 * organization is locked until the unit of work ends.
 */
export function* isLastOwnerOf(organizationId: string, accountId: string): Work<boolean> {
  yield* lockOrganization({ id: organizationId });
  const owners = yield* listOwners({ organizationId });
  if (!owners.includes(accountId)) return false;
  for (const owner of owners) {
    if (owner === accountId) continue;
    const account = yield* findAccount({ id: owner });
    if (account !== undefined && account.deletionDueAt === null) return false;
  }
  return true;
}

/**
 * Keeps the last owner of an organization from leaving it, or the role, unless as an operator of the installation: decisions §11.
 * @throws {Failure} `conflict`
 */
export function* rejectLeaving(
  operator: Operator | undefined,
  { organizationId, accountId }: { readonly organizationId: string; readonly accountId: string },
): Work<void> {
  if (operator?.id !== accountId || holds(operator, 'members.manage', INSTALLATION)) return;
  if (!(yield* isLastOwnerOf(organizationId, accountId))) return;
  throw conflict('You are the last owner of the organization. Make another member its owner first.');
}
