import type { Account } from '../../accounts/store.ts';
import { requiresRecoveryCode } from '../../authenticators/recovery-setting-store.ts';
import type { Factor } from '../../authenticators/rules/factors.ts';
import { waysInWithout } from '../../authenticators/rules/ways-in.ts';
import type { Mailer } from '../../mail/mail.ts';
import { isSecondFactorRequired } from '../../organizations/requirement.ts';
import type { SecondFactorSetting } from '../../platform/config/second-factor.ts';
import type { Work } from '../../platform/database/database.ts';

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
  return waysInWithout({ factors, recoveryCodes: 0, mailAvailable, codeRequired }, kind).length > 0;
}
