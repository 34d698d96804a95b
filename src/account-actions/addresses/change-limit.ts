import { exceededRolling, forgetRolling, takeRolling } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';

const bucketOf = (accountId: string): string => `address changes ${accountId}`;

const countOf = (limits: Limits, accountId: string, origin: Origin, now: number) =>
  [
    bucketOf(accountId),
    limits.addressAccount,
    1,
    now,
    { name: 'addressAccount', origin, accountId },
  ] as const satisfies Parameters<typeof takeRolling>;

/** Counts a change of address. @returns 0 where the account may make it, else the seconds until it may make one */
export const takeChange = (limits: Limits, accountId: string, origin: Origin, now: number): Work<number> =>
  takeRolling(...countOf(limits, accountId, origin, now));

/** As {@link takeChange} answers, without counting a change. */
export const exceededChanges = (limits: Limits, accountId: string, origin: Origin, now: number): Work<number> =>
  exceededRolling(...countOf(limits, accountId, origin, now));

/** Gives the changes of an account back: its owner undid them all. */
export const giveChangesBack = (limits: Limits, accountId: string, now: number): Work<void> =>
  forgetRolling(bucketOf(accountId), limits.addressAccount, now);
