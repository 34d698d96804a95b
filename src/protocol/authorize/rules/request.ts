import { claimScopes, type RequestedClaims } from '../../../claims/claims.ts';
import { parseScope, SCOPES } from '../../../claims/scopes.ts';
import { parseResources } from '../../../clients/rules/resources.ts';
import type { RepeatableParameters } from '../../../platform/http/parameters.ts';
import { checkAuthentication, type Prompt } from './authentication-request.ts';
import {
  CHALLENGE,
  LONGEST_NONCE,
  PARAMETER_NAMES,
  RESPONSE_MODES,
  type ResponseMode,
  SINGLE_NAMES,
} from './parameters.ts';
import {
  type DisplayedError,
  displayedError,
  formPostProblem,
  type RedirectingClient,
  type RedirectTarget,
} from './target.ts';

/**
 * The errors that this endpoint sends: those of RFC 6749 §4.1.2.1, of OpenID Connect Core 1.0 §3.1.2.6, and the one of OpenID
 * Connect Core Unmet Authentication Requirements 1.0.
 */
export const AUTHORIZATION_ERRORS = [
  'invalid_request',
  'unauthorized_client',
  'access_denied',
  'invalid_scope',
  'invalid_target',
  'server_error',
  'temporarily_unavailable',
  'login_required',
  'consent_required',
  'unmet_authentication_requirements',
  'request_not_supported',
  'request_uri_not_supported',
  'registration_not_supported',
] as const;
export type AuthorizationErrorCode = (typeof AUTHORIZATION_ERRORS)[number];

/** An error for the client, sent to its own address. */
export interface RedirectedError {
  readonly kind: 'redirect';
  readonly error: AuthorizationErrorCode;
  readonly description: string;
  /** In few words for the log and the metrics, where the description is not the same each time. */
  readonly reason?: string;
}

/** A request that may go on, as it is kept until it is answered. */
export interface AuthorizationRequest {
  readonly clientId: string;
  /** The client's generation when it asked: a client that was disabled since must ask again. */
  readonly clientGeneration: string;
  readonly redirectUri: string;
  readonly responseMode: ResponseMode;
  readonly state: string | null;
  readonly scopes: readonly string[];
  readonly nonce: string | null;
  readonly codeChallenge: string | null;
  readonly prompt: Prompt;
  /** The seconds since the last sign-in after which the person must sign in again; null is no limit. */
  readonly maxAge: number | null;
  /** The only people for whom there may be an answer; null is anybody. */
  readonly subjects: readonly string[] | null;
  /** Whom a verified ID token names, for the sign-in page. */
  readonly hinted: string | null;
  /** What the client would type into the sign-in page. */
  readonly loginHint: string | null;
  /** Single claims that were asked for beside the scopes. */
  readonly claims: RequestedClaims | null;
  /** The resources that tokens are asked for (RFC 8707 §2.1); absent where none is named. */
  readonly resources?: readonly string[];
}

/** Every scope that a person is asked about: those of `scope`, and those that cover what `claims` asks for. */
export const consentScopes = ({
  scopes,
  claims,
}: Pick<AuthorizationRequest, 'scopes' | 'claims'>): readonly string[] =>
  claims === null ? scopes : [...new Set([...scopes, ...claimScopes(claims)])];

/**
 * OpenID Connect Core 1.0 §3.1.2.1: a POST carries its parameters in the body. One that stands in the address besides could be
 * meant to be seen by some and not by others, so nothing is redirected.
 */
export function misplaced(query: RepeatableParameters): DisplayedError | undefined {
  const name = PARAMETER_NAMES.find((known) => query.has(known));
  const problem = name === 'redirect_uri' ? 'redirect_uri' : 'client';
  return name === undefined
    ? undefined
    : displayedError(problem, 'address of a POST', `${name} stands in the address of a POST.`, 'Send it in the body.');
}

const refuse = (error: AuthorizationErrorCode, description: string): RedirectedError => ({
  kind: 'redirect',
  error,
  description,
});

/** The rest of a request, whose errors go to its target: contract §4.1 and §7, decisions §§2–3. */
export function checkRequest(
  parameters: RepeatableParameters,
  client: RedirectingClient,
  target: RedirectTarget,
): { readonly kind: 'request'; readonly request: AuthorizationRequest } | RedirectedError {
  for (const name of SINGLE_NAMES) {
    if (parameters.repeated.has(name)) return refuse('invalid_request', `${name} was sent more than once`);
    if (parameters.malformed.has(name)) return refuse('invalid_request', `${name} is not percent-encoded UTF-8`);
  }
  // OpenID Connect Core 1.0 §6: never silently ignored, and no address is ever fetched.
  if (parameters.get('request')) return refuse('request_not_supported', 'request objects are not supported');
  if (parameters.get('request_uri')) return refuse('request_uri_not_supported', 'request_uri is not supported');
  if (parameters.get('registration')) return refuse('registration_not_supported', 'registration is not supported');

  // RFC 6749 §4.1.2.1, RFC 7591 §2.1.
  if (!client.grantTypes.includes('authorization_code')) {
    return refuse('unauthorized_client', 'the client is not registered for the grant authorization_code');
  }

  const responseType = parameters.get('response_type');
  if (responseType === undefined) return refuse('invalid_request', 'response_type is missing: send response_type=code');
  if (responseType !== 'code') return refuse('invalid_request', 'response_type must be code');
  const responseMode = parameters.get('response_mode');
  if (responseMode !== undefined && !isResponseMode(responseMode)) {
    return refuse('invalid_request', `response_mode must be ${RESPONSE_MODES.join(' or ')}`);
  }
  if (responseMode === 'form_post' && target.responseMode !== 'form_post') {
    return refuse('invalid_request', formPostProblem(target.redirectUri, target.state) ?? 'response_mode is unclear');
  }

  const scopes = checkScopes(parameters.get('scope'), client.scopes);
  if ('kind' in scopes) return scopes;

  const nonce = parameters.get('nonce') ?? null;
  if (nonce !== null && nonce.length > LONGEST_NONCE) {
    return refuse('invalid_request', `nonce must be at most ${LONGEST_NONCE} characters`);
  }

  const resources = parseResources(parameters.all('resource'));
  if (resources === undefined || parameters.malformed.has('resource')) {
    return refuse('invalid_target', 'resource must be an absolute URI without a fragment, five at most');
  }

  const codeChallenge = checkChallenge(parameters, client);
  if (typeof codeChallenge === 'object' && codeChallenge !== null) return codeChallenge;

  const authentication = checkAuthentication(parameters, client);
  if ('kind' in authentication) return authentication;

  return {
    kind: 'request',
    request: {
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
    },
  };
}

const isResponseMode = (text: string): text is ResponseMode => (RESPONSE_MODES as readonly string[]).includes(text);

function checkScopes(text: string | undefined, allowed: readonly string[] | null): readonly string[] | RedirectedError {
  const scopes = text === undefined ? ['openid'] : parseScope(text);
  if (scopes === undefined) return refuse('invalid_scope', 'scope is malformed: separate the scopes by single spaces');
  for (const scope of scopes) {
    if (!SCOPES.includes(scope)) return refuse('invalid_scope', `unknown scope; the scopes are ${SCOPES.join(' ')}`);
    // openid is part of every grant, whatever the registration lists.
    if (allowed !== null && scope !== 'openid' && !allowed.includes(scope)) {
      return refuse('invalid_scope', `the client is not registered for the scope ${scope}`);
    }
  }
  return scopes;
}

function checkChallenge(parameters: RepeatableParameters, client: RedirectingClient): string | null | RedirectedError {
  const challenge = parameters.get('code_challenge');
  const method = parameters.get('code_challenge_method');
  if (challenge === undefined) {
    if (method !== undefined) return refuse('invalid_request', 'code_challenge is missing');
    const required = client.requirePkce || client.type === 'public';
    return required ? refuse('invalid_request', 'code_challenge is missing: this client must use PKCE (S256)') : null;
  }
  // RFC 7636 §4.3: without a method it means plain, which protects nothing.
  if (method !== 'S256') return refuse('invalid_request', 'code_challenge_method must be S256');
  return CHALLENGE.test(challenge)
    ? challenge
    : refuse('invalid_request', 'code_challenge must be 43 base64url characters');
}
