import { ACR_VALUES } from '../../../authenticators/rules/authentication-context.ts';
import { ENDPOINT_RULES, type EndpointRules } from '../../../claims/endpoint-set.ts';
import { effectiveClaims, parseResources } from '../../../claims/permissions.ts';
import { canonicalDomain } from '../../../platform/domain-name.ts';
import type { RepeatableParameters } from '../../../platform/http/parameters.ts';
import { findJsonProblem } from '../../../platform/validation/json-problem.ts';
import { type ApiScopeContext, checkScopes, NO_API_SCOPES } from './check-scopes.ts';
import { formPostProblem, type RedirectingClient, type RedirectTarget } from './check-target.ts';
import { type ClaimsParameter, parseClaims } from './claims-parameter.ts';
import { describeWithoutEffect } from './ignored-parts.ts';
import { CHALLENGE, LONGEST_NONCE, SINGLE_NAMES } from './parameters.ts';
import { refuseByRedirect } from './refusals.ts';
import {
  type AuthorizationRequest,
  PROMPTS,
  type Prompt,
  RESPONSE_MODES,
  type RedirectedError,
  type ResponseMode,
} from './request.ts';

/**
 * Checks the parameters whose errors are sent to the redirect URI: contract §4.1 and §7, decisions §§2–3.
 * @param apis the scopes of APIs that the client may request
 */
export function checkRequest(
  parameters: RepeatableParameters,
  target: RedirectTarget,
  rules: EndpointRules,
  apis: ApiScopeContext = NO_API_SCOPES,
): { readonly kind: 'request'; readonly request: AuthorizationRequest } | RedirectedError {
  const { client } = target;
  for (const name of SINGLE_NAMES) {
    if (parameters.repeated.has(name)) return refuseByRedirect('parameter repeated', { name });
    if (parameters.malformed.has(name)) return refuseByRedirect('parameter malformed', { name });
  }
  // OpenID Connect Core 1.0 §6: never silently ignored, and no address is ever fetched.
  if (parameters.get('request')) return refuseByRedirect('request object');
  if (parameters.get('request_uri')) return refuseByRedirect('request_uri');
  if (parameters.get('registration')) return refuseByRedirect('registration');

  // RFC 6749 §4.1.2.1, RFC 7591 §2.1.
  if (!client.grantTypes.includes('authorization_code')) {
    return refuseByRedirect('code grant not registered', { clientId: client.id, grantTypes: client.grantTypes });
  }

  if (!client.endpoints.includes(rules.endpointSet)) {
    const [endpointSet = 'v2'] = client.endpoints;
    return refuseByRedirect('other endpoints only', { path: ENDPOINT_RULES[endpointSet].authorizationPath });
  }

  const responseType = parameters.get('response_type');
  if (responseType === undefined && parameters.has('grant_type'))
    return refuseByRedirect('token request', { path: rules.tokenPath });
  if (responseType === undefined)
    return refuseByRedirect('response_type missing', { sent: parameters.misspelled('response_type') });
  if (responseType !== 'code') {
    return refuseByRedirect('response_type not code', { responseType, error: rules.responseTypeError });
  }
  const responseMode = parameters.get('response_mode');
  if (responseMode !== undefined && !isResponseMode(responseMode)) return refuseByRedirect('response_mode unknown');
  if (responseMode === 'form_post' && target.responseMode !== 'form_post') {
    const problem = formPostProblem(target.redirectUri, target.state) ?? 'response_mode is unclear';
    return refuseByRedirect('form_post unusable', { problem });
  }

  const named = parseResources(parameters.all('resource'));
  const asked = checkScopes(parameters.get('scope'), client, rules, named ?? [], apis);
  if ('kind' in asked) return asked;

  const nonce = parameters.get('nonce') ?? null;
  if (nonce !== null && nonce.length > LONGEST_NONCE) {
    return refuseByRedirect('nonce too long', { most: LONGEST_NONCE });
  }

  if (named === undefined || parameters.malformed.has('resource')) {
    return refuseByRedirect('resource malformed');
  }

  const codeChallenge = checkChallenge(parameters, client);
  if (typeof codeChallenge === 'object' && codeChallenge !== null) return codeChallenge;

  const authentication = checkAuthentication(parameters, client, rules);
  if ('kind' in authentication) return authentication;

  const { scopes, resources } = asked;
  const ignored = describeWithoutEffect(parameters, asked, client, rules, apis);
  return {
    kind: 'request',
    request: {
      endpointSet: rules.endpointSet,
      clientId: client.id,
      ...(client.metadataUrl !== null && { metadataUrl: client.metadataUrl }),
      clientGeneration: client.generation,
      redirectUri: target.redirectUri,
      responseMode: target.responseMode,
      state: target.state,
      scopes,
      nonce,
      codeChallenge,
      ...authentication,
      hinted: null,
      ...(resources.length > 0 && { resources }),
      ...(ignored !== undefined && { ignored }),
    },
  };
}

const isResponseMode = (text: string): text is ResponseMode => (RESPONSE_MODES as readonly string[]).includes(text);

function checkChallenge(parameters: RepeatableParameters, client: RedirectingClient): string | null | RedirectedError {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined) {
    const sent = parameters.misspelled('code_challenge');
    if (method !== undefined) return refuseByRedirect('challenge missing', { sent });
    const required = client.requirePkce || client.type === 'public';
    return required ? refuseByRedirect('PKCE required', { sent }) : null;
  }
  // RFC 7636 §4.3: without a method it means plain, which protects nothing.
  if (method !== 'S256') return refuseByRedirect('challenge method', { method });
  return CHALLENGE.test(challenge) ? challenge : refuseByRedirect('challenge malformed', { challenge });
}

/** Longer than any username or email address. */
const LONGEST_HINT = 320;

/** The name of another provider, which the operator gave it. */
const UPSTREAM_NAME = /^[a-z0-9-]{2,32}$/;

/** The name of an organization. */
const ORGANIZATION_NAME = /^[a-z0-9-]{2,48}$/;

type AuthenticationParameters = Pick<
  AuthorizationRequest,
  'prompt' | 'maxAge' | 'loginHint' | 'upstream' | 'domainHint' | 'organization'
> &
  AskedClaims;

/**
 * The parameters that OpenID Connect Core 1.0 §3.1.2.1 adds. `display`, `ui_locales` and `claims_locales` are accepted and change
 * nothing: there is one kind of page, in one language.
 */
function checkAuthentication(
  parameters: RepeatableParameters,
  client: RedirectingClient,
  rules: EndpointRules,
): AuthenticationParameters | RedirectedError {
  const prompt = checkPrompt(parameters.get('prompt'));
  if ('kind' in prompt) return prompt;

  const maxAge = parameters.get('max_age');
  if (maxAge !== undefined && !/^\d{1,10}$/.test(maxAge)) return refuseByRedirect('max_age malformed');

  const asked = checkClaims(parameters.get('claims'), parameters.get('acr_values'), client, rules);
  if ('kind' in asked) return asked;
  const upstream = parameters.get('upstream') ?? '';
  const domainHint = canonicalDomain(parameters.get('domain_hint') ?? '');
  const organization = parameters.get('organization') ?? '';
  return {
    prompt,
    maxAge: maxAge === undefined ? client.defaultMaxAge : Number(maxAge),
    loginHint: usableHint(parameters.get('login_hint')),
    ...(UPSTREAM_NAME.test(upstream) && { upstream }),
    ...(domainHint !== undefined && { domainHint }),
    ...(ORGANIZATION_NAME.test(organization) && { organization }),
    ...asked,
  };
}

export type AskedClaims = Pick<AuthorizationRequest, 'subjects' | 'acrs' | 'acrIsEssential' | 'claims'>;

/** What the `claims` parameter and `acr_values` ask for: OpenID Connect Core 1.0 §5.5. */
export function checkClaims(
  text: string | undefined,
  acrValues: string | undefined,
  client: Pick<RedirectingClient, 'scopes'>,
  rules: EndpointRules,
): AskedClaims | RedirectedError {
  const asked = text === undefined ? undefined : parseClaims(text);
  if (asked !== undefined && 'problem' in asked) {
    return refuseByRedirect('claims malformed', { problem: asked.problem + describeJsonProblem(text ?? '') });
  }
  const acrs = requestedAcrs(asked?.acr, acrValues);
  if (acrs?.length === 0) return refuseByRedirect('acr not offered');
  const idToken = new Set(asked?.idToken);
  // §3.1.2.1: acr_values requests acr as a voluntary claim. §5.5.1.1: the acr that was met is returned, whichever was requested.
  if (acrValues !== undefined || acrs !== undefined) idToken.add('acr');
  return {
    subjects: asked?.subjects ?? null,
    ...(acrs && { acrs }),
    ...(asked?.acr.essential && asked.acr.values !== null && { acrIsEssential: true }),
    claims: effectiveClaims({ userinfo: asked?.userinfo ?? [], idToken }, rules, client.scopes),
  };
}

/** Continues "claims must be JSON"; empty for JSON of another form. */
function describeJsonProblem(text: string): string {
  const problem = findJsonProblem(text);
  return problem === undefined
    ? ''
    : `, and at column ${problem.column} ${problem.expected} was expected, ${problem.found} found`;
}

function checkPrompt(text: string | undefined): Prompt | RedirectedError {
  const values = new Set((text ?? '').split(' ').filter((value) => value !== ''));
  for (const value of values) {
    if (!(PROMPTS as readonly string[]).includes(value))
      return refuseByRedirect('prompt unknown', { text: text ?? '' });
  }
  if (values.has('none') && values.size > 1) return refuseByRedirect('prompt none with another');
  return {
    none: values.has('none'),
    login: values.has('login'),
    consent: values.has('consent'),
    select: values.has('select_account'),
  };
}

/**
 * The classes of which one satisfies the request; undefined where any will do, and empty where what is essential is not offered. Values
 * of `acr_values` that are not offered are ignored (§3.1.2.1), unlike those of an essential claim (§5.5.1.1).
 */
function requestedAcrs(
  acr: ClaimsParameter['acr'] | undefined,
  acrValues: string | undefined,
): readonly string[] | undefined {
  if (acr?.essential && acr.values !== null) return ACR_VALUES.filter((value) => acr.values?.includes(value));
  const values = (acrValues ?? '').split(' ');
  const known = ACR_VALUES.filter((value) => values.includes(value));
  return known.length === 0 ? undefined : known;
}

/** A hint only fills in a field: one that could not be typed there is ignored. */
const usableHint = (hint: string | undefined): string | null =>
  hint === undefined || hint.length > LONGEST_HINT || /\p{Cc}/u.test(hint) ? null : hint;
