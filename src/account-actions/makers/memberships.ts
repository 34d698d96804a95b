import { type AccountGrant, liveGrantsOf, OF_MEMBERSHIP } from '../../access/operator-grant-store.ts';
import { findAccount, takeAccountLock } from '../../accounts/store.ts';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import { record } from '../../audit/audit.ts';
import type { OperatorGrant } from '../../operators/rights.ts';
import { upsertMember } from '../../organizations/member-store.ts';
import { findMemberRole, findOrganization, organizationNotFound } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { userNotFound } from '../accounts/accounts.ts';
import { settleGain } from '../operators/gained-rights.ts';
import { type ActingOperator, grantOfMembership, isMore, requireGivable } from '../operators/grants.ts';
import { rejectLeaving } from '../organizations/last-owner.ts';
import {
  type EndedMembership,
  type MemberWithRole,
  memberNotFound,
  type OrganizationsContext,
  takeMembership,
} from '../organizations/organizations.ts';
import { idsOfMade, type Made, madeBeyond } from './list-made.ts';
import { type EndedMade, finishEnding, NOTHING_ENDED } from './made.ts';
import { endWithGrant, type TakeOptions } from './taken-grant.ts';

/** Whether a grant gives less than another one does. */
const isLess = (grant: OperatorGrant | undefined, than: OperatorGrant | undefined): boolean =>
  isMore(grant === undefined ? [] : [grant], than);

/**
 * Adds a user to an organization, or changes a member's role. A user belongs to at most one organization.
 * @returns what the person made in a role of the organization that is taken away: what was ended, or what goes on
 * @throws {Failure} `not found`, `conflict` where the user belongs to another organization, is the last owner, or signs in by what a weaker
 *   operator set, or `insufficient permission` where the operator may not give the role
 */
export async function setMember(
  context: OrganizationsContext & ActingOperator,
  member: MemberWithRole,
  origin: Origin,
  { endMade = false }: TakeOptions = {},
): Promise<Made> {
  const { database, clock, operator } = context;
  const { organizationId, accountId, role } = member;
  const grant = grantOfMembership(organizationId, role);
  const { makers, ...answer } = await makingDatabase(database).commit(function* set(): Work<EndedMade> {
    requireGivable(operator, grant);
    // What the person does as an operator, and what operators do to the person, rests on what the person holds.
    yield* takeAccountLock({ id: accountId });
    if ((yield* findOrganization({ id: organizationId })) === undefined) throw organizationNotFound(organizationId);
    if ((yield* findAccount({ id: accountId })) === undefined) throw userNotFound(accountId);
    const now = clock();
    if (role !== 'OWNER') yield* rejectLeaving(operator, member, now);
    const before = grantOfMembership(organizationId, (yield* findMemberRole(member))?.role ?? null);
    if (!(yield* upsertMember({ ...member, madeBy: operator?.id ?? null, now }))) {
      throw conflict('The user is in another organization. Remove the user from it first.');
    }
    const ended = isLess(grant, before)
      ? yield* endWithGrant(accountId, organizationId, { operator, origin, now }, { endMade })
      : NOTHING_ENDED;
    if (grant !== undefined && isLess(before, grant)) yield* settleGain(accountId, grant, now);
    const details = { organizationId, role, ...(endMade && { made: idsOfMade(ended) }) };
    yield* record({ at: now, type: 'organization.member_set', origin, accountId, details });
    return ended;
  });
  await finishEnding(context, makers);
  return answer;
}

/**
 * Removes a member, from the organization's groups as well. From the moment that this returns, nothing that was issued by an assignment of
 * these is accepted, unless the person has another assignment.
 * @returns also the roles of the organization that ended with the membership, and what the person made in it: what was ended, or what goes on
 * @throws {Failure} `not found` where the user is not a member, `conflict` where the last owner would leave
 */
export async function removeMember(
  context: OrganizationsContext & ActingOperator,
  organizationId: string,
  accountId: string,
  origin: Origin,
  { endMade = false }: TakeOptions = {},
): Promise<EndedMembership & { readonly made: Made }> {
  const { database, clock, operator } = context;
  const now = clock();
  const member = { organizationId, accountId };
  const { ended, ...left } = await makingDatabase(database).commit(function* remove() {
    yield* takeAccountLock({ id: accountId });
    yield* rejectLeaving(operator, member, now);
    const taken = yield* takeMembership(member, { operatorId: operator?.id ?? null, at: now }, origin, now);
    if (taken === undefined) throw memberNotFound(member);
    const ended = yield* endWithGrant(accountId, organizationId, { operator, origin, now }, { endMade });
    const details = { organizationId, ...taken.change, ...(endMade && { made: idsOfMade(ended) }) };
    yield* record({ at: now, type: 'organization.member_removed', origin, accountId, details });
    return { ...taken, ended };
  });
  const { makers, ...made } = ended;
  await finishEnding(context, makers);
  return { ...left, made };
}

/** What a person made by the role of a membership alone, and would lose with it. Who leaves loses the other roles of the organization, too. */
export function* madeByMembership(
  { organizationId, accountId }: Pick<MemberWithRole, 'organizationId' | 'accountId'>,
  now: number,
  { leaves }: { readonly leaves: boolean },
): Work<Made> {
  const ends = (grant: AccountGrant): boolean =>
    grant.id === OF_MEMBERSHIP || (leaves && grant.organizationId === organizationId);
  const keeps = (yield* liveGrantsOf(accountId, now)).filter((grant) => !ends(grant));
  return yield* madeBeyond(accountId, { keeps, organizationId }, now);
}
