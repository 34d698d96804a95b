import type { Role } from '../../organizations/store.ts';

const RANK: Readonly<Record<Role, number>> = { MEMBER: 1, ADMIN: 2, OWNER: 3 };

const rankOf = (role: Role | null): number => (role === null ? 0 : RANK[role]);

/** Whether a member with a role may invite people with another: owners and administrators, up to their own. */
export const mayInvite = (inviter: Role | null, invited: Role | null): boolean =>
  rankOf(inviter) >= RANK.ADMIN && rankOf(invited) <= rankOf(inviter);

/** Whether an invitation may give a role: one without an address, which anyone may use who has its link, gives MEMBER at most. */
export const mayGive = (email: string | null, role: Role | null): boolean =>
  email !== null || rankOf(role) <= RANK.MEMBER;
