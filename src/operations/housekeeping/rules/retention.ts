import { DAY, HOUR, NODE_CLOCK_TOLERANCE, SECOND } from '../../../platform/clock.ts';
import { ACCESS_LIFETIME } from '../../../protocol/token/rules/claims.ts';
import { GRACE } from '../../../protocol/token/rules/refresh.ts';
import { IDLE_TIMEOUT } from '../../../sessions/sessions.ts';

/** For how long rows are kept after their end, in milliseconds. */
export const KEPT = {
  /** A node whose clock is behind would accept an assertion again until it has expired there, too (RFC 7523 §3, `jti`). */
  assertion: NODE_CLOCK_TOLERANCE,
  /** So that a client that comes too late is told that the code has expired. */
  unredeemedCode: HOUR,
  /** So that a device that goes on asking is told the same. */
  deviceCode: HOUR,
  /** Longer than any token lives that was issued before the revocation: the families go with their grant. */
  revokedGrant: 8 * DAY,
  knownBrowser: 400 * DAY,
  /** For how long operators see that an invitation was used or has expired. */
  invitation: 30 * DAY,
  /** For how long a right that was changed or taken away is put back with the end of who did it: one of long ago may be missed by nobody. */
  rightChange: 30 * DAY,
  /** For how long an account is barred again with the end of who let it in: reasons are texts about a person, and not kept for ever. */
  statusChange: 365 * DAY,
  /** Requests that no node has answered, such as while mail was switched off. */
  mailRequest: DAY,
} as const;

/** What decides for how long a token family is needed. */
export interface ReviewedFamily {
  /** When its current refresh token expires. Those before it expire earlier. */
  readonly refreshExpiresAt: number;
  /** When tokens were last issued from it, apart from repeated answers within the grace period. */
  readonly lastIssuedAt: number;
  readonly deadReason: string | null;
  readonly grantRevokedAt: number | null;
  /** The browser session in which it began; null where that was removed. */
  readonly session: { readonly expiresAt: number; readonly lastSeenAt: number } | null;
}

/**
 * Until when something can depend on a token family, as far as is known now.
 *
 * - Its tokens: while one has not expired, only the family can tell whether it was revoked, reused or redeemed twice, and which of
 *   several refusals the client gets. Afterwards the token itself says that it has expired.
 * - Its browser session: the app is notified of its end, and its ID tokens are hints for the session. Neither holds for a family that
 *   ended with the session, or whose consent was revoked: those have been notified, and their ID tokens are ignored.
 *
 * Nodes whose clocks differ may judge a little later, so it is kept for {@link NODE_CLOCK_TOLERANCE} more.
 */
export function neededUntil({
  refreshExpiresAt,
  lastIssuedAt,
  deadReason,
  grantRevokedAt,
  session,
}: ReviewedFamily): number {
  // An access token of the last minutes of a family outlives its refresh token.
  const accessExpiresAt = lastIssuedAt + GRACE + ACCESS_LIFETIME * SECOND;
  const tokens = Math.max(refreshExpiresAt, accessExpiresAt);
  const isTold = grantRevokedAt !== null || deadReason === 'session ended' || session === null;
  const end = isTold ? tokens : Math.max(tokens, Math.min(session.expiresAt, session.lastSeenAt + IDLE_TIMEOUT));
  return end + NODE_CLOCK_TOLERANCE;
}
