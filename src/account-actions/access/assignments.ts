import {
  endAssignment,
  hasSameAssignment,
  insertAssignment,
  setAssignmentRole,
  takeAssignment,
} from '../../access/assignment-store.ts';
import type { AssignedTo, Assignment } from '../../access/store.ts';
import * as store from '../../access/store.ts';
import { findAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { clientNotFound } from '../../clients/clients.ts';
import { type Client, findClient, holdClient } from '../../clients/store.ts';
import { holdGroup } from '../../groups/store.ts';
import { findOrganization, organizationNotFound } from '../../organizations/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { conflict, type Failure, invalid, notFound } from '../../platform/failure.ts';
import type { Ids } from '../../platform/ids/ids.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { userNotFound } from '../accounts/accounts.ts';
import { groupNotFound } from './groups.ts';
import {
  type AccessActor,
  type AccessChange,
  type AccessProgress,
  endAllUnder,
  leavePaths,
  moveToOtherPaths,
} from './paths.ts';

interface AssignmentsContext extends AccessActor {
  readonly database: Database;
  readonly clock: Clock;
}

const assignmentNotFound = (id: string, clientId: string): Failure =>
  notFound(`The app ${clientId} has no assignment with the id ${id}.`);

/** The details of an event about an assignment. */
const detailsOf = ({ id, to, role }: Assignment) => ({
  assignmentId: id,
  ...(to.kind === 'group' && { groupId: to.groupId }),
  ...(to.kind === 'organization' && { organizationId: to.organizationId }),
  role,
});

const personOf = ({ to }: Assignment): string | null => (to.kind === 'person' ? to.accountId : null);

/**
 * Assigns a person, a group or an organization to an app, perhaps in a role of the app.
 * @throws {Failure} `not found`, `invalid` for a role that the app does not have, `conflict` where the same assignment exists
 */
export async function assign(
  { database, clock, ids, operator }: AssignmentsContext & { readonly ids: Ids },
  clientId: string,
  to: AssignedTo,
  role: string | null,
  origin: Origin,
): Promise<Assignment> {
  const now = clock();
  const assignment: Assignment = { id: await ids.next(), clientId, to, role, createdAt: now };
  await database.commit(function* add(): Work<void> {
    yield* requireRole(yield* requireClient(clientId), role);
    yield* requireAssigned(to);
    if (!(yield* insertAssignment(assignment, operator?.id ?? null))) {
      throw conflict('The app has this assignment already.');
    }
    const about = { clientId, accountId: personOf(assignment), details: detailsOf(assignment) };
    yield* record({ at: now, type: 'access.assigned', origin, ...about });
  });
  return assignment;
}

/** The app, whose roles do not change before the unit of work ends. */
function* requireClient(id: string): Work<Client> {
  const client = yield* holdClient({ id });
  if (client === undefined) throw clientNotFound(id);
  return client;
}

function* requireRole({ roles }: Client, role: string | null): Work<void> {
  if (role === null || roles.some(({ name }) => name === role)) return;
  const names = roles.map(({ name }) => name).join(', ');
  throw invalid(
    `role must be a role of the app (${names === '' ? 'it has none' : names}), or null; got ${role}. Add the role to the app first.`,
  );
}

/** @throws {Failure} `not found` */
function* requireAssigned(to: AssignedTo): Work<void> {
  switch (to.kind) {
    case 'person':
      if ((yield* findAccount({ id: to.accountId })) === undefined) throw userNotFound(to.accountId);
      return;
    case 'group':
      if ((yield* holdGroup({ id: to.groupId })) === undefined) throw groupNotFound(to.groupId);
      return;
    case 'organization':
      if ((yield* findOrganization({ id: to.organizationId })) === undefined) {
        throw organizationNotFound(to.organizationId);
      }
  }
}

/**
 * Changes the role of an assignment. Nothing ends: tokens, UserInfo and introspection give the new role from now on.
 * @throws {Failure} `not found`, `invalid` for a role that the app does not have
 */
export async function changeRole(
  { database, clock, operator }: AssignmentsContext,
  clientId: string,
  id: string,
  role: string | null,
  origin: Origin,
): Promise<Assignment> {
  const now = clock();
  return database.commit(function* change(): Work<Assignment> {
    yield* requireRole(yield* requireClient(clientId), role);
    const assignment = yield* store.lockAssignment({ id, clientId });
    if (assignment === undefined) throw assignmentNotFound(id, clientId);
    if (assignment.role === role) return assignment;
    const changed = { ...assignment, role };
    if (yield* hasSameAssignment(changed)) throw conflict('The app has an assignment with this role already.');
    yield* setAssignmentRole(assignment, role, { operatorId: operator?.id ?? null, at: now });
    const about = { clientId, accountId: personOf(changed), details: detailsOf(changed) };
    yield* record({ at: now, type: 'access.assigned', origin, ...about });
    return changed;
  });
}

const NOTHING: AccessChange = { kept: 0, ended: 0 };

/**
 * Takes an assignment away. From the moment that this returns, nothing that was issued under it is accepted, however many people it
 * concerns, unless the person has another assignment; given again, nothing comes back.
 * @throws {Failure} `not found`
 */
export async function unassign(
  { database, clock, operator }: AssignmentsContext,
  clientId: string,
  id: string,
  origin: Origin,
  progress?: AccessProgress,
): Promise<AccessChange> {
  const { to } = await getAssignment({ database }, clientId, id);
  const lost = { kind: 'assignment', assignmentIds: new Set([id]) } as const;
  // Those of one person are moved in the commit.
  const moved = to.kind === 'person' ? NOTHING : await moveToOtherPaths(database, [id], lost, progress);
  const now = clock();
  const change = await database.commit(function* take(): Work<AccessChange> {
    const assignment = yield* store.lockAssignment({ id, clientId });
    if (assignment === undefined) throw assignmentNotFound(id, clientId);
    const result = to.kind === 'person' ? yield* leavePaths(to.accountId, lost, now) : moved;
    yield* takeAssignment(assignment, { operatorId: operator?.id ?? null, at: now });
    const details = { ...detailsOf(assignment), ...result };
    yield* record({ at: now, type: 'access.unassigned', origin, clientId, accountId: personOf(assignment), details });
    return result;
  });
  await endAllUnder(database, [id], now);
  return change;
}

/**
 * Takes away an assignment with what else its maker made, inside a unit of work. What was issued under it is dead; the sign-ins of a group or
 * an organization are ended by housekeeping, and people who have another assignment authorize again without a page.
 */
export function* takeMadeAssignment(
  { id, clientId, to }: Pick<Assignment, 'id' | 'clientId' | 'to'>,
  origin: Origin,
  now: number,
): Work<void> {
  const assignment = yield* store.lockAssignment({ id, clientId });
  if (assignment === undefined) return;
  const lost = { kind: 'assignment', assignmentIds: new Set([id]) } as const;
  const change = to.kind === 'person' ? yield* leavePaths(to.accountId, lost, now) : {};
  yield* endAssignment({ id, now });
  const details = { ...detailsOf(assignment), ...change, withMaker: true };
  yield* record({ at: now, type: 'access.unassigned', origin, clientId, accountId: personOf(assignment), details });
}

/** An assignment of an app. @throws {Failure} `not found` */
export async function getAssignment(
  { database }: Pick<AssignmentsContext, 'database'>,
  clientId: string,
  id: string,
): Promise<Assignment> {
  const assignment = await database.read(() => store.findAssignment({ id, clientId }));
  if (assignment === undefined) throw assignmentNotFound(id, clientId);
  return assignment;
}

/** A page of an app's assignments. @throws {Failure} `not found` */
export async function assignmentsOf(
  { database }: Pick<AssignmentsContext, 'database'>,
  clientId: string,
  page: { readonly after: string; readonly limit: number },
): Promise<readonly Assignment[]> {
  return database.read(function* list(): Work<readonly Assignment[]> {
    if ((yield* findClient({ id: clientId })) === undefined) throw clientNotFound(clientId);
    return yield* store.listAssignments({ clientId, ...page });
  });
}
