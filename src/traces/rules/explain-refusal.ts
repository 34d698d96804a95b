import { errorCodes } from '../../platform/error-codes.ts';
import type { StepFacts, StepName } from '../step.ts';

/** The clauses that define the errors of a step. */
const RULES: Readonly<Record<StepName, string>> = {
  authorize: 'RFC 6749 §4.1.2.1',
  'sign-in': 'A pending sign-in belongs to the browser that began it, and its form to that page.',
  consent: 'RFC 6749 §4.1.2.1',
  code: 'RFC 6749 §4.1.2.1',
  token: 'RFC 6749 §5.2',
  refresh: 'RFC 6749 §5.2',
  userinfo: 'RFC 6750 §3.1',
  introspection: 'RFC 7662 §2.3',
  revocation: 'RFC 7009 §2.2.1',
  'sign-out': 'OpenID Connect RP-Initiated Logout 1.0 §2',
  'cross-origin': 'Fetch Standard §3.3 (CORS protocol)',
  account: 'A form belongs to the session and the page that showed it.',
  admin: 'RFC 6750 §3.1',
  other: 'RFC 9110 §15.5',
};

/** The clauses that define a parameter, for errors whose description begins with its name. */
const RULES_OF_PARAMETER: Readonly<Record<string, string>> = {
  client_id: 'RFC 6749 §2.2',
  client_secret: 'RFC 6749 §2.3.1',
  client_assertion: 'RFC 7523 §2.2',
  response_type: 'RFC 6749 §3.1.1',
  redirect_uri: 'RFC 6749 §3.1.2.3',
  scope: 'RFC 6749 §3.3',
  state: 'RFC 6749 §4.1.1',
  grant_type: 'RFC 6749 §4.1.3',
  code: 'RFC 6749 §4.1.3',
  refresh_token: 'RFC 6749 §6',
  code_challenge: 'RFC 7636 §4.3',
  code_challenge_method: 'RFC 7636 §4.3',
  code_verifier: 'RFC 7636 §4.5',
  resource: 'RFC 8707 §2',
  token: 'RFC 7009 §2.1',
  response_mode: 'OAuth 2.0 Multiple Response Type Encoding Practices §2.1',
  nonce: 'OpenID Connect Core 1.0 §3.1.2.1',
  prompt: 'OpenID Connect Core 1.0 §3.1.2.1',
  max_age: 'OpenID Connect Core 1.0 §3.1.2.1',
  claims: 'OpenID Connect Core 1.0 §5.5',
  post_logout_redirect_uri: 'OpenID Connect RP-Initiated Logout 1.0 §2',
};

/** The clauses that define a status, whatever the step. */
const RULES_OF_STATUS: Readonly<Record<number, string>> = {
  404: 'RFC 9110 §15.5.5',
  405: 'RFC 9110 §15.5.6',
  409: 'RFC 9110 §15.5.10',
  413: 'RFC 9110 §15.5.14',
  414: 'RFC 9110 §15.5.15',
  415: 'RFC 9110 §15.5.16',
  429: 'RFC 6585 §4',
  431: 'RFC 6585 §5',
  500: 'RFC 9110 §15.6.1',
  503: 'RFC 9110 §15.6.4',
};

interface ErrorFacts {
  readonly rule?: string;
  readonly expected: string;
  readonly remedy: string;
}

const OIDC = 'OpenID Connect Core 1.0 §3.1.2.6';

/** What each error code means by itself, for refusals that do not say more. */
const FACTS: Readonly<Record<string, ErrorFacts>> = {
  ...Object.fromEntries(Object.entries(errorCodes).map(([code, [, , remedy]]) => [code, { expected: '', remedy }])),
  invalid_request: {
    expected: 'a request in the form that the address reads, with each parameter once',
    remedy: 'Correct what the description says.',
  },
  invalid_client: {
    expected: 'the id of an active client and its secret or assertion, sent in one way',
    remedy:
      'Compare client_id and client_secret with the registration: tessera client show CLIENT_ID. A lost secret is replaced with: tessera client rotate-secret CLIENT_ID',
  },
  invalid_grant: {
    expected: 'a code or refresh token that was issued to this client, is in force and was not used before',
    remedy: 'Send the user through authorization again.',
  },
  unauthorized_client: {
    expected: 'a grant that the client is registered for',
    remedy: 'Add the grant to the grantTypes of the client.',
  },
  unsupported_grant_type: {
    expected: 'authorization_code, refresh_token or client_credentials',
    remedy: 'Send one of these as grant_type.',
  },
  unsupported_response_type: {
    rule: 'RFC 6749 §4.1.2.1',
    expected: 'response_type=code',
    remedy: 'Configure the client for the authorization code flow.',
  },
  invalid_scope: {
    expected: 'scopes that exist, that the client is registered for, and that were granted',
    remedy: 'Request fewer scopes, or register the client for them: tessera client update CLIENT_ID --scope …',
  },
  insufficient_scope: {
    rule: 'RFC 6750 §3.1',
    expected: 'an access token with the scope openid',
    remedy: 'Request openid at the authorization endpoint.',
  },
  invalid_target: {
    rule: 'RFC 8707 §2',
    expected: 'a resource that is registered and was granted',
    remedy: 'Request registered resources only; in the token request, only those of the authorization request.',
  },
  invalid_token: {
    expected: 'an access token of this service that is in force',
    remedy: 'Refresh the token; if that fails, send the user through authorization again.',
  },
  access_denied: {
    expected: 'an account in good standing that lets the app have access',
    remedy: 'The user, or an operator, has to decide otherwise. Then send the user through authorization again.',
  },
  login_required: {
    rule: OIDC,
    expected: 'a browser that is signed in, as prompt=none or max_age demands',
    remedy: 'Repeat the request without prompt=none.',
  },
  consent_required: {
    rule: OIDC,
    expected: 'an earlier consent to all requested scopes, as prompt=none demands',
    remedy: 'Repeat the request without prompt=none.',
  },
  request_not_supported: { rule: OIDC, expected: 'no parameter request', remedy: 'Send plain parameters.' },
  request_uri_not_supported: { rule: OIDC, expected: 'no parameter request_uri', remedy: 'Send plain parameters.' },
  registration_not_supported: { rule: OIDC, expected: 'no parameter registration', remedy: 'Register the client.' },
  unmet_authentication_requirements: {
    rule: 'OpenID Connect Core Unmet Authentication Requirements 1.0',
    expected: 'a sign-in of the requested authentication class',
    remedy:
      'Request a class that the service offers (acr_values_supported in the discovery document), as an essential acr claim if users may set up a factor for it.',
  },
  not_found: { expected: 'the ID of a record that exists', remedy: 'Check the ID.' },
  conflict: {
    expected: 'a state that allows the change',
    remedy: 'Read the record again, then choose another value or change the state first.',
  },
  rate_limit_exceeded: {
    expected: 'fewer requests in this time',
    remedy: 'Wait for the seconds in Retry-After. The limits are set by TESSERA_LIMIT_….',
  },
  temporarily_unavailable: {
    expected: 'a database that can be reached, clocks in step and free capacity',
    remedy: 'Run on the server: tessera doctor. The client tries again after the seconds in Retry-After.',
  },
  server_error: {
    rule: 'RFC 6749 §4.1.2.1',
    expected: 'no internal error',
    remedy: 'Look in the log for the line with this reqId: it has the cause.',
  },
};

const UNDESCRIBED =
  'Correct what the response said. Its text is not kept here, because it may repeat what a person or an operator typed.';

const UNKNOWN: ErrorFacts = {
  expected: 'a form that is complete and current',
  remedy: 'Reload the page and try again.',
};

/**
 * Completes what is known of a refusal: what its code does not say of itself, the rule of the step and the general remedy say. The facts
 * of the refusal itself take precedence.
 */
export function explainRefusal(step: StepName, facts: StepFacts): StepFacts {
  const { error, status = 0, description, reason, sent } = facts;
  const parameter = /^[a-z_]+/.exec(description ?? '')?.[0] ?? '';
  const ofParameter = Object.hasOwn(RULES_OF_PARAMETER, parameter) ? RULES_OF_PARAMETER[parameter] : undefined;
  // Such a description says what was expected, and the parameter itself is what came.
  const value = ofParameter && new RegExp(`(?:^| )(${parameter}=(?:"[^"]*"|[^ ;]*))`).exec(sent ?? '')?.[1];
  const known = (error !== undefined && Object.hasOwn(FACTS, error) && FACTS[error]) || UNKNOWN;
  const isUndescribed = error === 'invalid_request' && description === undefined;
  return {
    ...facts,
    rule: facts.rule ?? ofParameter ?? RULES_OF_STATUS[status] ?? known.rule ?? RULES[step],
    expected: facts.expected ?? (ofParameter && description) ?? known.expected,
    received: facts.received ?? value ?? reason ?? description ?? `a request that was answered with ${status}`,
    remedy: facts.remedy ?? (isUndescribed ? UNDESCRIBED : known.remedy),
  };
}
