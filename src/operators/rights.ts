import { type OperatorRole, PERMISSIONS, type Permission, permissionNames } from './permissions.ts';

/** A role of an operator, in the installation or in one organization. */
export interface OperatorGrant {
  readonly role: OperatorRole;
  /** Null for the whole installation. */
  readonly organizationId: string | null;
  /** When it ends, in milliseconds since the Unix epoch; null for no end. */
  readonly expiresAt: number | null;
}

/** Where an object is: in an organization or, with null, in the installation itself. */
export interface Place {
  readonly organizationId: string | null;
  /** The operator who made it as a developer; null for none. Only apps have one. */
  readonly developerId: string | null;
}

/** An operator who acts: an account or an admin key, with what it holds at this moment. */
export interface Operator {
  readonly id: string;
  readonly grants: readonly OperatorGrant[];
}

export const INSTALLATION: Place = { organizationId: null, developerId: null };

export const liveGrants = <G extends OperatorGrant>(grants: readonly G[], now: number): readonly G[] =>
  grants.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);

/** Whether a grant includes a permission somewhere. */
const includes = ({ role, organizationId }: OperatorGrant, permission: Permission): boolean => {
  const { roles, reach } = PERMISSIONS[permission];
  return roles.includes(role) && (organizationId === null || reach === 'organization');
};

const covers = (grant: OperatorGrant, organizationId: string | null): boolean =>
  grant.organizationId === null || grant.organizationId === organizationId;

/** Whether an operator holds a permission for an object. */
export const holds = ({ id, grants }: Operator, permission: Permission, place: Place): boolean =>
  grants.some(
    (grant) =>
      includes(grant, permission) &&
      covers(grant, place.organizationId) &&
      (grant.role !== 'developer' || place.developerId === id || permission === 'apps.create'),
  );

/** What an operator reaches by a permission, for lists; undefined for everything. */
export interface Within {
  /** The organization; null for none. */
  readonly organizationId: string | null;
  /** The operator whose own apps are reached; null for none. */
  readonly developerId: string | null;
}

export function reachOf({ id, grants }: Operator, permission: Permission): Within | undefined {
  const held = grants.filter((grant) => includes(grant, permission));
  const others = held.filter(({ role }) => role !== 'developer');
  if (others.some(({ organizationId }) => organizationId === null)) return undefined;
  return {
    organizationId: others[0]?.organizationId ?? null,
    developerId: held.length > others.length ? id : null,
  };
}

/** Whose app it is that an operator registers in an organization, or in the installation: nobody's, where more than the role developer reaches it. */
export const developerIn = ({ id, grants }: Operator, organizationId: string | null): string | null =>
  grants.some((grant) => grant.role !== 'developer' && includes(grant, 'apps.create') && covers(grant, organizationId))
    ? null
    : id;

/** The organizations in which an operator holds a permission by a role that counts in them alone. */
export const organizationsOf = ({ grants }: Pick<Operator, 'grants'>, permission: Permission): readonly string[] => [
  ...new Set(
    grants.flatMap((grant) =>
      grant.organizationId !== null && includes(grant, permission) ? [grant.organizationId] : [],
    ),
  ),
];

/** Whether an operator holds a permission for any object. */
export const holdsSomewhere = ({ grants }: Operator, permission: Permission): boolean =>
  grants.some((grant) => includes(grant, permission));

/** Whether nothing is beyond an operator, so that nobody needs to be compared with them. */
export const holdsEverything = ({ grants }: Operator): boolean =>
  grants.some(({ role, organizationId }) => role === 'owner' && organizationId === null);

/** The grants of an operator that include what a grant gives with a permission. */
const including = (
  grants: readonly OperatorGrant[],
  wanted: OperatorGrant,
  permission: Permission,
): readonly OperatorGrant[] =>
  grants.filter(
    (grant) =>
      includes(grant, permission) &&
      covers(grant, wanted.organizationId) &&
      (grant.role !== 'developer' || wanted.role === 'developer'),
  );

const permissionsOf = (grant: OperatorGrant): readonly Permission[] =>
  permissionNames.filter((permission) => includes(grant, permission));

/** A permission that one of these grants includes and an operator lacks: nobody acts on somebody who holds one. */
export const lackingOf = (
  { grants }: Pick<Operator, 'grants'>,
  others: readonly OperatorGrant[],
): Permission | undefined =>
  others
    .flatMap((other) => permissionsOf(other).filter((permission) => including(grants, other, permission).length === 0))
    .at(0);

/**
 * Why an operator may not give a grant: a permission that they lack, or the end of what they hold themselves.
 * @returns undefined where they may
 */
export function excessOf(
  { grants }: Pick<Operator, 'grants'>,
  wanted: OperatorGrant,
): { readonly permission: Permission } | { readonly heldUntil: number } | undefined {
  for (const permission of permissionsOf(wanted)) {
    const held = including(grants, wanted, permission);
    if (held.length === 0) return { permission };
    const heldUntil = Math.max(...held.map(({ expiresAt }) => expiresAt ?? Number.POSITIVE_INFINITY));
    if (heldUntil < (wanted.expiresAt ?? Number.POSITIVE_INFINITY)) return { heldUntil };
  }
  return undefined;
}
