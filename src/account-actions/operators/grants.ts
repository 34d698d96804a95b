import {
  type AccountGrant,
  grantsOf,
  insertGrant,
  OF_MEMBERSHIP,
  removeGrant,
} from '../../access/operator-grant-store.ts';
import { endSetupLink } from '../../access/setup-link-store.ts';
import { lockOperator } from '../../accounts/store.ts';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import { record } from '../../audit/audit.ts';
import { endOperatorLinks } from '../../mail/challenges.ts';
import type { OperatorRole } from '../../operators/permissions.ts';
import { grantsBeyond, InsufficientPermission } from '../../operators/refusal.ts';
import { excessOf, type Operator, type OperatorGrant } from '../../operators/rights.ts';
import { findOrganization, organizationNotFound, type Role } from '../../organizations/store.ts';
import { type Clock, iso, isoOrNull } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { invalid } from '../../platform/failure.ts';
import { requestBody } from '../../platform/validation/fields.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import * as Type from '../../platform/validation/type.ts';
import { userNotFound } from '../accounts/accounts.ts';
import { keepAnOwner, type OwnerOptions } from '../accounts/last-owner.ts';

export interface ActingOperator {
  /** Who acts. The command line on the server is no operator, and may do everything. */
  readonly operator?: Operator;
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

/**
 * Gives an account a role, or changes the end of one that it has.
 * @throws {Failure} `not found`, `invalid`, `insufficient permission`, or `conflict` for an end of the last owner
 */
export async function grantRole(
  context: GrantsContext,
  accountId: string,
  input: GrantRoleRequest & { readonly role: OperatorRole },
  origin: Origin,
): Promise<AccountGrant> {
  const { operator } = context;
  const now = context.clock();
  const wanted = readGrant(input, now);
  requireOwnRecord(wanted);
  return makingDatabase(context.database).commit(function* grant(): Work<AccountGrant> {
    if ((yield* lockOperator({ accountId })) === undefined) throw userNotFound(accountId);
    requireGivable(operator, wanted);
    yield* requirePlace(wanted);
    if (wanted.expiresAt !== null && isOwner(wanted)) yield* keepAnOwner(accountId, now, context);
    const held = (yield* grantsOf(accountId)).find(
      ({ id, role, organizationId }) =>
        id !== OF_MEMBERSHIP && role === wanted.role && organizationId === wanted.organizationId,
    );
    yield* removeGrant({ accountId, ...wanted });
    // Who gives a role again does not make it theirs: it would end with them. Who gives more than was there does.
    const goesOn = held !== undefined && endOf(held) > now && endOf(held) >= endOf(wanted);
    const madeBy = goesOn ? held.madeBy : (operator?.id ?? null);
    const createdAt = (goesOn ? held.createdAt : null) ?? now;
    yield* insertGrant({ accountId, ...wanted, madeBy, now: createdAt });
    yield* endOperatorLinks(accountId);
    // It is for the first owner, and would work again if this one were suspended.
    if (isOwner(wanted)) yield* endSetupLink({});
    yield* record({ at: now, type: 'operator.role_granted', origin, accountId, details: grantDetails(wanted) });
    return { id: '0', accountId, ...wanted, madeBy, createdAt };
  });
}

const endOf = ({ expiresAt }: Pick<OperatorGrant, 'expiresAt'>): number => expiresAt ?? Number.POSITIVE_INFINITY;

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
