import { isRegisteredUri, redirectUriProblem } from '../../clients/rules/redirect-uri.ts';
import { parseResources } from '../../clients/rules/resources.ts';
import type { RepeatableParameters } from '../../http/parameters.ts';
import { claimScopes, type RequestedClaims } from '../../scopes/claims.ts';
import { parseScope, SCOPES } from '../../scopes/scopes.ts';
import { checkAuthentication, type Prompt } from './authentication-request.ts';
import {
  CHALLENGE,
  LONGEST_NONCE,
  LONGEST_STATE,
  PARAMETER_NAMES,
  RESPONSE_MODES,
  type ResponseMode,
  SINGLE_NAMES,
} from './parameters.ts';

/** What the rules need to know of a client. */
export interface RegisteredClient {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[] | null;
  readonly grantTypes: readonly string[];
  readonly type: 'confidential' | 'public';
  readonly requirePkce: boolean;
  /** In seconds. */
  readonly defaultMaxAge: number | null;
  readonly status: 'active' | 'disabled';
  readonly generation: string;
}

/** An error that must be shown here: there is no address that it could safely be sent to. */
export interface DisplayedError {
  readonly kind: 'display';
  readonly problem: 'client' | 'redirect_uri';
  /** For the developer: what came and what to do. */
  readonly description: string;
}

/** Where answers of one request go: a client's own registered address. Only {@link checkTarget} makes one. */
export interface RedirectTarget {
  readonly kind: 'target';
  readonly redirectUri: string;
  readonly responseMode: ResponseMode;
  readonly state: string | null;
  readonly [checked]: true;
}
declare const checked: unique symbol;

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

const display = (problem: DisplayedError['problem'], description: string): DisplayedError => ({
  kind: 'display',
  problem,
  description,
});

/** The client_id of a request, or why there is none that could be looked up. */
export function requestedClient(parameters: RepeatableParameters): string | DisplayedError {
  if (parameters.repeated.has('client_id')) return display('client', 'client_id stands in the address more than once.');
  return parameters.get('client_id') ?? display('client', 'client_id is missing from the address.');
}

/**
 * RFC 6749 §4.1.2.1: before anything else, whom the answer goes to. Where that is in doubt there is no redirect.
 * @param client undefined where the client_id is not on record
 */
export function checkTarget(
  parameters: RepeatableParameters,
  client: RegisteredClient | undefined,
): RedirectTarget | DisplayedError {
  if (client === undefined || client.status !== 'active') {
    return display('client', 'client_id is not one of a registered, active client. Check it against the registration.');
  }
  if (parameters.repeated.has('redirect_uri')) {
    return display('redirect_uri', 'redirect_uri stands in the address more than once.');
  }
  const redirectUri = parameters.get('redirect_uri');
  if (redirectUri === undefined) return display('redirect_uri', 'redirect_uri is missing from the address.');
  if (!isRegisteredUri(redirectUri, client.redirectUris, client.type)) {
    return display(
      'redirect_uri',
      `redirect_uri is not registered for ${client.name}. It must equal a registered one character for character: ` +
        'scheme, host, port, path, letter case and a slash at the end included.',
    );
  }
  // The registration was checked when it was made; this is for one that reached the database another way.
  if (redirectUriProblem(redirectUri, client.type) !== undefined) {
    return display('redirect_uri', 'redirect_uri is registered, but not one that may be used. Register another.');
  }
  const clear = (name: string) => !parameters.repeated.has(name) && !parameters.malformed.has(name);
  const state = clear('state') ? (parameters.get('state') ?? null) : null;
  const byForm = clear('response_mode') && parameters.get('response_mode') === 'form_post';
  const responseMode = byForm && formPostProblem(redirectUri, state) === undefined ? 'form_post' : 'query';
  return { kind: 'target', redirectUri, responseMode, state } as RedirectTarget;
}

/** Why an answer cannot be sent by a form, as it can in an address. */
function formPostProblem(redirectUri: string, state: string | null): string | undefined {
  if (!/^https?:/i.test(redirectUri)) return 'response_mode=form_post needs an https redirect_uri';
  // HTML rewrites line ends and NUL in a field, and a state comes back unchanged or not at all.
  if (/[\0\r\n]/.test(state ?? '')) return 'with response_mode=form_post state must have no line ends and no NUL';
  return undefined;
}

/**
 * OpenID Connect Core 1.0 §3.1.2.1: a POST carries its parameters in the body. One that stands in the address besides could be
 * meant to be seen by some and not by others, so nothing is redirected.
 */
export function misplaced(query: RepeatableParameters): DisplayedError | undefined {
  const name = PARAMETER_NAMES.find((known) => query.has(known));
  const problem = name === 'redirect_uri' ? 'redirect_uri' : 'client';
  return name === undefined
    ? undefined
    : display(problem, `${name} stands in the address of a POST: send it in the body.`);
}

const refuse = (error: AuthorizationErrorCode, description: string): RedirectedError => ({
  kind: 'redirect',
  error,
  description,
});

/** The rest of a request, whose errors go to its target: contract §4.1 and §7, decisions §§2–3. */
export function checkRequest(
  parameters: RepeatableParameters,
  client: RegisteredClient,
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

  if (target.state !== null && target.state.length > LONGEST_STATE) {
    return refuse('invalid_request', `state must be at most ${LONGEST_STATE} characters`);
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

function checkChallenge(parameters: RepeatableParameters, client: RegisteredClient): string | null | RedirectedError {
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
