import { formatScopes, isOptional, OPTIONAL_SCOPES, type OptionalScope } from '../../claims/scopes.ts';

/** What a person decided about an app before, as far as it still holds. */
export interface Remembered {
  readonly scopes: ReadonlySet<string>;
  readonly declined: ReadonlySet<string>;
  /** The resources that tokens may be for (RFC 8707). */
  readonly resources?: ReadonlySet<string>;
}

/**
 * The optional scopes to ask about, or undefined where no page is needed: everything asked for was answered before.
 * @param remembered null where the person has no live grant for the app, or gave it on other grounds
 * @param always show the page whatever was answered, with all that is asked for
 */
export function questions(
  requested: readonly string[],
  remembered: Remembered | null,
  always: boolean,
): readonly OptionalScope[] | undefined {
  const optional = OPTIONAL_SCOPES.filter((scope) => requested.includes(scope));
  if (remembered === null || always) return optional;
  const open = optional.filter((scope) => !remembered.scopes.has(scope) && !remembered.declined.has(scope));
  return open.length === 0 ? undefined : open;
}

/**
 * The decision that stands after a person allowed the app.
 * @param asked the scopes that the page showed
 * @param allowed those of them that were left on
 */
export function decide(
  requested: readonly string[],
  asked: readonly OptionalScope[],
  allowed: ReadonlySet<string>,
  remembered: Remembered | null,
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

/** What a request gets out of a grant: what it asked for, as far as it was granted; `openid` always. */
export function grantedPart(requested: readonly string[], granted: ReadonlySet<string>): string {
  return formatScopes(['openid', ...requested.filter((scope) => !isOptional(scope) || granted.has(scope))]);
}
