import type { Account } from '../store.ts';

/** What bars an account: a ban, a suspension, or both. */
export type Bar = Pick<Account, (typeof BAN | typeof SUSPENSION)[number]>;

const BAN = ['bannedAt', 'bannedUntil', 'banReason'] as const;
const SUSPENSION = ['suspendedAt', 'suspensionReason'] as const;

export const barOf = ({ bannedAt, bannedUntil, banReason, suspendedAt, suspensionReason }: Bar): Bar => ({
  ...{ bannedAt, bannedUntil, banReason },
  ...{ suspendedAt, suspensionReason },
});

/** From when on an account is not barred, as far as is decided; infinite for never. */
export function freeFrom({ bannedAt, bannedUntil, suspendedAt }: Bar): number {
  if (suspendedAt !== null) return Number.POSITIVE_INFINITY;
  return bannedAt === null ? 0 : (bannedUntil ?? Number.POSITIVE_INFINITY);
}

/** What of an earlier bar still holds: a ban that has ended meanwhile does not. */
export function remainingBar({ bannedAt, bannedUntil, banReason, suspendedAt, suspensionReason }: Bar, now: number) {
  const isBanned = bannedAt !== null && (bannedUntil === null || bannedUntil > now);
  return {
    ...(isBanned && { bannedAt, bannedUntil, banReason }),
    ...(suspendedAt !== null && { suspendedAt, suspensionReason }),
  };
}
