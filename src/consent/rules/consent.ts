import type { EndpointRules, EndpointSet } from '../../claims/endpoint-set.ts';
import {
  formatScopes,
  isApiScopeId,
  MEMBER_SCOPES,
  type OptionalScope,
  type SwitchedScope,
} from '../../claims/permissions.ts';

type ScopeRules = Pick<EndpointRules, 'optionalScopes' | 'alwaysOpenId'>;

/** What a person decided about a client before, as far as it is still valid. */
export interface RememberedConsent {
  readonly scopes: ReadonlySet<string>;
  readonly declined: ReadonlySet<string>;
  /** The resources that tokens may be for (RFC 8707). */
  readonly resources?: ReadonlySet<string>;
  /** Whether the page is shown whatever was decided before. */
  readonly askAgain?: boolean;
  readonly decidedBy?: 'person' | 'operator';
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
  rules: ScopeRules,
): readonly SwitchedScope[] | undefined {
  const optional = switchesAmong(requested, rules);
  if (remembered === null || remembered.askAgain === true || always) return optional;
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
  asked: readonly SwitchedScope[],
  allowed: ReadonlySet<string>,
  remembered: RememberedConsent | null,
  rules: ScopeRules,
): { readonly scopes: string; readonly declined: string } {
  const scopes = new Set(remembered?.scopes);
  const declined = new Set(remembered?.declined);
  for (const scope of requested) {
    if (isOptionalHere(scope, rules)) continue;
    scopes.add(scope);
    declined.delete(scope);
  }
  for (const scope of asked) {
    const [to, from] = allowed.has(scope) ? [scopes, declined] : [declined, scopes];
    to.add(scope);
    from.delete(scope);
  }
  if (rules.alwaysOpenId) scopes.add('openid');
  return { scopes: formatScopes(scopes), declined: formatScopes(declined) };
}

/** What a decision at one set of endpoints changes in the live grant of another. */
export interface OtherEndpointsChange {
  readonly scopes: string;
  readonly declined: string;
  readonly askAgain: boolean;
}

/**
 * The grant of the other endpoints after a decision about the same client: what was switched off is switched off there too, and nothing is
 * switched on. So a client gains nothing by asking at the other endpoints.
 * @param declined every scope that is declined at the set of endpoints of the decision now
 * @returns undefined where it stays as it is
 */
export function otherEndpointsChange(
  held: RememberedConsent,
  switchedOff: ReadonlySet<string>,
  declined: ReadonlySet<string>,
  { optionalScopes, alwaysShared }: Pick<EndpointRules, 'optionalScopes' | 'alwaysShared'>,
): OtherEndpointsChange | undefined {
  const off = new Set<string>(optionalScopes.filter((scope) => switchedOff.has(scope)));
  const isShared = (scopes: ReadonlySet<string>) => alwaysShared.some((scope) => scopes.has(scope));
  // Until the person decides there, or allows it at the set of endpoints where it was declined.
  const askAgain = isShared(switchedOff) || (held.askAgain === true && isShared(declined));
  if (off.isSubsetOf(held.declined) && off.isDisjointFrom(held.scopes) && askAgain === (held.askAgain ?? false)) {
    return undefined;
  }
  const scopes = formatScopes(held.scopes.difference(off));
  return { scopes, declined: formatScopes(held.declined.union(off)), askAgain };
}

/** The optional scopes that a decision took away. */
export const scopesNoLongerGranted = (
  before: ReadonlySet<string>,
  after: ReadonlySet<string>,
  rules: ScopeRules,
): readonly SwitchedScope[] => switchesAmong([...before.difference(after)], rules);

/** The scopes of a request that were granted. */
export function grantedScopes(requested: readonly string[], granted: ReadonlySet<string>, rules: ScopeRules): string {
  // Groups and roles have no switch in some apps, and are granted on the page all the same.
  const isAsked = (scope: string) =>
    isOptionalHere(scope, rules) || (MEMBER_SCOPES as readonly string[]).includes(scope);
  const given = requested.filter((scope) => !isAsked(scope) || granted.has(scope));
  return formatScopes(rules.alwaysOpenId ? ['openid', ...given] : given);
}

/** Whether a scope has a switch on the consent page of the set of endpoints. Every scope of an API has one. */
const isOptionalHere = (scope: string, { optionalScopes }: ScopeRules): boolean =>
  isApiScopeId(scope) || (optionalScopes as readonly string[]).includes(scope);

/** Those of the scopes that have a switch, in the order of the page. */
const switchesAmong = (scopes: readonly string[], { optionalScopes }: ScopeRules): readonly SwitchedScope[] => [
  ...optionalScopes.filter((scope) => scopes.includes(scope)),
  ...scopes.filter(isApiScopeId),
];

/** What a set of endpoints always shares although the person switched it off on another one: the consent page says so. */
export const sharedDespiteDecline = (
  { endpointSet, alwaysShared }: Pick<EndpointRules, 'endpointSet' | 'alwaysShared'>,
  live: readonly { readonly endpointSet: EndpointSet; readonly declined: ReadonlySet<string> }[],
): readonly OptionalScope[] =>
  alwaysShared.filter((scope) => live.some((grant) => grant.endpointSet !== endpointSet && grant.declined.has(scope)));
