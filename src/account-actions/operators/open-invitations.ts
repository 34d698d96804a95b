import { liveGrantsOf } from '../../access/operator-grant-store.ts';
import { record } from '../../audit/audit.ts';
import { type Invitation, openInvitationsOf, removeInvitation } from '../../invitations/store.ts';
import { excessOf, holds, type Operator } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { grantOfMembership } from './grants.ts';

/** Whether an operator may invite people to this. */
export function mayInviteTo(
  operator: Operator,
  { organizationId, role }: Pick<Invitation, 'organizationId' | 'role'>,
): boolean {
  if (!holds(operator, 'invitations.manage', { organizationId, developerId: null })) return false;
  const grant = organizationId === null ? undefined : grantOfMembership(organizationId, role);
  return grant === undefined || excessOf(operator, grant) === undefined;
}

/**
 * Ends what a person invited to as an operator and nobody used, in the unit of work that took a role away, after that: decisions §11. What a
 * role that is left allows goes on.
 */
export function* endInvitationsBeyond(operatorId: string, origin: Origin, now: number): Work<void> {
  const operator = { id: operatorId, grants: yield* liveGrantsOf(operatorId, now) };
  for (const invitation of yield* openInvitationsOf({ operatorId })) {
    if (mayInviteTo(operator, invitation) || !(yield* removeInvitation(invitation))) continue;
    yield* record({ at: now, type: 'invitation.revoked', origin, details: { invitationId: invitation.id } });
  }
}
