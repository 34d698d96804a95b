import { liveGrantsOf } from '../../access/operator-grant-store.ts';
import { findAccount } from '../../accounts/store.ts';
import type { DeveloperPolicy } from '../../clients/developer-settings.ts';
import type { OperatorRights } from '../../operators/rights.ts';
import { findAnyMembership, holdAnyMembership } from '../../organizations/any-membership-store.ts';
import type { Work } from '../../platform/database/database.ts';

interface Holding {
  readonly policy: DeveloperPolicy;
  readonly now: number;
  /** Whether the unit of work writes and has locked the account: what the policy asks for then lasts until it has committed. */
  readonly locks: boolean;
}

/** What a person who acts holds: the roles that they were given, and beside them what the policy of the installation lets them do. */
export function* heldBy(accountId: string, { policy, now, locks }: Holding): Work<OperatorRights> {
  const grants = yield* liveGrantsOf(accountId, now);
  return { grants, developsByPolicy: yield* isDeveloperBy(policy, accountId, locks) };
}

function* isDeveloperBy(policy: DeveloperPolicy, accountId: string, locks: boolean): Work<boolean> {
  switch (policy) {
    case 'off':
      return false;
    case 'members':
      return (yield* (locks ? holdAnyMembership : findAnyMembership)({ accountId })) !== undefined;
    case 'anyone':
      return (yield* findAccount({ id: accountId }))?.profile.emailVerified === true;
  }
}
