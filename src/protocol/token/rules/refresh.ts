import type { EndpointRules } from '../../../claims/endpoint-set.ts';
import {
  coveredClaims,
  formatScopes,
  IDENTITY_SCOPES,
  isRegisteredScope,
  type RequestedClaims,
  storedScopes,
} from '../../../claims/permissions.ts';
import { requirePast, SECOND } from '../../../platform/clock.ts';

/** How long after a rotation the predecessor still gets the same successor. */
export const GRACE = 30 * SECOND;

/** The last two refresh tokens of a family. */
export interface RefreshTokenChain {
  readonly currentJti: string;
  readonly predecessorJti: string | null;
  readonly rotatedAt: number | null;
}

/** What a presented refresh token means for its family. */
export type Rotation =
  /** The current token: it is exchanged for its successor. */
  | 'rotate'
  /** The direct predecessor in the grace period, its successor unused: a retry gets that successor again. */
  | 'repeat'
  /** A retired token: it was copied. The family is revoked. */
  | 'reuse';

/**
 * RFC 9700 §4.14.2. Use of the successor makes another token the predecessor, so it ends the grace period.
 * @param jti of the presented token, which belongs to this family and has not expired
 * @throws {ClockBehind} where the rotation is in the future: the grace period would last until the clock catches up
 */
export function rotation(chain: RefreshTokenChain, jti: string, now: number): Rotation {
  if (jti === chain.currentJti) return 'rotate';
  if (chain.rotatedAt !== null) requirePast(chain.rotatedAt, now);
  const inGrace = chain.rotatedAt !== null && now < chain.rotatedAt + GRACE;
  return jti === chain.predecessorJti && inGrace ? 'repeat' : 'reuse';
}

/** The scopes of the access token from a refresh. */
export interface RefreshedScope {
  readonly scope: string;
  /** Whether they differ from the requested ones, so that the response must name them (RFC 6749 §5.1). */
  readonly differs: boolean;
}

/** The stored scopes of a family. */
interface FamilyScopes {
  readonly scopes: string;
  /** As they were granted at the authorization, before the user withdrew any. */
  readonly grantedScopes: string;
}

/**
 * RFC 6749 §6: the scopes that are still granted, or fewer if fewer are requested; never one that the client is no longer
 * registered for. A request without `scope` asks for all that the authorization granted.
 * @param registered the scopes that the client is registered for now; null is all
 * @param requested the `scope` parameter, if there was one
 * @returns undefined where a requested scope is not available
 */
export function refreshedScope(
  { scopes, grantedScopes }: FamilyScopes,
  registered: readonly string[] | null,
  requested: readonly string[] | undefined,
  { alwaysOpenId }: Pick<EndpointRules, 'alwaysOpenId'>,
): RefreshedScope | undefined {
  const available = new Set([...storedScopes(scopes)].filter((scope) => isRegisteredScope(scope, registered)));
  if (requested === undefined) {
    const scope = formatScopes(available);
    return { scope, differs: scope !== grantedScopes };
  }
  const isAvailable = (scope: string) => available.has(scope) || (alwaysOpenId && scope === 'openid');
  if (!requested.every(isAvailable)) return undefined;
  const scope = formatScopes(alwaysOpenId ? ['openid', ...requested] : requested);
  return { scope, differs: scope !== formatScopes(requested) };
}

/**
 * The single claims of the tokens from a refresh: the granted ones, except those of scopes that the client is no longer
 * registered for. With a `scope` parameter, the access token gives the claims of those scopes only.
 */
export function refreshedClaims(
  granted: RequestedClaims | null,
  registered: readonly string[] | null,
  requested: readonly string[] | undefined,
  { claimScopes }: Pick<EndpointRules, 'claimScopes'>,
): RequestedClaims | null {
  const claims = coveredClaims(granted, claimScopes, new Set(registered ?? IDENTITY_SCOPES));
  return claims !== null && requested !== undefined ? { ...claims, userinfo: [] } : claims;
}
