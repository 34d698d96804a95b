import { claim, isClaimed } from '../limits/limits.ts';
import { CLOCK_SKEW, MINUTE } from '../platform/clock.ts';
import type { Work } from '../platform/database/database.ts';
import { findIdentityById } from './identity-store.ts';
import type { UpstreamOrigin } from './session-store.ts';
import { holdUpstream } from './store.ts';

/** A token of a session that has ended is refused for as long as it would be accepted. */
const REMEMBERED = 15 * MINUTE + CLOCK_SKEW;

interface UpstreamSession {
  readonly upstreamId: string;
  readonly upstreamSid: string;
}

const endOf = ({ upstreamId, upstreamSid }: UpstreamSession): string => `upstream ${upstreamId} ended ${upstreamSid}`;

/** Remembers that a session of an upstream has ended, for a sign-in that is under way. */
export const rememberEnd = (ended: UpstreamSession, now: number): Work<boolean> => claim(endOf(ended), REMEMBERED, now);

/**
 * Why an upstream no longer vouches for a person who came from there, inside the unit of work that signs them in: it was disabled, the
 * identity was disconnected, or the upstream has ended the session. Undefined where it does. Neither happens before the unit ends.
 */
export function* whyNotVouched(
  { upstreamId, identityId, upstreamSid, issuedAt }: UpstreamOrigin,
  now: number,
): Work<string | undefined> {
  const upstream = yield* holdUpstream({ id: upstreamId });
  if (upstream?.status !== 'active') return 'the upstream is disabled';
  const identity = yield* findIdentityById({ id: identityId });
  if (identity === undefined) return 'the identity is not connected';
  if (identity.endedAt !== null && issuedAt <= identity.endedAt) return 'the upstream has ended the session';
  if (upstreamSid === null) return undefined;
  const hasEnded = yield* isClaimed(endOf({ upstreamId, upstreamSid }), REMEMBERED, now);
  return hasEnded ? 'the upstream has ended the session' : undefined;
}
