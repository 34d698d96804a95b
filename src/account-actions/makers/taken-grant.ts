import { liveGrantsOf } from '../../access/operator-grant-store.ts';
import type { Operator } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { endRequestsBeyond } from '../accounts/waiting-requests.ts';
import { endInvitationsBeyond } from '../operators/open-invitations.ts';
import { madeBeyond } from './list-made.ts';
import { type EndedMade, endAllMadeBy, NOTHING_ENDED } from './made.ts';

/** Whether what was made with a grant ends with it. */
export interface TakeOptions {
  readonly endMade?: boolean;
}

/**
 * What follows for a person from whom a grant was taken, inside the unit of work of `makingDatabase` that took it: the invitations end that no
 * grant that is left covers and, with `endMade`, what the person made and no such grant covers. The caller then calls `finishEnding`.
 * @param organizationId where the grant counted: what is elsewhere goes on; null for the installation
 * @returns what ended, or else what goes on
 * @throws {InsufficientPermission} where something to end has a permission that the operator lacks
 */
export function* endWithGrant(
  accountId: string,
  organizationId: string | null,
  by: { readonly operator: Operator | undefined; readonly origin: Origin; readonly now: number },
  { endMade = false }: TakeOptions,
): Work<EndedMade> {
  const { origin, now } = by;
  yield* endInvitationsBeyond(accountId, origin, now);
  yield* endRequestsBeyond(accountId, origin, now);
  const remaining = { keeps: yield* liveGrantsOf(accountId, now), organizationId };
  if (endMade) return yield* endAllMadeBy(accountId, { ...by, remaining });
  return { ...NOTHING_ENDED, ...(yield* madeBeyond(accountId, remaining, now)) };
}
