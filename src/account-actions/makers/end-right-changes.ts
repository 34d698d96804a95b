import { isDeepStrictEqual } from 'node:util';
import { putAssignmentRoleBack } from '../../access/assignment-store.ts';
import { type AccountGrant, insertGrant, removeGrantById } from '../../access/operator-grant-store.ts';
import { lockAssignment } from '../../access/store.ts';
import { lockAccount, lockOperator } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { holdClient } from '../../clients/store.ts';
import { endOperatorLinks } from '../../mail/challenges.ts';
import {
  type FormerAssignment,
  type FormerMember,
  type FormerRight,
  type FormerRole,
  forgetFormer,
  forgetRightsGivenBy,
  rightChangesGivenBy,
} from '../../operators/right-change-store.ts';
import { findWholeMember, putMemberBack } from '../../organizations/member-store.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { givenByWeaker } from '../operators/gained-rights.ts';
import { grantDetails, grantOfRight } from '../operators/grants.ts';
import type { Eased } from '../sign-in/end-issued.ts';
import { closeAccount } from './close-account.ts';
import {
  type ChangedRight,
  type ChangedRights,
  changedRightsAt,
  heldRole,
  isGivenBy,
  type RightsPosition,
  restsOn,
  rightsPositions,
  somePlaces,
} from './rights-before.ts';
import type { Suspect } from './suspects.ts';

/** How many changes one commit ends: each takes several statements, and others wait for the commit. */
const BATCH = 50;

/** Where the ending of changes goes on after the commit that ended who made them. */
export interface RightsLeft {
  readonly suspects: readonly Suspect[];
  /** The roles that the commit ended. */
  readonly ended: readonly AccountGrant[];
  readonly position: RightsPosition;
}

/**
 * Ends what suspects changed of the rights of others, inside a unit of work of `makingDatabase` that has ended the roles that they gave: of
 * each suspect the first part. What there was both before and since holds; what they took away is not given back. What a suspect gave is
 * not there again with the end of somebody else either.
 */
export function* endRightChanges(
  suspects: readonly Suspect[],
  ended: readonly AccountGrant[],
  origin: Origin,
  now: number,
): Work<ChangedRights & { readonly left: readonly RightsLeft[]; readonly eased: readonly Eased[] }> {
  const changedRights: ChangedRight[] = [];
  const eased: Eased[] = [];
  const left: RightsLeft[] = [];
  for (const position of yield* rightsPositions(suspects)) {
    const { rights, next, ...part } = yield* endSomeRightChanges({ suspects, ended, position }, origin, now);
    changedRights.push(...rights);
    eased.push(...part.eased);
    if (next !== undefined) left.push(next);
  }
  for (const suspect of suspects) yield* forgetGiven(suspects, suspect);
  return { changedRights, hasMoreChangedRights: left.length > 0, left, eased };
}

/**
 * Ends a part of what a suspect changed.
 * @returns it, whose memberships were changed or taken away, which may have been required more of than since, and where it goes on; undefined at
 *   the end
 */
export function* endSomeRightChanges(
  { suspects, ended, position }: RightsLeft,
  origin: Origin,
  now: number,
): Work<{
  readonly rights: readonly ChangedRight[];
  readonly eased: readonly Eased[];
  readonly next: RightsLeft | undefined;
}> {
  const { changes, places, next } = yield* somePlaces(position, BATCH);
  const eased: Eased[] = [];
  for (const change of changes) {
    const { former, at } = change;
    if (former?.kind !== 'member' || !(yield* restsOn(suspects, { ...change, place: former }))) continue;
    eased.push({ accountId: former.accountId, since: at });
  }
  const rights: ChangedRight[] = [];
  for (const place of places) {
    if (place.accountId !== null) yield* lockOperator({ accountId: place.accountId });
    const changed = yield* changedRightsAt(suspects, place, now, ended);
    for (const { kept } of changed) if (kept !== undefined) yield* keepRight(suspects, kept, origin, now);
    rights.push(...changed);
  }
  const later = next === undefined ? undefined : { suspects, ended, position: { ...position, after: next } };
  return { rights, eased, next: later };
}

function keepRight(suspects: readonly Suspect[], right: FormerRight, origin: Origin, now: number): Work<void> {
  switch (right.kind) {
    case 'role':
      return keepRole(suspects, right, origin, now);
    case 'member':
      return keepMember(suspects, right, origin, now);
    case 'assignment':
      return keepAssignment(right, origin, now);
  }
}

function* keepRole(suspects: readonly Suspect[], right: FormerRole, origin: Origin, now: number): Work<void> {
  const held = yield* heldRole(right);
  // It is beyond who ends the suspects, so it was left.
  if (held !== undefined && (yield* isGivenBy(suspects, { ...right, ...held, givenAt: held.createdAt ?? 0 }))) return;
  if (held?.expiresAt === right.expiresAt && held.madeBy === right.madeBy) return;
  yield* setRole(right, held, origin, now);
}

function* setRole(right: FormerRole, held: AccountGrant | undefined, origin: Origin, now: number): Work<void> {
  const { accountId, role, organizationId, expiresAt, madeBy, givenAt } = right;
  if (held !== undefined) yield* removeGrantById({ id: held.id });
  yield* insertGrant({ accountId, role, organizationId, expiresAt, madeBy, now: givenAt });
  const details = { ...grantDetails(right), putBack: true };
  yield* record({ at: now, type: 'operator.role_granted', origin, accountId, details });
}

function* keepMember(suspects: readonly Suspect[], right: FormerMember, origin: Origin, now: number): Work<void> {
  const { accountId, organizationId, role } = right;
  const present = yield* findWholeMember({ accountId });
  if (present === undefined || isDeepStrictEqual(present, right)) return;
  // It is beyond who ends the suspects, so it was left.
  if (grantOfRight(present) !== undefined && (yield* isGivenBy(suspects, present))) return;
  if (!(yield* putMemberBack(right))) return;
  const details = { organizationId, role, putBack: true };
  yield* record({ at: now, type: 'organization.member_set', origin, accountId, details });
}

function* keepAssignment(right: FormerAssignment, origin: Origin, now: number): Work<void> {
  const { id, clientId, accountId, groupId, organizationId, role } = right;
  if ((yield* holdClient({ id: clientId })) === undefined) return;
  if ((yield* lockAssignment({ id, clientId })) === undefined) return;
  yield* putAssignmentRoleBack(right);
  const details = {
    assignmentId: id,
    ...(groupId !== null && { groupId }),
    ...(organizationId !== null && { organizationId }),
    ...{ role, putBack: true },
  };
  yield* record({ at: now, type: 'access.assigned', origin, clientId, accountId, details });
}

/**
 * Makes somebody owner of the installation again whom suspects removed: else the last owner would be one whom they made. To a weaker operator
 * who could get in meanwhile, the account is closed.
 */
export function* giveOwnerBack(right: FormerRole, origin: Origin, now: number): Work<void> {
  const { accountId } = right;
  yield* lockOperator({ accountId });
  const held = yield* heldRole(right);
  yield* setRole(right, held, origin, now);
  yield* endOperatorLinks(accountId);
  const account = yield* lockAccount({ id: accountId });
  if (account === undefined) return;
  const given = yield* givenByWeaker(account, right, now);
  // Nobody weaker changed how an owner signs in while they were that.
  const [password, address] = [given.password, given.address].map((one) =>
    one !== undefined && one.givenAt >= right.givenAt ? one : undefined,
  );
  const since = Math.min(...[password, address].flatMap((one) => one?.givenAt ?? []));
  if (!Number.isFinite(since)) return;
  const details = { reason: 'An operator who may do less set how this person signs in while the role was away.' };
  yield* closeAccount(account, { since, doubtedOf: address?.operatorId, details }, origin, now);
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
