import type { OptionalScope } from '../../../claims/scopes.ts';
import type { ClientType } from '../../../clients/fields.ts';
import { isClaimable } from '../../../clients/rules/redirect-uri.ts';
import { type RememberedConsent, scopesToAsk } from '../../../consent/rules/consent.ts';
import { SECOND } from '../../../platform/clock.ts';
import { MESSAGES } from '../../../verdict/refusals.ts';
import { type AuthorizationRequest, consentScopes, type RedirectedError } from './request.ts';

/** Where a request stands. Pages never decide what comes next; this does, from what is on record. */
export type AuthorizationStep =
  | { readonly kind: 'login' }
  /** Go on as the person who is signed in, or sign in as another. */
  | { readonly kind: 'choose' }
  | { readonly kind: 'consent'; readonly asked: readonly OptionalScope[] }
  | { readonly kind: 'issue' }
  | { readonly kind: 'refuse'; readonly refusal: RedirectedError };

export interface AuthorizationState {
  readonly request: Pick<
    AuthorizationRequest,
    'redirectUri' | 'scopes' | 'prompt' | 'maxAge' | 'subjects' | 'claims' | 'resources'
  >;
  readonly clientType: ClientType;
  readonly signedIn: 'anonymous' | 'banned' | 'suspended' | 'signed in';
  /** Who is signed in; null is nobody. */
  readonly accountId: string | null;
  /** The milliseconds since the sign-in. */
  readonly age: number;
  /** Whether the present session was begun for this very request. */
  readonly signedInForThis: boolean;
  /** Whether the person chose to go on with the present session for this very request. */
  readonly chosenForThis: boolean;
  /** What the signed-in person decided about this app, as far as it holds; null is nothing. */
  readonly remembered: RememberedConsent | null;
}

const refuse = (error: RedirectedError['error'], description: string): AuthorizationStep => ({
  kind: 'refuse',
  refusal: { kind: 'redirect', error, description },
});

const ASKED_EACH_TIME = 'the user must consent each time: any local program could claim this redirect_uri';

/** The next step of an authorization request: decisions §§2–3, OpenID Connect Core 1.0 §§3.1.2.1–3.1.2.3. */
export function nextStep(situation: AuthorizationState): AuthorizationStep {
  const { request, clientType, signedIn, accountId, signedInForThis, chosenForThis, remembered } = situation;
  const { prompt, subjects } = request;
  if (signedIn === 'banned' || signedIn === 'suspended') return refuse('access_denied', MESSAGES[signedIn]);
  // §3.1.2.2: asked for certain people, there is never an answer about another one, also not after a sign-in.
  const another = signedIn === 'signed in' && subjects !== null && !subjects.includes(accountId ?? '');
  if (subjects?.length === 0 || (another && signedInForThis)) {
    return refuse('login_required', 'the user who was asked for is not signed in');
  }
  if (signedIn === 'anonymous')
    return prompt.none ? refuse('login_required', 'nobody is signed in') : { kind: 'login' };
  // A sign-in for this very request is new enough, however long its pages stay open.
  if (another || (!signedInForThis && mustSignInAnew(situation))) {
    return prompt.none ? refuse('login_required', 'the user must sign in') : { kind: 'login' };
  }
  if (prompt.select && !signedInForThis && !chosenForThis) return { kind: 'choose' };
  // Where tokens may go is part of what the person allowed: for another place the page comes again.
  const elsewhere = (request.resources ?? []).some((resource) => !remembered?.resources?.has(resource));
  // RFC 8252 §8.6: any local program can send this request and receive the code, so no earlier consent answers it.
  const unproven = clientType === 'public' && isClaimable(request.redirectUri);
  const asked = scopesToAsk(consentScopes(request), remembered, prompt.consent || elsewhere || unproven);
  if (asked === undefined) return { kind: 'issue' };
  if (!prompt.none) return { kind: 'consent', asked };
  return refuse('consent_required', unproven ? ASKED_EACH_TIME : 'the user has not consented yet');
}

/** §3.1.2.1: a session may be as old as max_age, and no older; max_age=0 means prompt=login. */
function mustSignInAnew({ request: { prompt, maxAge }, age }: AuthorizationState): boolean {
  return prompt.login || (maxAge !== null && (maxAge === 0 || age > maxAge * SECOND));
}
