import { coveredClaims, type RequestedClaims } from '../../../claims/claims.ts';
import { formatScopes, OPTIONAL_SCOPES, storedScopes } from '../../../claims/scopes.ts';

/** The scopes of an access token that a refresh gives. */
export interface RefreshedScope {
  readonly scope: string;
  /** Whether they are others than were asked for, which RFC 6749 §5.1 wants to be told. */
  readonly differs: boolean;
}

/** The scopes of a family, as they are stored. */
interface FamilyScopes {
  readonly scopes: string;
  /** As they were at the authorization, before the person withdrew any. */
  readonly grantedScopes: string;
}

/**
 * RFC 6749 §6: what is still granted, or less where less is asked for; never what the client may no longer ask for. A request
 * without a scope asks for what the authorization granted.
 * @param registered the scopes that the client is registered for now; null is all
 * @param asked the `scope` parameter, if there was one
 * @returns undefined where more is asked for than there is
 */
export function refreshedScope(
  { scopes, grantedScopes }: FamilyScopes,
  registered: readonly string[] | null,
  asked: readonly string[] | undefined,
): RefreshedScope | undefined {
  const may = (scope: string) => scope === 'openid' || registered === null || registered.includes(scope);
  const available = new Set([...storedScopes(scopes)].filter(may));
  if (asked === undefined) {
    const scope = formatScopes(available);
    return { scope, differs: scope !== grantedScopes };
  }
  if (asked.some((scope) => scope !== 'openid' && !available.has(scope))) return undefined;
  const scope = formatScopes(['openid', ...asked]);
  return { scope, differs: scope !== formatScopes(asked) };
}

/**
 * The single claims of the tokens that a refresh gives: those that were granted, never what the client may no longer ask for.
 * An access token that is asked for with a scope of its own gives what that covers, and nothing besides.
 */
export function refreshedClaims(
  granted: RequestedClaims | null,
  registered: readonly string[] | null,
  asked: readonly string[] | undefined,
): RequestedClaims | null {
  const claims = coveredClaims(granted, new Set(registered ?? OPTIONAL_SCOPES));
  return claims !== null && asked !== undefined ? { ...claims, userinfo: [] } : claims;
}
