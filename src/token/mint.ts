import { createSigner } from 'fast-jwt';
import { numericDate, SECOND } from '../clock.ts';
import type { KeyRing } from '../keys/ring.ts';
import { randomIdentifier } from '../secrets.ts';
import { pictureUrl } from '../userinfo/rules/avatar.ts';
import type { Leaf } from '../verdict/store.ts';
import { ACCESS_LIFETIME, accessClaims, idClaims, refreshClaims, refreshExpiry, type Subject } from './rules/claims.ts';

/** The answer of the token endpoint: contract §2.3. */
export interface TokenResponse {
  readonly access_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly refresh_token: string;
  readonly id_token: string;
  /** RFC 6749 §5.1: only where it differs from what was asked for. */
  readonly scope?: string;
}

/** What a refresh token will be, before it is signed: enough to write it now and again. */
export function newLeaf(ring: KeyRing, now: number, familyEndsAt: number): Leaf {
  return {
    jti: randomIdentifier(),
    kid: ring.current('refresh').kid,
    issuedAt: numericDate(now) * SECOND,
    expiresAt: refreshExpiry(now, familyEndsAt),
  };
}

interface Order {
  readonly subject: Omit<Subject, 'picture'>;
  /** The scopes of the access token. */
  readonly scope: string;
  readonly leaf: Leaf;
  readonly nonce: string | null;
  /** Whether the scopes are fewer than were asked for. */
  readonly narrowed: boolean;
  /** The client's secret as it was presented. */
  readonly clientSecret: string;
}

/**
 * Signs the three tokens of an answer.
 * @returns undefined where the key of the refresh token is gone: it was dropped, and its tokens with it
 */
export function mint(ring: KeyRing, order: Order, now: number): TokenResponse | undefined {
  const subject: Subject = {
    ...order.subject,
    picture: pictureUrl(order.subject.issuer, order.subject.accountId),
  };
  const refreshKey = ring.byKid('refresh', order.leaf.kid);
  if (refreshKey === undefined) return undefined;
  const access = ring.current('access').sign(accessClaims(subject, order.scope, randomIdentifier(), now));
  // OpenID Connect Core 1.0 §10.1: the key is the octets of the client_secret, so any OIDC library can verify.
  const signIdToken = createSigner({
    key: order.clientSecret,
    algorithm: 'HS256',
    header: { alg: 'HS256', typ: 'JWT' },
  });
  return {
    access_token: access,
    token_type: 'Bearer',
    expires_in: ACCESS_LIFETIME,
    refresh_token: refreshKey.sign(refreshClaims(subject, order.leaf)),
    id_token: signIdToken(idClaims(subject, access, order.nonce, now)),
    ...(order.narrowed ? { scope: order.scope } : {}),
  };
}
