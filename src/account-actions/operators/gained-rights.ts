import { liveGrantsOf } from '../../access/operator-grant-store.ts';
import { givenAddresses, givenPasswords, recordDoubtedAddress } from '../../accounts/act-store.ts';
import { takeAddressesAway } from '../../accounts/previous-address-store.ts';
import { changeProfile } from '../../accounts/rules/profile.ts';
import { lockAccount } from '../../accounts/store.ts';
import { findAdminKey, grantOfKey, isKeyOnRecord } from '../../admin-keys/store.ts';
import { record } from '../../audit/audit.ts';
import { removeFactorsSince } from '../../authenticators/factor-removal-store.ts';
import { untilNow } from '../../authenticators/rules/taking-back.ts';
import { endChallenges, endOperatorLinks } from '../../mail/challenges.ts';
import { excessOf, heldByRoles, liveGrants, type Operator, type OperatorGrant } from '../../operators/rights.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { leaveUnconnectedGroups } from '../access/sourced-groups.ts';
import { saveChange } from '../accounts/accounts.ts';
import { accountTime } from '../notices/account-time.ts';

/**
 * What follows for a person who holds a grant from now on that they did not hold before, inside the unit of work that gives it. Nobody takes
 * over somebody who may do more: so the recovery links end that operators made of the account. A password ends, too, that an operator set
 * who lacks something of the grant, or that was chosen by proving it or an address of theirs, with every session, and with the factors that
 * were added since. An address that such an operator gave is not verified any more, and recovers nothing until the person proves it, or an
 * operator who may act on the account sets it.
 */
export function* settleGain(accountId: string, gained: OperatorGrant, origin: Origin, now: number): Work<void> {
  yield* endOperatorLinks(accountId);
  const account = yield* lockAccount({ id: accountId });
  if (account === undefined) return;
  const [password] = yield* ofWeaker(yield* givenPasswords(account), gained, now);
  const addresses = yield* ofWeaker(yield* givenAddresses(accountId), gained, now);
  // An earlier one may still undo its change.
  if (addresses.length > 0) yield* takeAddressesAway({ accountId });
  const address = addresses.find(({ isPresent }) => isPresent);
  if (password === undefined && address === undefined) return;
  const at = yield* accountTime(account, now);
  const changed = {
    ...(password !== undefined && { passwordHash: null }),
    ...(address !== undefined && { profile: changeProfile(account.profile, { emailVerified: false }, now) }),
    generation: randomIdentifier(),
  };
  yield* saveChange(account, changed, at, now);
  if (address !== undefined) yield* recordDoubtedAddress(account, address.operatorId, at);
  const since = Math.min(password?.givenAt ?? at, address?.givenAt ?? at);
  yield* removeFactorsSince(accountId, { span: untilNow(since) }, at);
  yield* leaveUnconnectedGroups(accountId, origin, now);
  yield* endChallenges(accountId);
  const details = {
    fields: [...(password === undefined ? [] : ['password']), ...(address === undefined ? [] : ['emailVerified'])],
    reason: 'Set by an operator who lacks a permission that the person got, or holds it for less long.',
  };
  yield* record({ at: now, type: 'account.updated', origin, accountId, details });
}

/** What was given by operators who lack something of a grant, or do not hold it for as long. */
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
