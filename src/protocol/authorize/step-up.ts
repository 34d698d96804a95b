import { listFactors } from '../../authenticators/factor-store.ts';
import { meetsAcr } from '../../authenticators/rules/authentication-context.ts';
import {
  policyAcrs,
  requiredAcr,
  type SecondFactorPolicies,
  type StepUp,
  stepUpTo,
} from '../../authenticators/rules/requirement.ts';
import type { Work } from '../../platform/database/database.ts';
import type { SignedInVisitor } from '../../sessions/sessions.ts';

export const MET: StepUp = { kind: 'met' };

/**
 * What is missing between the session of a signed-in person and the class that a request and the policies require. What the person has
 * set up is read only where something is missing.
 * @param acrs the classes of which one satisfies the request; null where it names none
 */
export function* findStepUp(
  acrs: readonly string[] | null,
  policies: SecondFactorPolicies,
  { account, session }: SignedInVisitor,
): Work<StepUp> {
  const required = requiredAcr(acrs, policyAcrs(policies));
  if (required === null || meetsAcr(session.acr, required)) return MET;
  return stepUpTo(required, session, yield* listFactors(account));
}
