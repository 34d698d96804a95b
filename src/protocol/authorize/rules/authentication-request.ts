import { ACR } from '../../../authenticators/rules/authentication-context.ts';
import { askedClaims } from '../../../claims/claims.ts';
import type { RepeatableParameters } from '../../../platform/http/parameters.ts';
import { type ClaimsParameter, parseClaims } from './claims-parameter.ts';
import type { AuthorizationErrorCode, AuthorizationRequest, RedirectedError } from './request.ts';
import type { RedirectingClient } from './target.ts';

/** OpenID Connect Core 1.0 §3.1.2.1. */
export interface Prompt {
  /** Answer without any page. */
  readonly none: boolean;
  /** Sign in anew. */
  readonly login: boolean;
  /** Show the consent page whatever was decided. */
  readonly consent: boolean;
  /** Ask which account it shall be. */
  readonly select: boolean;
}

/** The values of `prompt`. */
export const PROMPTS = ['none', 'login', 'consent', 'select_account'] as const;

/** Longer than any name or address that could be typed. */
const LONGEST_HINT = 320;

const refuse = (description: string, error: AuthorizationErrorCode = 'invalid_request'): RedirectedError => ({
  kind: 'redirect',
  error,
  description,
});

type Authentication = Pick<AuthorizationRequest, 'prompt' | 'maxAge' | 'subjects' | 'loginHint' | 'claims'>;

/**
 * What OpenID Connect Core 1.0 §3.1.2.1 adds to an authorization request. `display`, `ui_locales` and `claims_locales` are
 * accepted and change nothing: there is one kind of page, in one language.
 */
export function checkAuthentication(
  parameters: RepeatableParameters,
  client: RedirectingClient,
): Authentication | RedirectedError {
  const prompt = checkPrompt(parameters.get('prompt'));
  if ('kind' in prompt) return prompt;

  const maxAge = parameters.get('max_age');
  if (maxAge !== undefined && !/^\d{1,10}$/.test(maxAge)) return refuse('max_age must be a whole number of seconds');

  const text = parameters.get('claims');
  const asked = text === undefined ? undefined : parseClaims(text);
  if (asked !== undefined && 'problem' in asked) return refuse(`claims ${asked.problem}`);
  if (asked !== undefined && !canMeet(asked.acr)) {
    return refuse('the acr that is asked for as essential is not offered', 'unmet_authentication_requirements');
  }
  const idToken = new Set(asked?.idToken);
  // §3.1.2.1: acr_values asks for acr as a voluntary claim; §5.5.1.1: whichever it was, the one that holds is returned.
  if (parameters.get('acr_values') !== undefined) idToken.add('acr');

  return {
    prompt,
    maxAge: maxAge === undefined ? client.defaultMaxAge : Number(maxAge),
    subjects: asked?.subjects ?? null,
    loginHint: usableHint(parameters.get('login_hint')),
    claims: askedClaims({ userinfo: asked?.userinfo ?? [], idToken }, client.scopes),
  };
}

function checkPrompt(text: string | undefined): Prompt | RedirectedError {
  const values = new Set((text ?? '').split(' ').filter((value) => value !== ''));
  for (const value of values) {
    if (!(PROMPTS as readonly string[]).includes(value)) return refuse(`prompt must be made of ${PROMPTS.join(', ')}`);
  }
  if (values.has('none') && values.size > 1) return refuse('prompt=none goes with no other value');
  return {
    none: values.has('none'),
    login: values.has('login'),
    consent: values.has('consent'),
    select: values.has('select_account'),
  };
}

/** §5.5.1.1: an essential acr that cannot be had is a failed authentication. */
const canMeet = (acr: ClaimsParameter['acr']): boolean =>
  !acr.essential || acr.values === null || acr.values.includes(ACR);

/** A hint is no more than what is written into a field: one that could not be typed there is ignored. */
const usableHint = (hint: string | undefined): string | null =>
  hint === undefined || hint.length > LONGEST_HINT || /\p{Cc}/u.test(hint) ? null : hint;
