/** What bars an account from use. Instants in milliseconds since the epoch. */
export interface AccountStanding {
  readonly bannedAt: number | null;
  /** When the ban ends; null is never. */
  readonly bannedUntil: number | null;
  readonly suspendedAt: number | null;
}

export type AccountStatus = 'active' | 'banned' | 'suspended';

/** Whether a ban holds at `now`. It ends by the clock alone: the instant `bannedUntil` is free already. */
export function isBanned(standing: AccountStanding, now: number): boolean {
  return standing.bannedAt !== null && (standing.bannedUntil === null || now < standing.bannedUntil);
}

export function isSuspended(standing: AccountStanding): boolean {
  return standing.suspendedAt !== null;
}

/** The one word for an account's state; a ban outranks a suspension. */
export function accountStatus(standing: AccountStanding, now: number): AccountStatus {
  if (isBanned(standing, now)) return 'banned';
  return isSuspended(standing) ? 'suspended' : 'active';
}
