import { type AccountGrant, grantsOf, OF_MEMBERSHIP, replaceGrant } from '../../access/operator-grant-store.ts';
import { endSetupLink } from '../../access/setup-link-store.ts';
import { lockOperator } from '../../accounts/store.ts';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import { record } from '../../audit/audit.ts';
import type { OperatorRole } from '../../operators/permissions.ts';
import { liveGrants, type OperatorGrant } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { userNotFound } from '../accounts/accounts.ts';
import { keepAnOwner } from '../accounts/last-owner.ts';
import { endRequestsBeyond } from '../accounts/waiting-requests.ts';
import { settleGain } from '../operators/gained-rights.ts';
import {
  type GrantRoleRequest,
  type GrantsContext,
  grantDetails,
  isMore,
  isOwner,
  readGrant,
  requireGivable,
  requireOwnRecord,
  requirePlace,
} from '../operators/grants.ts';
import { endInvitationsBeyond } from '../operators/open-invitations.ts';
import { idsOfMade, type Made } from './list-made.ts';
import { type EndedMade, finishEnding, NOTHING_ENDED } from './made.ts';
import { endWithGrant, type TakeOptions } from './taken-grant.ts';

/** A role as it is now, and what the person made that outlasts it, where it was to last longer before. */
export interface GivenRole {
  readonly grant: AccountGrant;
  /** What was ended, or else what goes on. */
  readonly made: Made;
}

/**
 * Gives an account a role, or changes the end of one that it has. A role that ends sooner than before is taken away in part: nobody gives a
 * role for longer than they hold it, so the keys and roles that the person gave for longer are told, as where a role is taken away. The same
 * call again ends what the first one told.
 * @param options.endMade ends these, and what they made
 * @throws {Failure} `not found`, `invalid`, `insufficient permission`, or `conflict` for an end of the last owner, and where the person
 *   signs in by what a weaker operator set
 */
export async function grantRole(
  context: GrantsContext,
  accountId: string,
  input: GrantRoleRequest & { readonly role: OperatorRole },
  origin: Origin,
  { endMade = false }: TakeOptions = {},
): Promise<GivenRole> {
  const { operator } = context;
  const now = context.clock();
  const wanted = readGrant(input, now);
  requireOwnRecord(wanted);
  const { given, ended } = await makingDatabase(context.database).commit(function* grant(): Work<{
    given: AccountGrant;
    ended: EndedMade;
  }> {
    if ((yield* lockOperator({ accountId })) === undefined) throw userNotFound(accountId);
    requireGivable(operator, wanted);
    yield* requirePlace(wanted);
    if (wanted.expiresAt !== null && isOwner(wanted)) yield* keepAnOwner(accountId, now, context);
    const before = yield* grantsOf(accountId);
    const held = before.find(
      ({ id, role, organizationId }) =>
        id !== OF_MEMBERSHIP && role === wanted.role && organizationId === wanted.organizationId,
    );
    // What a role that ran out had allowed does not come back with a new one.
    yield* endInvitationsBeyond(accountId, origin, now);
    if (held !== undefined && endOf(held) <= now) yield* endRequestsBeyond(accountId, origin, now);
    // Who gives a role again does not make it theirs: it would end with them. Who gives more than was there does.
    const goesOn = held !== undefined && endOf(held) > now && endOf(held) >= endOf(wanted);
    const madeBy = goesOn ? held.madeBy : (operator?.id ?? null);
    const createdAt = (goesOn ? held.createdAt : null) ?? now;
    const actor = { operatorId: operator?.id ?? null, at: now };
    yield* replaceGrant({ accountId, ...wanted, madeBy, now: createdAt }, held, actor);
    if (isMore(liveGrants(before, now), wanted)) yield* settleGain(accountId, wanted, now);
    // It is for the first owner, and would work again if this one were suspended.
    if (isOwner(wanted)) yield* endSetupLink({});
    const ended =
      goesOn && wanted.expiresAt !== null
        ? yield* endWithGrant(accountId, wanted.organizationId, { operator, origin, now }, { endMade })
        : NOTHING_ENDED;
    const details = { ...grantDetails(wanted), ...(endMade && { made: idsOfMade(ended) }) };
    yield* record({ at: now, type: 'operator.role_granted', origin, accountId, details });
    return { given: { id: '0', accountId, ...wanted, madeBy, createdAt }, ended };
  });
  const { makers, ...made } = ended;
  await finishEnding(context, makers);
  return { grant: given, made };
}

const endOf = ({ expiresAt }: Pick<OperatorGrant, 'expiresAt'>): number => expiresAt ?? Number.POSITIVE_INFINITY;
