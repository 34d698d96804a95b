import { iso, isoOrNull } from '../platform/clock.ts';
import { accountStatus, isBanned } from './rules/standing.ts';
import type { Account } from './store.ts';

/** An account as operators see it: an allow-list, so that no column leaks by being added. */
export function accountView(account: Account, now: number) {
  const { profile } = account;
  return {
    id: account.id,
    username: profile.username,
    displayName: profile.displayName,
    email: profile.email,
    emailVerified: profile.emailVerified,
    about: profile.about,
    language: profile.language,
    theme: profile.theme,
    website: profile.website,
    location: profile.location,
    birthDate: profile.birthDate,
    phone: profile.phone,
    socialLinks: profile.socialLinks,
    avatarColor: profile.avatarColor,
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
    createdAt: iso(account.createdAt),
    updatedAt: iso(account.updatedAt),
  };
}
