import { endAssignment } from '../../access/assignment-store.ts';
import { assignmentsOfGroup } from '../../access/store.ts';
import { findAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import type { CreateGroupRequest, UpdateGroupRequest } from '../../groups/schema.ts';
import { GROUP_SETTINGS } from '../../groups/settings.ts';
import type { Group, MadeGroupMember } from '../../groups/store.ts';
import * as store from '../../groups/store.ts';
import { keepSettingChange } from '../../operators/setting-store.ts';
import { findOrganization, holdMember, organizationNotFound } from '../../organizations/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { conflict, type Failure, noneWithId, notFound } from '../../platform/failure.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import { changeOf } from '../../platform/kept-changes.ts';
import { keptSettings } from '../../platform/settings.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { holdUpstream } from '../../upstreams/store.ts';
import { userNotFound } from '../accounts/accounts.ts';
import {
  type AccessActor,
  type AccessChange,
  type AccessProgress,
  endAllUnder,
  leavePaths,
  moveToOtherPaths,
} from './paths.ts';
import { sourceOfUpstream } from './sourced-groups.ts';

interface GroupsContext {
  readonly database: Database;
  readonly clock: Clock;
}

export const groupNotFound = (id: string): Failure =>
  noneWithId('group', id, { command: 'group list', path: 'groups' });

const nameTaken = (): Failure => conflict('name is taken: another group has it. Choose another name.');

/** Only the operators' own groups are changed by hand: the others would be changed back. */
function requireLocal({ source, name }: Group): void {
  if (source !== 'local') throw conflict(`The group ${name} is maintained by ${source}: change it there.`);
}

/**
 * Creates a group, of the installation or of an organization.
 * @throws {Failure} `not found` for an unknown organization, `conflict` where the name is taken
 */
export async function createGroup(
  { database, clock, ids, operator }: GroupsContext & AccessActor & { readonly ids: Ids },
  input: CreateGroupRequest,
  origin: Origin,
): Promise<Group> {
  const now = clock();
  const { organizationId = null, name, displayName = name, description = null, upstreamId } = input;
  const source = upstreamId === undefined ? 'local' : sourceOfUpstream(upstreamId);
  const group: Group = {
    ...{ id: await ids.next(), organizationId, name, displayName, description, source },
    ...{ createdAt: now, updatedAt: now, deletedAt: null },
  };
  await database.commit(function* create(): Work<void> {
    if (organizationId !== null && (yield* findOrganization({ id: organizationId })) === undefined) {
      throw organizationNotFound(organizationId);
    }
    if (upstreamId !== undefined && (yield* holdUpstream({ id: upstreamId })) === undefined) {
      throw notFound(`There is no upstream with the id ${upstreamId}.`);
    }
    if (!(yield* store.insertGroup(group))) throw nameTaken();
    // So that a group gets its name back that another one was given meanwhile.
    const named = { at: now, fields: { name: { before: null, after: name } } };
    yield* keepSettingChange({ operator }, { kind: 'group', id: group.id }, named, GROUP_SETTINGS);
    const details = { groupId: group.id, name, ...(organizationId !== null && { organizationId }) };
    yield* record({ at: now, type: 'group.created', origin, details });
  });
  return group;
}

/** Changes fields of a group. @throws {Failure} `not found`, `conflict` where the name is taken */
export async function updateGroup(
  { database, clock, operator }: GroupsContext & AccessActor,
  id: string,
  change: UpdateGroupRequest,
  origin: Origin,
): Promise<Group> {
  const now = clock();
  return database.commit(function* update(): Work<Group> {
    const group = yield* store.lockGroup({ id });
    if (group === undefined) throw groupNotFound(id);
    requireLocal(group);
    const fields = (Object.keys(change) as (keyof UpdateGroupRequest)[]).filter(
      (field) => change[field] !== undefined && change[field] !== group[field],
    );
    if (fields.length === 0) return group;
    const changed: Group = { ...group, ...change, updatedAt: now };
    if (fields.includes('name') && (yield* findNamesake(changed)) !== undefined) throw nameTaken();
    yield* store.saveGroup(changed);
    yield* keepSettingChange({ operator }, { kind: 'group', id }, changeOf(group, changed, KEPT, now), GROUP_SETTINGS);
    yield* record({ at: now, type: 'group.updated', origin, details: { groupId: id, fields } });
    return changed;
  });
}

const KEPT = keptSettings(GROUP_SETTINGS);

/** The group that has a name where another group is. */
export const findNamesake = ({
  name,
  organizationId,
}: Pick<Group, 'name' | 'organizationId'>): Work<Group | undefined> =>
  organizationId === null
    ? store.findGroupOfInstallation({ name })
    : store.findGroupOfOrganization({ name, organizationId });

/**
 * Deletes a group. From the moment that this returns, nothing that was issued by an assignment of the group is accepted, unless the person
 * has another assignment.
 *
 * The commit ends the assignments and the group, however many people are in it; the rest is done in batches before and after it.
 * @throws {Failure} `not found`
 */
export async function deleteGroup(
  { database, clock }: GroupsContext,
  id: string,
  origin: Origin,
  progress?: AccessProgress,
): Promise<AccessChange> {
  const found = await database.read(function* find(): Work<readonly string[]> {
    const group = yield* store.findGroup({ id });
    if (group === undefined) throw groupNotFound(id);
    requireLocal(group);
    return (yield* assignmentsOfGroup({ groupId: id })).map((assignment) => assignment.id);
  });
  const change = await moveToOtherPaths(database, found, { kind: 'group', groupId: id }, progress);
  const now = clock();
  const ended = await database.commit(function* remove(): Work<readonly string[]> {
    const group = yield* store.lockGroup({ id });
    if (group === undefined) throw groupNotFound(id);
    const assignments = yield* assignmentsOfGroup({ groupId: id });
    for (const assignment of assignments) yield* endAssignment({ id: assignment.id, now });
    yield* store.markGroupDeleted({ id, now });
    const details = { groupId: id, name: group.name, ...change };
    yield* record({ at: now, type: 'group.deleted', origin, details });
    return assignments.map((assignment) => assignment.id);
  });
  await endAllUnder(database, ended, now);
  while (await database.commit(() => store.removeSomeMembers({ groupId: id, limit: MEMBERS })));
  await database.commit(() => store.removeGroup({ id }));
  return change;
}

/** How many members of a deleted group one commit removes. */
const MEMBERS = 500;

/**
 * Adds a person to a group; does nothing where the person is in it.
 * @throws {Failure} `not found`, or `conflict` where the group is of an organization that the person is no member of
 */
export async function addToGroup(
  { database, clock, operator }: GroupsContext & AccessActor,
  groupId: string,
  accountId: string,
  origin: Origin,
): Promise<void> {
  const now = clock();
  await database.commit(function* add(): Work<void> {
    const group = yield* store.holdGroup({ id: groupId });
    if (group === undefined) throw groupNotFound(groupId);
    requireLocal(group);
    if ((yield* findAccount({ id: accountId })) === undefined) throw userNotFound(accountId);
    const { organizationId } = group;
    if (organizationId !== null && (yield* holdMember({ organizationId, accountId })) === undefined) {
      throw conflict(
        'The user is not a member of the organization of this group. Add the user to the organization first.',
      );
    }
    if (!(yield* store.addGroupMember({ groupId, accountId, organizationId, madeBy: operator?.id ?? null, now })))
      return;
    yield* record({ at: now, type: 'group.member_added', origin, accountId, details: { groupId, group: group.name } });
  });
}

/**
 * Removes a person from a group: from the moment that this returns, nothing that was issued by an assignment of the group is accepted,
 * unless the person has another assignment. An operator takes access away in any group: where another source maintains it, the person
 * stays out until that names them again.
 * @throws {Failure} `not found` where the person is not in it
 */
export async function removeFromGroup(
  { database, clock }: GroupsContext,
  groupId: string,
  accountId: string,
  origin: Origin,
): Promise<AccessChange> {
  const now = clock();
  return database.commit(function* remove(): Work<AccessChange> {
    const group = yield* store.holdGroup({ id: groupId });
    if (group === undefined) throw groupNotFound(groupId);
    const id = yield* store.lockGroupMember({ groupId, accountId });
    if (id === undefined) throw notFound(`The user ${accountId} is not in the group ${groupId}.`);
    return yield* leaveGroup(group, { id, accountId }, {}, origin, now);
  });
}

/** Ends a membership that the unit of work has locked. */
function* leaveGroup(
  { id: groupId, name: group }: Pick<Group, 'id' | 'name'>,
  { id, accountId }: { readonly id: string; readonly accountId: string },
  why: { readonly withMaker?: true },
  origin: Origin,
  now: number,
): Work<AccessChange> {
  const change = yield* leavePaths(accountId, { kind: 'group', groupId }, now);
  yield* store.removeGroupMember({ id });
  const details = { groupId, group, ...change, ...why };
  yield* record({ at: now, type: 'group.member_removed', origin, accountId, details });
  return change;
}

/** Ends a membership with what else its maker made, inside a unit of work. */
export function* leaveWithMaker({ id, groupId, accountId }: MadeGroupMember, origin: Origin, now: number): Work<void> {
  const group = yield* store.holdGroup({ id: groupId });
  // Another one is another operator's.
  if (group === undefined || (yield* store.lockGroupMember({ groupId, accountId })) !== id) return;
  yield* leaveGroup(group, { id, accountId }, { withMaker: true }, origin, now);
}

/** @throws {Failure} `not found` */
export async function getGroup({ database }: Pick<GroupsContext, 'database'>, id: string): Promise<Group> {
  const group = await database.read(() => store.findGroup({ id }));
  if (group === undefined) throw groupNotFound(id);
  return group;
}
