import { record } from '../../../audit/audit.ts';
import { invalidClient } from '../../../clients/authentication/authenticate.ts';
import { insertClientToken, readClientNow } from '../../../credentials/client-token-store.ts';
import { requireVersion } from '../../../keys/keys.ts';
import { SECOND } from '../../../platform/clock.ts';
import { randomIdentifier } from '../../../platform/crypto/secrets.ts';
import type { Work } from '../../../platform/database/database.ts';
import type { OAuthError } from '../../../platform/oauth-error.ts';
import { judgeClientToken } from '../../../verdict/rules.ts';
import type { Exchangeable, Grant, TokenRequest } from '../grant.ts';
import { refusal } from '../refuse.ts';
import { ACCESS_LIFETIME, accessAudience, clientClaims } from '../rules/claims.ts';

interface IssuedClientToken {
  readonly jti: string;
  readonly resources: readonly string[];
}

/**
 * RFC 6749 §4.4: an access token for the client itself. It acts for no user, so it has no scope, for each scope is about a user.
 * There is no refresh token (§4.4.3) and no ID token with it.
 */
export const clientCredentialsGrant: Grant<object, Exchangeable, IssuedClientToken> = {
  signsIdTokens: false,
  refusedResource: 'unknown resource',
  read: async (_request, parameters) => ({
    presented: parameters.get('scope') === undefined ? {} : refusal('scope without a user', {}),
  }),
  check,
  issue,
  respond,
};

const endsAtOf = (now: number): number => now + ACCESS_LIFETIME * SECOND;

function* check(
  { parts, authenticated: { client }, keySet, now, refuse }: TokenRequest,
  _presented: object,
  requestedResources: readonly string[],
): Work<Exchangeable | OAuthError> {
  const found = yield* readClientNow({ clientId: client.id });
  if (found === undefined) return clientGone();
  requireVersion(keySet, found.keyVersion);
  // The token inherits the generation with which the client authenticated, so whatever changed that since has revoked it.
  const verdict = judgeClientToken(found.client, { endsAt: endsAtOf(now), deadAt: null }, client.generation, now);
  if (verdict.kind !== 'live') return clientGone();
  // UserInfo is no resource for a token without a user.
  if (requestedResources.includes(accessAudience(parts.issuer))) return yield* refuse('unknown resource', {});
  return { granted: requestedResources, about: {} };
}

function* issue(
  { authenticated: { client, origin }, now }: TokenRequest,
  _checked: Exchangeable,
  granted: readonly string[] | null,
): Work<IssuedClientToken> {
  const jti = randomIdentifier();
  const endsAt = endsAtOf(now);
  yield* insertClientToken({ jti, clientId: client.id, clientGeneration: client.generation, createdAt: now, endsAt });
  yield* record({ at: now, type: 'token.client_issued', origin, clientId: client.id });
  return { jti, resources: granted ?? [] };
}

async function respond({ parts, authenticated, keySet, now }: TokenRequest, issued: IssuedClientToken) {
  const claims = clientClaims(parts.issuer, authenticated.client.id, issued, now);
  return {
    access_token: keySet.current('access').sign(claims),
    token_type: 'Bearer',
    expires_in: ACCESS_LIFETIME,
  } as const;
}

const clientGone = (): OAuthError => invalidClient('check client_id and client_secret.');
