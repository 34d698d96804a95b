import type { Account } from '../accounts/store.ts';
import { listFactors } from '../authenticators/factor-store.ts';
import { ACR_MFA, meetsAcr } from '../authenticators/rules/authentication-context.ts';
import { needsProof, proofAsked } from '../authenticators/rules/factors.ts';
import type { Session } from '../sessions/store.ts';
import { confirmAddress } from '../web/account/proof.ts';
import type { ConsoleServices } from './visit.ts';

/** The page that asks a person for a proof, and leads back to the console. */
export const CONFIRM = confirmAddress('console');

/** What an operator does before the console opens; undefined where it does. */
export type FactorAsked = 'set up' | 'proof' | 'again' | undefined;

/**
 * What is asked of an operator who signed in without a second factor: decisions §13. One that was set up since the session began does not
 * count, for a thief of the session may have added it.
 */
export async function factorAsked(
  { database, clock, consoleSecondFactor, secondFactor }: ConsoleServices,
  account: Account,
  session: Session,
): Promise<FactorAsked> {
  if (!consoleSecondFactor || meetsAcr(session.acr, ACR_MFA)) return undefined;
  const factors = await database.read(() => listFactors(account));
  if (factors.every(({ kind }) => kind === 'password')) return secondFactor === 'off' ? undefined : 'set up';
  const asked = proofAsked(factors, session);
  // Where the proof was given and the session is still without a second factor, it began without a password.
  return asked !== 'password' && asked !== 'mail code' && needsProof(factors, session, clock()) ? 'proof' : 'again';
}
