import { hash } from 'node:crypto';
import { ENDPOINT_RULES, type EndpointSet } from '../../../claims/endpoint-set.ts';
import { nearestUri } from '../../../clients/rules/unregistered-uri.ts';
import { requirePast } from '../../../platform/clock.ts';
import type { RefusalDetail } from '../../../platform/oauth-error.ts';

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
  | {
      readonly kind: 'refuse';
      readonly reason: string;
      readonly detail?: RefusalDetail;
      readonly foreignClient?: true;
    };

/**
 * @param remedy what to do, for the client too: it authenticated, and the code is its own
 * @param detail for the operator, who may see more
 */
const refuse = (reason: string, remedy: string, detail: RefusalDetail = {}): Redemption => ({
  kind: 'refuse',
  reason,
  detail: { ...detail, remedy },
});

/** RFC 7636 §4.1: 43 to 128 unreserved characters. */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

const NO_CHALLENGE = refuse(
  'code_verifier was sent, but the request had no code_challenge',
  'Send code_challenge and code_challenge_method=S256 in the authorization request, or no code_verifier.',
);
const VERIFIER_FORM =
  'Use letters, digits and the signs - . _ ~ only, and send the same verifier that the challenge was made of.';
const EXPIRED = 'It is valid for 60 seconds: exchange it as soon as the callback is called.';

/** The parts that differ, and not the URIs: those are not this request's own. */
function adviceOnUri({ redirectUri }: IssuedCode, presented: CodePresentation): string {
  const differences = nearestUri(presented.redirectUri.slice(0, MAX_COMPARED), [redirectUri])?.differences ?? [];
  return `They differ in: ${differences.join(', ')}. Send the same one in both requests, character for character.`;
}

const MAX_COMPARED = 2048;

/** Tells usual mistakes from a verifier of another request. */
function adviceOnVerifier(verifier: string, challenge: string): string {
  if (verifier === challenge) {
    return 'Both are equal: send BASE64URL(SHA256(code_verifier)) as code_challenge, and code_verifier itself here.';
  }
  if (hash('sha256', Buffer.from(verifier, 'base64url'), 'base64url') === challenge) {
    return 'The challenge was made of the decoded bytes of the verifier: hash its characters instead.';
  }
  return 'Send the verifier of the same request: a second tab, a reload or another server may have replaced it.';
}

/**
 * RFC 6749 §4.1.3 and RFC 7636 §4.6: what a code means for the client that presents it.
 * @throws {ClockBehind} where it was issued in the future: it would not expire until the clock catches up
 */
export function redemption(code: IssuedCode, presented: CodePresentation, now: number): Redemption {
  if (code.clientId !== presented.clientId) {
    return { kind: 'refuse', reason: 'the code was issued to another client', foreignClient: true };
  }
  if (code.endpointSet !== presented.endpointSet) {
    const { authorizationPath, tokenPath } = ENDPOINT_RULES[code.endpointSet];
    return refuse(`it was issued at ${authorizationPath}`, `Exchange it at ${tokenPath}.`);
  }
  // RFC 6749 §4.1.3: the redirect_uri of the authorization request, repeated exactly.
  if (code.redirectUri !== presented.redirectUri) {
    const detail = { rule: 'RFC 6749 §4.1.3', expected: code.redirectUri, received: presented.redirectUri };
    return refuse(
      'redirect_uri differs from the one in the authorization request',
      adviceOnUri(code, presented),
      detail,
    );
  }
  const { codeVerifier } = presented;
  if (code.codeChallenge === null) {
    if (presented.pkceRequired)
      return refuse('a public client must use PKCE', 'Send code_challenge in the authorization request.');
    // RFC 9700 §4.8.2: a verifier without a challenge is a sign of a downgrade.
    if (codeVerifier !== undefined) return NO_CHALLENGE;
  } else {
    if (codeVerifier === undefined)
      return refuse('code_verifier is missing', 'Send the one that code_challenge was made of.');
    if (!VERIFIER.test(codeVerifier))
      return refuse('code_verifier must be 43 to 128 unreserved characters', VERIFIER_FORM);
    const challenge = hash('sha256', codeVerifier, 'base64url');
    if (challenge !== code.codeChallenge) {
      return refuse(
        'code_verifier does not fit the code_challenge',
        adviceOnVerifier(codeVerifier, code.codeChallenge),
        { rule: 'RFC 7636 §4.6', expected: 'the verifier that code_challenge was made of' },
      );
    }
  }
  if (code.redeemed) return { kind: 'replay' };
  requirePast(code.issuedAt, now);
  if (code.expiresAt <= now) return refuse('the code has expired', EXPIRED);
  return { kind: 'redeem' };
}
