import { putAssignmentBack, putAssignmentRoleBack } from '../../access/assignment-store.ts';
import { insertGrant, liveGrantsOf, removeGrantById } from '../../access/operator-grant-store.ts';
import { lockAssignment } from '../../access/store.ts';
import { lockOperator } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { holdClient } from '../../clients/store.ts';
import { holdGroup } from '../../groups/store.ts';
import {
  type FormerAssignment,
  type FormerMember,
  type FormerRight,
  type FormerRole,
  forgetFormer,
  forgetRightChange,
  forgetRightsGivenBy,
  rightChangesGivenBy,
} from '../../operators/right-change-store.ts';
import { findWholeMember, putMemberBack } from '../../organizations/member-store.ts';
import { lockOrganization } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { settleGain } from '../operators/gained-rights.ts';
import { grantDetails, grantOfRight, isMore } from '../operators/grants.ts';
import { endMembership } from '../organizations/organizations.ts';
import {
  changedRightsAt,
  heldRole,
  isGivenBy,
  type RightsPosition,
  type RightsPutBack,
  rightsPositions,
  somePlaces,
} from './rights-before.ts';
import type { Suspect } from './suspects.ts';

/** How many changes one commit puts back: each takes several statements, and others wait for the commit. */
const BATCH = 50;

/** Where the putting back of rights goes on after the commit that ended their changes. */
export interface RightsLeft {
  readonly suspects: readonly Suspect[];
  readonly position: RightsPosition;
}

/**
 * Puts back what suspects changed of the rights of others, inside a unit of work of `makingDatabase` that has ended the roles that they gave:
 * of each suspect the first part. What a suspect gave is not put back later either, with the end of somebody else.
 */
export function* putRightsBack(
  suspects: readonly Suspect[],
  origin: Origin,
  now: number,
): Work<RightsPutBack & { readonly left: readonly RightsLeft[] }> {
  const putBack: FormerRight[] = [];
  const left: RightsLeft[] = [];
  for (const position of yield* rightsPositions(suspects)) {
    const { rights, next } = yield* putSomeRightsBack({ suspects, position }, origin, now);
    putBack.push(...rights);
    if (next !== undefined) left.push(next);
  }
  for (const suspect of suspects) yield* forgetGiven(suspects, suspect);
  return { putBack, hasMorePutBack: left.length > 0, left };
}

/** Puts back a part of what a suspect changed. @returns it, and where it goes on; undefined at the end */
export function* putSomeRightsBack(
  { suspects, position }: RightsLeft,
  origin: Origin,
  now: number,
): Work<{ readonly rights: readonly FormerRight[]; readonly next: RightsLeft | undefined }> {
  const { places, next } = yield* somePlaces(position, BATCH);
  const rights: FormerRight[] = [];
  for (const place of places) {
    if (place.accountId !== null) yield* lockOperator({ accountId: place.accountId });
    const { changes, before } = yield* changedRightsAt(suspects, place, now);
    for (const right of before) if (yield* putRightBack(suspects, right, origin, now)) rights.push(right);
    // What is given there from now on is not undone by another end of the same operators.
    for (const { id } of changes) yield* forgetRightChange({ id });
  }
  return { rights, next: next === undefined ? undefined : { suspects, position: { ...position, after: next } } };
}

function putRightBack(suspects: readonly Suspect[], right: FormerRight, origin: Origin, now: number): Work<boolean> {
  switch (right.kind) {
    case 'role':
      return putRole(suspects, right, origin, now);
    case 'member':
      return putMember(suspects, right, origin, now);
    case 'assignment':
      return putAssignment(right, origin, now);
  }
}

function* putRole(suspects: readonly Suspect[], right: FormerRole, origin: Origin, now: number): Work<boolean> {
  const held = yield* heldRole(right);
  // It is beyond who ends the suspects, so it was left.
  if (held !== undefined && (yield* isGivenBy(suspects, { ...right, ...held, givenAt: held.createdAt ?? 0 })))
    return false;
  const { accountId, role, organizationId, expiresAt, madeBy, givenAt } = right;
  const others = (yield* liveGrantsOf(accountId, now)).filter(({ id }) => id !== held?.id);
  const isGain = isMore(held === undefined ? others : [...others, held], right);
  if (held !== undefined) yield* removeGrantById({ id: held.id });
  yield* insertGrant({ accountId, role, organizationId, expiresAt, madeBy, now: givenAt });
  if (isGain) yield* settleGain(accountId, right, origin, now);
  const details = { ...grantDetails(right), putBack: true };
  yield* record({ at: now, type: 'operator.role_granted', origin, accountId, details });
  return true;
}

function* putMember(suspects: readonly Suspect[], right: FormerMember, origin: Origin, now: number): Work<boolean> {
  const { accountId, organizationId, role } = right;
  const present = yield* findWholeMember({ accountId });
  if (present !== undefined) {
    const isLeft = grantOfRight(present) !== undefined && (yield* isGivenBy(suspects, present));
    if (isLeft) return false;
    if (present.organizationId !== organizationId) {
      if (!(yield* isGivenBy(suspects, present))) return false;
      yield* lockOrganization({ id: present.organizationId });
      yield* endMembership(present, undefined, origin, now);
    }
  }
  const grant = grantOfRight(right);
  const isGain = isMore(yield* liveGrantsOf(accountId, now), grant);
  if (!(yield* putMemberBack(right))) return false;
  if (grant !== undefined && isGain) yield* settleGain(accountId, grant, origin, now);
  const details = { organizationId, role, putBack: true };
  yield* record({ at: now, type: 'organization.member_set', origin, accountId, details });
  return true;
}

function* putAssignment(right: FormerAssignment, origin: Origin, now: number): Work<boolean> {
  const { id, clientId, accountId, groupId, organizationId, role, nextId } = right;
  if ((yield* holdClient({ id: clientId })) === undefined) return false;
  if (groupId !== null && (yield* holdGroup({ id: groupId })) === undefined) return false;
  if (nextId !== undefined) {
    if (!(yield* putAssignmentBack({ ...right, nextId }))) return false;
  } else {
    if ((yield* lockAssignment({ id, clientId })) === undefined) return false;
    yield* putAssignmentRoleBack(right);
  }
  const details = {
    assignmentId: nextId ?? id,
    ...(groupId !== null && { groupId }),
    ...(organizationId !== null && { organizationId }),
    ...{ role, putBack: true },
  };
  yield* record({ at: now, type: 'access.assigned', origin, clientId, accountId, details });
  return true;
}

/** What a suspect gave ends with the suspect, also where somebody else had changed it or taken it away before: nobody puts it back. */
function* forgetGiven(suspects: readonly Suspect[], { id, since, until, isWhole }: Suspect): Work<void> {
  const given = { madeBy: id, since, until };
  if (isWhole) return yield* forgetRightsGivenBy(given);
  for (const change of yield* rightChangesGivenBy(given)) {
    if (change.former !== null && (yield* isGivenBy(suspects, change.former))) {
      yield* forgetFormer({ id: change.id });
    }
  }
}
