import { liveGrantsOf } from '../../access/operator-grant-store.ts';
import { behind } from '../../admin-keys/live.ts';
import { record } from '../../audit/audit.ts';
import { type Invitation, openInvitationsOf, removeInvitation } from '../../invitations/store.ts';
import { InsufficientPermission, requireNotStronger } from '../../operators/refusal.ts';
import { excessOf, heldByRoles, holds, INSTALLATION, type Operator } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { grantOfMembership } from './grants.ts';

/** Whether an operator may invite people to this, by the roles that they hold. */
export function mayInviteTo(
  { id, grants }: Pick<Operator, 'id' | 'grants'>,
  { organizationId, role }: Pick<Invitation, 'organizationId' | 'role'>,
): boolean {
  const operator = { id, ...heldByRoles(grants) };
  if (!holds(operator, 'invitations.manage', { organizationId, developerId: null })) return false;
  const grant = organizationId === null ? undefined : grantOfMembership(organizationId, role);
  return grant === undefined || excessOf(operator, grant) === undefined;
}

/**
 * Nobody takes back an invitation to a role with a permission that they lack.
 * @throws {InsufficientPermission}
 */
export function requireRevocable(
  operator: Operator | undefined,
  { organizationId, role }: Pick<Invitation, 'organizationId' | 'role'>,
): void {
  const grant = organizationId === null ? undefined : grantOfMembership(organizationId, role);
  if (operator !== undefined && grant !== undefined) requireNotStronger(operator, [grant]);
}

/**
 * Somebody who did not act is named as the inviter only by who may act for everybody: the person would answer for it.
 * @throws {InsufficientPermission}
 */
export function* requireOwnName(operator: Operator | undefined, inviterId: string | null): Work<void> {
  if (operator === undefined || inviterId === null || holds(operator, 'invitations.manage', INSTALLATION)) return;
  if ((yield* behind(operator.id)) === inviterId) return;
  throw new InsufficientPermission(
    'invitations.manage',
    "A role of an organization invites in nobody else's name: leave inviterId out.",
  );
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
