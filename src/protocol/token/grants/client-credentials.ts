import { record } from '../../../audit/audit.ts';
import { type AuthenticatedClient, invalidClient } from '../../../clients/authentication/authenticate.ts';
import { areRegisteredResources } from '../../../clients/resources.ts';
import { insertClientToken, readClientNow } from '../../../credentials/client-token-store.ts';
import { type KeySet, requireVersion, withCurrentKeys } from '../../../keys/keys.ts';
import { SECOND } from '../../../platform/clock.ts';
import { randomIdentifier } from '../../../platform/crypto/secrets.ts';
import type { Work } from '../../../platform/database/database.ts';
import type { Parameters } from '../../../platform/http/parameters.ts';
import { OAuthError } from '../../../platform/oauth-error.ts';
import { judgeClientToken } from '../../../verdict/rules.ts';
import { countRequest, type GrantHandler, requestedResources, type TokenServices, unknownResource } from '../grant.ts';
import { ACCESS_LIFETIME, accessAudience, clientClaims } from '../rules/claims.ts';

/**
 * RFC 6749 §4.4: an access token for the client itself. It acts for no user, so it has no scope, for each scope is about a user.
 * There is no refresh token (§4.4.3) and no ID token with it.
 * @throws {OAuthError} `rate_limit_exceeded`; then `invalid_scope`, `invalid_target`, `invalid_client`
 */
export const clientCredentialsGrant: GrantHandler = async (parts, authenticated, parameters) => {
  const jti = randomIdentifier();
  return withCurrentKeys(parts.keys, async () => {
    const now = parts.clock();
    const keySet = parts.keys.keySet();
    const resources = await parts.database.commit(() => issue(parts, authenticated, parameters, { jti, keySet, now }));
    if (resources instanceof OAuthError) return resources;
    const claims = clientClaims(parts.issuer, authenticated.client.id, { jti, resources }, now);
    return {
      access_token: keySet.current('access').sign(claims),
      token_type: 'Bearer',
      expires_in: ACCESS_LIFETIME,
    };
  });
};

/** @returns the resources that the token is for */
function* issue(
  parts: TokenServices,
  authenticated: AuthenticatedClient,
  parameters: Parameters,
  { jti, keySet, now }: { readonly jti: string; readonly keySet: KeySet; readonly now: number },
): Work<readonly string[] | OAuthError> {
  const { client, origin } = authenticated;
  const limited = yield* countRequest(parts, authenticated, now);
  if (limited !== undefined) return limited;

  if (parameters.get('scope') !== undefined) {
    return new OAuthError(
      400,
      'invalid_scope',
      'scope must be left out: every scope is about a person, and a token of the client itself stands for none.',
    );
  }
  const resources = requestedResources(parameters);
  if (resources instanceof OAuthError) return resources;

  // The token inherits the generation with which the client authenticated, so whatever changed that since has revoked it.
  const clientGeneration = client.generation;
  const endsAt = now + ACCESS_LIFETIME * SECOND;
  const found = yield* readClientNow({ clientId: client.id });
  if (found === undefined) return clientGone();
  requireVersion(keySet, found.keyVersion);
  const verdict = judgeClientToken(found.client, { endsAt, deadAt: null }, clientGeneration, now);
  if (verdict.kind !== 'live') return clientGone();

  // UserInfo is no resource for a token without a user.
  const own = accessAudience(parts.issuer);
  if (resources.includes(own) || !(yield* areRegisteredResources(resources, { issuer: parts.issuer, own }))) {
    const details = { reason: 'a resource that is unknown' };
    yield* record({ at: now, type: 'token.refused', outcome: 'failure', origin, clientId: client.id, details });
    return unknownResource();
  }
  yield* insertClientToken({ jti, clientId: client.id, clientGeneration, createdAt: now, endsAt });
  yield* record({ at: now, type: 'token.client_issued', origin, clientId: client.id });
  return resources;
}

const clientGone = (): OAuthError => invalidClient('check client_id and client_secret.');
