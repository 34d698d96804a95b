import type { Method } from '../../../authenticators/rules/authentication-context.ts';
import { type Held, isAmong } from '../../../authenticators/rules/taking-back.ts';

/** With what a person proved who they are in a session, and the password of their account. */
interface Proved {
  /** When the factor was set up with which they did so last, by the time of the account; null for a code by mail, and where that is not known. */
  readonly provedFactorSince: number | null;
  readonly amr: readonly string[];
}
interface Password {
  readonly passwordHash: string | null;
  readonly passwordSetAt: number | null;
}

/**
 * When the oldest was set up of what a person proved themselves with in a session, by the time of the account; 0 for as long as that exists,
 * and null for a code by mail, which proves the present address alone. Something newer that the account asked for besides takes nothing
 * from it. What was replaced or removed meanwhile still counts: that ends every session but the one in which it was done.
 */
export function provedSince(
  { provedFactorSince, amr }: Proved,
  { passwordHash, passwordSetAt }: Password,
): number | null {
  const password = amr.includes('pwd') && passwordHash !== null ? (passwordSetAt ?? 0) : null;
  if (provedFactorSince === null || password === null) return provedFactorSince ?? password;
  return Math.min(provedFactorSince, password);
}

/** Whether a proof was made with something that was set up before an instant. */
export const isEarlierProof = (since: number | null, before: number): boolean => since !== null && since < before;

/**
 * Whether a person goes back to an earlier address with what they proved in a session: something from before it was given up and, where the
 * account had a second factor then, such a factor or one that replaced it. Removing it since does not make the password enough.
 * @param kept those factors; undefined where the account had none
 */
export const isReturnProof = (
  session: Proved & { readonly provedBy: Method },
  password: Password,
  before: number,
  kept: readonly Held[] | undefined,
): boolean =>
  isEarlierProof(provedSince(session, password), before) &&
  (kept === undefined || (isSecondFactor(session.provedBy) && isAmong(kept, session.provedFactorSince)));

/** Methods that are no mere password or mailbox: with these, a person may say that an earlier mailbox is no longer theirs. */
export const isSecondFactor = (method: Method): boolean =>
  method === 'totp' || method === 'passkey' || method === 'recovery code';
