import { record } from '../../../audit/audit.ts';
import type { EndpointRules } from '../../../claims/endpoint-set.ts';
import {
  encodeResources,
  formatScopes,
  MAX_RESOURCES,
  namesOfResources,
  parseScope,
  SCOPES,
} from '../../../claims/permissions.ts';
import { type ApiScope, MOST_API_SCOPES, resolveApiScopes, sentScope } from '../../../claims/rules/api-scopes.ts';
import { allowScopeCommand, findDenied } from '../../../clients/denied-scopes.ts';
import { listApiScopes } from '../../../clients/store.ts';
import { insertClientToken, readClientNow } from '../../../credentials/client-token-store.ts';
import { requireVersion } from '../../../keys/keys.ts';
import { SECOND } from '../../../platform/clock.ts';
import { randomIdentifier } from '../../../platform/crypto/secrets.ts';
import type { Work } from '../../../platform/database/database.ts';
import type { OAuthError } from '../../../platform/oauth-error.ts';
import { describeIgnored } from '../../../traces/rules/ignored.ts';
import { judgeClientToken } from '../../../verdict/rules.ts';
import type { Exchangeable, Grant, TokenRequest } from '../grant.ts';
import { refusal } from '../refuse.ts';
import { ACCESS_LIFETIME, accessAudience, clientClaims } from '../rules/claims.ts';
import { adviceForTokenParameter } from '../rules/ignored-parameters.ts';

interface RequestedScopes {
  /** The names; empty where `scope` was not sent. */
  readonly names: readonly string[];
}

interface GrantableClientToken extends Exchangeable {
  readonly scopes: readonly ApiScope[];
  /** The requested scopes that the client may not request, or not for these resources. */
  readonly leftOut: readonly string[];
}

interface IssuedClientToken {
  readonly jti: string;
  readonly resources: readonly string[];
  /** Undefined for a token without scopes. */
  readonly scope: string | undefined;
  readonly leftOut: readonly string[];
}

/**
 * RFC 6749 §4.4: an access token for the client itself. It acts for no user, so it has no scope about one: only those of APIs.
 * There is no refresh token (§4.4.3) and no ID token with it.
 */
export const clientCredentialsGrant: Grant<RequestedScopes, GrantableClientToken, IssuedClientToken> = {
  signsIdTokens: false,
  refusedResource: 'unknown resource',
  read: async ({ rules }, parameters) => ({ presented: requestedScopes(parameters.get('scope'), rules) }),
  check,
  issue,
  respond,
};

function requestedScopes(requestedScope: string | undefined, { apiScopes }: EndpointRules) {
  if (requestedScope === undefined) return { names: [] };
  const names = parseScope(requestedScope);
  if (names === undefined) return refusal('malformed scope', { requestedScope });
  return apiScopes && !names.some((name) => SCOPES.includes(name)) ? { names } : refusal('scope without a user', {});
}

const endsAtOf = (now: number): number => now + ACCESS_LIFETIME * SECOND;

function* check(
  { parts, authenticated: { client }, keySet, now, refuse }: TokenRequest,
  { names }: RequestedScopes,
  requestedResources: readonly string[],
): Work<GrantableClientToken | OAuthError> {
  const found = yield* readClientNow({ clientId: client.id });
  if (found === undefined) return clientGone(client.id);
  requireVersion(keySet, found.keyVersion);
  // The token inherits the generation with which the client authenticated, so whatever changed that since has revoked it.
  const verdict = judgeClientToken(found.client, { endsAt: endsAtOf(now), deadAt: null }, client.generation, now);
  if (verdict.kind !== 'live') return clientGone(client.id);
  // UserInfo is no resource for a token without a user.
  if (requestedResources.includes(accessAudience(parts.issuer)))
    return yield* refuse('unknown resource', { requested: requestedResources, granted: null });
  if (names.length === 0) return { granted: requestedResources, scopes: [], leftOut: [], about: {} };
  const registered = yield* listApiScopes({ clientId: client.id });
  const { found: scopes, leftOut } = resolveApiScopes(names, requestedResources, registered);
  if (scopes.length === 0 || scopes.length > MOST_API_SCOPES) {
    const unknown = names.filter((name) => !registered.some((scope) => scope.name === name));
    const [denied] = yield* findDenied(unknown, requestedResources);
    const allow = denied && allowScopeCommand(client.id, denied, registered);
    return yield* refuse('no scope of an API', { clientId: client.id, scope: names.join(' '), allow });
  }
  // RFC 9068 §3: without resource, the scopes say which APIs the token is for.
  const granted =
    requestedResources.length > 0 ? requestedResources : [...new Set(scopes.map((scope) => scope.resource))];
  if (granted.length > MAX_RESOURCES) return yield* refuse('malformed resource', {});
  return { granted, scopes, leftOut, about: {} };
}

function* issue(
  { authenticated: { client, origin }, now }: TokenRequest,
  { scopes, leftOut }: GrantableClientToken,
  marked: readonly string[] | null,
): Work<IssuedClientToken> {
  const granted = namesOfResources(marked);
  const jti = randomIdentifier();
  const endsAt = endsAtOf(now);
  const stored = scopes.length === 0 ? null : formatScopes(scopes.map(({ id }) => id));
  const scope = stored === null ? undefined : sentScope(stored, scopes, granted);
  const token = { jti, clientId: client.id, clientGeneration: client.generation, createdAt: now, endsAt };
  yield* insertClientToken({ ...token, scopes: stored, resources: encodeResources(marked) });
  const details = scope === undefined ? undefined : { scope };
  yield* record({ at: now, type: 'token.client_issued', origin, clientId: client.id, ...(details && { details }) });
  return { jti, resources: granted ?? [], scope, leftOut };
}

async function respond({ parts, authenticated, keySet, now, parameters }: TokenRequest, issued: IssuedClientToken) {
  const ignored = describeIgnored({
    scopes: issued.leftOut,
    parameters: ['audience'].filter((name) => parameters.has(name)),
    parameterAdvice: adviceForTokenParameter,
  });
  if (ignored !== undefined) {
    parts.traces.completed.push({
      at: now,
      requestId: authenticated.origin.requestId,
      step: 'token',
      clientId: authenticated.client.id,
      facts: { description: describeIssued(issued), ignored },
    });
  }
  const claims = clientClaims(parts.issuer, authenticated.client.id, issued, now);
  return {
    access_token: keySet.current('access').sign(claims),
    token_type: 'Bearer',
    expires_in: ACCESS_LIFETIME,
    ...(issued.scope !== undefined && { scope: issued.scope }),
  } as const;
}

const describeIssued = ({ scope }: IssuedClientToken): string =>
  scope === undefined
    ? 'A token without scopes was issued to the app itself.'
    : `A token was issued to the app itself, for the scopes ${scope}.`;

const clientGone = (clientId: string): OAuthError => refusal('client changed', { clientId });
