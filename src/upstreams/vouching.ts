import { claim, claimAgain, claimedAt, isClaimed } from '../limits/limits.ts';
import { CLOCK_SKEW, MINUTE } from '../platform/clock.ts';
import { digest } from '../platform/crypto/secrets.ts';
import type { Work } from '../platform/database/database.ts';
import { findIdentityById, type IdentityKey } from './identity-store.ts';
import type { UpstreamOrigin } from './session-store.ts';
import { holdUpstream } from './store.ts';

/** For how long the word of an upstream holds, from when the browser came back: so long a person may take to create an account with it. */
export const VOUCHED_FOR = 30 * MINUTE;

/** A token of a session that has ended is refused for as long as it would be accepted. */
const REMEMBERED = VOUCHED_FOR + 15 * MINUTE + CLOCK_SKEW;

interface UpstreamSession {
  readonly upstreamId: string;
  readonly upstreamSid: string;
}

const endOf = ({ upstreamId, upstreamSid }: UpstreamSession): string => `upstream ${upstreamId} ended ${upstreamSid}`;

/** Remembers that a session of an upstream has ended, for a sign-in that is under way. */
export const rememberEnd = (ended: UpstreamSession, now: number): Work<boolean> => claim(endOf(ended), REMEMBERED, now);

const endOfAll = ({ upstreamId, issuer, subject }: IdentityKey): string =>
  `upstream ${upstreamId} ended all of ${digest(JSON.stringify([issuer, subject]))}`;

/**
 * Remembers that an upstream has ended all sessions of a person who is not known here, and who may be about to become so.
 * @param at when, by the time of the upstream
 */
export const rememberEndOfAll = (key: IdentityKey, at: number, now: number): Work<void> =>
  claimAgain(endOfAll(key), REMEMBERED, Math.min(at, now));

/**
 * Why an upstream no longer vouches for a person who came from there, inside the unit of work that signs them in: it was disabled, the
 * identity was disconnected, or the upstream has ended the session. Undefined where it does. Neither happens before the unit ends.
 * @param readUpstream `findUpstream` where nothing is written that depends on it
 */
export function* whyNotVouched(
  { upstreamId, generation, identityId, upstreamSid, issuedAt }: UpstreamOrigin,
  now: number,
  readUpstream = holdUpstream,
): Work<string | undefined> {
  const upstream = yield* readUpstream({ id: upstreamId });
  if (upstream?.status !== 'active') return 'the upstream is disabled';
  if (upstream.generation !== generation) return 'the upstream was disabled meanwhile';
  const identity = yield* findIdentityById({ id: identityId });
  if (identity === undefined) return 'the identity is not connected';
  if (identity.endedAt !== null && issuedAt <= identity.endedAt) return 'the upstream has ended the session';
  const endedAt = yield* claimedAt(endOfAll(identity), REMEMBERED, now);
  if (endedAt !== undefined && issuedAt <= endedAt) return 'the upstream has ended the session';
  if (upstreamSid === null) return undefined;
  const hasEnded = yield* isClaimed(endOf({ upstreamId, upstreamSid }), REMEMBERED, now);
  return hasEnded ? 'the upstream has ended the session' : undefined;
}
