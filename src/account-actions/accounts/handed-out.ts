import { record } from '../../audit/audit.ts';
import { revokeInitialTokensOfAdminKey } from '../../clients/initial-access-token-store.ts';
import { endInvitationsOfAdminKey, endInvitationsOfOperator, takeOverInvitations } from '../../invitations/store.ts';
import { endChallengesOfAdminKey } from '../../mail/challenge-store.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';

/** What happened to what a key had handed out, as far as nobody had used it and it had not expired. */
export interface EndedWithKey {
  readonly ended: {
    readonly invitations: number;
    readonly recoveryLinks: number;
    readonly initialAccessTokens: number;
  };
  readonly takenOver: { readonly invitations: number };
}

/**
 * Ends what a key handed out and nobody used, in the unit of work that ends the key: in each table that has an `admin_key_id`.
 * @param takeOver makes invitations the command line's own. Recovery links and initial access tokens end: they open accounts, or let
 *   apps in, so nobody can vouch for those of a key that may have been stolen
 */
export function* endHandedOut(adminKeyId: string, takeOver: boolean, now: number): Work<EndedWithKey> {
  const open = (ends: readonly number[]): number => ends.filter((expiresAt) => expiresAt > now).length;
  const takenOver = takeOver ? open(yield* takeOverInvitations({ adminKeyId })) : 0;
  const invitations = open(yield* endInvitationsOfAdminKey({ adminKeyId }));
  const recoveryLinks = open(yield* endChallengesOfAdminKey({ adminKeyId }));
  const initialAccessTokens = open(yield* revokeInitialTokensOfAdminKey({ adminKeyId, now }));
  return { ended: { invitations, recoveryLinks, initialAccessTokens }, takenOver: { invitations: takenOver } };
}

/**
 * Ends what a person invited to as an operator from one instant on, and before another one, when the account may have been in foreign hands, and
 * nobody used.
 * @returns how many ended
 */
export function* endInvitationsOf(
  { id: operatorId, since, until }: { readonly id: string; readonly since: number; readonly until: number },
  origin: Origin,
  now: number,
): Work<number> {
  const ended = yield* endInvitationsOfOperator({ operatorId, since, until });
  for (const invitationId of ended) {
    yield* record({ at: now, type: 'invitation.revoked', origin, details: { invitationId } });
  }
  return ended.length;
}
