import type { EndpointRules } from '../../../claims/endpoint-set.ts';
import { IDENTITY_SCOPES, isRegisteredScope, MAX_RESOURCES, parseScope } from '../../../claims/permissions.ts';
import { type ApiScope, MOST_API_SCOPES, resolveApiScopes } from '../../../claims/rules/api-scopes.ts';
import { describeMalformedScope, describeUnknownScope } from '../../../claims/rules/scope-advice.ts';
import { type RedirectedError, redirectedError } from './request.ts';

/** What the scopes of APIs in a request are looked up in. */
export interface ApiScopeContext {
  /** The scopes of APIs that the client may request. */
  readonly registered: readonly ApiScope[];
  /** The resource identifier of UserInfo. */
  readonly own: string;
}

export const NO_API_SCOPES: ApiScopeContext = { registered: [], own: '' };

/** What a request asks for. */
interface CheckedScopes {
  /** As they are stored. */
  readonly scopes: readonly string[];
  /** The resources of the request, or those of the APIs that its scopes belong to. */
  readonly resources: readonly string[];
  /** Scopes that are unknown, or that the client is not registered for. */
  readonly leftOut: readonly string[];
}

/**
 * The scopes of a request: RFC 6749 §3.3, decisions §12.
 * @param registered the scopes that the client is registered for, except those of APIs
 * @param resources those that the request names
 */
export function checkScopes(
  text: string | undefined,
  registered: readonly string[] | null,
  rules: EndpointRules,
  resources: readonly string[],
  apis: ApiScopeContext,
): CheckedScopes | RedirectedError {
  const names = text === undefined ? ['openid'] : parseScope(text);
  if (names === undefined) {
    return { ...redirectedError('invalid_scope', describeMalformedScope(text ?? '')), reason: 'scope is malformed' };
  }
  const others = names.filter((name) => !rules.scopes.includes(name));
  const { found, leftOut: unknown } = resolveApiScopes(others, resources, apis.registered);
  if (found.length > MOST_API_SCOPES) return TOO_MANY;
  const known = names.filter((name) => rules.scopes.includes(name));
  const usable = known.filter((name) => isRegisteredScope(name, registered));
  const scopes = [...usable, ...found.map(({ id }) => id)];
  const leftOut = [...known.filter((name) => !usable.includes(name)), ...unknown];
  if (leftOut.length > 0 && (!rules.ignoresUnknownScopes || scopes.length === 0)) {
    return names.find((name) => leftOut.includes(name)) === undefined
      ? TOO_MANY
      : refuseScope(names.find((name) => leftOut.includes(name)) ?? '', registered, rules, apis.registered);
  }
  const implied = resources.length > 0 ? resources : impliedResources(usable, found, apis);
  if (implied.length > MAX_RESOURCES) return TOO_MANY_APIS;
  return { scopes, resources: implied, leftOut };
}

/** RFC 9068 §3: without `resource`, the scopes say which APIs a token is for; with `openid` it is for UserInfo as well. */
function impliedResources(usable: readonly string[], found: readonly ApiScope[], { own }: ApiScopeContext) {
  if (found.length === 0) return [];
  const ofApis = new Set(found.map(({ resource }) => resource));
  return usable.includes('openid') ? [own, ...ofApis] : [...ofApis];
}

const TOO_MANY = redirectedError(
  'invalid_scope',
  `a request may have at most ${MOST_API_SCOPES} scopes of APIs: ask for fewer`,
);
const TOO_MANY_APIS = redirectedError(
  'invalid_scope',
  `the scopes belong to more APIs than a token can be for, which are ${MAX_RESOURCES}, UserInfo included: name some with resource`,
);

/** The refusal of a scope, with the remedy. */
function refuseScope(
  scope: string,
  registered: readonly string[] | null,
  { scopes: known }: EndpointRules,
  ofApis: readonly ApiScope[],
): RedirectedError {
  if (ofApis.some(({ name }) => name === scope)) {
    const reason = 'the scope belongs to an API that the request does not name';
    const remedy = `send the resource of the API that ${scope} is for`;
    const detail = { rule: 'RFC 8707 §2', expected: 'resource', received: scope, remedy };
    return { ...redirectedError('invalid_scope', `${reason}: ${remedy}`, detail), reason };
  }
  if (!known.includes(scope)) {
    const detail = { rule: 'RFC 6749 §3.3', expected: known.join(' '), received: scope };
    return {
      ...redirectedError('invalid_scope', describeUnknownScope(scope, known), detail),
      reason: 'unknown scope',
    };
  }
  // openid is part of every grant, also where the registration does not list it.
  const reason = `the client is not registered for the scope ${scope}`;
  const remedy = 'leave it out, or have it added to scopes of the registration';
  const detail = {
    rule: 'RFC 6749 §3.3',
    expected: (registered ?? IDENTITY_SCOPES).join(' '),
    received: scope,
    remedy,
  };
  return { ...redirectedError('invalid_scope', `${reason}: ${remedy}`, detail), reason };
}
