import type { EndpointRules } from '../../../claims/endpoint-set.ts';
import { IDENTITY_SCOPES, isRegisteredScope, MAX_RESOURCES, parseScope } from '../../../claims/permissions.ts';
import { type ApiScope, MOST_API_SCOPES, resolveApiScopes } from '../../../claims/rules/api-scopes.ts';
import { allowScopeCommand, type DeniedScope } from '../../../clients/denied-scopes.ts';
import type { RedirectingClient } from './check-target.ts';
import { refuseByRedirect } from './refusals.ts';
import type { RedirectedError } from './request.ts';

/** What the scopes of APIs in a request are looked up in. */
export interface ApiScopeContext {
  /** The scopes of APIs that the client may request. */
  readonly registered: readonly ApiScope[];
  /** The resource identifier of UserInfo. */
  readonly own: string;
  /** Scopes of the request that an API declares, and that the client may not request. Only the operator is told of them. */
  readonly denied?: readonly DeniedScope[];
}

export const NO_API_SCOPES: ApiScopeContext = { registered: [], own: '' };

/** What a request asks for. */
export interface CheckedScopes {
  /** As they are stored. */
  readonly scopes: readonly string[];
  /** The resources of the request, or those of the APIs that its scopes belong to. */
  readonly resources: readonly string[];
  /** Scopes that are unknown, or that the client is not registered for. */
  readonly leftOut: readonly string[];
}

/**
 * The scopes of a request: RFC 6749 §3.3, decisions §12.
 * @param resources those that the request names
 */
export function checkScopes(
  text: string | undefined,
  { id: clientId, scopes: registered, grantTypes }: Pick<RedirectingClient, 'id' | 'scopes' | 'grantTypes'>,
  rules: EndpointRules,
  resources: readonly string[],
  apis: ApiScopeContext,
): CheckedScopes | RedirectedError {
  const names = text === undefined ? ['openid'] : parseScope(text);
  if (names === undefined) {
    return refuseByRedirect('scope malformed', { text: text ?? '' });
  }
  const others = names.filter((name) => !rules.scopes.includes(name));
  const { found, leftOut: unknown } = resolveApiScopes(others, resources, apis.registered);
  if (found.length > MOST_API_SCOPES) return refuseByRedirect('too many scopes of APIs');
  const known = names.filter((name) => rules.scopes.includes(name));
  const usable = known.filter((name) => isRegisteredScope(name, registered) && isIssued(name, grantTypes, rules));
  const scopes = [...usable, ...found.map(({ id }) => id)];
  const leftOut = [...known.filter((name) => !usable.includes(name)), ...unknown];
  if (leftOut.length > 0 && (!rules.ignoresUnknownScopes || scopes.length === 0)) {
    const scope = names.find((name) => leftOut.includes(name));
    if (scope === undefined) return refuseByRedirect('too many scopes of APIs');
    if (apis.registered.some(({ name }) => name === scope))
      return refuseByRedirect('scope of an unnamed API', { scope });
    const { scopes: known } = rules;
    if (!known.includes(scope)) {
      const denied = apis.denied?.find(({ name }) => name === scope);
      const allow = denied && allowScopeCommand(clientId, denied, apis.registered);
      return refuseByRedirect('scope unknown', { scope, known, allow });
    }
    if (isRegisteredScope(scope, registered)) return refuseByRedirect('no refresh tokens', { clientId, grantTypes });
    // openid is part of every grant, also where the registration does not list it.
    return refuseByRedirect('scope not registered', { scope, registered: registered ?? IDENTITY_SCOPES, clientId });
  }
  const implied = resources.length > 0 ? resources : impliedResources(usable, found, apis);
  if (implied.length > MAX_RESOURCES) return refuseByRedirect('too many APIs');
  return { scopes, resources: implied, leftOut };
}

/**
 * Whether a scope is granted to an app with these grants. Without refresh tokens, there is no offline access, and the response must not
 * say that there is (RFC 6749 §5.1; OpenID Connect Core 1.0 §11). The contract has it change nothing at its own endpoints.
 */
const isIssued = (name: string, grantTypes: readonly string[], { ignoresUnknownScopes }: EndpointRules): boolean =>
  name !== 'offline_access' || !ignoresUnknownScopes || grantTypes.includes('refresh_token');

/** RFC 9068 §3: without `resource`, the scopes say which APIs a token is for; with `openid` it is for UserInfo as well. */
function impliedResources(usable: readonly string[], found: readonly ApiScope[], { own }: ApiScopeContext) {
  if (found.length === 0) return [];
  const ofApis = new Set(found.map(({ resource }) => resource));
  return usable.includes('openid') ? [own, ...ofApis] : [...ofApis];
}
