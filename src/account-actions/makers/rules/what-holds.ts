import type { FormerMember, FormerRight } from '../../../operators/right-change-store.ts';

const RANK = ['MEMBER', 'ADMIN', 'OWNER'];
const rankOf = ({ role }: FormerMember): number => (role === null ? -1 : RANK.indexOf(role));

/**
 * What holds of a right where the changes of it end: what there was both before them and since. So the end of somebody gives nobody a right that
 * is not there, and what was raised goes back.
 * @param former what it was before
 * @param left what the changes left; undefined for nothing
 */
export function whatHolds(
  former: FormerRight,
  left: FormerRight | undefined,
): { readonly kept: FormerRight | undefined; readonly isWhole: boolean } {
  if (former.kind === 'role' && left?.kind === 'role') {
    const ends = [former.expiresAt, left.expiresAt].filter((end) => end !== null);
    const expiresAt = ends.length === 0 ? null : Math.min(...ends);
    return { kept: { ...former, expiresAt }, isWhole: expiresAt === former.expiresAt };
  }
  if (former.kind === 'member' && left?.kind === 'member') {
    if (rankOf(left) >= rankOf(former)) return { kept: former, isWhole: true };
    const isPlain = rankOf(left) <= 0;
    const kept = { ...former, role: left.role, ...(isPlain && { roleMadeBy: null, roleGivenAt: null }) };
    return { kept, isWhole: false };
  }
  if (former.kind === 'assignment' && left?.kind === 'assignment') {
    const isWhole = former.role === null || former.role === left.role;
    // One role of an app is no part of another.
    return { kept: isWhole ? { ...former, id: left.id } : undefined, isWhole };
  }
  return { kept: undefined, isWhole: false };
}
