import { emailKey } from '../../accounts/rules/profile.ts';
import type { Account } from '../../accounts/store.ts';
import type { Invitation } from '../../invitations/store.ts';
import { findMembership } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import { wayOfWeaker } from '../operators/gained-rights.ts';
import { grantOfMembership } from '../operators/grants.ts';

/** Why a person cannot join by an invitation that is open. */
export type JoinObstacle =
  /** It is bound to another address. */
  | { readonly kind: 'other address' }
  /** The person is a member of the organization already, and keeps the role that they have. */
  | { readonly kind: 'member' }
  /** The person is a member of another organization. */
  | { readonly kind: 'other organization'; readonly name: string }
  /** It gives a role, and an operator who lacks something of that may get into the account. */
  | { readonly kind: 'set by others' };

/** What keeps a person from joining by an open invitation; undefined where nothing does. */
export function* obstacleToJoining(
  { email, organizationId, role }: Invitation,
  account: Account,
  now: number,
): Work<JoinObstacle | undefined> {
  const { id: accountId, profile } = account;
  if (email !== null && emailKey(email) !== emailKey(profile.email)) return { kind: 'other address' };
  if (organizationId === null) return undefined;
  const membership = yield* findMembership({ accountId });
  if (membership !== undefined) {
    const { id, name } = membership;
    return id === organizationId ? { kind: 'member' } : { kind: 'other organization', name };
  }
  const grant = grantOfMembership(organizationId, role);
  const way = grant && (yield* wayOfWeaker(account, grant, now));
  return way && { kind: 'set by others' };
}
