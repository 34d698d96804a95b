import { recordReturnedAddress } from '../../accounts/opening-store.ts';
import {
  listAddressesToReturnTo,
  type PreviousAddress,
  removePreviousAddresses,
} from '../../accounts/previous-address-store.ts';
import { emailKey } from '../../accounts/rules/profile.ts';
import type { Account } from '../../accounts/store.ts';
import { factorsOfThen } from '../../authenticators/earlier-factors.ts';
import type { FactorUse } from '../../authenticators/rules/factors.ts';
import { isAmong, type Span } from '../../authenticators/rules/taking-back.ts';
import type { Work } from '../../platform/database/database.ts';

/** The second factors from before an address was given up, and those that replaced them; undefined where the account had none then. */
export const factorsOf = (right: PreviousAddress) => factorsOfThen(right.accountId, spanOf(right));

/** What was renewed before a change may be the owner's; what was set up since is not. */
export const spanOf = ({ factorsSince: since, changedAt: until, provedBy }: PreviousAddress): Span => ({
  since,
  until,
  provedBy,
});

/** The passkeys that go with a change that is taken back, and with those after it. */
export const passkeysOfChanges = (changes: readonly PreviousAddress[], { changedAt: from }: PreviousAddress) =>
  changes.filter(({ changedAt }) => changedAt >= from).flatMap(({ passkeys }) => passkeys);

/**
 * The right that the address of an account had before, which beats those that are younger where its owner has proved to read it. Where the
 * account had a second factor when it gave that address up, the mailbox alone, whose reader may have set the address again, beats nothing.
 * @param shown the second factor that was shown beside the mailbox, if any
 * @returns undefined where the address has no right to undo a change
 */
export function* olderRight(
  { id: accountId, profile }: Account,
  shown: FactorUse | undefined,
  now: number,
): Work<PreviousAddress | undefined> {
  const addresses = yield* listAddressesToReturnTo({ accountId, now });
  const own = addresses.findLast(({ email }) => emailKey(email) === emailKey(profile.email));
  if (own === undefined) return undefined;
  const kept = yield* factorsOf(own);
  if (kept !== undefined && !isAmong(kept, shown?.factorSince ?? null)) return undefined;
  return own;
}

/**
 * Ends the rights that {@link olderRight} beats. Does nothing where there is none.
 * @returns the right, which ends as well: the account has its address
 */
export function* endYoungerRights(
  account: Account,
  shown: FactorUse | undefined,
  now: number,
): Work<PreviousAddress | undefined> {
  const own = yield* olderRight(account, shown, now);
  if (own === undefined) return undefined;
  const { accountId, changedAt } = own;
  yield* removePreviousAddresses({ accountId, since: changedAt });
  yield* recordReturnedAddress({ accountId, changedAt });
  return own;
}
