import { ACR_VALUES } from '../../../authenticators/rules/authentication-context.ts';
import { ENDPOINT_RULES, type EndpointRules } from '../../../claims/endpoint-set.ts';
import { effectiveClaims, parseResources } from '../../../claims/permissions.ts';
import type { RepeatableParameters } from '../../../platform/http/parameters.ts';
import { findJsonProblem } from '../../../platform/validation/json-problem.ts';
import { type ApiScopeContext, checkScopes, NO_API_SCOPES } from './check-scopes.ts';
import { formPostProblem, type RedirectingClient, type RedirectTarget } from './check-target.ts';
import { type ClaimsParameter, parseClaims } from './claims-parameter.ts';
import { CHALLENGE, describeIgnored, LONGEST_NONCE, SINGLE_NAMES } from './parameters.ts';
import {
  type AuthorizationRequest,
  PROMPTS,
  type Prompt,
  RESPONSE_MODES,
  type RedirectedError,
  type ResponseMode,
  redirectedError,
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
    if (parameters.repeated.has(name))
      return redirectedError('invalid_request', `${name} was sent more than once: send it once`);
    if (parameters.malformed.has(name)) {
      return redirectedError('invalid_request', `${name} is not percent-encoded UTF-8`);
    }
  }
  // OpenID Connect Core 1.0 §6: never silently ignored, and no address is ever fetched.
  if (parameters.get('request'))
    return redirectedError('request_not_supported', 'request objects are not supported: send each parameter by itself');
  if (parameters.get('request_uri')) {
    return redirectedError('request_uri_not_supported', 'request_uri is not supported');
  }
  if (parameters.get('registration')) {
    return redirectedError('registration_not_supported', 'registration is not supported');
  }

  // RFC 6749 §4.1.2.1, RFC 7591 §2.1.
  if (!client.grantTypes.includes('authorization_code')) {
    return redirectedError('unauthorized_client', 'the client is not registered for the grant authorization_code');
  }

  if (!client.endpoints.includes(rules.endpointSet)) {
    const [endpointSet = 'v2'] = client.endpoints;
    const { authorizationPath } = ENDPOINT_RULES[endpointSet];
    return redirectedError('unauthorized_client', `the client is registered for ${authorizationPath} only`);
  }

  const responseType = parameters.get('response_type');
  if (responseType === undefined) return invalidRequest('response_type is missing: send response_type=code');
  if (responseType !== 'code') {
    return { ...redirectedError(rules.responseTypeError, describeResponseType(responseType)), reason: CODE_ONLY };
  }
  const responseMode = parameters.get('response_mode');
  if (responseMode !== undefined && !isResponseMode(responseMode)) {
    return invalidRequest(`response_mode must be ${RESPONSE_MODES.join(' or ')}`);
  }
  if (responseMode === 'form_post' && target.responseMode !== 'form_post') {
    return invalidRequest(formPostProblem(target.redirectUri, target.state) ?? 'response_mode is unclear');
  }

  const named = parseResources(parameters.all('resource'));
  const asked = checkScopes(parameters.get('scope'), client.scopes, rules, named ?? [], apis);
  if ('kind' in asked) return asked;

  const nonce = parameters.get('nonce') ?? null;
  if (nonce !== null && nonce.length > LONGEST_NONCE) {
    return invalidRequest(`nonce must be at most ${LONGEST_NONCE} characters`);
  }

  if (named === undefined || parameters.malformed.has('resource')) {
    return redirectedError('invalid_target', 'resource must be an absolute URI without a fragment, five at most');
  }

  const codeChallenge = checkChallenge(parameters, client);
  if (typeof codeChallenge === 'object' && codeChallenge !== null) return codeChallenge;

  const authentication = checkAuthentication(parameters, client, rules);
  if ('kind' in authentication) return authentication;

  const { scopes, resources } = asked;
  const ignored = describeIgnored(asked.leftOut, parameters);
  return {
    kind: 'request',
    request: {
      endpointSet: rules.endpointSet,
      clientId: client.id,
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

const invalidRequest = (description: string): RedirectedError => redirectedError('invalid_request', description);

const CODE_ONLY = 'response_type must be code';

function describeResponseType(text: string): string {
  const isOther = text.split(' ').some((part) => part === 'token' || part === 'id_token');
  return isOther
    ? `${CODE_ONLY}: tokens are not sent in redirects (implicit and hybrid flow), so exchange a code, with PKCE in a browser`
    : CODE_ONLY;
}

const isResponseMode = (text: string): text is ResponseMode => (RESPONSE_MODES as readonly string[]).includes(text);

function checkChallenge(parameters: RepeatableParameters, client: RedirectingClient): string | null | RedirectedError {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined) {
    if (method !== undefined) return invalidRequest('code_challenge is missing');
    const required = client.requirePkce || client.type === 'public';
    return required ? invalidRequest('code_challenge is missing: this client must use PKCE (S256)') : null;
  }
  // RFC 7636 §4.3: without a method it means plain, which protects nothing.
  if (method !== 'S256') {
    const came = describeMethod(method);
    const description = `code_challenge_method must be S256, and ${came}: send BASE64URL(SHA256(code_verifier)) with S256`;
    return { ...invalidRequest(description), reason: 'code_challenge_method must be S256' };
  }
  if (CHALLENGE.test(challenge)) return challenge;
  const reason = 'code_challenge must be 43 base64url characters';
  return { ...invalidRequest(`${reason}: ${describeChallenge(challenge)}`), reason };
}

function describeMethod(method: string | undefined): string {
  if (method === undefined) return 'it is missing, which means plain';
  if (method === 'plain') return 'plain is not supported';
  return /^s-?256$/i.test(method) ? 'it is spelled differently' : 'another value was sent';
}

/** How a challenge of another form is usually made. It repeats nothing of it. */
function describeChallenge(challenge: string): string {
  if (/^[0-9a-f]{64}$/i.test(challenge)) return 'it is hexadecimal, so encode the bytes of the SHA-256 as base64url';
  if (/[+/= ]/.test(challenge)) return 'it is base64, so use - for +, _ for / and no = at the end';
  return 'send BASE64URL(SHA256(code_verifier))';
}

/** Longer than any username or email address. */
const LONGEST_HINT = 320;

type AuthenticationParameters = Pick<AuthorizationRequest, 'prompt' | 'maxAge' | 'subjects' | 'loginHint' | 'claims'>;

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
  if (maxAge !== undefined && !/^\d{1,10}$/.test(maxAge)) {
    return invalidRequest('max_age must be a whole number of seconds, in digits only');
  }

  const text = parameters.get('claims');
  const asked = text === undefined ? undefined : parseClaims(text);
  if (asked !== undefined && 'problem' in asked) {
    const place = describeJsonProblem(text ?? '');
    return { ...invalidRequest(`claims ${asked.problem}${place}`), reason: 'claims is malformed' };
  }
  const acrs = requestedAcrs(asked?.acr, parameters.get('acr_values'));
  if (acrs?.length === 0) {
    return redirectedError(
      'unmet_authentication_requirements',
      `the acr that is asked for as essential is not offered; ask for one of ${ACR_VALUES.join(', ')}`,
    );
  }
  const idToken = new Set(asked?.idToken);
  // §3.1.2.1: acr_values requests acr as a voluntary claim. §5.5.1.1: the acr that was met is returned, whichever was requested.
  if (parameters.get('acr_values') !== undefined || acrs !== undefined) idToken.add('acr');

  return {
    prompt,
    maxAge: maxAge === undefined ? client.defaultMaxAge : Number(maxAge),
    subjects: asked?.subjects ?? null,
    loginHint: usableHint(parameters.get('login_hint')),
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
    if (!(PROMPTS as readonly string[]).includes(value)) {
      return invalidRequest(`prompt must be made of ${PROMPTS.join(', ')}`);
    }
  }
  if (values.has('none') && values.size > 1)
    return invalidRequest('prompt=none goes with no other value: send none alone, or leave it out');
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
