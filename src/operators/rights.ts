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

/** What an operator may act by. Only grants are compared with those of others. */
export interface OperatorRights {
  readonly grants: readonly OperatorGrant[];
  /**
   * Whether the policy of the installation lets them register apps of the installation, and manage those that they registered. It is no
   * role: nobody gave it, so it allows giving nothing to others, and makes nobody stronger.
   */
  readonly developsByPolicy: boolean;
}

/** An operator who acts: an account or an admin key, with what it holds at this moment. */
export interface Operator extends OperatorRights {
  readonly id: string;
}

/** What is held by roles alone. */
export const heldByRoles = (grants: readonly OperatorGrant[]): OperatorRights => ({ grants, developsByPolicy: false });

/** Whether somebody may act as an operator at all. */
export const isOperator = ({ grants, developsByPolicy }: OperatorRights): boolean =>
  grants.length > 0 || developsByPolicy;

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

/** Whether the policy of the installation gives a permission to those whom it makes developers. */
const isOfPolicy = ({ developsByPolicy }: OperatorRights, permission: Permission): boolean =>
  developsByPolicy && PERMISSIONS[permission].roles.includes('developer');

/** Whether it is within the policy: an app of the installation that the person registers or registered, wherever else they were a developer. */
const holdsByPolicy = (operator: Operator, permission: Permission, { organizationId, developerId }: Place): boolean =>
  isOfPolicy(operator, permission) &&
  organizationId === null &&
  (developerId === operator.id || permission === 'apps.create');

/** Whether an operator holds a permission for an object. */
export const holds = (operator: Operator, permission: Permission, place: Place): boolean =>
  holdsByPolicy(operator, permission, place) || holdsByRole(operator, permission, place);

const holdsByRole = ({ id, grants }: Operator, permission: Permission, place: Place): boolean =>
  grants.some(
    (grant) =>
      includes(grant, permission) &&
      covers(grant, place.organizationId) &&
      (grant.role !== 'developer' ||
        place.developerId === id ||
        // A developer of the installation makes apps of the installation: an organization's are for its own roles.
        (permission === 'apps.create' && grant.organizationId === place.organizationId)),
  );

/** Whether it is the policy alone by which somebody holds a permission for an object, whatever operators chose them for elsewhere. */
export const reachesByPolicyAlone = (operator: Operator, permission: Permission, place: Place): boolean =>
  holdsByPolicy(operator, permission, place) && !holdsByRole(operator, permission, place);

/** Whether it is the role support alone by which an operator may do something: of what the help desk does, the person is always told. */
export const holdsAsHelpDesk = (operator: Operator, permission: Permission): boolean =>
  holds(operator, permission, INSTALLATION) &&
  !holds({ ...operator, grants: operator.grants.filter(({ role }) => role !== 'support') }, permission, INSTALLATION);

/** What an operator reaches by a permission, for lists; undefined for everything. */
export interface Within {
  readonly organizationIds: readonly string[];
  /** The apps that the operator made as a developer, as far as they are reached. */
  readonly own: OwnApps | undefined;
}

export interface OwnApps {
  readonly developerId: string;
  /** Where they are reached: in the installation, for null, and in organizations. Undefined for everywhere. */
  readonly places: readonly (string | null)[] | undefined;
}

/**
 * What a list shows, asked for in the unit of work that reads the list: each has just found out what the operator holds, and a role may have
 * ended since the one before.
 */
export type Reach = () => Within | undefined;

export const EVERYTHING: Reach = () => undefined;

/** Of what is reached, what is in one organization. */
export const reachedIn =
  (reach: Reach, organizationId: string): Reach =>
  () => {
    const within = reach();
    const isReached = within === undefined || within.organizationIds.includes(organizationId);
    return { organizationIds: isReached ? [organizationId] : [], own: undefined };
  };

/** What is in one organization, as a list asks for it. */
export const inOrganization =
  (organizationId: string): Reach =>
  () => ({ organizationIds: [organizationId], own: undefined });

/** The places, each once, in which grants count. */
const placesOf = (grants: readonly OperatorGrant[]): readonly (string | null)[] => [
  ...new Set(grants.map(({ organizationId }) => organizationId)),
];

export const reachOf =
  (operator: Operator, permission: Permission): Reach =>
  () =>
    withinOf(operator, permission);

function withinOf(operator: Operator, permission: Permission): Within | undefined {
  const held = operator.grants.filter((grant) => includes(grant, permission));
  const others = placesOf(held.filter(({ role }) => role !== 'developer'));
  if (others.includes(null)) return undefined;
  const places = placesOf(held.filter(({ role }) => role === 'developer'));
  return {
    organizationIds: others.flatMap((organizationId) => organizationId ?? []),
    own: ownApps(operator, places, isOfPolicy(operator, permission)),
  };
}

/** The own apps that are reached by {@link holds}, with the roles of a developer in some places and perhaps by the policy. */
function ownApps({ id }: Operator, places: readonly (string | null)[], isByPolicy: boolean): OwnApps | undefined {
  if (places.includes(null)) return { developerId: id, places: undefined };
  const reached = isByPolicy ? [...places, null] : places;
  return reached.length === 0 ? undefined : { developerId: id, places: reached };
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
export const holdsSomewhere = (operator: Operator, permission: Permission): boolean =>
  isOfPolicy(operator, permission) || operator.grants.some((grant) => includes(grant, permission));

/** Whether somebody holds a permission by the policy of the installation, and by no role anywhere: operators did not choose them. */
export const holdsByPolicyAlone = (operator: Operator, permission: Permission): boolean =>
  isOfPolicy(operator, permission) && !operator.grants.some((grant) => includes(grant, permission));

/** Whether nothing is beyond an operator, for however long, so that nobody needs to be compared with them. */
export const holdsEverything = ({ grants }: Operator): boolean =>
  grants.some(
    ({ role, organizationId, expiresAt }) => role === 'owner' && organizationId === null && expiresAt === null,
  );

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

/** The role that comes closest to the policy: who holds it may do what the policy lets people do. */
const DEVELOPER: OperatorGrant = { role: 'developer', organizationId: null, expiresAt: null };

/** A permission that somebody held before and lacks now. */
export const lostOf = (now: OperatorRights, before: OperatorRights): Permission | undefined =>
  lackingOf(now, before.grants) ??
  (before.developsByPolicy && !now.developsByPolicy ? lackingOf(now, [DEVELOPER]) : undefined);

/** What of a grant is beyond an operator: a permission that they lack, or the time after the end of what they hold themselves. */
export type Excess = { readonly permission: Permission } | { readonly heldUntil: number };

/**
 * Why an operator may not give a grant.
 * @returns undefined where they may
 */
export function excessOf({ grants }: Pick<Operator, 'grants'>, wanted: OperatorGrant): Excess | undefined {
  for (const permission of permissionsOf(wanted)) {
    const held = including(grants, wanted, permission);
    if (held.length === 0) return { permission };
    const heldUntil = Math.max(...held.map(({ expiresAt }) => expiresAt ?? Number.POSITIVE_INFINITY));
    if (heldUntil < (wanted.expiresAt ?? Number.POSITIVE_INFINITY)) return { heldUntil };
  }
  return undefined;
}

/**
 * Why an operator may not take an account over that holds these grants: who gets in would hold them, and for as long. A permission that
 * the operator lacks comes first.
 * @returns undefined where nothing of them is beyond the operator
 */
export function excessAmong(operator: Pick<Operator, 'grants'>, others: readonly OperatorGrant[]): Excess | undefined {
  const permission = lackingOf(operator, others);
  if (permission !== undefined) return { permission };
  return others.map((other) => excessOf(operator, other)).find((excess) => excess !== undefined);
}
