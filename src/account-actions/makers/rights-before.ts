import { isDeepStrictEqual } from 'node:util';
import { findSameAssignment, findWholeAssignment } from '../../access/assignment-store.ts';
import { type AccountGrant, grantsOf, OF_MEMBERSHIP } from '../../access/operator-grant-store.ts';
import { findClient } from '../../clients/store.ts';
import { findGroup } from '../../groups/store.ts';
import type { Permission } from '../../operators/permissions.ts';
import {
  changersAmong,
  type FormerAssignment,
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
import type { Work } from '../../platform/database/database.ts';
import { grantOfRight } from '../operators/grants.ts';
import { isInSpan } from './rules/spans.ts';
import { endsWithin, type Suspect } from './suspects.ts';

/*
 * What roles, memberships and assignments of others were before operators who are ended changed them or took them away. Of one holder at one
 * place, the changes since the last one by anybody else count: what another operator, or the person, decided after them stays.
 */

/** What suspects changed of the rights of one holder at one place, since anybody else did. */
export interface ChangedRights {
  readonly place: RightPlace;
  /** The earliest first. */
  readonly changes: readonly RightChange[];
  /** What was there before, and is put back: nothing of it was given by a suspect. */
  readonly before: readonly FormerRight[];
}

/** How many changes of an operator are listed. */
const LISTED = 200;

/** Where the putting back of what a suspect changed goes on. */
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

/** A right as it can be put back; undefined where it is as it was, has ended, or its place is gone. */
function* asPresent(suspects: readonly Suspect[], right: FormerRight, now: number): Work<FormerRight | undefined> {
  switch (right.kind) {
    case 'role': {
      const held = yield* heldRole(right);
      const isSame = held?.expiresAt === right.expiresAt && held.madeBy === right.madeBy;
      return isSame || liveGrants([right], now).length === 0 ? undefined : right;
    }
    case 'member':
      return isDeepStrictEqual(yield* findWholeMember(right), right) ? undefined : right;
    case 'assignment':
      return yield* assignmentToPutBack(suspects, right);
  }
}

/** The role of the same name and place that an account has now. */
export function* heldRole({ accountId, role, organizationId }: FormerRole): Work<AccountGrant | undefined> {
  return (yield* grantsOf(accountId)).find(
    (held) => held.id !== OF_MEMBERSHIP && held.role === role && held.organizationId === organizationId,
  );
}

/** What an assignment is put back into: the same one that a suspect made since, the one that was changed, or a new one. */
function* assignmentToPutBack(
  suspects: readonly Suspect[],
  right: FormerAssignment,
): Work<FormerAssignment | undefined> {
  const { id, clientId, role, groupId } = right;
  const client = yield* findClient({ id: clientId });
  if (client === undefined || (role !== null && !client.roles.some(({ name }) => name === role))) return undefined;
  if (groupId !== null && (yield* findGroup({ id: groupId })) === undefined) return undefined;
  const present = yield* findWholeAssignment({ id, clientId });
  if (present?.role === role && present.madeBy === right.madeBy) return undefined;
  const same = yield* findSameAssignment(right);
  if (same !== undefined) {
    return (yield* isGivenBy(suspects, same)) ? { ...right, id: same.id, nextId: undefined } : undefined;
  }
  if (present !== undefined) return { ...right, nextId: undefined };
  return right.nextId === undefined ? undefined : right;
}

/** What suspects changed of the rights of one holder at one place. What is beyond who ends them is not put back. */
export function* changedRightsAt(suspects: readonly Suspect[], place: RightPlace, now: number): Work<ChangedRights> {
  const by = suspects[0]?.by;
  const changes: RightChange[] = [];
  for (const change of (yield* rightChangesAt(place)).toReversed()) {
    // Who ends with a right what they made themselves has decided about it by that.
    const isEnding = by !== undefined && change.operatorId === by.id && change.at === now;
    if (isEnding || !(yield* restsOn(suspects, change))) break;
    changes.unshift(change);
  }
  const before: FormerRight[] = [];
  for (const [first] of Map.groupBy(changes, ({ item }) => item).values()) {
    const right = first?.former == null ? undefined : yield* withoutSuspects(suspects, first.former);
    const grant = right && grantOfRight(right);
    const isBeyond = by !== undefined && grant !== undefined && excessOf(by, grant) !== undefined;
    const present = right === undefined || isBeyond ? undefined : yield* asPresent(suspects, right, now);
    if (present !== undefined) before.push(present);
  }
  return { place, changes, before };
}

/** Of which holders and places a suspect changed rights, a part. @returns them, and where it goes on; undefined at the end */
export function* somePlaces(
  { maker: { id: operatorId, since, until }, after }: RightsPosition,
  limit: number,
): Work<{ readonly places: readonly RightPlace[]; readonly next: string | undefined }> {
  const page = yield* rightChangesBy({ operatorId, since, until, after, limit });
  const places = new Map(page.map(({ place }) => [keyOf(place), place]));
  // Always in this order, so that no two units of work wait for each other.
  const sorted = [...places].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, place]) => place);
  return { places: sorted, next: page.length < limit ? undefined : page.at(-1)?.id };
}

/** A person is in one organization at most. */
export const keyOf = (place: RightPlace): string =>
  place.kind === 'assignment'
    ? [place.kind, place.clientId, place.accountId, place.groupId, place.organizationId].join()
    : [place.kind, place.accountId, place.kind === 'role' ? place.organizationId : ''].join();

/** What is put back of rights of others with the end of operators. */
export interface RightsPutBack {
  readonly putBack: readonly FormerRight[];
  /** Whether there may be more. */
  readonly hasMorePutBack: boolean;
}

/**
 * What would be put back of what some of the suspects changed: of each the first part.
 * @param isAsked about which holders and places it is asked
 */
export function* rightsToPutBack(
  suspects: readonly Suspect[],
  makers: readonly Suspect[],
  now: number,
  isAsked: (place: RightPlace) => boolean = () => true,
): Work<RightsPutBack> {
  const found = new Map<string, readonly FormerRight[]>();
  let hasMorePutBack = false;
  for (const position of yield* rightsPositions(makers)) {
    const { places, next } = yield* somePlaces(position, LISTED);
    for (const place of places.filter(isAsked)) {
      const key = keyOf(place);
      if (!found.has(key)) found.set(key, (yield* changedRightsAt(suspects, place, now)).before);
    }
    hasMorePutBack ||= next !== undefined;
  }
  return { putBack: [...found.values()].flat(), hasMorePutBack };
}
