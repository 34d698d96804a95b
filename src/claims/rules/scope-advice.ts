import { nearestText } from '../../platform/nearest-text.ts';
import { MEMBER_SCOPES } from '../permissions.ts';

/** No longer name is compared, or repeated in an answer. */
const LONGEST_SHOWN = 40;

/** What is wrong, and what to do. */
export interface ScopeAdvice {
  readonly cause: string;
  readonly remedy: string;
}

/** The advice in one line, without a full stop. */
export const scopeAdviceLine = ({ cause, remedy }: ScopeAdvice): string => `${cause}: ${remedy}`;

/** What is wrong with a `scope` parameter that does not follow the grammar (RFC 6749 §3.3). It repeats nothing of it. */
export function describeMalformedScope(text: string): ScopeAdvice {
  const cause = /["[\]\\]/.test(text)
    ? 'it has quotes or brackets'
    : /^ | $| {2}/.test(text)
      ? 'it has a space too many'
      : 'it has a character that no scope has';
  return { cause: `scope is malformed, ${cause}`, remedy: 'separate the scopes by single spaces' };
}

/**
 * What is wrong with a scope that the endpoints do not know: the usual mistakes, or the nearest one.
 * @param known the scopes of the endpoints
 */
export function describeUnknownScope(scope: string, known: readonly string[]): ScopeAdvice {
  const name = scope.length > LONGEST_SHOWN ? `${scope.slice(0, LONGEST_SHOWN)}...` : scope;
  const advice = (remedy: string): ScopeAdvice => ({
    cause: `unknown scope ${name}`,
    remedy: `${remedy} Available scopes: ${known.join(' ')}`,
  });
  if ((MEMBER_SCOPES as readonly string[]).includes(scope)) {
    return advice('only the OIDC endpoints have it, which the discovery document names.');
  }
  const form = adviceForForm(scope);
  if (form !== undefined) return advice(`${form}.`);
  const nearest = nearestScope(scope, known);
  if (nearest !== undefined) return advice(`did you mean ${nearest}?`);
  // The v2 endpoints have no scopes of APIs, and this is the same whether an API declares the scope.
  const isV2 = !MEMBER_SCOPES.some((name) => known.includes(name));
  return advice(isV2 ? 'leave it out; scopes of APIs are requested at /oidc/authorize.' : 'leave it out.');
}

/** What to do about a scope with a sign of another way to write several; undefined for one without. */
function adviceForForm(scope: string): string | undefined {
  if (/[,;|]/.test(scope)) return 'separate the scopes by spaces, not by commas';
  return /\+|%20|%2B/i.test(scope) ? 'it was percent-encoded twice, so encode it once' : undefined;
}

/**
 * Why a scope was left out, or what to do about it.
 * @param ofApi what to do about it, where an API declares it
 */
export function adviceForScope(scope: string, known: readonly string[], ofApi?: string): string {
  if (known.includes(scope)) return 'not registered for this app';
  const form = adviceForForm(scope);
  if (form !== undefined) return form;
  if (ofApi !== undefined) return `of an API that does not let this app request it; allow it: ${ofApi}`;
  const nearest = nearestScope(scope, known);
  return nearest === undefined
    ? 'unknown: no API declares it, or not the one that resource names'
    : `did you mean ${nearest}?`;
}

/** The supported scope that is closest to a name; undefined where none is close. */
export function nearestScope(scope: string, known: readonly string[]): string | undefined {
  if (scope.length > LONGEST_SHOWN) return undefined;
  const name = scope.toLowerCase();
  const related = known.find(
    (other) => other.startsWith(`${name}.`) || other.split(/[._]/)[0] === name.split(/[.:_-]/)[0],
  );
  if (related !== undefined) return related;
  return nearestText(name, known);
}
