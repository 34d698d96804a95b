/** The ban and the suspension of an account, in milliseconds since the epoch. */
export interface AccountRestrictions {
  readonly bannedAt: number | null;
  /** When the ban ends; null means never. */
  readonly bannedUntil: number | null;
  readonly suspendedAt: number | null;
}

export type AccountStatus = 'active' | 'banned' | 'suspended';

/** Whether a ban is in force at `now`. It ends with the clock; at the instant `bannedUntil` it is over. */
export function isBanned(account: AccountRestrictions, now: number): boolean {
  return account.bannedAt !== null && (account.bannedUntil === null || now < account.bannedUntil);
}

export function isSuspended(account: AccountRestrictions): boolean {
  return account.suspendedAt !== null;
}

/** A ban takes precedence over a suspension. */
export function accountStatus(account: AccountRestrictions, now: number): AccountStatus {
  if (isBanned(account, now)) return 'banned';
  return isSuspended(account) ? 'suspended' : 'active';
}
