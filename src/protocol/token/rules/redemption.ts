import { hash } from 'node:crypto';
import type { EndpointSet } from '../../../claims/endpoint-set.ts';
import { requirePast } from '../../../platform/clock.ts';

/** An authorization code as it was issued. */
export interface IssuedCode {
  readonly endpointSet: EndpointSet;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string | null;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly redeemed: boolean;
}

/** How a client presents a code, having authenticated. */
export interface CodePresentation {
  /** Of the token endpoint. */
  readonly endpointSet: EndpointSet;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeVerifier: string | undefined;
  /** For a public client, only the verifier proves that it requested the code (RFC 8252 §6). */
  readonly pkceRequired?: boolean;
}

export type Redemption =
  | { readonly kind: 'redeem' }
  /** A second use with all that the first needed: the code leaked, or the client is faulty. Its tokens are revoked. */
  | { readonly kind: 'replay' }
  /** Any other invalid use, which changes nothing. */
  | { readonly kind: 'refuse'; readonly refusal: CodeRefusal };

/** The rows of refusals.ts. */
type CodeRefusal =
  | 'code of another client'
  | 'code of the other endpoints'
  | 'redirect_uri differs'
  | 'public client without PKCE'
  | 'unexpected verifier'
  | 'verifier missing'
  | 'malformed verifier'
  | 'wrong verifier'
  | 'expired code';

const refuse = (refusal: CodeRefusal): Redemption => ({ kind: 'refuse', refusal });

/** RFC 7636 §4.1: 43 to 128 unreserved characters. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * RFC 6749 §4.1.3 and RFC 7636 §4.6: what a code means for the client that presents it.
 * @throws {ClockBehind} where it was issued in the future: it would not expire until the clock catches up
 */
export function redemption(code: IssuedCode, presented: CodePresentation, now: number): Redemption {
  if (code.clientId !== presented.clientId) return refuse('code of another client');
  if (code.endpointSet !== presented.endpointSet) return refuse('code of the other endpoints');
  // RFC 6749 §4.1.3: the redirect_uri of the authorization request, repeated exactly.
  if (code.redirectUri !== presented.redirectUri) return refuse('redirect_uri differs');
  const { codeVerifier } = presented;
  if (code.codeChallenge === null) {
    if (presented.pkceRequired) return refuse('public client without PKCE');
    // RFC 9700 §4.8.2: a verifier without a challenge is a sign of a downgrade.
    if (codeVerifier !== undefined) return refuse('unexpected verifier');
  } else {
    if (codeVerifier === undefined) return refuse('verifier missing');
    if (!VERIFIER.test(codeVerifier)) return refuse('malformed verifier');
    const challenge = hash('sha256', codeVerifier, 'base64url');
    if (challenge !== code.codeChallenge) return refuse('wrong verifier');
  }
  if (code.redeemed) return { kind: 'replay' };
  requirePast(code.issuedAt, now);
  if (code.expiresAt <= now) return refuse('expired code');
  return { kind: 'redeem' };
}
