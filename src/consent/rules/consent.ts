import { formatScopes, isOptional, OPTIONAL_SCOPES, type OptionalScope } from '../../claims/permissions.ts';

/** What a person decided about a client before, as far as it is still valid. */
export interface RememberedConsent {
  readonly scopes: ReadonlySet<string>;
  readonly declined: ReadonlySet<string>;
  /** The resources that tokens may be for (RFC 8707). */
  readonly resources?: ReadonlySet<string>;
}

/**
 * The optional scopes to ask about, or undefined where no page is needed: the person has decided about every one before.
 * @param remembered null where the person has no live grant for the client, or gave it for an earlier consent epoch
 * @param always show the page with every optional scope requested, whatever was decided before
 */
export function scopesToAsk(
  requested: readonly string[],
  remembered: RememberedConsent | null,
  always: boolean,
): readonly OptionalScope[] | undefined {
  const optional = OPTIONAL_SCOPES.filter((scope) => requested.includes(scope));
  if (remembered === null || always) return optional;
  const open = optional.filter((scope) => !remembered.scopes.has(scope) && !remembered.declined.has(scope));
  return open.length === 0 ? undefined : open;
}

/**
 * The scopes of a grant after a person has allowed the client.
 * @param asked the scopes that the page showed
 * @param allowed those of them that were left on
 */
export function decidedScopes(
  requested: readonly string[],
  asked: readonly OptionalScope[],
  allowed: ReadonlySet<string>,
  remembered: RememberedConsent | null,
): { readonly scopes: string; readonly declined: string } {
  const scopes = new Set(remembered?.scopes);
  const declined = new Set(remembered?.declined);
  for (const scope of requested) if (!isOptional(scope)) scopes.add(scope);
  for (const scope of asked) {
    const [to, from] = allowed.has(scope) ? [scopes, declined] : [declined, scopes];
    to.add(scope);
    from.delete(scope);
  }
  scopes.add('openid');
  return { scopes: formatScopes(scopes), declined: formatScopes(declined) };
}

/** The optional scopes that a decision took away. */
export const scopesNoLongerGranted = (
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
): readonly OptionalScope[] => OPTIONAL_SCOPES.filter((scope) => before.has(scope) && !after.has(scope));

/** The scopes of a request that were granted; `openid` always. */
export function grantedScopes(requested: readonly string[], granted: ReadonlySet<string>): string {
  return formatScopes(['openid', ...requested.filter((scope) => !isOptional(scope) || granted.has(scope))]);
}
