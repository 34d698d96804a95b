import type { Method } from '../../../authenticators/rules/authentication-context.ts';

/** When what a person can prove themselves with was set up, in milliseconds; 0 for as long as the account exists. */
export interface SetUpTimes {
  /** Null where there is none. */
  readonly password: number | null;
  readonly totp: number | null;
  readonly passkeys: readonly number[];
  /** Those of recovery codes that can still be used. */
  readonly recoveryCodes: readonly number[];
}

/**
 * Whether a proof was made with something that was set up before an instant. A session does not say with which passkey, so a passkey
 * counts only where all are that old. A code by mail proves the present address alone.
 */
export function isEarlierProof(method: Method, times: SetUpTimes, before: number): boolean {
  switch (method) {
    case 'password':
      return times.password !== null && times.password < before;
    case 'totp':
      return times.totp !== null && times.totp < before;
    case 'passkey':
      return times.passkeys.length > 0 && times.passkeys.every((time) => time < before);
    case 'recovery code':
      return times.recoveryCodes.some((time) => time < before);
    case 'mail code':
      return false;
  }
}

/** Methods that are no mere password or mailbox: with these, a person may say that an earlier mailbox is no longer theirs. */
export const isSecondFactor = (method: Method): boolean =>
  method === 'totp' || method === 'passkey' || method === 'recovery code';
