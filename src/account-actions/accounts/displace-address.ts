import { forgetBrowsers } from '../../accounts/known-browser-store.ts';
import { isReservedAddress } from '../../accounts/previous-address-store.ts';
import { emailKey } from '../../accounts/rules/profile.ts';
import { findByIdentifier, lockAccount, saveAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { enqueueAccountNotices } from '../../credentials/logout-notices.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { accountTime } from '../notices/account-time.ts';

/**
 * Makes an email address free for the person who has just proved it, inside the unit of work that gives it to them. An account that
 * holds the address without having verified it loses it, and gets a new generation: its sessions, tokens, pending changes and
 * challenges end with that.
 * @param ownId the account that is to have the address
 * @returns `taken` where another account has verified the address, or had it until a few days ago
 */
export function* displaceAddress(email: string, ownId: string, now: number, origin: Origin): Work<'free' | 'taken'> {
  const key = emailKey(email);
  const found = yield* findByIdentifier(key);
  if (yield* isReservedAddress(key, ownId, now)) return 'taken';
  if (found === undefined || found.id === ownId) return 'free';
  const holder = yield* lockAccount({ id: found.id });
  if (holder === undefined || emailKey(holder.profile.email) !== key) return 'free';
  if (holder.profile.emailVerified) return 'taken';
  const at = yield* accountTime(holder, now);
  yield* enqueueAccountNotices(holder.id, now);
  // No mail reaches this address, and nobody can verify it (RFC 2606 §2).
  const profile = { ...holder.profile, email: `${holder.id}@unverified.invalid`, emailVerified: false };
  yield* saveAccount({ ...holder, profile, generation: randomIdentifier(), updatedAt: at });
  yield* forgetBrowsers({ accountId: holder.id });
  yield* record({ at: now, type: 'account.address_displaced', origin, accountId: holder.id });
  return 'free';
}
