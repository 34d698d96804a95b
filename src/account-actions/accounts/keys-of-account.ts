import { keysInChainOf } from '../../admin-keys/live.ts';
import { markAdminKeyRevoked } from '../../admin-keys/store.ts';
import { record } from '../../audit/audit.ts';
import { endInvitationsOfInviter } from '../../invitations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { type EndedWithKey, endHandedOut } from './handed-out.ts';
import { endRequestsOf } from './waiting-requests.ts';

/** Revokes the keys that an account made, and those that were made with them, in the unit of work that deletes the account. */
export function* revokeKeysMadeBy(accountId: string, origin: Origin, now: number): Work<void> {
  for (const { id, madeBy } of yield* keysInChainOf(accountId)) {
    if (!(yield* markAdminKeyRevoked({ id, now }))) continue;
    const details = { adminKeyId: id, madeBy, ...(yield* endHandedOut(id, false, now)) };
    yield* record({ at: now, type: 'admin_key.revoked', origin, details });
  }
}

/**
 * Ends what a person who is barred, or is to be deleted, handed out and nobody used: their invitations, what their
 * keys handed out, and the scopes that they asked for. Like
 * a token, none of it is valid again afterwards; the keys themselves are, once the person may act again.
 * @returns for the event: how much the keys had handed out, where it is anything
 */
export function* endHandedOutBy(
  accountId: string,
  origin: Origin,
  now: number,
): Work<{ readonly handedOut?: EndedWithKey['ended'] }> {
  for (const invitationId of yield* endInvitationsOfInviter({ inviterId: accountId })) {
    yield* record({ at: now, type: 'invitation.revoked', origin, details: { invitationId } });
  }
  yield* endRequestsOf({ id: accountId }, origin, now);
  let [invitations, recoveryLinks, initialAccessTokens] = [0, 0, 0];
  for (const { id } of yield* keysInChainOf(accountId)) {
    yield* endRequestsOf({ id }, origin, now);
    const { ended } = yield* endHandedOut(id, false, now);
    invitations += ended.invitations;
    recoveryLinks += ended.recoveryLinks;
    initialAccessTokens += ended.initialAccessTokens;
  }
  if (invitations + recoveryLinks + initialAccessTokens === 0) return {};
  return { handedOut: { invitations, recoveryLinks, initialAccessTokens } };
}
