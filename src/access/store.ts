import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Work } from '../platform/database/database.ts';
import { forNoKeyUpdate, forShare } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  command,
  decoder,
  many,
  one,
  plain,
  readAs,
  storedField,
  type Values,
} from '../platform/database/statement.ts';

/** Who an assignment is for. */
export type AssignedTo =
  | { readonly kind: 'person'; readonly accountId: string }
  | { readonly kind: 'group'; readonly groupId: string }
  | { readonly kind: 'organization'; readonly organizationId: string };

const ASSIGNMENT = {
  id: storedField('id', plain<string>()),
  clientId: storedField('client_id', plain<string>()),
  /** A role of the app; null for none. */
  role: storedField(
    'role',
    readAs((stored: string) => (stored === '' ? null : stored)),
  ),
  createdAt: storedField('created_at', plain<number>()),
};
const assignmentIn = decoder(ASSIGNMENT);

/** One row says who may use an app, and as what. */
export interface Assignment extends Values<typeof ASSIGNMENT> {
  readonly to: AssignedTo;
}

const COLUMNS = ['id', 'client_id', 'account_id', 'group_id', 'organization_id', 'role', 'created_at'] as const;

/** The columns of an assignment. */
export interface AssignmentRow {
  readonly id: string;
  readonly client_id: string;
  readonly account_id: string | null;
  readonly group_id: string | null;
  readonly organization_id: string | null;
  readonly role: string;
  readonly created_at: number;
}

/** Who the row of an assignment names. */
export function assignedTo({
  account_id,
  group_id,
  organization_id,
}: Pick<AssignmentRow, 'account_id' | 'group_id' | 'organization_id'>): AssignedTo {
  if (account_id !== null) return { kind: 'person', accountId: account_id };
  if (group_id !== null) return { kind: 'group', groupId: group_id };
  return { kind: 'organization', organizationId: organization_id ?? '' };
}

const toAssignment = (row: AssignmentRow): Assignment => ({ ...assignmentIn(row), to: assignedTo(row) });

const present = (db: Kysely<Tables>) => db.selectFrom('app_assignment').select(COLUMNS).where('ended_at', 'is', null);

export const findAssignment = one(
  (db, p: { id: string; clientId: string }) => present(db).where('id', '=', p.id).where('client_id', '=', p.clientId),
  toAssignment,
);

export const listAssignments = many(
  (db, p: { clientId: string; after: string; limit: number }) =>
    present(db).where('client_id', '=', p.clientId).where('id', '>', p.after).orderBy('id').limit(p.limit),
  toAssignment,
);

/** The assignments of a person, to any app. */
export const assignmentsOfPerson = many(
  (db, p: { accountId: string }) => present(db).where('account_id', '=', p.accountId).orderBy('id'),
  toAssignment,
);

/** The assignments of a group, to any app. */
export const assignmentsOfGroup = many(
  (db, p: { groupId: string }) => present(db).where('group_id', '=', p.groupId).orderBy('id'),
  toAssignment,
);

/** The assignments of an organization, to any app. */
export const assignmentsOfOrganization = many(
  (db, p: { organizationId: string }) => present(db).where('organization_id', '=', p.organizationId).orderBy('id'),
  toAssignment,
);

/** The ids of all assignments of an organization and of its groups, also of those that have ended, and of groups that were deleted. */
export const assignmentIdsAround = many(
  (db, p: { organizationId: string }) =>
    db
      .selectFrom('app_assignment')
      .select('id')
      .where((eb) =>
        eb.or([
          eb('organization_id', '=', p.organizationId),
          eb('group_id', 'in', (of) =>
            of.selectFrom('user_group').select('id').where('organization_id', '=', p.organizationId),
          ),
        ]),
      ),
  ({ id }) => id,
);

/** An assignment that does not end before the unit of work does; undefined where it has ended. */
export const holdAssignment = one(
  (db, p: { id: string }) => present(db).where('id', '=', p.id).$call(forShare),
  toAssignment,
);

/** Reads an assignment and locks it until the unit of work ends. */
export const lockAssignment = one(
  (db, p: { id: string; clientId: string }) =>
    present(db).where('id', '=', p.id).where('client_id', '=', p.clientId).$call(forNoKeyUpdate),
  toAssignment,
);

/** Assignments that have ended, the oldest first: what was issued under them may not be ended in the families yet. */
export const listEndedAssignments = many(
  (db, p: { limit: number }) =>
    db
      .selectFrom('app_assignment')
      .select(['id', 'ended_at'])
      .where('ended_at', 'is not', null)
      .orderBy('ended_at')
      .limit(p.limit),
  ({ id, ended_at }) => ({ id, endedAt: ended_at ?? 0 }),
);

/** Removes an assignment that has ended. */
export const removeEndedAssignment = command((db, p: { id: string }) =>
  db.deleteFrom('app_assignment').where('id', '=', p.id).where('ended_at', 'is not', null),
);

/** Whether a role is assigned to somebody. */
export const isRoleAssigned = one(
  (db, p: { clientId: string; role: string }) =>
    db
      .selectFrom('app_assignment')
      .select('id')
      .where('client_id', '=', p.clientId)
      .where('role', '=', p.role)
      .where('ended_at', 'is', null)
      .limit(1),
  () => true,
);

const PATH = {
  assignmentId: storedField('id', plain<string>()),
  /** Null where the person is assigned. */
  memberId: storedField('member_id', plain<string | null>()),
  role: ASSIGNMENT.role,
};
const pathIn = decoder(PATH);

/** The way by which a person may use an app: an assignment, and the membership that it reaches the person by. */
export interface AccessPath extends Values<typeof PATH> {
  readonly to: AssignedTo;
}

interface PathRow extends AssignmentRow {
  readonly member_id: string | null;
}

const toPath = (row: PathRow): AccessPath => ({ ...pathIn(row), to: assignedTo(row) });

interface PersonAtApp {
  readonly clientId: string;
  readonly accountId: string;
}

const PATH_COLUMNS = [
  's.id',
  's.client_id',
  's.account_id',
  's.group_id',
  's.organization_id',
  's.role',
  's.created_at',
] as const;

const byPerson = many(
  (db, p: PersonAtApp) =>
    db
      .selectFrom('app_assignment as s')
      .select(PATH_COLUMNS)
      .where('s.client_id', '=', p.clientId)
      .where('s.ended_at', 'is', null)
      .where('s.account_id', '=', p.accountId)
      .orderBy('s.id'),
  (row) => toPath({ ...row, member_id: null }),
);

const byGroup = many(
  (db, p: PersonAtApp) =>
    db
      .selectFrom('group_member as m')
      .innerJoin('app_assignment as s', 's.group_id', 'm.group_id')
      .select([...PATH_COLUMNS, 'm.id as member_id'])
      .where('m.account_id', '=', p.accountId)
      .where('s.client_id', '=', p.clientId)
      .where('s.ended_at', 'is', null)
      .orderBy('s.id'),
  toPath,
);

const byOrganization = many(
  (db, p: PersonAtApp) =>
    db
      .selectFrom('membership as m')
      .innerJoin('app_assignment as s', 's.organization_id', 'm.organization_id')
      .select([...PATH_COLUMNS, 'm.id as member_id'])
      .where('m.account_id', '=', p.accountId)
      .where('s.client_id', '=', p.clientId)
      .where('s.ended_at', 'is', null)
      .orderBy('s.id'),
  toPath,
);

/** Every path by which a person may use an app: the person's own assignments first, then those by groups and organizations. */
export function* listAccessPaths(person: PersonAtApp): Work<readonly AccessPath[]> {
  return [...(yield* byPerson(person)), ...(yield* byGroup(person)), ...(yield* byOrganization(person))];
}

/**
 * Whether the person of a code or token family `alias` may still use the app `c`, as 1 or 0: the app is open to everyone, or the path
 * that was recorded exists. It looks nothing up for an app that is open.
 */
export const hasAccess = (alias: 'd' | 'f'): RawBuilder<number> => {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  return sql<number>`case when c.status <> 'assigned' then 1 when exists (
    select 1 from app_assignment as s where s.id = ${column('assignment_id')} and s.client_id = c.id and s.ended_at is null and (
      s.account_id = ${column('account_id')}
      or exists (select 1 from group_member as gm where gm.id = ${column('member_id')}
        and gm.group_id = s.group_id and gm.account_id = ${column('account_id')})
      or exists (select 1 from membership as om where om.id = ${column('member_id')}
        and om.organization_id = s.organization_id and om.account_id = ${column('account_id')}))
  ) then 1 else 0 end`;
};
