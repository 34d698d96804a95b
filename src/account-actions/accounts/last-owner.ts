import { findOwner, lockOwners } from '../../access/operator-grant-store.ts';
import { findAccount } from '../../accounts/store.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';
import { accountStatus } from '../../verdict/rules.ts';

export interface OwnerOptions {
  /** Whether the last owner may go, too: the command line on the server can make another. */
  readonly lastOwner?: boolean;
}

/**
 * Whether an account is the last owner, inside a unit of work. An owner is an active account whose role has no end; keys do not count. Of
 * two owners who remove each other one comes first: all owners are locked until the unit of work ends.
 */
export function* isLastOwner(accountId: string, now: number): Work<boolean> {
  if ((yield* findOwner({ accountId })) === undefined) return false;
  const owners = yield* lockOwners({});
  if (!owners.includes(accountId)) return false;
  for (const id of owners) {
    const other = id === accountId ? undefined : yield* findAccount({ id });
    if (other !== undefined && accountStatus(other, now) === 'active' && other.deletionDueAt === null) return false;
  }
  return true;
}

/**
 * Keeps the installation from losing its last owner, inside a unit of work that bars or deletes an account, or takes its role away.
 * @throws {Failure} `conflict`
 */
export function* keepAnOwner(accountId: string, now: number, { lastOwner = false }: OwnerOptions): Work<void> {
  if (lastOwner || !(yield* isLastOwner(accountId, now))) return;
  throw conflict(
    'This account is the last owner of the installation. Make another one first: tessera user grant-role <user> owner. On the server, --last-owner does it nevertheless.',
  );
}
