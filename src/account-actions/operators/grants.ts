import { type AccountGrant, grantsOf } from '../../access/operator-grant-store.ts';
import type { OperatorRole } from '../../operators/permissions.ts';
import { grantsBeyond, InsufficientPermission } from '../../operators/refusal.ts';
import type { FormerRight } from '../../operators/right-change-store.ts';
import { excessOf, type Operator, type OperatorGrant } from '../../operators/rights.ts';
import { findOrganization, organizationNotFound, type Role } from '../../organizations/store.ts';
import { type Clock, iso, isoOrNull } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { invalid } from '../../platform/failure.ts';
import { requestBody } from '../../platform/validation/fields.ts';
import * as Type from '../../platform/validation/type.ts';
import type { OwnerOptions } from '../accounts/last-owner.ts';

export interface ActingOperator {
  /** Who acts. The command line on the server is no operator, and may do everything. */
  readonly operator: Operator | undefined;
}

/** Where a role counts, and until when. */
export const grantFields = {
  organizationId: Type.Optional(
    Type.Union([Type.String({ format: 'id' }), Type.Null()], {
      about: 'The organization in which the role counts. Default: null, for the whole installation.',
      description: 'the ID of an organization, or null',
    }),
  ),
  expiresAt: Type.Optional(
    Type.Union([Type.String({ format: 'instant' }), Type.Null()], {
      about: 'When it ends. Default: null, for no end.',
      description: 'an ISO 8601 time with offset in the future, or null',
    }),
  ),
};

export const GrantRoleRequest = requestBody('GrantRoleRequest', grantFields);
export type GrantRoleRequest = Type.Static<typeof GrantRoleRequest>;

/**
 * The grant that a request describes.
 * @throws {Failure} `invalid`
 */
export function readGrant(
  { role, organizationId = null, expiresAt = null }: GrantRoleRequest & { readonly role: OperatorRole },
  now: number,
): OperatorGrant {
  const end = expiresAt === null ? null : Date.parse(expiresAt);
  if (end !== null && end <= now) throw invalid(`expiresAt must be in the future; got ${expiresAt}.`);
  if (organizationId !== null && role === 'support') {
    throw invalid(
      'organizationId cannot be given with the role support: it reaches accounts, which belong to no organization.',
    );
  }
  return { role, organizationId, expiresAt: end };
}

/**
 * Inside a unit of work, after what the operator may see.
 * @throws {InsufficientPermission} where the grant is beyond the operator's own rights, or their end
 */
export function requireGivable(operator: Operator | undefined, wanted: OperatorGrant | undefined): void {
  const excess = operator && wanted && excessOf(operator, wanted);
  if (excess === undefined) return;
  if ('permission' in excess) throw grantsBeyond(excess.permission);
  throw new InsufficientPermission(
    'operators.manage',
    `Nobody gives a role for longer than they hold it: until ${iso(excess.heldUntil)}.`,
  );
}

/** The grant that the role of a membership is: owner or admin of the organization. */
export const grantOfMembership = (organizationId: string, role: Role | null): OperatorGrant | undefined =>
  role === 'OWNER' || role === 'ADMIN'
    ? { role: role === 'OWNER' ? 'owner' : 'admin', organizationId, expiresAt: null }
    : undefined;

/** The role of an operator that a right is; undefined for what is none. */
export function grantOfRight(right: FormerRight | null): OperatorGrant | undefined {
  if (right?.kind === 'role') return right;
  return right?.kind === 'member' ? grantOfMembership(right.organizationId, right.role) : undefined;
}

/** @throws {Failure} `not found` where a grant names an organization that does not exist */
export function* requirePlace({ organizationId }: OperatorGrant): Work<void> {
  if (organizationId !== null && (yield* findOrganization({ id: organizationId })) === undefined) {
    throw organizationNotFound(organizationId);
  }
}

/** What an event says of a grant. */
export const grantDetails = ({ role, organizationId, expiresAt }: OperatorGrant) => ({
  role,
  ...(organizationId !== null && { organizationId }),
  ...(expiresAt !== null && { expiresAt: iso(expiresAt) }),
});

export interface GrantsContext extends OwnerOptions, ActingOperator {
  readonly database: Database;
  readonly clock: Clock;
}

/** Owners and admins of an organization are members with that role: one record says both. */
export function requireOwnRecord({ role, organizationId }: Pick<OperatorGrant, 'role' | 'organizationId'>): void {
  if (organizationId === null || (role !== 'owner' && role !== 'admin')) return;
  throw invalid(
    `role ${role} of an organization is the role ${role.toUpperCase()} of the membership: set it with PUT /organizations/${organizationId}/members/{userId}, or tessera org add-member.`,
  );
}

/** Whether a grant gives something that others do not. */
export const isMore = (grants: readonly OperatorGrant[], grant: OperatorGrant | undefined): boolean =>
  grant !== undefined && excessOf({ grants }, grant) !== undefined;

export const isOwner = ({ role, organizationId }: Pick<OperatorGrant, 'role' | 'organizationId'>): boolean =>
  role === 'owner' && organizationId === null;

/** Every role that an account holds. */
export const rolesOfAccount = (database: Database, accountId: string): Promise<readonly AccountGrant[]> =>
  database.read(() => grantsOf(accountId));

export const grantView = (grant: AccountGrant) => ({
  userId: grant.accountId,
  role: grant.role,
  organizationId: grant.organizationId,
  expiresAt: isoOrNull(grant.expiresAt),
  createdAt: isoOrNull(grant.createdAt),
  madeBy: grant.madeBy,
});
