import { placeOfAssignment } from '../../access/assignment-store.ts';
import { assignmentsMadeBy, type MadeAssignment } from '../../access/maker-store.ts';
import { liveGrantsOf } from '../../access/operator-grant-store.ts';
import { takeAccountLock } from '../../accounts/store.ts';
import { findClient } from '../../clients/store.ts';
import { groupMembersMadeBy, type MadeGroupMember } from '../../groups/store.ts';
import type { Permission } from '../../operators/permissions.ts';
import { INSTALLATION, lackingOf, type Operator, type Place } from '../../operators/rights.ts';
import { type MadeMember, membersMadeBy } from '../../organizations/member-store.ts';
import { lockOrganization } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { groupMembersByEffect } from '../../upstreams/effect-store.ts';
import { takeMadeAssignment } from '../access/assignments.ts';
import { leaveWithMaker } from '../access/groups.ts';
import { endMembership } from '../organizations/organizations.ts';
import { type ChangedRight, changedRightsAt, keyOf } from './rights-before.ts';
import type { Suspect } from './suspects.ts';

/**
 * One whom an operator let in: an assignment to an app, a member of a group, or a plain member of an organization. Another provider lets
 * members in by what an operator did to it.
 */
export type MadeAccess =
  | ({ readonly kind: 'assignment' } & MadeAssignment)
  | ({ readonly kind: 'group member' } & MadeGroupMember)
  | ({ readonly kind: 'member through provider' } & MadeGroupMember)
  | ({ readonly kind: 'member' } & MadeMember);

type Kind = MadeAccess['kind'];
const KINDS: readonly Kind[] = ['assignment', 'group member', 'member through provider', 'member'];

/** How many of a kind are listed, and how many one commit ends. */
const BATCH = 200;

/** Where the ending of what a maker made of a kind goes on. */
export interface AccessPosition {
  readonly maker: Suspect;
  /** Everybody whose acts end. */
  readonly suspects: readonly Suspect[];
  readonly kind: Kind;
  /** The id of the last one before. */
  readonly after: string;
}

function* pageOf({ maker, kind, after }: Omit<AccessPosition, 'suspects'>): Work<readonly MadeAccess[]> {
  const page = { madeBy: maker.id, since: maker.since, until: maker.until, after, limit: BATCH };
  switch (kind) {
    case 'assignment':
      return (yield* assignmentsMadeBy(page)).map((one) => ({ kind, ...one }));
    case 'group member':
      return (yield* groupMembersMadeBy(page)).map((one) => ({ kind, ...one }));
    case 'member through provider':
      return (yield* groupMembersByEffect(page)).map((one) => ({ kind, ...one }));
    case 'member':
      return (yield* membersMadeBy(page)).map((one) => ({ kind, ...one }));
  }
}

const PERMISSION_FOR: Readonly<Record<Kind, Permission>> = {
  assignment: 'apps.assign',
  'group member': 'groups.manage',
  'member through provider': 'upstreams.manage',
  member: 'members.manage',
};

function* placeOf(access: MadeAccess): Work<Place> {
  if (access.kind === 'member through provider') return INSTALLATION;
  if (access.kind !== 'assignment') return { ...INSTALLATION, organizationId: access.organizationId };
  return (yield* findClient({ id: access.clientId })) ?? INSTALLATION;
}

/** What of a page ends: what does not go on, and of which nothing was there before. */
function* endingOf(
  { isWhole, by, keeps }: Suspect,
  suspects: readonly Suspect[],
  page: readonly MadeAccess[],
  now: number,
): Work<readonly MadeAccess[]> {
  const isAll = isWhole && by === undefined;
  const found: MadeAccess[] = [];
  const before = new Map<string, readonly ChangedRight[]>();
  for (const one of page) {
    if (one.kind === 'assignment' && (yield* isKept(suspects, one, before, now))) continue;
    const goesOn =
      !isAll && (keeps(PERMISSION_FOR[one.kind], yield* placeOf(one)) || (yield* isOfStronger(one, by, now)));
    if (!goesOn) found.push(one);
  }
  return found;
}

/**
 * Whether an assignment was there before the suspects changed it, and holds.
 * @param before what they changed, by the places that were looked at
 */
function* isKept(
  suspects: readonly Suspect[],
  one: MadeAssignment,
  before: Map<string, readonly ChangedRight[]>,
  now: number,
): Work<boolean> {
  const place = placeOfAssignment(one);
  const key = keyOf(place);
  const known = before.get(key) ?? (yield* changedRightsAt(suspects, place, now));
  before.set(key, known);
  return known.some(({ kept }) => kept?.kind === 'assignment' && kept.id === one.id);
}

/** Whether a member is somebody on whom the operator does not act who ends the rest: they hold a permission that the operator lacks. */
function* isOfStronger(one: MadeAccess, by: Operator | undefined, now: number): Work<boolean> {
  if (by === undefined || one.kind === 'assignment') return false;
  return lackingOf(by, yield* liveGrantsOf(one.accountId, now)) !== undefined;
}

/** Whom an operator let in. */
export interface AccessOfMaker {
  readonly access: readonly MadeAccess[];
  /** Whether there are more than these. */
  readonly hasMoreAccess: boolean;
}

/** Whom operators let in: of each kind the first ones. */
export function* accessMadeBy(
  makers: readonly Suspect[],
  suspects: readonly Suspect[],
  now: number,
): Work<AccessOfMaker> {
  const access: MadeAccess[] = [];
  let hasMoreAccess = false;
  for (const maker of makers) {
    for (const kind of KINDS) {
      const page = yield* pageOf({ maker, kind, after: '0' });
      const isListed = (one: MadeAccess): boolean => access.some(({ kind: of, id }) => of === kind && id === one.id);
      access.push(...(yield* endingOf(maker, suspects, page, now)).filter((one) => !isListed(one)));
      hasMoreAccess ||= page.length === BATCH;
    }
  }
  return { access, hasMoreAccess };
}

/** Where the ending of what operators made begins. */
export const accessPositions = (makers: readonly Suspect[]): readonly AccessPosition[] =>
  makers.flatMap((maker) => KINDS.map((kind) => ({ maker, suspects: makers, kind, after: '0' })));

/** Ends a part of whom an operator let in, inside a unit of work. @returns them, and where it goes on; undefined at the end */
export function* endSomeAccess(
  position: AccessPosition,
  origin: Origin,
  now: number,
): Work<{ readonly access: readonly MadeAccess[]; readonly next: AccessPosition | undefined }> {
  const page = yield* pageOf(position);
  const access = yield* endingOf(position.maker, position.suspects, page, now);
  for (const one of access) yield* endOne(one, origin, now);
  const last = page.at(-1);
  return { access, next: page.length < BATCH || last === undefined ? undefined : { ...position, after: last.id } };
}

function* endOne(one: MadeAccess, origin: Origin, now: number): Work<void> {
  if (one.kind === 'assignment') yield* takeMadeAssignment(one, origin, now);
  else if (one.kind !== 'member') yield* leaveWithMaker(one, origin, now);
  else {
    yield* takeAccountLock({ id: one.accountId });
    yield* lockOrganization({ id: one.organizationId });
    yield* endMembership(one, undefined, origin, now);
  }
}
