/** How a person authenticated, as the claims of an ID token say it (OpenID Connect Core 1.0 §2). */
export interface AuthenticationContext {
  /** The methods that were used, by their names in RFC 8176. */
  readonly amr: readonly string[];
  /** The authentication context class that they meet; null for none. */
  readonly acr: string | null;
}

/** A password over a protected channel, as SAML 2.0 named it. The one class that is offered. */
export const ACR = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport';

/** The context that these methods make: the base URL is HTTPS or loopback, so every password came over a protected channel. */
export const authenticationContext = (amr: readonly string[]): AuthenticationContext => ({
  amr,
  acr: amr.includes('pwd') ? ACR : null,
});
