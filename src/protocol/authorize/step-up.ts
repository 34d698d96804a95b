import { listFactors } from '../../authenticators/factor-store.ts';
import { meetsAcr } from '../../authenticators/rules/authentication-context.ts';
import { policyAcrs, requiredAcr, type StepUp, stepUpTo } from '../../authenticators/rules/requirement.ts';
import type { Client } from '../../clients/store.ts';
import { isSecondFactorRequired } from '../../organizations/requirement.ts';
import type { SecondFactorSetting } from '../../platform/config/second-factor.ts';
import type { Work } from '../../platform/database/database.ts';
import type { SignedInVisitor } from '../../sessions/sessions.ts';
import type { AuthorizationRequest } from './rules/request.ts';

export const MET: StepUp = { kind: 'met' };

/**
 * What is missing between the session of a signed-in person and the class that a request and the policies require. What the person has
 * set up is read only where something is missing.
 */
export function* findStepUp(
  { acrs }: Pick<AuthorizationRequest, 'acrs'>,
  client: Pick<Client, 'requireSecondFactor'>,
  setting: SecondFactorSetting,
  { account, session }: SignedInVisitor,
): Work<StepUp> {
  const policies = { person: yield* isSecondFactorRequired(setting, account), client: client.requireSecondFactor };
  const required = requiredAcr(acrs ?? null, policyAcrs(policies));
  if (required === null || meetsAcr(session.acr, required)) return MET;
  return stepUpTo(required, session, yield* listFactors(account));
}
