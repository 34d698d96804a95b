import type { Method } from '../../../authenticators/rules/authentication-context.ts';
import type { EnrollableFactor, StepUp } from '../../../authenticators/rules/requirement.ts';
import { type EndpointRules, endpointRulesOf } from '../../../claims/endpoint-set.ts';
import { MEMBER_SCOPES, type SwitchedScope } from '../../../claims/permissions.ts';
import type { AccessMode } from '../../../clients/access-fields.ts';
import type { ClientType } from '../../../clients/fields.ts';
import { isClaimable } from '../../../clients/rules/redirect-uri.ts';
import { grantedScopes, type RememberedConsent, scopesToAsk } from '../../../consent/rules/consent.ts';
import { SECOND } from '../../../platform/clock.ts';
import { refuseByRedirect } from './refusals.ts';
import { type AuthorizationRequest, consentScopes, type Prompt, type RedirectedError } from './request.ts';

/** The next step of a request. Only {@link nextStep} decides on it, from what is stored; pages never do. */
export type AuthorizationStep =
  /** With the name of a provider, through that alone. */
  | { readonly kind: 'login'; readonly through?: string }
  /** Continue as the signed-in account, or sign in to another. */
  | { readonly kind: 'choose' }
  /** Prove more in this session, by one of these methods. */
  | { readonly kind: 'second factor'; readonly methods: readonly Method[] }
  /** Set up one of these factors. */
  | { readonly kind: 'enroll'; readonly factors: readonly EnrollableFactor[] }
  /** The app is open to assigned people only, and this person is not one of them. */
  | { readonly kind: 'no access' }
  | { readonly kind: 'consent'; readonly asked: readonly SwitchedScope[] }
  /** With scopes, these are granted because an operator approved them. */
  | { readonly kind: 'issue'; readonly approved?: readonly SwitchedScope[] }
  | { readonly kind: 'refuse'; readonly refusal: RedirectedError };

/** What the next step depends on. */
export interface AuthorizationState {
  readonly request: Pick<
    AuthorizationRequest,
    'endpointSet' | 'redirectUri' | 'scopes' | 'prompt' | 'maxAge' | 'subjects' | 'hinted' | 'claims' | 'resources'
  >;
  readonly clientType: ClientType;
  /** Whether no operator answers for the client. */
  readonly isUnregistered: boolean;
  readonly access: AccessMode;
  readonly visitor: 'anonymous' | 'banned' | 'suspended' | 'signed in';
  /** The signed-in account; null where the visitor is not signed in. */
  readonly accountId: string | null;
  /** The milliseconds since the sign-in. */
  readonly age: number;
  /** What is missing between the session and the class of authentication that is required. */
  readonly stepUp: StepUp;
  /** Whether the session was started for this request. */
  readonly signedInForThis: boolean;
  /** Whether the person chose to continue with the session for this request. */
  readonly chosenForThis: boolean;
  /** Whether the app is open to the signed-in account. */
  readonly hasAccess: boolean;
  /**
   * The provider through which alone the person may use the app, where the session did not begin there: its name, null where it is disabled;
   * null where nothing is missing.
   */
  readonly missingUpstream: { readonly upstream: string | null } | null;
  /** What the person decided about this client before; null where nothing is remembered. */
  readonly remembered: RememberedConsent | null;
  /** What an operator approved for the person; null for nothing. */
  readonly approved: { readonly scopes: ReadonlySet<string>; readonly resources: ReadonlySet<string> } | null;
}

/** The refusals that the state of the person and the session leads to. */
export type StepRefusal =
  | `account ${'banned' | 'suspended'}`
  | 'another user'
  | 'another user in claims'
  | 'another user in the hint'
  | 'not signed in'
  | 'sign-in too old'
  | 'stronger factor'
  | 'another provider'
  | 'provider disabled'
  | 'factor not set up'
  | 'factor not set up, without a page'
  | 'not assigned'
  | 'consent missing'
  | 'consent each time';

const refuse = (name: StepRefusal): AuthorizationStep => ({ kind: 'refuse', refusal: refuseByRedirect(name) });

/** The next step of an authorization request: decisions §§2–3, OpenID Connect Core 1.0 §§3.1.2.1–3.1.2.3. */
export function nextStep(state: AuthorizationState): AuthorizationStep {
  const { request, visitor, accountId, signedInForThis, chosenForThis, stepUp } = state;
  const { prompt, subjects } = request;
  if (visitor === 'banned' || visitor === 'suspended') return refuse(`account ${visitor}`);
  // §3.1.2.2: a request that names accounts never gets a response about another one, not even after a sign-in.
  const isOther = visitor === 'signed in' && subjects !== null && !subjects.includes(accountId ?? '');
  if (subjects?.length === 0 || (isOther && signedInForThis)) return refuse('another user');
  if (visitor === 'anonymous') return prompt.none ? refuse('not signed in') : { kind: 'login' };
  // A sign-in for this request is recent enough, however long its pages stay open.
  if (isOther && prompt.none) {
    return refuse(request.hinted === null ? 'another user in claims' : 'another user in the hint');
  }
  if (isOther || (!signedInForThis && mustSignInAgain(state))) {
    return prompt.none ? refuse('sign-in too old') : { kind: 'login' };
  }
  if (prompt.select && !signedInForThis && !chosenForThis) return { kind: 'choose' };
  // Before a second factor is asked for, which would not help; after the account is chosen, which might.
  if (!state.hasAccess) return prompt.none ? refuse('not assigned') : { kind: 'no access' };
  // Before a second factor, of which a session that began elsewhere is asked again.
  if (state.missingUpstream !== null) return toUpstream(state.missingUpstream, prompt);
  if (stepUp.kind !== 'met') return toStepUp(stepUp, prompt);
  return toConsent(state);
}

/** The consent page, or what answers instead of the person. */
function toConsent(given: AuthorizationState): AuthorizationStep {
  const { request, clientType } = given;
  const { prompt } = request;
  const rules = endpointRulesOf(request.endpointSet, given);
  const isApproved = coversRequest(given, rules);
  // What an operator decided holds while it is approved.
  const remembered = given.remembered?.decidedBy === 'operator' && !isApproved ? null : given.remembered;
  const state = { ...given, remembered };
  // A person consents to the resources as well: another one shows the page again.
  const hasNewResource = (request.resources ?? []).some((resource) => !remembered?.resources?.has(resource));
  // RFC 8252 §8.6: any local program can send this request and receive the code, so no earlier consent answers it.
  const isClaimableUri = clientType === 'public' && isClaimable(request.redirectUri);
  // Decisions §15: no earlier consent answers for an app that no operator has registered either.
  const isEachTime = isClaimableUri || given.isUnregistered;
  const always =
    prompt.consent ||
    hasNewResource ||
    isEachTime ||
    isNewlyOffline(state, rules) ||
    isNewlyMember(state, rules) ||
    grantsNothing(state, rules);
  const asked = scopesToAsk(consentScopes(request), remembered, always, rules);
  if (asked === undefined) return { kind: 'issue' };
  if (isApproved && !prompt.consent && !isEachTime) {
    return { kind: 'issue', approved: scopesToAsk(consentScopes(request), null, true, rules) ?? [] };
  }
  if (!prompt.none) return { kind: 'consent', asked };
  return refuse(isEachTime ? 'consent each time' : 'consent missing');
}

/** Decisions §11: the step to the provider of the person's organization. */
function toUpstream({ upstream }: { readonly upstream: string | null }, prompt: Prompt): AuthorizationStep {
  if (upstream === null) return refuse('provider disabled');
  return prompt.none ? refuse('another provider') : { kind: 'login', through: upstream };
}

/** The step to a stronger class of authentication, or the refusal where it cannot be reached. */
function toStepUp(stepUp: Exclude<StepUp, { kind: 'met' }>, prompt: Prompt): AuthorizationStep {
  if (prompt.none)
    return refuse(stepUp.kind === 'unreachable' ? 'factor not set up, without a page' : 'stronger factor');
  switch (stepUp.kind) {
    case 'prove':
      return { kind: 'second factor', methods: stepUp.methods };
    case 'enroll':
      return stepUp;
    case 'sign in':
      return { kind: 'login' };
    case 'unreachable':
      return refuse('factor not set up');
  }
}

/** Whether an operator approved all that a request comes to: decisions §12. */
function coversRequest({ request, approved }: AuthorizationState, { alwaysShared }: EndpointRules): boolean {
  if (approved === null || !request.redirectUri.toLowerCase().startsWith('https:')) return false;
  const scopes = [...consentScopes(request), ...alwaysShared];
  return (
    scopes.every((scope) => approved.scopes.has(scope)) &&
    (request.resources ?? []).every((resource) => approved.resources.has(resource))
  );
}

/** §11: the person consents to access while signed out. */
const isNewlyOffline = ({ request: { scopes }, remembered }: AuthorizationState, rules: EndpointRules): boolean =>
  rules.endsWithSession && scopes.includes('offline_access') && remembered?.scopes.has('offline_access') !== true;

/** Decisions §12: what a person is in an app has no switch where the app is open to assigned people only, so the page says that it is shared. */
const isNewlyMember = ({ request, remembered }: AuthorizationState, { optionalScopes }: EndpointRules): boolean =>
  MEMBER_SCOPES.some(
    (scope) =>
      consentScopes(request).includes(scope) &&
      !optionalScopes.includes(scope) &&
      (remembered?.scopes.has(scope) !== true || remembered.declined.has(scope)),
  );

/** Whether every requested scope was declined before: an access token has one at least. */
const grantsNothing = ({ request: { scopes }, remembered }: AuthorizationState, rules: EndpointRules): boolean =>
  remembered !== null && grantedScopes(scopes, remembered.scopes, rules) === '';

/** §3.1.2.1: a session may be as old as max_age, and no older; max_age=0 means prompt=login. */
function mustSignInAgain({ request: { prompt, maxAge }, age }: AuthorizationState): boolean {
  return prompt.login || (maxAge !== null && (maxAge === 0 || age > maxAge * SECOND));
}

/** What a decision on consent says of itself. */
interface PossibleAnswer {
  readonly accountId: string;
  readonly epoch: string;
  readonly asked: readonly SwitchedScope[];
  readonly by?: 'person' | 'operator';
}

/**
 * Whether a decision answers the step: none where nothing is asked, or one about the same client and scopes that the step asks
 * about. Where another tab has answered all of it meanwhile, this decision is the later one.
 */
export function isAnswered(
  step: AuthorizationStep,
  client: { readonly consentEpoch: string },
  accountId: string,
  decision: PossibleAnswer | undefined,
): boolean {
  const approved = step.kind === 'issue' ? step.approved : undefined;
  if (decision === undefined) return step.kind === 'issue' && approved === undefined;
  if (decision.epoch !== client.consentEpoch || decision.accountId !== accountId) return false;
  if (decision.by === 'operator') return approved?.join() === decision.asked.join();
  return step.kind === 'issue' || (step.kind === 'consent' && step.asked.join() === decision.asked.join());
}
