import { liveGrantsOf } from '../../access/operator-grant-store.ts';
import { record } from '../../audit/audit.ts';
import { endScopeRequest, waitingRequestsOf } from '../../clients/scope-request-store.ts';
import { heldByRoles, holds, type OperatorRights } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';

/** Who asked, and from when on and until when, where the account may have been in foreign hands only then. */
interface Asker {
  readonly id: string;
  readonly since?: number;
  readonly until?: number;
}

/**
 * Ends the requests for scopes by an operator or an admin key that wait, in the unit of work that bars who asked: they do not wait again
 * when that is over.
 */
export function* endRequestsOf(asker: Asker, origin: Origin, now: number): Work<void> {
  yield* endWhere(asker, undefined, origin, now);
}

/**
 * Ends those that no role that is left to a person lets them ask for, in the unit of work that took a role away, after that. What the policy
 * for developers allows may be asked for again.
 */
export function* endRequestsBeyond(accountId: string, origin: Origin, now: number): Work<void> {
  yield* endWhere({ id: accountId }, heldByRoles(yield* liveGrantsOf(accountId, now)), origin, now);
}

function* endWhere(
  { id, since = 0, until = Number.MAX_SAFE_INTEGER }: Asker,
  kept: OperatorRights | undefined,
  origin: Origin,
  now: number,
): Work<void> {
  for (const request of yield* waitingRequestsOf({ askedBy: id, since, until })) {
    if (kept !== undefined && holds({ id, ...kept }, 'apps.manage', request)) continue;
    yield* endScopeRequest({ id: request.id, at: now });
    const { clientId, scope, resource } = request;
    const details = { requestId: request.id, scope, ...(resource !== null && { resource }) };
    yield* record({ at: now, type: 'client.scope_request_withdrawn', origin, clientId, details });
  }
}
