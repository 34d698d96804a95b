import { endAssignment } from '../../access/assignment-store.ts';
import type { AccountGrant } from '../../access/operator-grant-store.ts';
import type { LostPaths } from '../../access/rules/paths.ts';
import { assignmentIdsAround, assignmentsOfGroup, assignmentsOfOrganization } from '../../access/store.ts';
import { takeAccountLock } from '../../accounts/store.ts';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import { record } from '../../audit/audit.ts';
import { groupIdsOfOrganization, lockGroupMembersOf, markGroupDeleted } from '../../groups/store.ts';
import { findJoinedSince } from '../../invitations/store.ts';
import type { RightActor } from '../../operators/right-change-store.ts';
import { keepSettingChange, type SettingActor, settingChangesOfOrganization } from '../../operators/setting-store.ts';
import { deleteMember, removeSomeMembersOf } from '../../organizations/member-store.ts';
import { ORGANIZATION_SETTINGS } from '../../organizations/settings.ts';
import * as store from '../../organizations/store.ts';
import { type Organization, organizationNotFound } from '../../organizations/store.ts';
import { type Clock, iso } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { canonicalDomain } from '../../platform/domain-name.ts';
import { conflict, type Failure, notFound } from '../../platform/failure.ts';
import { Id, Instant } from '../../platform/http/operation.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { changeOf, openedSince } from '../../platform/kept-changes.ts';
import { keptSettings, type SettingTable } from '../../platform/settings.ts';
import { requestBody } from '../../platform/validation/fields.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import * as Type from '../../platform/validation/type.ts';
import { findUpstreamOfOrganization } from '../../upstreams/only-store.ts';
import { type AccessChange, type AccessProgress, endAllUnder, leavePaths, moveToOtherPaths } from '../access/paths.ts';
import { endRequestsBeyond } from '../accounts/waiting-requests.ts';
import { endInvitationsBeyond } from '../operators/open-invitations.ts';
import { endRolesIn } from '../operators/roles-in-organization.ts';
import { isLastOwnerOf } from './last-owner.ts';

const requireSecondFactor = Type.Optional(
  Type.Boolean({
    about: 'Whether members need a second factor, or a passkey, to use apps. Default: false.',
    description: 'true or false',
  }),
);

export const CreateOrganizationRequest = requestBody('CreateOrganizationRequest', {
  name: Type.String({
    pattern: '^[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])$',
    about: 'Unique.',
    description: 'a slug of 2 to 48 of the characters a-z, 0-9 and "-", not starting or ending with "-"',
  }),
  domain: Type.String({ format: 'domain', description: 'a domain name such as example.com' }),
  requireSecondFactor,
});
export type CreateOrganizationRequest = Type.Static<typeof CreateOrganizationRequest>;

export const UpdateOrganizationRequest = requestBody('UpdateOrganizationRequest', { requireSecondFactor });
export type UpdateOrganizationRequest = Type.Static<typeof UpdateOrganizationRequest>;

const ROLES = ['OWNER', 'ADMIN', 'MEMBER'] as const;
export const SetMembershipRequest = requestBody('SetMembershipRequest', {
  role: Type.Optional(
    Type.Union([Type.Unsafe<store.Role>({ enum: ROLES }), Type.Null()], {
      description: `one of ${ROLES.join(', ')}, or null`,
    }),
  ),
});
export type SetMembershipRequest = Type.Static<typeof SetMembershipRequest>;

const role = Type.Unsafe<store.Role | null>({ enum: [...ROLES, null] });
const organizationFields = {
  id: Id,
  name: Type.String(),
  domain: Type.String(),
  requireSecondFactor: Type.Boolean(),
  createdAt: Instant,
};

/** An organization in the admin API, as made by `organizationView`. */
export const OrganizationRecord = Type.Object(organizationFields, { title: 'Organization' });

/** An organization with its members. */
export const OrganizationWithMembers = Type.Object(
  {
    ...organizationFields,
    members: Type.Array(Type.Object({ userId: Id, username: Type.String(), role }, { title: 'Member' })),
  },
  { title: 'OrganizationWithMembers' },
);

export const MembershipRecord = Type.Object({ organizationId: Id, userId: Id, role }, { title: 'Membership' });

/** A membership of an organization, by its person. */
export interface MemberWithRole {
  readonly organizationId: string;
  readonly accountId: string;
  readonly role: store.Role | null;
}

export const membershipView = ({ organizationId, accountId, role }: MemberWithRole) => ({
  organizationId,
  userId: accountId,
  role,
});

export interface OrganizationsContext {
  readonly database: Database;
  readonly clock: Clock;
}

/** Creates an organization. @throws {Failure} `conflict` where the name is taken */
export async function createOrganization(
  { database, clock, ids }: OrganizationsContext & { readonly ids: Ids },
  input: CreateOrganizationRequest,
  origin: Origin,
): Promise<Organization> {
  const now = clock();
  const organization: Organization = {
    id: await ids.next(),
    ...input,
    domain: canonicalDomain(input.domain) ?? input.domain,
    requireSecondFactor: input.requireSecondFactor ?? false,
    createdAt: now,
  };
  await database.commit(function* create() {
    if (!(yield* store.insertOrganization(organization))) {
      throw conflict('name is taken: another organization has it. Choose another name.');
    }
    const details = {
      organizationId: organization.id,
      ...(organization.requireSecondFactor && { requireSecondFactor: true }),
    };
    yield* record({ at: now, type: 'organization.created', origin, details });
  });
  return organization;
}

/** Another setting says through which provider alone they come: see `requireUpstream`. */
const { onlyUpstreamId: _, ...OF_RECORD } = ORGANIZATION_SETTINGS;
const KEPT = keptSettings(OF_RECORD satisfies SettingTable<UpdateOrganizationRequest>);

/**
 * Changes what an organization requires of its members. It counts from the next code that is issued to a member.
 * @throws {Failure} `not found`
 */
export async function updateOrganization(
  { database, clock, operator }: OrganizationsContext & SettingActor,
  id: string,
  change: UpdateOrganizationRequest,
  origin: Origin,
): Promise<Organization> {
  return database.commit(function* update(): Work<Organization> {
    yield* store.lockOrganization({ id });
    const organization = yield* store.findOrganization({ id });
    if (organization === undefined) throw organizationNotFound(id);
    const { requireSecondFactor = organization.requireSecondFactor } = change;
    if (requireSecondFactor === organization.requireSecondFactor) return organization;
    const changed: Organization = { ...organization, requireSecondFactor };
    const now = clock();
    yield* store.saveRequirement(id, requireSecondFactor);
    const kept = changeOf(organization, changed, KEPT, now);
    yield* keepSettingChange({ operator }, { kind: 'organization', id }, kept, ORGANIZATION_SETTINGS);
    const details = { organizationId: id, requireSecondFactor };
    yield* record({ at: now, type: 'organization.updated', origin, details });
    return changed;
  });
}

/**
 * Ends the membership that an account got by an invitation at an instant or later, inside a unit of work that holds the account's lock:
 * another person may have accepted it.
 * @returns the name of the organization; undefined where there is no such membership
 */
export function* endMembershipSince(
  { accountId, since }: { readonly accountId: string; readonly since: number },
  origin: Origin,
  now: number,
): Work<string | undefined> {
  const organizationId = yield* findJoinedSince({ accountId, since });
  if (organizationId === undefined) return undefined;
  yield* store.lockOrganization({ id: organizationId });
  const member = { organizationId, accountId };
  if ((yield* endMembership(member, bySelf(now), origin, now)) === undefined) return undefined;
  return (yield* store.findOrganization({ id: organizationId }))?.name;
}

/**
 * Ends a membership, and what was issued by it, inside a unit of work that holds the account's lock.
 * @param by who ends it; undefined where it ends with who let the person in
 * @param how whether the member left
 * @returns undefined where there is none
 */
export function* endMembership(
  member: Member,
  by: RightActor | undefined,
  origin: Origin,
  now: number,
  how: { readonly left?: true } = {},
): Work<AccessChange | undefined> {
  const { organizationId, accountId } = member;
  const { change } = (yield* takeMembership(member, by, origin, now)) ?? {};
  if (change === undefined) return undefined;
  yield* endInvitationsBeyond(accountId, origin, now);
  yield* endRequestsBeyond(accountId, origin, now);
  const details = { organizationId, ...change, ...how };
  yield* record({ at: now, type: 'organization.member_removed', origin, accountId, details });
  return change;
}

/** The person, or somebody who proved to be the person: no operator, with whom it would be put back. */
const bySelf = (at: number): RightActor => ({ operatorId: null, at });

interface Member {
  readonly organizationId: string;
  readonly accountId: string;
}

/** What ended with a membership. */
export interface EndedMembership {
  readonly change: AccessChange;
  /** The roles of the organization that the person held beside the membership. */
  readonly roles: readonly AccountGrant[];
}

/** {@link endMembership} without what follows for what an operator handed out, and without the event. */
export function* takeMembership(
  member: Member,
  by: RightActor | undefined,
  origin: Origin,
  now: number,
): Work<EndedMembership | undefined> {
  const { organizationId, accountId } = member;
  if ((yield* store.lockMember(member)) === undefined) return undefined;
  // They go with it. Locked after the sign-ins, they would wait for one that holds them and waits for those.
  yield* lockGroupMembersOf(member);
  const groupIds = new Set(yield* groupIdsOfOrganization({ organizationId }));
  const change = yield* leavePaths(accountId, { kind: 'organization', organizationId, groupIds }, now);
  yield* deleteMember(member, by);
  return { change, roles: yield* endRolesIn(member, by, origin, now) };
}

export const memberNotFound = ({ organizationId, accountId }: Member): Failure =>
  notFound(`The user ${accountId} is not a member of the organization ${organizationId}.`);

/** The membership of a person in an organization. @throws {Failure} `not found` */
export async function getMember(
  { database }: Pick<OrganizationsContext, 'database'>,
  member: Member,
): Promise<MemberWithRole> {
  const found = await database.read(() => store.findMemberRole(member));
  if (found === undefined) throw memberNotFound(member);
  return { ...member, role: found.role };
}

/**
 * Lets a member leave an organization, and its groups with it, as `removeMember` does.
 * @returns its name, or why nothing was changed
 */
export async function leaveOrganization(
  { database, clock }: OrganizationsContext,
  organizationId: string,
  accountId: string,
  origin: Origin,
): Promise<{ readonly left: string } | 'not a member' | 'last owner'> {
  const now = clock();
  return makingDatabase(database).commit(function* leave(): Work<{ left: string } | 'not a member' | 'last owner'> {
    yield* takeAccountLock({ id: accountId });
    if (yield* isLastOwnerOf(organizationId, accountId, now)) return 'last owner';
    const organization = yield* store.findOrganization({ id: organizationId });
    const change = yield* endMembership({ organizationId, accountId }, bySelf(now), origin, now, { left: true });
    return organization === undefined || change === undefined ? 'not a member' : { left: organization.name };
  });
}

/** How many members one commit removes. */
const MEMBERS = 200;

/**
 * Deletes an organization with its groups, memberships and assignments. The first commit ends the assignments and the groups, however many
 * people are concerned; members follow in batches. If it is interrupted, the organization is still there: delete it again.
 *
 * The organization goes last, once the sign-ins under each of its assignments have ended and their apps are to be notified: its rows
 * would take the assignments along, by which these are found.
 * @throws {Failure} `not found`
 */
export async function deleteOrganization(
  { database, clock, operator }: OrganizationsContext & SettingActor,
  id: string,
  origin: Origin,
  progress?: AccessProgress,
): Promise<AccessChange> {
  const { lost, assignments } = await database.read(function* find() {
    if ((yield* store.findOrganization({ id })) === undefined) throw organizationNotFound(id);
    return yield* readPaths(id);
  });
  const change = await moveToOtherPaths(database, assignments, lost, progress);
  const now = clock();
  const easing = await database.commit(function* end(): Work<readonly RightActor[]> {
    yield* store.lockOrganization({ id });
    const organization = yield* store.findOrganization({ id });
    if (organization === undefined) throw organizationNotFound(id);
    yield* endPaths(id, now);
    const details = { organizationId: id, name: organization.name, ...change };
    yield* record({ at: now, type: 'organization.deleted', origin, details });
    return yield* easedBy(organization, operator, now);
  });
  do {
    // Until it is gone, somebody may join it, or assign it.
    await database.commit(() => endPaths(id, now));
    await endAllUnder(database, await database.read(() => assignmentIdsAround({ organizationId: id })), now);
    while (await database.commit(() => removeSomeMembersOf({ organizationId: id, limit: MEMBERS }, easing)));
  } while (!(await database.commit(() => removeUnassigned(id))));
  return change;
}

/** Who required less of the members of an organization, and since when: also who deletes it where it requires anything. */
function* easedBy(
  { id: organizationId, requireSecondFactor }: Organization,
  operator: SettingActor['operator'],
  now: number,
): Work<readonly RightActor[]> {
  const found: RightActor[] = [];
  for (const { operatorId, changes } of yield* settingChangesOfOrganization({ organizationId })) {
    const opened = openedSince(changes, ORGANIZATION_SETTINGS);
    if (opened.size > 0) found.push({ operatorId, at: Math.min(...opened.values()) });
  }
  const isRequiring = requireSecondFactor || (yield* findUpstreamOfOrganization({ organizationId })) !== undefined;
  return isRequiring && operator !== undefined ? [...found, { operatorId: operator.id, at: now }] : found;
}

/** Ends the assignments and groups of an organization. */
function* endPaths(organizationId: string, now: number): Work<void> {
  const { assignments, lost } = yield* readPaths(organizationId);
  for (const id of assignments) yield* endAssignment({ id, now });
  for (const id of lost.groupIds) yield* markGroupDeleted({ id, now });
}

/** Removes an organization of which no assignment is left; whether it is gone. */
function* removeUnassigned(id: string): Work<boolean> {
  yield* store.lockOrganizationToRemove({ id });
  if ((yield* assignmentIdsAround({ organizationId: id })).length > 0) return false;
  return yield* store.removeOrganization({ id });
}

/** The assignments of an organization and of its groups. */
function* readPaths(organizationId: string) {
  const groupIds = new Set(yield* groupIdsOfOrganization({ organizationId }));
  const assignments = [...(yield* assignmentsOfOrganization({ organizationId }))];
  for (const groupId of groupIds) assignments.push(...(yield* assignmentsOfGroup({ groupId })));
  const lost: LostPaths & { kind: 'organization' } = { kind: 'organization', organizationId, groupIds };
  return { lost, assignments: assignments.map((assignment) => assignment.id) };
}

/** @throws {Failure} `not found` */
export async function getOrganization({ database }: Pick<OrganizationsContext, 'database'>, id: string) {
  return database.read(function* get() {
    const organization = yield* store.findOrganization({ id });
    if (organization === undefined) throw organizationNotFound(id);
    return { organization, members: yield* store.listMembers({ organizationId: id }) };
  });
}

export function organizationView(organization: Organization) {
  return {
    id: organization.id,
    name: organization.name,
    domain: organization.domain,
    requireSecondFactor: organization.requireSecondFactor,
    createdAt: iso(organization.createdAt),
  };
}
