import type { Method } from '../../../authenticators/rules/authentication-context.ts';
import type { FactorUse } from '../../../authenticators/rules/factors.ts';

/** When what an account can be proved with was set up, by the time of the account; 0 for as long as the account exists. */
export interface SetUpTimes {
  /** Null where there is none. */
  readonly password: number | null;
  readonly totp: number | null;
  readonly passkeys: readonly number[];
}

/**
 * Whether a proof was made with something that was set up before an instant, and that the account still has: with a passkey that was
 * removed or an app that was replaced since, nothing is proved any more. A recovery code is used up by its proof. A code by mail proves
 * the present address alone.
 */
export function isEarlierProof({ method, factorSince }: FactorUse, times: SetUpTimes, before: number): boolean {
  if (factorSince === null || factorSince >= before) return false;
  switch (method) {
    case 'password':
      // A new password ends every session but the one in which it was set, by the earlier one.
      return times.password !== null;
    case 'totp':
      return times.totp === factorSince;
    case 'passkey':
      return times.passkeys.includes(factorSince);
    case 'recovery code':
      return true;
    case 'mail code':
      return false;
  }
}

/** Methods that are no mere password or mailbox: with these, a person may say that an earlier mailbox is no longer theirs. */
export const isSecondFactor = (method: Method): boolean =>
  method === 'totp' || method === 'passkey' || method === 'recovery code';
