import { mayAct } from '../accounts/rules/may-act.ts';
import { findAccount, lockActing } from '../accounts/store.ts';
import type { Work } from '../platform/database/database.ts';
import { type AdminKey, adminKeysEverMadeBy, findAdminKey, holdKeyRows, isKeyOnRecord } from './store.ts';

/** The account that made a key or, of a key that was made with a key, the one that made that; null where no account did. */
function* makerOf({ madeBy }: Pick<AdminKey, 'madeBy'>): Work<string | null> {
  let maker = madeBy;
  while (maker !== null) {
    const key = yield* findAdminKey({ id: maker });
    if (key === undefined) return maker;
    maker = key.madeBy;
  }
  return null;
}

/**
 * Whether the account that made a key may act: it is not barred, and does not wait for its deletion. Of a key that was made with a key, the
 * account that made that one; true where no account did.
 * @param holds locks the account for a unit of work that writes, so that a ban comes before it or after it
 */
export function* isMakerActive(
  key: Pick<AdminKey, 'madeBy'>,
  now: number,
  holds?: { readonly actedOn: string | undefined },
): Work<boolean> {
  const maker = yield* makerOf(key);
  if (maker === null) return true;
  if (holds !== undefined) yield* lockActing({ accountId: maker, actedOn: holds.actedOn ?? maker });
  const account = yield* findAccount({ id: maker });
  return account === undefined || mayAct(account, now);
}

/**
 * Whether an admin key is valid, and so what it handed out: it was not revoked and has not ended, and the account that made it may act; or
 * it is the one of the configuration.
 */
export function* isAdminKeyLive(id: string, now: number): Work<boolean> {
  const key = yield* findAdminKey({ id });
  if (key !== undefined && !(yield* isMakerActive(key, now))) return false;
  return yield* isKeyOnRecord(id, now);
}

/** {@link isAdminKeyLive} for a unit of work that writes: a revocation, and a ban of the maker, return after this unit has ended. */
export function* holdAdminKey(id: string, now: number): Work<boolean> {
  const key = yield* findAdminKey({ id });
  // The account before the key, as for requests with the key.
  if (key !== undefined && !(yield* isMakerActive(key, now, { actedOn: undefined }))) return false;
  yield* holdKeyRows(id);
  // As in lockLiveAdminKey: read after the lock.
  return yield* isKeyOnRecord(id, now);
}

/** Every key that an account ever made, and those that were made with them: also with one that has ended. */
export function* keysInChainOf(accountId: string): Work<readonly AdminKey[]> {
  const keys: AdminKey[] = [];
  const makers = [accountId];
  for (const madeBy of makers) {
    for (const key of yield* adminKeysEverMadeBy({ madeBy, since: 0 })) {
      keys.push(key);
      makers.push(key.id);
    }
  }
  return keys;
}
