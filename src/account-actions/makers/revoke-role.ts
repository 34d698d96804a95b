import { liveGrantsOf, OF_MEMBERSHIP, removeGrant } from '../../access/operator-grant-store.ts';
import { lockOperator } from '../../accounts/store.ts';
import { makingDatabase } from '../../admin-keys/hand-out.ts';
import { record } from '../../audit/audit.ts';
import type { OperatorGrant } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import { notFound } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { userNotFound } from '../accounts/accounts.ts';
import { keepAnOwner } from '../accounts/last-owner.ts';
import { type GrantsContext, grantDetails, isOwner, requireOwnRecord } from '../operators/grants.ts';
import { idsOfMade, type Made, madeBeyond } from './list-made.ts';
import { type EndedMade, finishEnding } from './made.ts';
import { endWithGrant, type TakeOptions } from './taken-grant.ts';

/**
 * Takes a role away. Once this has returned, nothing is done in that role any more.
 * @param options.endMade ends the keys and roles that the person made, and what these made
 * @returns what the person made: what was ended, or what goes on
 * @throws {Failure} `not found`, or `conflict` for the last owner
 */
export async function revokeRole(
  context: GrantsContext,
  accountId: string,
  which: Pick<OperatorGrant, 'role' | 'organizationId'>,
  origin: Origin,
  { endMade = false }: TakeOptions = {},
): Promise<Made> {
  const now = context.clock();
  requireOwnRecord(which);
  const { operator, database } = context;
  const { makers, ...answer } = await makingDatabase(database).commit(function* revoke(): Work<EndedMade> {
    if ((yield* lockOperator({ accountId })) === undefined) throw userNotFound(accountId);
    if (isOwner(which)) yield* keepAnOwner(accountId, now, context);
    if (!(yield* removeGrant({ accountId, ...which }, { operatorId: operator?.id ?? null, at: now }))) {
      throw notFound(`The user ${accountId} does not have the role ${which.role}${placeOf(which)}.`);
    }
    const ended = yield* endWithGrant(accountId, which.organizationId, { operator, origin, now }, { endMade });
    const details = { ...grantDetails({ ...which, expiresAt: null }), ...(endMade && { made: idsOfMade(ended) }) };
    yield* record({ at: now, type: 'operator.role_revoked', origin, accountId, details });
    return ended;
  });
  await finishEnding(context, makers);
  return answer;
}

/** What a person made by a role alone, and would lose with it. */
export function* madeByRole(
  accountId: string,
  { role, organizationId }: Pick<OperatorGrant, 'role' | 'organizationId'>,
  now: number,
): Work<Made> {
  const held = yield* liveGrantsOf(accountId, now);
  const keeps = held.filter(
    (grant) => grant.id === OF_MEMBERSHIP || grant.role !== role || grant.organizationId !== organizationId,
  );
  return yield* madeBeyond(accountId, { keeps, organizationId }, now);
}

const placeOf = ({ organizationId }: Pick<OperatorGrant, 'organizationId'>): string =>
  organizationId === null ? '' : ` in the organization ${organizationId}`;
