import type { ClaimedMail } from '../queue-store.ts';

/** What the link of a message rests on. */
export interface LinkState {
  readonly usedAt: number | null;
  readonly expiresAt: number;
  /** The account's generation when the link was made, and now; null without an account, and for what outlives generations. */
  readonly generation: string | null;
  readonly currentGeneration: string | null;
}

/** How many attempts without a known result there may be: each may have delivered a copy. */
const MAX_COPIES = 2;

/**
 * Whether the link of a message no longer works.
 * @param restsOn the hash of what the link rests on; undefined for a message without such a link
 */
export const isDeadLink = (restsOn: string | undefined, link: LinkState | undefined, now: number): boolean =>
  restsOn !== undefined && !isAlive(link, now);

/**
 * Why a claimed message is not sent; undefined where it is.
 * @param lacksLink whether it says nothing without a link that is dead
 */
export function findObstacle(
  { expiresAt, unconfirmed }: Pick<ClaimedMail, 'expiresAt' | 'unconfirmed'>,
  lacksLink: boolean,
  now: number,
): { readonly status: 'dead' | 'expired'; readonly problem: string } | undefined {
  if (expiresAt <= now) return { status: 'expired', problem: 'expired before it could be sent' };
  if (lacksLink) return { status: 'expired', problem: 'its link is no longer valid' };
  // The claim of this very attempt is counted.
  if (unconfirmed > MAX_COPIES) {
    return { status: 'dead', problem: 'two attempts ended without an answer: it may have been delivered twice' };
  }
  return undefined;
}

function isAlive(link: LinkState | undefined, now: number): boolean {
  if (link === undefined || link.usedAt !== null || link.expiresAt <= now) return false;
  return link.generation === link.currentGeneration;
}
