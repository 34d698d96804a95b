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

/** What a person gives up: every factor of a kind, or one of their identities at other providers. */
export type Spared = { readonly kind: Factor['kind'] } | { readonly kind: 'identity'; readonly id: string };

/**
 * Whether a person could still get into their account without something, inside a unit of work that holds the account's lock. Recovery codes
 * make no difference: they are used up, and then mail must be enough, as a recovery asks (`account-actions/recovery/complete.ts`).
 */
export function* canSpare(
  { mail, secondFactor }: WayInServices,
  account: Account,
  factors: readonly Factor[],
  spared: Spared,
): Work<boolean> {
  const codeRequired =
    (yield* isSecondFactorRequired(secondFactor, account)) || (yield* requiresRecoveryCode(account.id));
  const mailAvailable = mail.available && account.profile.emailVerified;
  const usable = (yield* listIdentities({ accountId: account.id })).filter(({ isActive }) => isActive);
  const identities = usable.filter(({ id }) => spared.kind !== 'identity' || id !== spared.id).length;
  const state = { factors, identities, recoveryCodes: 0, mailAvailable, codeRequired };
  return (spared.kind === 'identity' ? waysIn(state) : waysInWithout(state, spared.kind)).length > 0;
}
