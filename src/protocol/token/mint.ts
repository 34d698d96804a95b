import type { RequestedClaims } from '../../claims/permissions.ts';
import { pictureUrl } from '../../claims/rules/userinfo.ts';
import type { ClientProof } from '../../clients/authentication/authenticate.ts';
import type { CurrentRefreshToken } from '../../credentials/token-family-store.ts';
import type { IdTokenAlg } from '../../keys/algorithms.ts';
import type { KeySet } from '../../keys/keys.ts';
import { headerSegment, signHs256 } from '../../keys/tokens.ts';
import { numericDate, SECOND } from '../../platform/clock.ts';
import { randomIdentifier, timedIdentifier } from '../../platform/crypto/secrets.ts';
import { ACCESS_LIFETIME, accessClaims, idClaims, refreshClaims, refreshExpiry, type Subject } from './rules/claims.ts';

/** The response of the token endpoint: contract §2.3. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly id_token: string;
  /** RFC 6749 §5.1: only where it differs from what was asked for. */
  readonly scope?: string;
}

/** What every token response has: RFC 6749 §5.1. For the client itself there is nothing more (§4.4.3). */
export type AccessTokenResponse = Pick<TokenResponse, 'access_token' | 'token_type' | 'expires_in'>;

/** A new refresh token before it is signed: what is stored, and enough to sign the same token again. */
export function newRefreshToken(keySet: KeySet, now: number, familyEndsAt: number): CurrentRefreshToken {
  return {
    jti: timedIdentifier(now),
    kid: keySet.current('refresh').kid,
    issuedAt: numericDate(now) * SECOND,
    expiresAt: refreshExpiry(now, familyEndsAt),
  };
}

/** What the tokens of a response say. */
interface TokenOrder {
  readonly subject: Omit<Subject, 'picture'>;
  /** The scopes of the access token. */
  readonly scope: string;
  /** The resources that the access token is for; null is UserInfo. */
  readonly resources?: readonly string[] | null;
  readonly refreshToken: CurrentRefreshToken;
  readonly nonce: string | null;
  /** Whether the scopes are fewer than were requested. */
  readonly narrowed: boolean;
  /** Single claims that were granted beside the scopes. */
  readonly claims: RequestedClaims | null;
  /** The algorithm of the client's ID tokens. */
  readonly alg: IdTokenAlg;
  readonly proof: ClientProof;
}

/**
 * Signs the three tokens of a response.
 * @returns undefined where the key of the refresh token was dropped, and its tokens with it
 */
export async function mint(keySet: KeySet, order: TokenOrder, now: number): Promise<TokenResponse | undefined> {
  const subject: Subject = {
    ...order.subject,
    picture: pictureUrl(order.subject.issuer, order.subject.accountId, order.subject.profile.picture),
  };
  const refreshKey = keySet.byKid('refresh', order.refreshToken.kid);
  if (refreshKey === undefined) return undefined;
  const access = keySet.current('access').sign(accessClaims(subject, order, randomIdentifier(), now));
  const signIdToken = idTokenSigner(keySet, order, now);
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: ACCESS_LIFETIME,
    refresh_token: refreshKey.sign(refreshClaims(subject, order.refreshToken)),
    id_token: await signIdToken(idClaims(subject, { ...order, accessToken: access }, now)),
    ...(order.narrowed ? { scope: order.scope } : {}),
  };
}

/** OpenID Connect Core 1.0 §10.1: without a `kid`, for the client's secret is the only key. */
const ID_TOKEN_HEADER = headerSegment({ alg: 'HS256', typ: 'JWT' });

type SignIdToken = (claims: Readonly<Record<string, unknown>>) => string | Promise<string>;

/** The signer of a client's ID tokens. @throws where there is no key, which registration rules out */
function idTokenSigner(keySet: KeySet, { alg, proof }: Pick<TokenOrder, 'alg' | 'proof'>, now: number): SignIdToken {
  if (alg !== 'HS256') {
    const key = keySet.signer(alg, now);
    if (key === undefined) throw new Error(`no key signs ID tokens with ${alg}`);
    return (claims) => key.sign(claims, 'JWT');
  }
  // JW-08: without the presented secret nothing can sign, and no other key may take its place.
  if (proof.kind !== 'secret') throw new Error('an ID token under HS256 needs the secret of its client');
  // OpenID Connect Core 1.0 §10.1: the key is the octets of the client_secret, so any OIDC library can verify.
  return (claims) => signHs256(proof.secret, ID_TOKEN_HEADER, claims);
}
