import { hash } from 'node:crypto';
import { requirePast } from '../../../platform/clock.ts';

/** An authorization code as it was issued. */
export interface IssuedCode {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string | null;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly redeemed: boolean;
}

/** How a client presents a code, having authenticated. */
export interface CodePresentation {
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
  | { readonly kind: 'refuse'; readonly reason: string; readonly foreignClient?: true };

const refuse = (reason: string): Redemption => ({ kind: 'refuse', reason });

/** RFC 7636 §4.1: 43 to 128 unreserved characters. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * RFC 6749 §4.1.3 and RFC 7636 §4.6: what a code means for the client that presents it.
 * @throws {ClockBehind} where it was issued in the future: it would not expire until the clock catches up
 */
export function redemption(code: IssuedCode, presented: CodePresentation, now: number): Redemption {
  if (code.clientId !== presented.clientId) {
    return { kind: 'refuse', reason: 'the code was issued to another client', foreignClient: true };
  }
  // RFC 6749 §4.1.3: the redirect_uri of the authorization request, repeated exactly.
  if (code.redirectUri !== presented.redirectUri) {
    return refuse('redirect_uri differs from the one in the authorization request');
  }
  const { codeVerifier } = presented;
  if (code.codeChallenge === null) {
    if (presented.pkceRequired) return refuse('a public client must use PKCE');
    // RFC 9700 §4.8.2: a verifier without a challenge is a sign of a downgrade.
    if (codeVerifier !== undefined) return refuse('code_verifier was sent, but the request had no code_challenge');
  } else {
    if (codeVerifier === undefined) return refuse('code_verifier is missing');
    if (!VERIFIER.test(codeVerifier)) return refuse('code_verifier must be 43 to 128 unreserved characters');
    const challenge = hash('sha256', codeVerifier, 'base64url');
    if (challenge !== code.codeChallenge) return refuse('code_verifier does not fit the code_challenge');
  }
  if (code.redeemed) return { kind: 'replay' };
  requirePast(code.issuedAt, now);
  if (code.expiresAt <= now) return refuse('the code has expired');
  return { kind: 'redeem' };
}
