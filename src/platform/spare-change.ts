/** A change that is kept, and who made it: null for the command line. */
interface Kept {
  readonly operatorId: string | null;
}

/**
 * The change to forget where somebody who has made very many makes another one: the newest that is neither the first nor the last of those that
 * they made without anybody else between them. So what there was after the decision of another one stays known.
 * @param kept in their order
 * @param isTold whether the earlier ones of the same operator, made without anybody else between them, tell what a change does
 * @returns undefined where each change tells something: so no more are kept than others decided between them
 */
export const spareChange = <T extends Kept>(
  kept: readonly T[],
  operatorId: string | null,
  isTold: (change: T, earlier: readonly T[]) => boolean,
): T | undefined =>
  kept.findLast((change, index) => {
    const next = kept[index + 1];
    const isLast = next !== undefined && next.operatorId !== operatorId;
    if (change.operatorId !== operatorId || isLast) return false;
    const earlier = kept.slice(kept.findLastIndex((one, at) => at < index && one.operatorId !== operatorId) + 1, index);
    return earlier.length > 0 && isTold(change, earlier);
  });
