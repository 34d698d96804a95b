import { listFactors } from '../../authenticators/factor-store.ts';
import { meetsAcr } from '../../authenticators/rules/authentication-context.ts';
import { requiredAcr, type StepUp, stepUpTo } from '../../authenticators/rules/requirement.ts';
import type { Work } from '../../platform/database/database.ts';
import type { SignedInVisitor } from '../../sessions/sessions.ts';

export const MET: StepUp = { kind: 'met' };

/**
 * What is missing between the session of a signed-in person and the classes of authentication of which one satisfies a request. What the
 * person has set up is read only where something is missing.
 */
export function* findStepUp(acrs: readonly string[], { account, session }: SignedInVisitor): Work<StepUp> {
  const required = requiredAcr(acrs, []);
  if (required === null || meetsAcr(session.acr, required)) return MET;
  return stepUpTo(required, session, yield* listFactors(account));
}
