import type { EndpointRules } from '../../../claims/endpoint-set.ts';
import {
  coveredClaims,
  formatScopes,
  hasApiScopes,
  IDENTITY_SCOPES,
  isApiScopeId,
  isRegisteredScope,
  type RequestedClaims,
  storedScopes,
} from '../../../claims/permissions.ts';
import { type ApiScope, sentScope } from '../../../claims/rules/api-scopes.ts';
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

/** What the client is registered for now. */
interface RegisteredScopes {
  /** The scopes about the person; null is those of the identity. */
  readonly scopes: readonly string[] | null;
  readonly ofApis: readonly ApiScope[];
}

/**
 * RFC 6749 §6: the scopes that are still granted, or fewer if fewer are requested; never one that the client is no longer
 * registered for, nor one of an API that the token is not for (RFC 8707 §2.2). A request without `scope` asks for all that the
 * authorization granted.
 * @param requested the `scope` parameter, if there was one
 * @param resources that the token is for; null where the authorization named none
 * @returns undefined where a requested scope is not available
 */
export function refreshedScope(
  { scopes, grantedScopes }: FamilyScopes,
  registered: RegisteredScopes,
  requested: readonly string[] | undefined,
  resources: readonly string[] | null,
  { alwaysOpenId }: Pick<EndpointRules, 'alwaysOpenId'>,
): RefreshedScope | undefined {
  const granted = [...storedScopes(scopes)];
  const ofPerson = granted.filter((scope) => !isApiScopeId(scope) && isRegisteredScope(scope, registered.scopes));
  const stored = formatScopes([...ofPerson, ...granted.filter(isApiScopeId)]);
  const available = hasApiScopes(stored) ? sentScope(stored, registered.ofApis, resources) : stored;
  if (requested === undefined) return { scope: available, differs: available !== grantedScopes };
  const names = storedScopes(available);
  const isAvailable = (scope: string) => names.has(scope) || (alwaysOpenId && scope === 'openid');
  if (!requested.every(isAvailable)) return undefined;
  const wanted = new Set(alwaysOpenId ? ['openid', ...requested] : requested);
  const scope = [...new Set(['openid', ...names])].filter((name) => wanted.has(name)).join(' ');
  return { scope, differs: wanted.size !== new Set(requested).size };
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
