import { findAccount, lockActing } from '../../accounts/store.ts';
import { type AdminKey, adminKeysEverMadeBy, findAdminKey, markAdminKeyRevoked } from '../../admin-keys/store.ts';
import { record } from '../../audit/audit.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { endHandedOut } from './handed-out.ts';

/**
 * Whether the account that made a key may act: it is not barred, and does not wait for its deletion. Of a key that was made with a key, the
 * account that made that one; true where no account did.
 * @param holds locks the account for a unit of work that writes, so that a ban comes before it or after it
 */
export function* isMakerActive(
  { madeBy }: Pick<AdminKey, 'madeBy'>,
  now: number,
  holds?: { readonly actedOn: string | undefined },
): Work<boolean> {
  let maker = madeBy;
  while (maker !== null) {
    const key = yield* findAdminKey({ id: maker });
    if (key === undefined) break;
    maker = key.madeBy;
  }
  if (maker === null) return true;
  if (holds !== undefined) yield* lockActing({ accountId: maker, actedOn: holds.actedOn ?? maker });
  const account = yield* findAccount({ id: maker });
  return account === undefined || (accountStatus(account, now) === 'active' && account.deletionDueAt === null);
}

/** Revokes the keys that an account made, and those that were made with them, in the unit of work that deletes the account. */
export function* revokeKeysMadeBy(accountId: string, origin: Origin, now: number): Work<void> {
  const makers = [accountId];
  for (const madeBy of makers) {
    for (const { id } of yield* adminKeysEverMadeBy({ madeBy, since: 0 })) {
      makers.push(id);
      if (!(yield* markAdminKeyRevoked({ id, now }))) continue;
      const details = { adminKeyId: id, madeBy, ...(yield* endHandedOut(id, false, now)) };
      yield* record({ at: now, type: 'admin_key.revoked', origin, details });
    }
  }
}
