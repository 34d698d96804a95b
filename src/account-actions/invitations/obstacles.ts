import { emailKey } from '../../accounts/rules/profile.ts';
import type { Account } from '../../accounts/store.ts';
import type { Invitation } from '../../invitations/store.ts';
import { findMembership } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';

/** Why a person cannot join by an invitation that is open. */
export type JoinObstacle =
  /** It is bound to another address. */
  | { readonly kind: 'other address' }
  /** The person is a member of the organization already, and keeps the role that they have. */
  | { readonly kind: 'member' }
  /** The person is a member of another organization. */
  | { readonly kind: 'other organization'; readonly name: string };

/** What keeps a person from joining by an open invitation; undefined where nothing does. */
export function* obstacleToJoining(
  { email, organizationId }: Invitation,
  { id: accountId, profile }: Account,
): Work<JoinObstacle | undefined> {
  if (email !== null && emailKey(email) !== emailKey(profile.email)) return { kind: 'other address' };
  const membership = organizationId === null ? undefined : yield* findMembership({ accountId });
  if (membership === undefined) return undefined;
  return membership.id === organizationId ? { kind: 'member' } : { kind: 'other organization', name: membership.name };
}
