import type { StepFacts, StepName } from '../step.ts';

/** The clauses that define the errors of a step. */
const RULES: Readonly<Record<StepName, string>> = {
  authorize: 'RFC 6749 §4.1.2.1',
  'sign-in': 'A pending sign-in belongs to the browser that began it, and its form to that page.',
  consent: 'RFC 6749 §4.1.2.1',
  code: 'RFC 6749 §4.1.2.1',
  device: 'RFC 8628 §3.2',
  token: 'RFC 6749 §5.2',
  refresh: 'RFC 6749 §5.2',
  userinfo: 'RFC 6750 §3.1',
  introspection: 'RFC 7662 §2.3',
  revocation: 'RFC 7009 §2.2.1',
  'sign-out': 'OpenID Connect RP-Initiated Logout 1.0 §2',
  registration: 'RFC 7591 §3.2.2',
  'cross-origin': 'Fetch Standard §3.3 (CORS protocol)',
  account: 'A form belongs to the session and the page that showed it.',
  admin: 'RFC 9110 §15.5',
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
  412: 'RFC 9110 §13.1.1',
  413: 'RFC 9110 §15.5.14',
  414: 'RFC 9110 §15.5.15',
  415: 'RFC 9110 §15.5.16',
  429: 'RFC 6585 §4',
  431: 'RFC 6585 §5',
  500: 'RFC 9110 §15.6.1',
  503: 'RFC 9110 §15.6.4',
};

/**
 * Completes what is known of a refusal: the clause that defines the parameter, the status or the errors of the step, and the value of the
 * parameter that the description begins with. What was expected and what to do is said by the refusal itself or not at all: a remedy by
 * error code would be about another cause.
 */
export function explainRefusal(step: StepName, facts: StepFacts): StepFacts {
  const { status = 0, description, sent } = facts;
  const parameter = /^[a-z_]+/.exec(description ?? '')?.[0] ?? '';
  const ofParameter = Object.hasOwn(RULES_OF_PARAMETER, parameter) ? RULES_OF_PARAMETER[parameter] : undefined;
  const value = ofParameter && new RegExp(`(?:^| )(${parameter}=(?:"[^"]*"|[^ ;]*))`).exec(sent ?? '')?.[1];
  return {
    ...facts,
    rule: facts.rule ?? ofParameter ?? RULES_OF_STATUS[status] ?? RULES[step],
    received: facts.received ?? value,
  };
}
