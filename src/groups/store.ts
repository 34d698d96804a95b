import type { ExpressionBuilder, Kysely } from 'kysely';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { forKeyShare, forNoKeyUpdate, forShare, forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  changes,
  columnsOf,
  command,
  decoder,
  encode,
  many,
  one,
  plain,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import type { GroupTable } from './tables.ts';

const GROUP = {
  id: storedField('id', plain<string>()),
  /** Null for a group of the installation. */
  organizationId: storedField('organization_id', plain<string | null>()),
  /** A slug. */
  name: storedField('name', plain<string>()),
  displayName: storedField('display_name', plain<string>()),
  description: storedField('description', plain<string | null>()),
  /** Who maintains it: `local` for the operators. */
  source: storedField('source', plain<string>()),
  createdAt: storedField('created_at', plain<number>()),
  updatedAt: storedField('updated_at', plain<number>()),
  /** When it was deleted: its rows are removed afterwards. */
  deletedAt: storedField('deleted_at', plain<number | null>()),
} as const;

export type Group = Values<typeof GROUP>;

const COLUMNS = columnsOf(GROUP);
export const toGroup: (row: object) => Group = decoder(GROUP);

/** The groups that are not deleted. */
export const presentGroups = (db: Kysely<Tables>) =>
  db.selectFrom('user_group').select(COLUMNS).where('deleted_at', 'is', null);

const insert = changes((db, p: GroupTable) =>
  db
    .insertInto('user_group')
    .values(pick(p, COLUMNS))
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);

/** Adds a group, unless its name is taken where it belongs. */
export const insertGroup = (group: Group): Work<boolean> => insert(encode(GROUP, group));

export const findGroup = one((db, p: { id: string }) => presentGroups(db).where('id', '=', p.id), toGroup);

/** Reads a group and locks it against changes until the unit of work ends. */
export const lockGroup = one(
  (db, p: { id: string }) => presentGroups(db).where('id', '=', p.id).$call(forNoKeyUpdate),
  toGroup,
);

/** Reads a group that is not deleted before the unit of work ends. */
export const holdGroup = one(
  (db, p: { id: string }) => presentGroups(db).where('id', '=', p.id).$call(forShare),
  toGroup,
);

export const findGroupOfInstallation = one(
  (db, p: { name: string }) => presentGroups(db).where('organization_id', 'is', null).where('name', '=', p.name),
  toGroup,
);

export const findGroupOfOrganization = one(
  (db, p: { organizationId: string; name: string }) =>
    presentGroups(db).where('organization_id', '=', p.organizationId).where('name', '=', p.name),
  toGroup,
);

const update = command((db, p: Pick<GroupTable, 'id' | 'name' | 'display_name' | 'description' | 'updated_at'>) =>
  db
    .updateTable('user_group')
    .set({ name: p.name, display_name: p.display_name, description: p.description, updated_at: p.updated_at })
    .where('id', '=', p.id),
);
export const saveGroup = (group: Group): Work<void> => update(encode(GROUP, group));

/** Deletes a group for everybody who reads it; its rows go in batches afterwards. */
export const markGroupDeleted = command((db, p: { id: string; now: number }) =>
  db.updateTable('user_group').set({ deleted_at: p.now }).where('id', '=', p.id),
);

interface GroupPage {
  readonly after: string;
  readonly limit: number;
}

/** The ids of an organization's groups. */
export const groupIdsOfOrganization = many(
  (db, p: { organizationId: string }) =>
    db
      .selectFrom('user_group')
      .select('id')
      .where('organization_id', '=', p.organizationId)
      .where('deleted_at', 'is', null),
  ({ id }) => id,
);

/** Deleted groups whose rows may not be removed yet. */
export const listDeletedGroups = many(
  (db, p: { limit: number }) =>
    db
      .selectFrom('user_group')
      .select(['id', 'deleted_at'])
      .where('deleted_at', 'is not', null)
      .orderBy('deleted_at')
      .limit(p.limit),
  ({ id, deleted_at }) => ({ id, deletedAt: deleted_at ?? 0 }),
);

/** Removes some members of a deleted group; the unit of work returns whether there were any. */
export const removeSomeMembers = changes((db, p: { groupId: string; limit: number }) =>
  db
    .deleteFrom('group_member')
    .where('id', 'in', (eb) =>
      eb.selectFrom('group_member').select('id').where('group_id', '=', p.groupId).limit(p.limit),
    )
    .returning('id'),
);

/** Removes a deleted group that has no members any more, once its assignments are gone: whether it did. */
export const removeGroup = changes((db, p: { id: string }) =>
  db
    .deleteFrom('user_group')
    .where('id', '=', p.id)
    .where('deleted_at', 'is not', null)
    .where((eb) => eb.not(eb.exists(eb.selectFrom('app_assignment').select('id').where('group_id', '=', p.id))))
    .returning('id'),
);

export interface NewGroupMember {
  readonly groupId: string;
  readonly accountId: string;
  /** The organization of the group. */
  readonly organizationId: string | null;
  /** The operator; null for the command line and for other sources. */
  readonly madeBy: string | null;
  readonly now: number;
}

/** Adds a person to a group; false where the person is in it already. */
export const addGroupMember = changes((db, p: NewGroupMember) =>
  db
    .insertInto('group_member')
    .values({
      group_id: p.groupId,
      account_id: p.accountId,
      organization_id: p.organizationId,
      added_at: p.now,
      maker_id: p.madeBy,
    })
    .onConflict((conflict) => conflict.columns(['group_id', 'account_id']).doNothing())
    .returning('id'),
);

/** Who is in a group because an operator added them. */
export interface MadeGroupMember {
  readonly id: string;
  readonly groupId: string;
  readonly accountId: string;
  /** That of the group. */
  readonly organizationId: string | null;
}

/** A part of those whom an operator added to groups from one instant on, and before another one, in the order in which they were added. */
export const groupMembersMadeBy = many(
  (db, p: { madeBy: string; since: number; until: number; after: string; limit: number }) =>
    db
      .selectFrom('group_member')
      .select(['id', 'group_id as groupId', 'account_id as accountId', 'organization_id as organizationId'])
      .where('maker_id', '=', p.madeBy)
      .where('added_at', '>=', p.since)
      .where('added_at', '<', p.until)
      .where('id', '>', p.after)
      .orderBy('id')
      .limit(p.limit),
  (row): MadeGroupMember => row,
);

/** The id of a person's membership, locked until the unit of work ends. */
export const lockGroupMember = one(
  (db, p: { groupId: string; accountId: string }) =>
    db
      .selectFrom('group_member')
      .select('id')
      .where('group_id', '=', p.groupId)
      .where('account_id', '=', p.accountId)
      .$call(forUpdate),
  ({ id }) => id,
);

/** Locks a person's memberships in the groups of an organization until the unit of work ends. */
export const lockGroupMembersOf = many(
  (db, p: { organizationId: string; accountId: string }) =>
    db
      .selectFrom('group_member')
      .select('id')
      .where('account_id', '=', p.accountId)
      .where('organization_id', '=', p.organizationId)
      .orderBy('id')
      .$call(forUpdate),
  ({ id }) => id,
);

/** A membership that does not end before the unit of work does. */
export const holdGroupMember = one(
  (db, p: { id: string }) => db.selectFrom('group_member').select('id').where('id', '=', p.id).$call(forKeyShare),
  ({ id }) => id,
);

export const removeGroupMember = command((db, p: { id: string }) =>
  db.deleteFrom('group_member').where('id', '=', p.id),
);

export interface GroupMember {
  /** Of the account. */
  readonly id: string;
  readonly username: string;
  readonly addedAt: number;
}

/** The members of a group, in the order of their accounts' ids. */
export const listGroupMembers = many(
  (db, p: { groupId: string; after: string; limit: number }) =>
    db
      .selectFrom('group_member as m')
      .innerJoin('account as a', 'a.id', 'm.account_id')
      .select(['m.account_id', 'm.added_at', 'a.username'])
      .where('m.group_id', '=', p.groupId)
      .where('m.account_id', '>', p.after)
      .orderBy('m.account_id')
      .limit(p.limit),
  (row): GroupMember => ({ id: row.account_id, username: row.username, addedAt: row.added_at }),
);

const NAMED = {
  id: storedField('id', plain<string>()),
  name: storedField('name', plain<string>()),
  /** The organization of the group, and its slug. */
  organizationId: storedField('organization_id', plain<string | null>()),
  organization: storedField('organization', plain<string | null>()),
};
const GROUP_OF_PERSON = {
  ...NAMED,
  displayName: storedField('display_name', plain<string>()),
  addedAt: storedField('added_at', plain<number>()),
};
const toNamed = decoder(NAMED);

/** A group that a person is in, as tokens name it. */
export type NamedGroup = Values<typeof NAMED>;

/** A group that a person is in, with when the person was added. */
export type GroupOfPerson = Values<typeof GROUP_OF_PERSON>;

/** The groups that a person is in, by name. */
export const groupsOf = (db: Kysely<Tables>, p: { accountId: string }) =>
  db
    .selectFrom('group_member as m')
    .innerJoin('user_group as u', 'u.id', 'm.group_id')
    .leftJoin('organization as o', 'o.id', 'u.organization_id')
    .select(['u.id', 'u.name', 'u.organization_id', 'o.name as organization'])
    .where('m.account_id', '=', p.accountId)
    .where('u.deleted_at', 'is', null)
    .orderBy('u.name')
    .orderBy('u.id');

export const listGroupsOf = many(
  (db, p: { accountId: string; limit: number }) => groupsOf(db, p).limit(p.limit),
  toNamed,
);

/** A page of the groups that a person is in, in the order of their ids. */
export const listGroupsOfPerson = many(
  (db, p: GroupPage & { accountId: string }) =>
    db
      .selectFrom('group_member as m')
      .innerJoin('user_group as u', 'u.id', 'm.group_id')
      .leftJoin('organization as o', 'o.id', 'u.organization_id')
      .select(['u.id', 'u.name', 'u.display_name', 'u.organization_id', 'o.name as organization', 'm.added_at'])
      .where('m.account_id', '=', p.accountId)
      .where('m.group_id', '>', p.after)
      .where('u.deleted_at', 'is', null)
      .orderBy('m.group_id')
      .limit(p.limit),
  decoder(GROUP_OF_PERSON),
);

const isAssigned = (eb: ExpressionBuilder<Tables & { u: Tables['user_group'] }, 'u'>, clientId: string) =>
  eb.exists(
    eb
      .selectFrom('app_assignment as s')
      .select('s.id')
      .whereRef('s.group_id', '=', 'u.id')
      .where('s.ended_at', 'is', null)
      .where('s.client_id', '=', clientId),
  );

/** Those of {@link listGroupsOf} that are assigned to an app. */
export const listAssignedGroupsOf = many(
  (db, p: { accountId: string; clientId: string; limit: number }) =>
    groupsOf(db, p)
      .where((eb) => isAssigned(eb, p.clientId))
      .limit(p.limit),
  toNamed,
);

/** Those of {@link listGroupsOf} that are assigned to an app, or of its organization. */
export const listGroupsOfApp = many(
  (db, p: { accountId: string; clientId: string; organizationId: string; limit: number }) =>
    groupsOf(db, p)
      .where((eb) => eb.or([eb('u.organization_id', '=', p.organizationId), isAssigned(eb, p.clientId)]))
      .limit(p.limit),
  toNamed,
);
