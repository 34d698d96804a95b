import { record } from '../../audit/audit.ts';
import { type AuthenticatedClient, invalidClient } from '../../clients/authentication/authenticate.ts';
import { areResources } from '../../clients/resources.ts';
import { insertClientToken, readClientNow } from '../../credentials/client-token-store.ts';
import { SECOND } from '../../platform/clock.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import { OAuthError, rateLimited } from '../../platform/oauth-error.ts';
import { judgeClientToken } from '../../verdict/rules.ts';
import type { AccessTokenResponse } from './mint.ts';
import { countRequest, type GrantHandler, type TokenParts } from './parts.ts';
import { askedResources, unknownResource } from './resources.ts';
import { ACCESS_LIFETIME, audience, clientClaims } from './rules/claims.ts';

type Outcome =
  | { readonly kind: 'limited'; readonly seconds: number }
  | { readonly kind: 'other keys'; readonly version: string }
  | { readonly kind: 'gone' }
  | { readonly kind: 'unknown resource' }
  | { readonly kind: 'granted' };

/**
 * RFC 6749 §4.4: an access token for the client itself. It stands for no person, so it carries none of the scopes, each of which
 * is about a person; and there is neither a refresh token (§4.4.3) nor an ID token with it.
 * @throws {OAuthError} `invalid_scope`; then `invalid_client`, `rate_limit_exceeded`
 */
export const clientCredentialsGrant: GrantHandler = (parameters) => {
  if (parameters.get('scope') !== undefined) {
    throw new OAuthError(
      400,
      'invalid_scope',
      'scope must be left out: every scope is about a person, and a token of the client itself stands for none.',
    );
  }
  const resources = askedResources(parameters);
  return (parts, authenticated) => grant(parts, authenticated, resources);
};

async function grant(
  parts: TokenParts,
  authenticated: AuthenticatedClient,
  resources: readonly string[],
): Promise<AccessTokenResponse> {
  const { client } = authenticated;
  const jti = randomIdentifier();
  for (;;) {
    const now = parts.clock();
    const keySet = parts.keys.keySet();
    const outcome = await parts.database.commit(() =>
      issue(parts, authenticated, { jti, resources, keyVersion: keySet.version, now }),
    );
    switch (outcome.kind) {
      case 'limited':
        throw rateLimited(outcome.seconds);
      case 'other keys':
        await parts.keys.refresh(outcome.version);
        continue;
      case 'gone':
        throw invalidClient('check client_id and client_secret.');
      case 'unknown resource':
        throw unknownResource();
      case 'granted':
        return {
          access_token: keySet.current('access').sign(clientClaims(parts.issuer, client.id, { jti, resources }, now)),
          token_type: 'Bearer',
          expires_in: ACCESS_LIFETIME,
        };
    }
  }
}

interface Attempt {
  readonly jti: string;
  readonly resources: readonly string[];
  readonly keyVersion: string;
  readonly now: number;
}

function* issue(parts: TokenParts, authenticated: AuthenticatedClient, attempt: Attempt): Work<Outcome> {
  const { client, origin } = authenticated;
  const { jti, resources, keyVersion, now } = attempt;
  const seconds = yield* countRequest(parts, authenticated, now);
  if (seconds > 0) return { kind: 'limited', seconds };

  // The token inherits the generation by which the client authenticated: whatever happened to it since has ended the token.
  const clientGeneration = client.generation;
  const endsAt = now + ACCESS_LIFETIME * SECOND;
  const found = yield* readClientNow({ clientId: client.id });
  if (found === undefined) return { kind: 'gone' };
  if (found.keyVersion !== keyVersion) return { kind: 'other keys', version: found.keyVersion };
  if (judgeClientToken(found.client, { endsAt, deadAt: null }, clientGeneration, now).kind !== 'live') {
    return { kind: 'gone' };
  }
  // A token for UserInfo without a person would be good for nothing.
  const own = audience(parts.issuer, 'access');
  if (resources.includes(own) || !(yield* areResources(resources, { issuer: parts.issuer, own }))) {
    const details = { reason: 'a resource that is unknown' };
    yield* record({ at: now, type: 'token.refused', outcome: 'failure', origin, clientId: client.id, details });
    return { kind: 'unknown resource' };
  }
  yield* insertClientToken({ jti, clientId: client.id, clientGeneration, createdAt: now, endsAt });
  yield* record({ at: now, type: 'token.client_issued', origin, clientId: client.id });
  return { kind: 'granted' };
}
