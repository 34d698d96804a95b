/** That a domain was blocked, and then unblocked by an operator. */
export interface DomainRound {
  /** Who blocked it; null for the command line on the server. */
  readonly blockedBy: string | null;
  readonly createdAt: number;
  /** Who unblocked it. */
  readonly operatorId: string;
  readonly unblockedAt: number;
}

/** How many rounds of a domain are kept: nobody needs as many who does not mean to have the first ones forgotten. */
const MOST_KEPT = 100;

/** Adds a round to the earlier ones of a domain, the oldest first. The oldest one is kept always. */
export function withRound(earlier: readonly DomainRound[], round: DomainRound): readonly DomainRound[] {
  const all = [...earlier, round];
  return all.length <= MOST_KEPT ? all : [...all.slice(0, 1), ...all.slice(1 - MOST_KEPT)];
}

/**
 * Which round was the first of those that end: before it, a domain was blocked by somebody else, and only operators whose acts end have unblocked
 * and blocked it since. Undefined where somebody else unblocked it, or nobody else had blocked it.
 * @param rounds the oldest first
 * @param isTheirs whether an act of an operator at an instant ends
 */
export function firstEnding(
  rounds: readonly DomainRound[],
  isTheirs: (operatorId: string | null, at: number) => boolean,
): { readonly round: DomainRound; readonly earlier: readonly DomainRound[] } | undefined {
  for (const [index, round] of [...rounds.entries()].reverse()) {
    if (!isTheirs(round.operatorId, round.unblockedAt)) return undefined;
    if (!isTheirs(round.blockedBy, round.createdAt)) return { round, earlier: rounds.slice(0, index) };
  }
  return undefined;
}
