/** How people can prove who they are. */
export const METHODS = ['password', 'mail code', 'totp', 'recovery code', 'passkey', 'upstream'] as const;
export type Method = (typeof METHODS)[number];

/** How a person authenticated, as the claims of an ID token say it (OpenID Connect Core 1.0 §2). */
export interface AuthenticationContext {
  /** The methods that were used, by their names in RFC 8176. */
  readonly amr: readonly string[];
  /** The authentication context class that they meet; null for none. */
  readonly acr: string | null;
}

/** A password over a protected channel, as SAML 2.0 named it. */
export const ACR = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport';
/** Two factors of different kinds: https://refeds.org/profile/mfa. */
export const ACR_MFA = 'https://refeds.org/profile/mfa';
/** A phishing-resistant authenticator: OpenID Connect Extended Authentication Profile ACR Values 1.0 §3. */
export const ACR_PHISHING_RESISTANT = 'phr';

/** The classes that are offered, weakest first. Each is met by those after it, too. */
export const ACR_VALUES: readonly string[] = [ACR, ACR_MFA, ACR_PHISHING_RESISTANT];

/** Whether a sign-in of one class meets another. */
export const meetsAcr = (acr: string | null, required: string): boolean =>
  acr !== null && ACR_VALUES.includes(required) && ACR_VALUES.indexOf(acr) >= ACR_VALUES.indexOf(required);

/** The stronger of two classes; null is weaker than all. */
export const strongerAcr = (one: string | null, other: string | null): string | null =>
  one === null || (other !== null && meetsAcr(other, one)) ? other : one;

/** The weakest of some classes, which meets them where any will do; null where none of them is offered. */
export const weakestAcr = (values: readonly string[]): string | null =>
  ACR_VALUES.find((value) => values.includes(value)) ?? null;

/** The names of RFC 8176 §2 for what each method is. */
const AMR: Readonly<Record<Method, readonly string[]>> = {
  password: ['pwd'],
  'mail code': ['otp'],
  totp: ['otp'],
  // A look-up secret has no name there.
  'recovery code': [],
  // A key in a device, used after the device verified the person: two factors in one act.
  passkey: ['pop', 'user', 'mfa'],
  // What another provider says of the sign-in there follows, marked as its words: see `upstreamAmr`.
  upstream: ['upstream'],
};

const SECOND_FACTORS: readonly Method[] = ['totp', 'recovery code'];

/**
 * The context that these methods make (docs/reference/authentication-context.md). The base URL is HTTPS or loopback, so everything came
 * over a protected channel. A code by mail is never a second factor, nor the first of two.
 */
export function authenticationContext(methods: readonly Method[]): AuthenticationContext {
  const isMfa = methods.includes('password') && methods.some((method) => SECOND_FACTORS.includes(method));
  const amr = new Set([...methods.flatMap((method) => AMR[method]), ...(isMfa ? ['mfa'] : [])]);
  return { amr: [...amr], acr: acrOf(methods, isMfa) };
}

/** How a person authenticated at another provider, marked as that provider's words (decisions §14). */
export const upstreamAmr = (said: readonly string[]): readonly string[] => said.map((name) => `upstream:${name}`);

function acrOf(methods: readonly Method[], isMfa: boolean): string | null {
  if (methods.includes('passkey')) return ACR_PHISHING_RESISTANT;
  if (isMfa) return ACR_MFA;
  return methods.includes('password') ? ACR : null;
}

/** The context of a session after one more method: what was used before still counts. */
export function withMethod({ amr, acr }: AuthenticationContext, method: Method): AuthenticationContext {
  const added = authenticationContext(amr.includes('pwd') ? ['password', method] : [method]);
  return { amr: [...new Set([...amr, ...added.amr])], acr: strongerAcr(acr, added.acr) };
}
