import { isLostPath, type LostPaths } from '../../access/rules/paths.ts';
import { type AccessPath, holdAssignment, listAccessPaths, removeEndedAssignment } from '../../access/store.ts';
import { enqueueFamilyNotice } from '../../credentials/logout-notices.ts';
import {
  type FamilyOnPath,
  familiesUnder,
  familiesWithPath,
  lockFamilyOnPath,
  moveFamily,
} from '../../credentials/path-store.ts';
import { revokeFamily } from '../../credentials/token-family-store.ts';
import { holdGroupMember } from '../../groups/store.ts';
import { holdMembership } from '../../organizations/store.ts';
import type { Database, Work } from '../../platform/database/database.ts';

/** Who lets people in: an operator, or undefined for the command line on the server. */
export interface AccessActor {
  readonly operator: { readonly id: string } | undefined;
}

/** What taking a path away does to the sign-ins that go by it. */
export interface AccessChange {
  /** How many go on by another path. */
  readonly kept: number;
  /** How many end. */
  readonly ended: number;
}

/** How many sign-ins of a person the commit handles that takes a path from them. */
const BATCH_SIZE = 100;

/** How many families one commit moves or ends. */
const BATCH = 100;

/** Receives how many sign-ins were looked at so far. */
export type AccessProgress = (done: number) => void;

/** Another path by which the person of a family may use its app. */
function* otherPath(family: FamilyOnPath, lost: LostPaths): Work<AccessPath | undefined> {
  return (yield* listAccessPaths(family)).find((path) => !isLostPath(path, lost));
}

/**
 * Part of the unit of work that takes a path away from one person, once it has locked that and before it removes it: sign-ins that go by it continue by another one that the
 * person has, and all others end. Of a person with very many sign-ins, the latest are handled. The others are dead as soon as the path is
 * gone, for the verdict requires it; so nobody can make the commit grow until it fails.
 */
export function* leavePaths(accountId: string, lost: LostPaths, now: number): Work<AccessChange> {
  let kept = 0;
  let ended = 0;
  for (const family of yield* familiesWithPath({ accountId, limit: BATCH_SIZE })) {
    // Ending the assignment waits for this, so that no sign-in is moved that has ended.
    if (!isLostPath(family, lost) || (yield* holdAssignment({ id: family.assignmentId })) === undefined) continue;
    if (!(yield* holdsPath(family)) || (yield* lockFamilyOnPath(family)) === undefined) continue;
    const other = yield* otherPath(family, lost);
    if (other === undefined) {
      yield* endFamily(family, now);
      ended++;
    } else {
      yield* moveFamily({ familyId: family.familyId, ...other });
      kept++;
    }
  }
  return { kept, ended };
}

function* endFamily({ accountId, familyId }: FamilyOnPath, now: number): Work<void> {
  yield* enqueueFamilyNotice(accountId, familyId, now);
  yield* revokeFamily({ familyId, reason: 'access lost', now });
}

/**
 * Before assignments end: sign-ins under them continue by another path that their person has, batch by batch, each only while its present
 * path exists. It may be interrupted and run again; sign-ins that it misses end, and the person authorizes again without a page.
 */
export async function moveToOtherPaths(
  database: Database,
  assignmentIds: readonly string[],
  lost: LostPaths,
  progress: AccessProgress = () => {},
): Promise<AccessChange> {
  let kept = 0;
  let ended = 0;
  for (const assignmentId of assignmentIds) {
    for (let after = '0'; ; ) {
      const batch = await database.commit(() => moveSome(assignmentId, after, lost));
      kept += batch.kept;
      ended += batch.ended;
      progress(kept + ended);
      if (batch.last === undefined) break;
      after = batch.last;
    }
  }
  return { kept, ended };
}

function* moveSome(
  assignmentId: string,
  after: string,
  lost: LostPaths,
): Work<AccessChange & { readonly last: string | undefined }> {
  const none = { kept: 0, ended: 0, last: undefined };
  // Ending it waits for this, so that no sign-in is moved that has ended.
  if ((yield* holdAssignment({ id: assignmentId })) === undefined) return none;
  const families = yield* familiesUnder({ assignmentId, after, limit: BATCH });
  let kept = 0;
  let ended = 0;
  for (const family of families) {
    if (!(yield* holdsPath(family)) || (yield* lockFamilyOnPath(family)) === undefined) continue;
    const other = yield* otherPath(family, lost);
    if (other === undefined) ended++;
    else {
      yield* moveFamily({ familyId: family.familyId, ...other });
      kept++;
    }
  }
  return { kept, ended, last: families.length < BATCH ? undefined : families.at(-1)?.familyId };
}

/** Whether the membership of a path exists; it does not end before the unit of work does. */
function* holdsPath({ memberId, to }: FamilyOnPath): Work<boolean> {
  if (memberId === null) return true;
  const hold = to.kind === 'group' ? holdGroupMember : holdMembership;
  return (yield* hold({ id: memberId })) !== undefined;
}

/**
 * Ends some of the sign-ins under an assignment that has ended, and notifies their apps; at last, removes the assignment. They were dead
 * since it ended: this is for the apps, and for lists of what is signed in.
 * @returns how many it ended; fewer than the limit where none is left
 */
export function* endSomeUnder(assignmentId: string, limit: number, now: number): Work<number> {
  const families = yield* familiesUnder({ assignmentId, after: '0', limit });
  for (const family of families) yield* endFamily(family, now);
  if (families.length < limit) yield* removeEndedAssignment({ id: assignmentId });
  return families.length;
}

/** Ends all sign-ins under assignments that have ended. If it is interrupted, housekeeping goes on. */
export async function endAllUnder(database: Database, assignmentIds: readonly string[], now: number): Promise<void> {
  for (const id of assignmentIds) {
    while ((await database.commit(() => endSomeUnder(id, BATCH, now))) === BATCH);
  }
}
