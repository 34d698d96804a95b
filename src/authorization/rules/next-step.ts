import { questions, type Remembered } from '../../consent/rules/consent.ts';
import type { OptionalScope } from '../../scopes/scopes.ts';
import { MESSAGES } from '../../verdict/refusals.ts';
import type { AuthorizationRequest, RedirectedError } from './request.ts';

/** Where a request stands. Pages never decide what comes next; this does, from what is on record. */
export type Step =
  | { readonly kind: 'login' }
  | { readonly kind: 'consent'; readonly asked: readonly OptionalScope[] }
  | { readonly kind: 'issue' }
  | { readonly kind: 'refuse'; readonly refusal: RedirectedError };

export interface Situation {
  readonly request: Pick<AuthorizationRequest, 'scopes' | 'prompt'>;
  readonly signedIn: 'nobody' | 'banned' | 'suspended' | 'somebody';
  /** Whether the present session was begun for this very request. */
  readonly signedInForThis: boolean;
  /** What the signed-in person decided about this app, as far as it holds; null is nothing. */
  readonly remembered: Remembered | null;
}

const refuse = (error: RedirectedError['error'], description: string): Step => ({
  kind: 'refuse',
  refusal: { kind: 'redirect', error, description },
});

/** The next step of an authorization request: decisions §§2–3. */
export function nextStep({ request, signedIn, signedInForThis, remembered }: Situation): Step {
  const { prompt, scopes } = request;
  if (signedIn === 'banned' || signedIn === 'suspended') return refuse('access_denied', MESSAGES[signedIn]);
  const mustSignIn = signedIn === 'nobody' || (prompt.login && !signedInForThis);
  if (mustSignIn) return prompt.none ? refuse('login_required', 'nobody is signed in') : { kind: 'login' };
  const asked = questions(scopes, remembered, prompt.consent);
  if (asked === undefined) return { kind: 'issue' };
  return prompt.none ? refuse('consent_required', 'the user has not consented yet') : { kind: 'consent', asked };
}
