import type { Account } from '../../accounts/store.ts';
import { requiresRecoveryCode } from '../../authenticators/recovery-setting-store.ts';
import type { Factor } from '../../authenticators/rules/factors.ts';
import { waysIn, waysInWithout } from '../../authenticators/rules/ways-in.ts';
import type { Mailer } from '../../mail/mail.ts';
import { isSecondFactorRequired } from '../../organizations/requirement.ts';
import type { SecondFactorSetting } from '../../platform/config/second-factor.ts';
import type { Work } from '../../platform/database/database.ts';
import { listIdentities } from '../../upstreams/identity-store.ts';

/** What decides beside a person's factors how they get into their account. */
export interface WayInServices {
  readonly mail: Pick<Mailer, 'available'>;
  readonly secondFactor: SecondFactorSetting;
}

/**
 * Whether a person could still get into their account without any factor of a kind, inside a unit of work that holds the account's lock.
 * Recovery codes make no difference: they are used up, and then mail must be enough, as a recovery asks (`account-actions/recovery/complete.ts`).
 */
export function* canSpare(
  { mail, secondFactor }: WayInServices,
  account: Account,
  factors: readonly Factor[],
  kind: Factor['kind'],
): Work<boolean> {
  const codeRequired =
    (yield* isSecondFactorRequired(secondFactor, account)) || (yield* requiresRecoveryCode(account.id));
  const mailAvailable = mail.available && account.profile.emailVerified;
  const identities = yield* usableIdentities(account.id);
  return waysInWithout({ factors, identities, recoveryCodes: 0, mailAvailable, codeRequired }, kind).length > 0;
}

/** How many identities at other providers an account can sign in by. */
function* usableIdentities(accountId: string): Work<number> {
  return (yield* listIdentities({ accountId })).filter(({ isActive }) => isActive).length;
}

/**
 * Whether a person could still get into their account without one of these identities, as {@link canSpare} asks of a factor.
 * @param identities how many could be used without it
 */
export function* canSpareIdentity(
  { mail, secondFactor }: WayInServices,
  account: Account,
  factors: readonly Factor[],
  identities: number,
): Work<boolean> {
  const codeRequired =
    (yield* isSecondFactorRequired(secondFactor, account)) || (yield* requiresRecoveryCode(account.id));
  const mailAvailable = mail.available && account.profile.emailVerified;
  return waysIn({ factors, identities, recoveryCodes: 0, mailAvailable, codeRequired }).length > 0;
}
