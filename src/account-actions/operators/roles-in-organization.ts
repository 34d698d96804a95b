import {
  type AccountGrant,
  grantsOf,
  OF_MEMBERSHIP,
  removeGrantById,
  removeHeldGrant,
} from '../../access/operator-grant-store.ts';
import { record } from '../../audit/audit.ts';
import type { RightActor } from '../../operators/right-change-store.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { grantDetails } from './grants.ts';

interface HolderIn {
  readonly accountId: string;
  readonly organizationId: string;
}

/** The roles of an organization that a person holds beside the membership. */
export function* rolesIn({ accountId, organizationId }: HolderIn): Work<readonly AccountGrant[]> {
  const grants = yield* grantsOf(accountId);
  return grants.filter((grant) => grant.id !== OF_MEMBERSHIP && grant.organizationId === organizationId);
}

/**
 * Ends the roles of an organization that somebody holds who leaves it, in the unit of work that ends the membership.
 * @param by who ends it; undefined where it ends with who let the person in
 * @returns them
 */
export function* endRolesIn(
  holder: HolderIn,
  by: RightActor | undefined,
  origin: Origin,
  now: number,
): Work<readonly AccountGrant[]> {
  const roles = yield* rolesIn(holder);
  for (const role of roles) {
    if (by === undefined) yield* removeGrantById({ id: role.id });
    else yield* removeHeldGrant(role, by);
    const details = { ...grantDetails(role), withMembership: true };
    yield* record({ at: now, type: 'operator.role_revoked', origin, accountId: holder.accountId, details });
  }
  return roles;
}
