import {
  type FormerAssignment,
  keepRightChange,
  type NamedRight,
  type RightActor,
} from '../operators/right-change-store.ts';
import type { Work } from '../platform/database/database.ts';
import { changes, command, many, one } from '../platform/database/statement.ts';
import type { Assignment, AssignmentRow } from './store.ts';

/** Whose an assignment is, and to which app. */
export const placeOfAssignment = ({
  id,
  clientId,
  to,
}: Pick<Assignment, 'id' | 'clientId' | 'to'>): Extract<NamedRight, { kind: 'assignment' }> => ({
  ...{ kind: 'assignment', id, clientId },
  accountId: to.kind === 'person' ? to.accountId : null,
  groupId: to.kind === 'group' ? to.groupId : null,
  organizationId: to.kind === 'organization' ? to.organizationId : null,
});

const COLUMNS = [
  ...(['id', 'client_id', 'account_id', 'group_id', 'organization_id', 'role'] as const),
  ...(['maker_id', 'made_at'] as const),
] as const;

const toWhole = (row: {
  readonly id: string;
  readonly client_id: string;
  readonly account_id: string | null;
  readonly group_id: string | null;
  readonly organization_id: string | null;
  readonly role: string;
  readonly maker_id: string | null;
  readonly made_at: number | null;
}): FormerAssignment => ({
  ...{ kind: 'assignment', id: row.id, clientId: row.client_id, accountId: row.account_id, groupId: row.group_id },
  ...{ organizationId: row.organization_id, role: row.role === '' ? null : row.role },
  ...{ madeBy: row.maker_id, givenAt: row.made_at ?? 0 },
});

/** An assignment with who made it or gave it its role. */
export const findWholeAssignment = one(
  (db, p: { id: string; clientId: string }) =>
    db
      .selectFrom('app_assignment')
      .select(COLUMNS)
      .where('id', '=', p.id)
      .where('client_id', '=', p.clientId)
      .where('ended_at', 'is', null),
  toWhole,
);

const sameAssignments = many(
  (db, p: { clientId: string; accountId: string; groupId: string; organizationId: string; role: string }) =>
    db
      .selectFrom('app_assignment')
      .select(COLUMNS)
      .where('client_id', '=', p.clientId)
      .where('role', '=', p.role)
      .where('ended_at', 'is', null)
      .where((eb) =>
        eb.or([
          eb('account_id', '=', p.accountId),
          eb('group_id', '=', p.groupId),
          eb('organization_id', '=', p.organizationId),
        ]),
      ),
  toWhole,
);

/** Another assignment of the same people to the app in the same role. */
export function* findSameAssignment({
  id,
  clientId,
  role,
  ...to
}: Pick<FormerAssignment, 'id' | 'clientId' | 'role' | 'accountId' | 'groupId' | 'organizationId'>): Work<
  FormerAssignment | undefined
> {
  const same = yield* sameAssignments({
    ...{ clientId, role: role ?? '', accountId: to.accountId ?? '0', groupId: to.groupId ?? '0' },
    organizationId: to.organizationId ?? '0',
  });
  return same.find((other) => other.id !== id);
}

/** Whether the app has another assignment of the same people in the same role. */
export function* hasSameAssignment(assignment: Assignment): Work<boolean> {
  return (yield* findSameAssignment({ ...placeOfAssignment(assignment), role: assignment.role })) !== undefined;
}

/** What is kept of an assignment that is changed or taken away. */
function* formerOf(assignment: Assignment): Work<FormerAssignment> {
  const unmade = {
    ...placeOfAssignment(assignment),
    role: assignment.role,
    madeBy: null,
    givenAt: assignment.createdAt,
  };
  return (yield* findWholeAssignment(assignment)) ?? unmade;
}

const insert = changes((db, p: AssignmentRow & { maker_id: string | null }) =>
  db
    .insertInto('app_assignment')
    .values({
      id: p.id,
      client_id: p.client_id,
      account_id: p.account_id,
      group_id: p.group_id,
      organization_id: p.organization_id,
      role: p.role,
      created_at: p.created_at,
      maker_id: p.maker_id,
      made_at: p.created_at,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id'),
);

/**
 * Adds an assignment; false where the same one exists.
 * @param madeBy the operator; null for the command line
 */
export function* insertAssignment(assignment: Assignment, madeBy: string | null = null): Work<boolean> {
  const { id, role, createdAt } = assignment;
  const right = placeOfAssignment(assignment);
  const isNew = yield* insert({
    ...{ id, client_id: right.clientId, account_id: right.accountId, group_id: right.groupId },
    ...{ organization_id: right.organizationId, role: role ?? '', created_at: createdAt, maker_id: madeBy },
  });
  if (isNew) yield* keepRightChange({ operatorId: madeBy, at: createdAt }, right, null);
  return isNew;
}

/** Ends an assignment: what was issued under it is dead from now on. False where it had ended before. */
export const endAssignment = changes((db, p: { id: string; now: number }) =>
  db
    .updateTable('app_assignment')
    .set({ ended_at: p.now })
    .where('id', '=', p.id)
    .where('ended_at', 'is', null)
    .returning('id'),
);

/** Takes an assignment away that was locked: {@link endAssignment}. */
export function* takeAssignment(assignment: Assignment, actor: RightActor): Work<void> {
  const former = yield* formerOf(assignment);
  yield* endAssignment({ id: assignment.id, now: actor.at });
  yield* keepRightChange(actor, former, former);
}

const setRole = command((db, p: { id: string; role: string; madeBy: string | null; now: number }) =>
  db.updateTable('app_assignment').set({ role: p.role, maker_id: p.madeBy, made_at: p.now }).where('id', '=', p.id),
);

/** Changes the role of an assignment that was locked, whose maker is from then on who does it. What was issued under it stays. */
export function* setAssignmentRole(assignment: Assignment, role: string | null, actor: RightActor): Work<void> {
  const former = yield* formerOf(assignment);
  yield* setRole({ id: assignment.id, role: role ?? '', madeBy: actor.operatorId, now: actor.at });
  yield* keepRightChange(actor, former, former);
}

/** Gives an assignment the role and the maker again that it had. */
export const putAssignmentRoleBack = ({ id, role, madeBy, givenAt }: FormerAssignment): Work<void> =>
  setRole({ id, role: role ?? '', madeBy, now: givenAt });
