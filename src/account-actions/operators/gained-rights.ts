import { liveGrantsOf } from '../../access/operator-grant-store.ts';
import { givenAddresses, givenPasswords } from '../../accounts/act-store.ts';
import { openersOf } from '../../accounts/opening-store.ts';
import { type Account, lockAccount } from '../../accounts/store.ts';
import { findAdminKey, grantOfKey, isKeyOnRecord } from '../../admin-keys/store.ts';
import { endOperatorLinks } from '../../mail/challenges.ts';
import {
  excessAmong,
  excessOf,
  heldByRoles,
  liveGrants,
  type Operator,
  type OperatorGrant,
} from '../../operators/rights.ts';
import type { Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';

/** What stands against a grant, and what is to be done first. */
const REFUSED = {
  address:
    'This person may have their address from an operator who lacks a permission of the role, or holds it for less long. First find out whether it is theirs and declare it verified, then let them recover the account by mail. Then give the role.',
  'way in':
    'An operator who lacks a permission of the role, or holds it for less long, set how this person signs in, and nobody has taken the account back since. First let them recover the account by mail or, where no mail is sent, by a recovery link of yours that resets their factors. Then give the role.',
} as const;

/** By what an operator may get into an account who lacks something of a grant, or does not hold it for as long. */
type WayOfWeaker = keyof typeof REFUSED;

/**
 * What is asked of an account before its person holds a grant that they did not hold, inside the unit of work that gives it. Nobody takes over
 * somebody who may do more. So it is refused while a weaker operator, or one who has ended, may get in by what they set: the gain changes
 * nothing of how the person signs in and takes the account back. A thief may bring it about, too. Only the recovery links end that operators made.
 * @throws {Failure} `conflict`, with what is to be done first
 */
export function* settleGain(accountId: string, gained: OperatorGrant, now: number): Work<void> {
  const account = yield* lockAccount({ id: accountId });
  const way = account && (yield* wayOfWeaker(account, gained, now));
  if (way !== undefined) throw conflict(REFUSED[way]);
  yield* endOperatorLinks(accountId);
}

/** What stands against a grant: see {@link settleGain}. @returns undefined where it may be given */
export function* wayOfWeaker(account: Account, gained: OperatorGrant, now: number): Work<WayOfWeaker | undefined> {
  const { password, address } = yield* givenByWeaker(account, gained, now);
  const openers = yield* ofWeaker(yield* openersOf({ accountId: account.id }), gained, now);
  if (address !== undefined || openers.some(({ isMoved }) => isMoved)) return 'address';
  return password !== undefined || openers.length > 0 ? 'way in' : undefined;
}

/** What an account has from operators who are weaker than a grant: its password, or the one that was proved for it, and its address. */
export function* givenByWeaker(account: Account, gained: OperatorGrant, now: number) {
  const passwords = account.passwordHash === null ? [] : yield* givenPasswords(account);
  const [password] = yield* ofWeaker(passwords, gained, now);
  const present = (yield* givenAddresses(account.id)).filter(({ isPresent }) => isPresent);
  const [address] = yield* ofWeaker(present, gained, now);
  return { password, address };
}

/**
 * Whether the address of an account may be from an operator who may do less than another, or has ended: who declares it verified answers for
 * it from then on.
 * @param operator undefined for the command line on the server
 */
export function* hasAddressOfWeaker(accountId: string, operator: Operator | undefined, now: number): Work<boolean> {
  const given = (yield* givenAddresses(accountId)).filter(({ isPresent }) => isPresent);
  const openers = (yield* openersOf({ accountId })).filter(({ isMoved }) => isMoved);
  for (const { operatorId } of [...given, ...openers]) {
    const held = { grants: yield* grantsOfOperator(operatorId, now) };
    if (operatorId !== operator?.id && excessAmong(held, operator?.grants ?? [OWNERS]) !== undefined) return true;
  }
  return false;
}

/** Of what operators did, what those did who lack something of a grant, or do not hold it for as long. */
function* ofWeaker<Given extends { readonly operatorId: string }>(
  given: readonly Given[],
  gained: OperatorGrant,
  now: number,
): Work<readonly Given[]> {
  const found: Given[] = [];
  for (const one of given) {
    if (excessOf({ grants: yield* grantsOfOperator(one.operatorId, now) }, gained) !== undefined) found.push(one);
  }
  return found;
}

/** What an operator holds at this moment, a person or a key. */
function* grantsOfOperator(id: string, now: number): Work<readonly OperatorGrant[]> {
  const key = yield* findAdminKey({ id });
  if (key !== undefined) return key.revokedAt === null ? liveGrants([grantOfKey(key)], now) : [];
  // The key of the configuration is in no list of keys.
  return (yield* isKeyOnRecord(id, now)) ? [OWNERS] : yield* liveGrantsOf(id, now);
}

/** The same, as an operator who acts by roles alone. */
export function* operatorOf(id: string, now: number): Work<Operator> {
  return { id, ...heldByRoles(yield* grantsOfOperator(id, now)) };
}

const OWNERS: OperatorGrant = { role: 'owner', organizationId: null, expiresAt: null };
