import { mayAct } from '../accounts/rules/may-act.ts';
import { findAccount, lockActing } from '../accounts/store.ts';
import type { Permission } from '../operators/permissions.ts';
import { holdsEverything, lackingOf, liveGrants, type Operator } from '../operators/rights.ts';
import type { Work } from '../platform/database/database.ts';
import {
  type AdminKey,
  adminKeysEverMadeBy,
  findAdminKey,
  findPresentedAdminKey,
  grantOfKey,
  holdKeyRows,
  isKeyOnRecord,
  type KeyHashes,
} from './store.ts';

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

/** Who is behind an operator: of an admin key the account that made it, also with other keys; anybody else is themselves. */
export function* behind(operatorId: string): Work<string> {
  const key = yield* findAdminKey({ id: operatorId });
  return (key === undefined ? null : yield* makerOf(key)) ?? operatorId;
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

/** Why a presented key is not valid, for operators alone. */
export type KeyRefusal =
  | 'unknown admin key'
  | 'revoked admin key'
  | 'admin key that has ended'
  | 'admin key whose maker may not act';

/** Why a presented key is not valid. The answer to its sender is the same for all. */
export function* whyRefused(presented: KeyHashes, now: number): Work<KeyRefusal> {
  const key = yield* findPresentedAdminKey(presented);
  if (key === undefined) return 'unknown admin key';
  if (key.revokedAt !== null) return 'revoked admin key';
  const hasEnded = key.expiresAt !== null && key.expiresAt <= now;
  return hasEnded ? 'admin key that has ended' : 'admin key whose maker may not act';
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

/**
 * A permission that a valid key has which an account made, or which was made with one of those, and that an operator lacks: the keys of an
 * account that is barred work no more, and nobody acts on what is stronger than they are.
 */
export function* lackingForKeysOf(operator: Operator, accountId: string, now: number): Work<Permission | undefined> {
  if (holdsEverything(operator)) return undefined;
  const keys = (yield* keysInChainOf(accountId)).filter(({ revokedAt }) => revokedAt === null);
  return lackingOf(operator, liveGrants(keys.map(grantOfKey), now));
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
