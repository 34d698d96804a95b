import { findOwner, listInstallationOwners, lockOwners } from '../../access/operator-grant-store.ts';
import { mayAct } from '../../accounts/rules/may-act.ts';
import { findAccount } from '../../accounts/store.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';

export interface OwnerOptions {
  /** Whether the last owner may go, too: the command line on the server can make another. */
  readonly lastOwner?: boolean;
}

/** Whether one of these accounts is active, and stays. */
function* isOneActive(accountIds: readonly string[], now: number): Work<boolean> {
  for (const id of accountIds) {
    const account = yield* findAccount({ id });
    if (account !== undefined && mayAct(account, now)) return true;
  }
  return false;
}

/** Whether the installation has an owner: an active account whose role has no end. Keys do not count. */
export function* hasOwner(now: number): Work<boolean> {
  return yield* isOneActive(yield* listInstallationOwners({}), now);
}

/**
 * Whether an account is the last owner, inside a unit of work. Of two owners who remove each other one comes first: all owners are locked
 * until the unit of work ends.
 */
function* isLastOwner(accountId: string, now: number): Work<boolean> {
  if ((yield* findOwner({ accountId })) === undefined) return false;
  const owners = yield* lockOwners({});
  if (!owners.includes(accountId)) return false;
  return !(yield* isOneActive(
    owners.filter((id) => id !== accountId),
    now,
  ));
}

/**
 * Which of these accounts keeps the role of an owner because nobody else has it, inside a unit of work: the last active one.
 * @param accountIds owners whose role is to end
 */
export function* lastOwnerAmong(accountIds: readonly string[], now: number): Work<string | undefined> {
  if (accountIds.length === 0) return undefined;
  const owners = yield* lockOwners({});
  const others = owners.filter((id) => !accountIds.includes(id));
  if (yield* isOneActive(others, now)) return undefined;
  for (const id of accountIds.toReversed()) if (owners.includes(id) && (yield* isOneActive([id], now))) return id;
  return undefined;
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
