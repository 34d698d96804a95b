import type { SecondFactorSetting } from '../../accounts/second-factor-setting.ts';
import { listFactors } from '../../authenticators/factor-store.ts';
import type { RelyingParty } from '../../authenticators/relying-party.ts';
import { meetsAcr } from '../../authenticators/rules/authentication-context.ts';
import {
  enrollmentFor,
  policyAcrs,
  requiredAcr,
  type StepUp,
  stepUpTo,
} from '../../authenticators/rules/requirement.ts';
import type { Client } from '../../clients/store.ts';
import type { Work } from '../../platform/database/database.ts';
import type { SignedInVisitor } from '../../sessions/sessions.ts';
import type { AuthorizationRequest } from './rules/request.ts';

/** What the installation says of second factors. */
export interface SecondFactorServices {
  readonly secondFactor: SecondFactorSetting;
  /** Undefined where browsers have no passkeys for the base URL. */
  readonly relyingParty: RelyingParty | undefined;
}

export const MET: StepUp = { kind: 'met' };

/**
 * What is missing between the session of a signed-in person and the class that a request and the policies require. What the person has
 * set up is read only where something is missing. A person who has nothing that meets it may set it up where a policy or an essential
 * claim asks for it; `acr_values` alone is voluntary, and the app is told that it cannot be met.
 */
export function* findStepUp(
  { acrs, acrIsEssential }: Pick<AuthorizationRequest, 'acrs' | 'acrIsEssential'>,
  client: Pick<Client, 'requireSecondFactor'>,
  { secondFactor, relyingParty }: SecondFactorServices,
  { account, session, organizationRequires }: SignedInVisitor,
  now: number,
): Work<StepUp> {
  const person = secondFactor === 'required' || organizationRequires;
  const policies = policyAcrs({ person, client: client.requireSecondFactor });
  const required = requiredAcr(acrs ?? null, policies);
  if (required === null || meetsAcr(session.acr, required)) return MET;
  const factors = yield* listFactors(account);
  const stepUp = stepUpTo(required, session, factors);
  if (stepUp.kind !== 'unreachable' || secondFactor === 'off') return stepUp;
  const insisted = acrIsEssential ? required : requiredAcr(null, policies);
  if (stepUpTo(insisted, session, factors).kind !== 'unreachable') return stepUp;
  return enrollmentFor(required, session, factors, { passkeys: relyingParty !== undefined, now });
}
