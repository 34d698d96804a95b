import { iso } from '../platform/clock.ts';
import type { Group, GroupMember, GroupOfPerson } from './store.ts';

/** A group in the admin API. */
export const groupView = (group: Group) => ({
  id: group.id,
  name: group.name,
  displayName: group.displayName,
  description: group.description,
  organizationId: group.organizationId,
  source: group.source,
  createdAt: iso(group.createdAt),
  updatedAt: iso(group.updatedAt),
});

export const groupMemberView = (member: GroupMember) => ({
  userId: member.id,
  username: member.username,
  addedAt: iso(member.addedAt),
});

/** A group of a person in the admin API. */
export const groupOfPersonView = ({ id, name, displayName, organizationId, organization, addedAt }: GroupOfPerson) => ({
  ...{ id, name, displayName, organizationId, organization },
  addedAt: iso(addedAt),
});
