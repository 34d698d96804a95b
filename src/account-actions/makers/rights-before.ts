import { isDeepStrictEqual } from 'node:util';
import { findSameAssignment, findWholeAssignment } from '../../access/assignment-store.ts';
import { type AccountGrant, grantsOf, OF_MEMBERSHIP } from '../../access/operator-grant-store.ts';
import { findClient } from '../../clients/store.ts';
import { findGroup } from '../../groups/store.ts';
import type { Permission } from '../../operators/permissions.ts';
import {
  changersAmong,
  type FormerRight,
  type FormerRole,
  giverOf,
  type RightChange,
  type RightPlace,
  rightChangesAt,
  rightChangesBy,
} from '../../operators/right-change-store.ts';
import { excessOf, INSTALLATION, liveGrants, type Place } from '../../operators/rights.ts';
import { findWholeMember } from '../../organizations/member-store.ts';
import { findOrganization } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import { grantOfRight } from '../operators/grants.ts';
import { isInSpan } from './rules/spans.ts';
import { whatHolds } from './rules/what-holds.ts';
import { endsWithin, type Suspect } from './suspects.ts';

/*
 * What roles, memberships and assignments of others were before operators who are ended changed them or took them away. Of one holder at one
 * place, the changes since the last one by anybody else count: what another operator, or the person, decided after them stays.
 */

/** A right of somebody else that suspects changed or took away. */
export interface ChangedRight {
  /** What it was before: nothing of it was given by a suspect. */
  readonly former: FormerRight;
  /** What holds of it with the end of the suspects: what there was both before and since. Undefined where that is nothing. */
  readonly kept: FormerRight | undefined;
  /** Whether that is all that it was. */
  readonly isWhole: boolean;
}

/** How many changes of an operator are listed. */
const LISTED = 200;

/** Where the ending of what a suspect changed goes on. */
export interface RightsPosition {
  readonly maker: Suspect;
  /** The id of the last change before. */
  readonly after: string;
}

/** Where it begins: of very many suspects, few changed rights of others. */
export function* rightsPositions(makers: readonly Suspect[]): Work<readonly RightsPosition[]> {
  const changing = yield* changersAmong([...new Set(makers.map(({ id }) => id))]);
  return makers.filter(({ id }) => changing.has(id)).map((maker) => ({ maker, after: '0' }));
}

/** What a person needs to change a right that is no role of an operator. */
const PERMISSION_OF: Readonly<Record<RightPlace['kind'], Permission>> = {
  role: 'operators.manage',
  member: 'members.manage',
  assignment: 'apps.assign',
};

function* whereIs(right: RightPlace): Work<Place> {
  if (right.kind === 'assignment') return (yield* findClient({ id: right.clientId })) ?? INSTALLATION;
  return { ...INSTALLATION, organizationId: right.organizationId };
}

/** What somebody did to a right, or who gave it. */
interface RightAct {
  readonly operatorId: string | null;
  readonly at: number;
  readonly place: RightPlace;
  readonly former: FormerRight | null;
}

/** Whether an act on a right rests on what is ended. */
export function* restsOn(suspects: readonly Suspect[], { operatorId, at, place, former }: RightAct): Work<boolean> {
  const acting = suspects.filter((suspect) => suspect.id === operatorId && isInSpan(suspect, at));
  if (acting.length === 0) return false;
  if (acting.some(({ isWhole, by }) => isWhole && by === undefined)) return true;
  const grant = grantOfRight(former);
  if (grant !== undefined) {
    return acting.some(({ within, carries }) => endsWithin(within, grant) && !carries(grant));
  }
  const where = yield* whereIs(place);
  return acting.some(({ keeps }) => !keeps(PERMISSION_OF[place.kind], where));
}

/** Whether a right was given by a suspect. */
export const isGivenBy = (suspects: readonly Suspect[], right: FormerRight): Work<boolean> => {
  const { madeBy: operatorId, givenAt: at } = giverOf(right);
  return restsOn(suspects, { operatorId, at, place: right, former: right });
};

/** What of a right no suspect gave. Of an owner or admin of an organization, that may be the membership alone. */
function* withoutSuspects(suspects: readonly Suspect[], right: FormerRight): Work<FormerRight | undefined> {
  if (!(yield* isGivenBy(suspects, right))) return right;
  if (right.kind !== 'member' || grantOfRight(right) === undefined) return undefined;
  const plain = { ...right, role: 'MEMBER', roleMadeBy: null, roleGivenAt: null } as const;
  return (yield* isGivenBy(suspects, plain)) ? undefined : plain;
}

/** Whether a right could still be given: it has not ended by itself, and its place is there. */
function* isGivable(right: FormerRight, now: number): Work<boolean> {
  if (right.kind === 'role') return liveGrants([right], now).length > 0;
  if (right.kind === 'member') return (yield* findOrganization({ id: right.organizationId })) !== undefined;
  const client = yield* findClient({ id: right.clientId });
  if (client === undefined || !(right.role === null || client.roles.some(({ name }) => name === right.role)))
    return false;
  return right.groupId === null || (yield* findGroup({ id: right.groupId })) !== undefined;
}

/**
 * What suspects left of a right; undefined for nothing.
 * @param ended the roles that were ended already, of which nothing is left in the store
 */
function* leftOf(
  suspects: readonly Suspect[],
  right: FormerRight,
  ended: readonly AccountGrant[],
): Work<FormerRight | undefined> {
  switch (right.kind) {
    case 'role': {
      const wasHeld = ended.find((one) => one.id !== OF_MEMBERSHIP && isSameRole(one, right));
      const held = wasHeld ?? (yield* heldRole(right));
      return held && { ...right, expiresAt: held.expiresAt, madeBy: held.madeBy, givenAt: held.createdAt ?? 0 };
    }
    case 'member': {
      const present = yield* findWholeMember(right);
      const raised = ended.find((one) => one.id === OF_MEMBERSHIP && one.accountId === right.accountId);
      if (present?.organizationId !== right.organizationId) return undefined;
      return raised?.organizationId === right.organizationId
        ? { ...present, role: raised.role === 'owner' ? 'OWNER' : 'ADMIN' }
        : present;
    }
    case 'assignment': {
      const same = yield* findSameAssignment(right);
      if (same === undefined) return yield* findWholeAssignment(right);
      return (yield* isGivenBy(suspects, same)) ? same : undefined;
    }
  }
}

const isSameRole = (one: AccountGrant, { accountId, role, organizationId }: FormerRole): boolean =>
  one.accountId === accountId && one.role === role && one.organizationId === organizationId;

/** The role of the same name and place that an account has now. */
export function* heldRole(right: FormerRole): Work<AccountGrant | undefined> {
  return (yield* grantsOf(right.accountId)).find((held) => held.id !== OF_MEMBERSHIP && isSameRole(held, right));
}

/**
 * What suspects changed of the rights of one holder at one place. What is beyond who ends them is left out.
 * @param ended the roles that were ended already
 */
export function* changedRightsAt(
  suspects: readonly Suspect[],
  place: RightPlace,
  now: number,
  ended: readonly AccountGrant[] = [],
): Work<readonly ChangedRight[]> {
  const by = suspects[0]?.by;
  const changes: RightChange[] = [];
  for (const change of (yield* rightChangesAt(place)).toReversed()) {
    // Who ends with a right what they made themselves has decided about it by that.
    const isEnding = by !== undefined && change.operatorId === by.id && change.at === now;
    if (isEnding || !(yield* restsOn(suspects, change))) break;
    changes.unshift(change);
  }
  const found: ChangedRight[] = [];
  for (const [first] of Map.groupBy(changes, ({ item }) => item).values()) {
    const former = first?.former == null ? undefined : yield* withoutSuspects(suspects, first.former);
    const grant = former && grantOfRight(former);
    const isBeyond = by !== undefined && grant !== undefined && excessOf(by, grant) !== undefined;
    if (former === undefined || isBeyond || !(yield* isGivable(former, now))) continue;
    const left = yield* leftOf(suspects, former, ended);
    if (isDeepStrictEqual(left, former)) continue;
    found.push({ former, ...whatHolds(former, left) });
  }
  return found;
}

/** A part of the rights that a suspect changed. @returns the changes, their holders and places, and where it goes on; undefined at the end */
export function* somePlaces(
  { maker: { id: operatorId, since, until }, after }: RightsPosition,
  limit: number,
): Work<{
  readonly changes: readonly RightChange[];
  readonly places: readonly RightPlace[];
  readonly next: string | undefined;
}> {
  const changes = yield* rightChangesBy({ operatorId, since, until, after, limit });
  const places = new Map(changes.map(({ place }) => [keyOf(place), place]));
  // Always in this order, so that no two units of work wait for each other.
  const sorted = [...places].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, place]) => place);
  return { changes, places: sorted, next: changes.length < limit ? undefined : changes.at(-1)?.id };
}

/** A person is in one organization at most. */
export const keyOf = (place: RightPlace): string =>
  place.kind === 'assignment'
    ? [place.kind, place.clientId, place.accountId, place.groupId, place.organizationId].join()
    : [place.kind, place.accountId, place.kind === 'role' ? place.organizationId : ''].join();

/** What operators changed of the rights of others. */
export interface ChangedRights {
  readonly changedRights: readonly ChangedRight[];
  /** Whether there may be more. */
  readonly hasMoreChangedRights: boolean;
}

/**
 * What some of the suspects changed of the rights of others: of each the first part.
 * @param isAsked about which holders and places it is asked
 */
export function* rightsChangedBy(
  suspects: readonly Suspect[],
  makers: readonly Suspect[],
  now: number,
  isAsked: (place: RightPlace) => boolean = () => true,
): Work<ChangedRights> {
  const found = new Map<string, readonly ChangedRight[]>();
  let hasMoreChangedRights = false;
  for (const position of yield* rightsPositions(makers)) {
    const { places, next } = yield* somePlaces(position, LISTED);
    for (const place of places.filter(isAsked)) {
      const key = keyOf(place);
      if (!found.has(key)) found.set(key, yield* changedRightsAt(suspects, place, now));
    }
    hasMoreChangedRights ||= next !== undefined;
  }
  return { changedRights: [...found.values()].flat(), hasMoreChangedRights };
}
