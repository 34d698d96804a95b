import { iso, isoOrNull } from '../platform/clock.ts';
import { pick } from '../platform/database/columns.ts';
import { accountStatus, isBanned } from '../verdict/rules.ts';
import { PROFILE_FIELDS } from './fields.ts';
import type { Account } from './store.ts';

const SHOWN = Object.keys(PROFILE_FIELDS) as (keyof typeof PROFILE_FIELDS)[];

/** An account in the admin API: the fields of the profile, and an allow-list of the rest. */
export function accountView(account: Account, now: number) {
  const { profile } = account;
  return {
    id: account.id,
    ...pick(profile, SHOWN),
    hasPicture: profile.picture !== null,
    hasPassword: account.passwordHash !== null,
    status: accountStatus(account, now),
    ban:
      account.bannedAt !== null && isBanned(account, now)
        ? {
            since: iso(account.bannedAt),
            until: isoOrNull(account.bannedUntil),
            reason: account.banReason,
          }
        : null,
    suspension:
      account.suspendedAt === null ? null : { since: iso(account.suspendedAt), reason: account.suspensionReason },
    deletion:
      account.deletionRequestedAt === null || account.deletionDueAt === null
        ? null
        : { requestedAt: iso(account.deletionRequestedAt), dueAt: iso(account.deletionDueAt) },
    createdAt: iso(account.createdAt),
    updatedAt: iso(account.updatedAt),
  };
}
