import { requirePast, SECOND } from '../../../platform/clock.ts';

/** For how long after a rotation its predecessor is answered with the same successor again. */
export const GRACE = 30 * SECOND;

/** Where a family's chain of refresh tokens stands. */
export interface Chain {
  readonly leafJti: string;
  readonly predecessorJti: string | null;
  readonly rotatedAt: number | null;
}

/** What a refresh token means for its family. */
export type Rotation =
  /** The live token: it is exchanged for its successor. */
  | 'rotate'
  /** The direct predecessor inside the grace window, its successor unused: a retry gets that successor again. */
  | 'repeat'
  /** A retired token: whoever presents it, somebody holds a copy. The family dies. */
  | 'reuse';

/**
 * RFC 9700 §4.14.2. The successor's own use makes another token the predecessor, so the grace ends with it.
 * @param jti of the token presented, which is of this family and not expired
 * @throws {ClockBehind} where the rotation lies in the future: the grace would last until the clock has caught up
 */
export function rotation(chain: Chain, jti: string, now: number): Rotation {
  if (jti === chain.leafJti) return 'rotate';
  if (chain.rotatedAt !== null) requirePast(chain.rotatedAt, now);
  const inGrace = chain.rotatedAt !== null && now < chain.rotatedAt + GRACE;
  return jti === chain.predecessorJti && inGrace ? 'repeat' : 'reuse';
}
