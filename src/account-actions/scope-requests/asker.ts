import { mayAct } from '../../accounts/rules/may-act.ts';
import { findAccount } from '../../accounts/store.ts';
import { isAdminKeyLive } from '../../admin-keys/live.ts';
import { findAdminKey, grantOfKey } from '../../admin-keys/store.ts';
import type { DeveloperPolicy } from '../../clients/developer-settings.ts';
import type { ScopeRequest } from '../../clients/scope-request-store.ts';
import { heldByRoles, holds, type OperatorRights, type Place } from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import { heldBy } from '../admission/held.ts';

/** When it is asked whether somebody still may, and by which policy people are developers. */
export interface AskedAt {
  readonly policy: DeveloperPolicy;
  readonly now: number;
}

const NOTHING = heldByRoles([]);

/** By what an operator may act at this moment: an account, or an admin key. */
function* rightsOf(operatorId: string, { policy, now }: AskedAt): Work<OperatorRights> {
  const account = yield* findAccount({ id: operatorId });
  if (account !== undefined)
    return mayAct(account, now) ? yield* heldBy(operatorId, { policy, now, locks: false }) : NOTHING;
  if (!(yield* isAdminKeyLive(operatorId, now))) return NOTHING;
  const key = yield* findAdminKey({ id: operatorId });
  // The key of the configuration is the owner’s.
  return heldByRoles([key === undefined ? { role: 'owner', organizationId: null, expiresAt: null } : grantOfKey(key)]);
}

/** Whether who asked for a scope may still change the app. */
export function* mayStillAsk({ askedBy }: Pick<ScopeRequest, 'askedBy'>, place: Place, moment: AskedAt): Work<boolean> {
  if (askedBy === null) return true;
  return holds({ id: askedBy, ...(yield* rightsOf(askedBy, moment)) }, 'apps.manage', place);
}

/** Which of some requests that wait have ended: see {@link mayStillAsk}. */
export function* endedAmong(
  requests: readonly (Pick<ScopeRequest, 'id' | 'askedBy' | 'outcome'> & { readonly place: Place })[],
  moment: AskedAt,
): Work<ReadonlySet<string>> {
  const rights = new Map<string, OperatorRights>();
  const ended = new Set<string>();
  for (const { id, askedBy, outcome, place } of requests) {
    if (outcome !== null || askedBy === null) continue;
    const held = rights.get(askedBy) ?? (yield* rightsOf(askedBy, moment));
    rights.set(askedBy, held);
    if (!holds({ id: askedBy, ...held }, 'apps.manage', place)) ended.add(id);
  }
  return ended;
}
